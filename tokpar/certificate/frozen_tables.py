"""Reads the frozen data tables of ``data/tables`` for the checker. It shares the data with the
planner, and no code."""

from __future__ import annotations

import functools
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from tokpar.errors import FileFormatError

TABLES = Path(__file__).parent.parent / "data" / "tables"
SPACES = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The 25 code points that every engine takes for white space (theorem 20)."""
MARK = "\u2581"
"""What stands for a space in SentencePiece's kind of tokenizers."""


@dataclass(frozen=True)
class ShippedPattern:
    """A pattern that tokpar ships tables for.

    `sources`: (engine, a pattern for each Split). `space_after_nonspace`: theorem 20 cuts before
    each space. `covers`: its matches leave no gap in any text."""

    name: str
    sources: frozenset[tuple[str, tuple[str, ...]]]
    space_after_nonspace: bool
    covers: bool


@dataclass(frozen=True)
class PairClasses:
    """The pairs of character classes that BERT or Metaspace cuts (theorem 4.8)."""

    name: str
    class_of_atom: Mapping[str, str]
    pairs: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Tables:
    """Shipped patterns, pairs of classes, and atoms: disjoint sets of code points for which all
    engines agree.

    `ranges`: (first, last, atom), ascending."""

    ranges: tuple[tuple[int, int, str], ...]
    patterns: tuple[ShippedPattern, ...]
    pair_classes: Mapping[str, PairClasses]

    def pattern_of(self, engine: str, patterns: tuple[str, ...]) -> ShippedPattern | None:
        """Returns the shipped pattern that `engine` runs as these patterns, one for each Split."""
        return next((each for each in self.patterns if (engine, patterns) in each.sources), None)

    def atom_of(self, char: str) -> str | None:
        """Returns the name of the atom of a character. None outside the frozen set."""
        place = bisect_right(self.ranges, ord(char), key=itemgetter(0)) - 1
        _, last, name = self.ranges[place]
        return name if place >= 0 and ord(char) <= last else None


@functools.cache
def load_tables() -> Tables:
    """Returns atoms and patterns. Checks them as far as the checker relies on them."""
    ranges = sorted((lo, hi, name) for name, spans in _read("atoms").items() for lo, hi in spans)
    last, owner = -1, ""
    for lo, hi, name in ranges:
        if lo <= last or hi < lo:
            raise FileFormatError(f"atoms.json: {name!r} overlaps {owner!r} at U+{lo:04X}")
        last, owner = hi, name
    patterns = tuple(_pattern(name, record) for name, record in _read("patterns").items())
    classes = {name: _classes(name, record) for name, record in _read("classes").items()}
    return Tables(tuple(ranges), patterns, classes)


@functools.cache
def load_pairs(name: str) -> Sequence[Mapping[str, Any]]:
    """Returns the stored pairs of a pattern, over the atoms; see the README of the tables."""
    found: list[dict[str, Any]] = _read("tables", f"patterns/{name}")
    return found


def _read(name: str, file: str = "") -> Any:
    path = TABLES / f"{file or name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))[name]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path.name}: expected JSON with {name!r}") from error


def _pattern(name: str, record: Mapping[str, Any]) -> ShippedPattern:
    sources = ((source["engine"], tuple(source["patterns"])) for source in record["sources"])
    spaces, covers = record["space_after_nonspace"] is True, record["covers"] is True
    return ShippedPattern(name, frozenset(sources), spaces, covers)


def _classes(name: str, record: Mapping[str, Any]) -> PairClasses:
    class_of_atom: dict[str, str] = {}
    for label, members in record["classes"].items():
        for atom in members:
            if class_of_atom.setdefault(atom, label) != label:
                raise FileFormatError(f"classes.json: {name}: atom {atom!r} is in two classes")
    pairs = frozenset((left, right) for left, right in record["pairs"])
    return PairClasses(name, class_of_atom, pairs)
