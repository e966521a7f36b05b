"""Tests of tokenizers in plain Python."""
