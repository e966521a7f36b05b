"""What tokenizer files say: JSON parts, ranks, added tokens, character classes."""
