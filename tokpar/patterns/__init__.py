"""Compute which windows of a pre-tokenizer pattern certify cuts: parser, automaton, windows."""
