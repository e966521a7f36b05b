"""Tokenizer objects of other libraries whose texts tokpar encodes (docs/views.md)."""
