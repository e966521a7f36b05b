"""From a failing text, or list of texts, to a smallest one that still fails.

Not hypothesis' own shrinking: that starts from choices it made, and a text may also come from a
corpus or a list. All that is asked of `fails` is that it answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Items = TypeVar("Items", str, tuple[str, ...])

SECONDS = 10.0
SIMPLE = "a b1"
"""What characters are replaced by, the simplest first."""


def smallest(items: Items, fails: Callable[[Items], bool], seconds: float = SECONDS) -> Items:
    """`items` without every slice it can do without: fewer of them, in the same order, and no
    single one can be left out. Halves first, so long ones take few calls. Best so far when
    `seconds` have passed."""
    end = time.monotonic() + seconds
    size = max(1, len(items) // 2)
    while size and items:
        before, start = len(items), 0
        while start < len(items) and time.monotonic() < end:
            shorter = items[:start] + items[start + size :]
            if fails(shorter):
                items = shorter
            else:
                start += size
        if size > 1 or len(items) == before or time.monotonic() >= end:
            size //= 2
    return items


def simplest(text: str, fails: Callable[[str], bool], seconds: float = SECONDS) -> str:
    """The smallest text, each character replaced by a simpler one where that fails as well:
    "xq é" -> "aa é"."""
    text = smallest(text, fails, seconds)
    end = time.monotonic() + seconds
    for i in range(len(text)):
        if time.monotonic() >= end:  # before a long text is copied for each of its characters
            break
        for character in SIMPLE[: SIMPLE.find(text[i]) % (len(SIMPLE) + 1)]:
            simpler = text[:i] + character + text[i + 1 :]
            if fails(simpler):
                text = simpler
                break
    return text
