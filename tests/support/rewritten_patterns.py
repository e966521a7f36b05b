"""Patterns that fancy-regex rewrites."""

from __future__ import annotations

CHANGED = [
    r"a+c?a+b|[\s\S]",
    r"a+c{0,3}a+b|[\s\S]",
    r"(?:a)+c?(?:a+)b|[\s\S]",
    r"a+c??a*b|[\s\S]",
    r"(?:a+(?:ba*)?)+|[\s\S]",
    r"\p{L}+\p{N}?\p{L}+ |[\s\S]",
]
"""Patterns that the engine changes, or that cannot be told from those that it does."""
