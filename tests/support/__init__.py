"""Tokenizers that several test files share."""
