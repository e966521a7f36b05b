"""The named strategies, step by step: look up, split, encode, join, post-process.

Imported by: `chunks`, `cli`, `encoder`, `methods`, `plugin`.
Read first: `steps.py`.
"""
