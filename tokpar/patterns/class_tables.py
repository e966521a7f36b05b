"""Load the frozen tables; see tables/README.md for their format."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from tokpar.arrays import SPACES

Ranges = tuple[tuple[int, int], ...]  # inclusive code point ranges, ascending and disjoint


@lru_cache(maxsize=1)
def load_atoms() -> Mapping[str, Ranges]:
    """The frozen code points as atoms: no table distinguishes two characters of one atom."""
    return {
        name: tuple((low, high) for low, high in ranges)
        for name, ranges in read_table("atoms.json")["atoms"].items()
    }


@lru_cache(maxsize=1)
def load_pictographs() -> Ranges:
    """Code points outside the frozen set that every engine classifies as symbols only."""
    return tuple((low, high) for low, high in read_table("pictographs.json")["pictographs"])


@dataclass(frozen=True, slots=True, eq=False)
class CharSet:
    """A set of characters. Build it with `char_set`. `has`: bool, (0x110000,)."""

    has: npt.NDArray[np.bool_]

    def holds(self, text: str) -> bool:
        """True if every character of the text is in the set."""
        return self.behind_others(text) == 0

    def behind_others(self, text: str) -> int:
        """Where the longest suffix of the text begins whose characters are all in the set."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return len(text) - int(np.argmin(np.append(self.has.take(points)[::-1], False)))


def char_set(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """Build the set of the code points in these inclusive ranges."""
    has = np.zeros(sys.maxunicode + 1, np.bool_)
    for low, high in ranges:
        has[low : high + 1] = True
    return CharSet(has)


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Merge ranges to ascending ranges that neither overlap nor touch."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


WHITESPACE = merge_ranges((ord(char), ord(char)) for char in SPACES)
"""The code points of ``\\s`` in all three engines (Theorem 20), inclusive ranges."""


@lru_cache(maxsize=16)
def read_table(name: str) -> Any:
    """The parsed JSON of a file of data/tables."""
    path = files("tokpar") / "data" / "tables" / name
    return json.loads(path.read_text(encoding="utf-8"))
