"""Tests of adapters: tokenizers of others, as tokpar reads and calls them."""
