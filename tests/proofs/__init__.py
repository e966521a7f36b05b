"""Executable theorems, and the pages of proofs/."""
