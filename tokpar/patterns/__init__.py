"""Decides what is known of a pre-tokenizer's pattern: parser, automaton, pairs of characters.

Imported by: `adapters`, `certificate`, `compiled`, `cuts`, `facts`, `plugin`.
Read first: `known_pattern.py`.
"""
