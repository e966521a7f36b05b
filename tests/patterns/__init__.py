"""Tests of what a pre-tokenizer pattern certifies."""
