"""The named strategies, step by step: look up, split, encode, join, post-process."""
