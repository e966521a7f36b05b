"""Partition the characters into symbols: the classes of a pattern do not distinguish two characters
of one symbol."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokpar.patterns.charclass_members import CODE_POINTS, EVERY
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.pattern_reader import UnsupportedPatternError

MAX_SYMBOLS = 255

SymbolArray = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, eq=False)
class Alphabet:
    """A partition of the characters into symbols 0..size-1.

    `symbol_of`: the symbol of each code point, uint8, (0x110000,). Code points outside the domain
    have the value `size`, which is no symbol. `sets`: the symbols of each class. `examples`: one
    character of each symbol."""

    size: int
    symbol_of: SymbolArray
    sets: Mapping[Hashable, frozenset[int]]
    examples: tuple[str, ...]

    def symbols(self, text: str) -> tuple[int, ...]:
        """The symbol of each character of the text."""
        return tuple(int(self.symbol_of[ord(char)]) for char in text)


def alphabet(classes: Mapping[Hashable, Ranges], domain: Ranges = EVERY) -> Alphabet:
    """The coarsest partition of `domain`, all code points by default, that every class respects.

    Each class is a union of symbols."""
    edges = {0, CODE_POINTS}
    for ranges in (domain, *classes.values()):
        for low, high in ranges:
            edges |= {low, high + 1}
    starts = sorted(edges)
    place = {start: i for i, start in enumerate(starts)}
    keys = [0] * (len(starts) - 1)
    for bit, ranges in enumerate((domain, *classes.values())):
        for low, high in ranges:
            for i in range(place[low], place[high + 1]):
                keys[i] |= 1 << bit
    number: dict[int, int] = {}
    range_symbols = [number.setdefault(key, len(number)) if key & 1 else -1 for key in keys]
    size = len(number)
    if size > MAX_SYMBOLS:
        raise UnsupportedPatternError(f"more than {MAX_SYMBOLS} symbols")
    symbols = np.array([size if c < 0 else c for c in range_symbols], np.uint8)
    sets = {
        name: frozenset(c for key, c in number.items() if key >> bit & 1)
        for bit, name in enumerate(classes, 1)
    }
    examples = tuple(_example(start, stop) for start, stop in _spans(starts, range_symbols, size))
    return Alphabet(size, np.repeat(symbols, np.diff(starts)), sets, examples)


def _spans(starts: list[int], range_symbols: list[int], size: int) -> list[tuple[int, int]]:
    """The first code point range of each symbol."""
    spans: dict[int, tuple[int, int]] = {}
    for i, c in enumerate(range_symbols):
        spans.setdefault(c, (starts[i], starts[i + 1]))
    return [spans[c] for c in range(size)]


def _example(start: int, stop: int) -> str:
    """A visible character of the range if it has one, else any character of it."""
    return chr(
        next((p for p in range(start, min(stop, start + 64)) if chr(p).isprintable()), start)
    )
