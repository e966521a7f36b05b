"""Runs of numbers as every engine sees them (theorem 22, correction 0'.1)."""

from __future__ import annotations

import re
from functools import lru_cache

from tokpar.facts.tables import load_atoms, range_class
from tokpar.types import Seam

NUMBER_ATOMS = ("ascii_digit", "N")
_BLOCK = 4096
# How far back the start of a run is looked for when no earlier seam tells it: keeps the work of a
# search linear in the text.
_FARTHEST = 1 << 16


@lru_cache(maxsize=1)
def _number_class() -> str:
    atoms = load_atoms()
    return range_class(span for name in NUMBER_ATOMS for span in atoms[name])


@lru_cache(maxsize=1)
def _numbers() -> re.Pattern[str]:
    return re.compile(_number_class() + "+")


@lru_cache(maxsize=1)
def _frozen() -> re.Pattern[str]:
    return re.compile(range_class(span for spans in load_atoms().values() for span in spans))


@lru_cache(maxsize=1)
def number_pairs() -> re.Pattern[str]:
    """Zero-width: matches between two numbers."""
    return re.compile(f"(?<={_number_class()})(?={_number_class()})")


def is_number(char: str) -> bool | None:
    r"""Whether `char` is \p{N}; None where the engines need not agree."""
    if _numbers().match(char):
        return True
    return False if _frozen().match(char) else None


def run_start(text: str, p: int, after: Seam | None = None) -> int | None:
    """Start of the maximal run of numbers that `p` lies in, code points; None if the character
    before it is undecided or too far. `after`: an earlier seam, trusted if in the same run."""
    least, known = max(0, p - _FARTHEST), None
    if after is not None and after.rule == "K2" and after.position < p:
        least, known = after.position, int(dict(after.witness)["run"])
    start = p
    numbers = _numbers()
    while start > least and numbers.fullmatch(text, max(least, start - _BLOCK), start):
        start = max(least, start - _BLOCK)
    if start == least and known is not None:
        return known
    while start > least and numbers.match(text, start - 1, start):
        start -= 1
    if start == least and known is not None:
        return known
    return start if start == 0 or is_number(text[start - 1]) is False else None


def run_stop(text: str, p: int, limit: int) -> int:
    """End of the run of numbers from `p` on, looked for up to `limit` (code points)."""
    found = _numbers().match(text, p, limit)
    return p if found is None else found.end()
