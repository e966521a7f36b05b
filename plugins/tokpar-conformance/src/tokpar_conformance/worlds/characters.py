"""Characters of each kind: what a normalizer or a pattern treats alike, but for a few of them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_BEHIND = 0x20000
"""Planes behind have ideographs, and characters that are alike, only."""


@lru_cache(maxsize=1)
def kinds_of_characters() -> tuple[str, ...]:
    """Returns the characters below U+20000 but for surrogates, those alike in one string: of one
    general category, combining class, kind of decomposition and number of UTF-8 bytes, and with or
    without a lowercase of their own."""
    found: dict[tuple[object, ...], list[str]] = {}
    for char in map(chr, range(_BEHIND)):
        category = unicodedata.category(char)
        if category == "Cs":
            continue
        parts = unicodedata.decomposition(char)
        form = parts.split()[0] if parts.startswith("<") else bool(parts)
        size, is_lower = len(char.encode()), char.lower() == char
        kind = category, unicodedata.combining(char), form, size, is_lower
        found.setdefault(kind, []).append(char)
    return tuple(map("".join, found.values()))
