"""Texts with parts that nobody trusts: such a part cannot spell a control token.

Imported by: `calls`, `encoder`, `integrations`, `tokpar`.
Read first: `trusted_encoder.py`.
"""
