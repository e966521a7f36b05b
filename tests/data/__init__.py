"""Tests of the bundled tokenizer and of the part vocabularies."""
