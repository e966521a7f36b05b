"""Decides at load where a pre-tokenizer pattern certifies cuts: parser, machine, windows."""
