"""The bundled tokenizer, and the tables that tokpar ships.

Imported by: no room; files are read by path.
Read first: `README.md`.
"""
