"""Derive the facts of a tokenizer from its configuration."""
