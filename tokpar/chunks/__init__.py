"""Divides a text into slices of at most N tokens (`Encoder.chunks`).

Imported by: `calls`, `cli`, `encoder`, `integrations`, `tokpar`, `untrusted`.
Read first: `text_chunks.py`.
"""
