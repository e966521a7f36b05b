"""Tokenizers to try tokpar on: files that others published, and pipelines of theirs around small
vocabularies. `python -m tests.recipes.tokenizer_files --help` writes a directory of them."""
