"""What tokenizer files say: vocabularies, ranks, JSON parts, character classes.

Imported by: `adapters`, `compiled`, `decoding`, `facts`, `loading`, `plugin`, `untrusted`.
Read first: `formats.py`.
"""
