"""Divides a text into slices of at most N tokens (`Encoder.chunks`).

Imported by: `calls`, `cli`, `encoder`, `tokpar`, `untrusted`.
Read first: `text_chunks.py`.
"""
