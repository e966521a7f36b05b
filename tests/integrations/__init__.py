"""Tests of `as_hf`, `as_tiktoken` and `patch_transformers`."""
