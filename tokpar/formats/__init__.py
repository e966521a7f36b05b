"""What tokenizer files say: JSON parts, ranks, character classes."""
