"""Adapters for tokenizers of tokenizers, transformers and tiktoken, and for files and directories.
Each holds a private copy of an engine, which was compared with the caller's object.

Imported by: `integrations`, `loading`, `plugin`.
Read first: `tiktoken.py`.
"""
