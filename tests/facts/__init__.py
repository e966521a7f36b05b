"""Tests of what is known of a tokenizer from its file."""
