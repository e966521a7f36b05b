"""The independent checker of encodings, and certificate files. It reads the tokenizer's file by
itself and judges each seam again.

Imported by: `calls`, `cli`, `tokpar`.
Read first: `checker.py`.
"""
