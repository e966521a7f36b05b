"""Load the frozen tables; see tables/README.md for their format.

`class_of` returns None outside the frozen set: no rule may certify a cut there by class."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

Ranges = tuple[tuple[int, int], ...]  # inclusive code point ranges, ascending and disjoint

WHITESPACE: Ranges = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
"""The 25 code points of ``\\s`` in all three engines (Theorem 20), inclusive ranges."""


@dataclass(frozen=True)
class Spelling:
    """One spelling of a family: an engine, and a pattern for each Split stage."""

    engine: str
    patterns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """One known pre-tokenizer. Compared by identity; get it from `family_named`.

    `sources`: the spellings, for a regex family. `universal`: the white space y that U1 admits:
    "not_newline", "any" or None. A family that decides by two characters alone has `classes` and
    `pairs`: `pairs[left][right]` is the theorem that proves the cut between the two classes."""

    name: str
    sources: tuple[Spelling, ...]
    universal: str | None
    classes: Mapping[str, tuple[str, ...]]
    pairs: Mapping[str, Mapping[str, str]]

    def class_of(self, char: str) -> str | None:
        """The class of one character; None outside the frozen set."""
        point = ord(char)
        if point < 0x80:
            return self._ascii[point]
        return self._find_class(point)

    def theorem(self, left: str, right: str) -> str | None:
        """The theorem that proves the cut (left|right) in every surrounding text, or None."""
        return self.pairs.get(left, {}).get(right)

    def ranges(self, name: str) -> Ranges:
        """The code points of one class."""
        return merge_ranges(span for atom in self.classes[name] for span in load_atoms()[atom])

    @cached_property
    def _spans(self) -> tuple[list[int], list[int], list[str]]:
        rows = sorted((lo, hi, name) for name in self.classes for lo, hi in self.ranges(name))
        lows, highs, names = zip(*rows, strict=True)
        return list(lows), list(highs), list(names)

    @cached_property
    def _ascii(self) -> tuple[str | None, ...]:
        return tuple(self._find_class(point) for point in range(0x80))

    def _find_class(self, point: int) -> str | None:
        lows, highs, names = self._spans
        place = bisect_right(lows, point) - 1
        return names[place] if place >= 0 and point <= highs[place] else None


@lru_cache(maxsize=1)
def load_atoms() -> Mapping[str, Ranges]:
    """The frozen code points as atoms: no family distinguishes two characters of one atom."""
    return {
        name: tuple((low, high) for low, high in ranges)
        for name, ranges in _read("atoms.json")["atoms"].items()
    }


@lru_cache(maxsize=1)
def load_pictographs() -> Ranges:
    """Code points outside the frozen set that every engine classifies as symbols only."""
    return tuple((low, high) for low, high in _read("pictographs.json")["pictographs"])


@lru_cache(maxsize=1)
def load_families() -> Mapping[str, Family]:
    """All families by name."""
    entries = _read("families.json")["families"]
    return {name: _family(name, entry) for name, entry in entries.items()}


@lru_cache(maxsize=16)
def load_windows(family: str) -> Sequence[Mapping[str, Any]]:
    """The stored windows of a family; tables/README.md has the format.

    Empty for a family that decides by two characters alone."""
    if not load_families()[family].sources:
        return ()
    found: list[dict[str, Any]] = _read(f"windows/{family}.json")["windows"]
    return found


def family_named(name: str) -> Family | None:
    """The family of this name, or None."""
    return load_families().get(name)


def recognise(engine: str, patterns: tuple[str, ...]) -> Family | None:
    """The family of these Split patterns, one per stage, run by `engine`; None if unknown."""
    spelling = Spelling(engine, tuple(patterns))
    return next((family for family in load_families().values() if spelling in family.sources), None)


@lru_cache(maxsize=64)
def pair_pattern(family: Family) -> re.Pattern[str]:
    """A zero-width regex that matches at p exactly if the characters around p are a certified pair.

    Left classes with the same right classes share one branch. The largest branch is first."""
    rows: dict[frozenset[str], list[tuple[int, int]]] = {}
    for left, row in family.pairs.items():
        if row:
            rows.setdefault(frozenset(row), []).extend(family.ranges(left))
    branches = []
    for rights, before in sorted(rows.items(), key=lambda item: -_size(item[1])):
        after = (span for name in rights for span in family.ranges(name))
        branches.append(f"(?<={range_class(before)})(?={range_class(after)})")
    return re.compile("|".join(branches) or r"(?!)")


def range_class(ranges: Iterable[tuple[int, int]]) -> str:
    """Build a regex class from inclusive code point ranges: [(48, 57)] -> "[0-9]"."""
    ends = ((re.escape(chr(low)), re.escape(chr(high))) for low, high in merge_ranges(ranges))
    return "[" + "".join(f"{low}-{high}" for low, high in ends) + "]"


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


def _size(ranges: Iterable[tuple[int, int]]) -> int:
    return sum(high - low + 1 for low, high in ranges)


def _read(name: str) -> Any:
    path = files("tokpar.data") / "tables" / name
    return json.loads(path.read_text(encoding="utf-8"))


def _family(name: str, entry: Mapping[str, Any]) -> Family:
    return Family(
        name=name,
        sources=tuple(
            Spelling(s["engine"], tuple(s["patterns"])) for s in entry.get("sources", ())
        ),
        universal=entry.get("universal"),
        classes={key: tuple(atoms) for key, atoms in entry.get("classes", {}).items()},
        pairs=entry.get("pairs", {}),
    )
