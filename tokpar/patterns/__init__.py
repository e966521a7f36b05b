"""Decide what is known of a pre-tokenizer's pattern: parser, automaton, pairs of characters."""
