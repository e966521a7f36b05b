"""The safe contexts of the families, as `contexts.py` decides them. Windows must find them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tokpar.patterns.class_tables import Ranges, Spelling, load_atoms, merge_ranges, range_class

FAMILIES = Path(__file__).parents[2] / "tokpar" / "data" / "tables" / "families.json"
CONTEXTS = Path(__file__).parent / "contexts.json"


@dataclass(frozen=True, eq=False)
class Stored:
    """Safe contexts of one pre-tokenizer. Compared by identity; get it from `load_stored`.

    `pairs[left][right]` and the last entry of each triple is the theorem that proves it.
    `triples` are (left, right 1, right 2, theorem), `left_triples` (left 2, left 1, right,
    theorem). `digit_phase` 3: each third place of a run of digits is safe (Theorem 22).
    `universal` is the white space y that U1 admits: "not_newline", "any" or None."""

    name: str
    sources: tuple[Spelling, ...]
    classes: Mapping[str, tuple[str, ...]]
    pairs: Mapping[str, Mapping[str, str]]
    triples: tuple[tuple[str, str, str, str], ...]
    left_triples: tuple[tuple[str, str, str, str], ...]
    digit_phase: int | None
    universal: str | None

    def class_of(self, char: str) -> str | None:
        """Class of one character, None outside the frozen set."""
        atom = _atom_of().get(char)
        return next((name for name, atoms in self.classes.items() if atom in atoms), None)

    def theorem(self, left: str, right: str) -> str | None:
        """Theorem that makes (left|right) safe whatever surrounds it, None if there is none."""
        return self.pairs.get(left, {}).get(right)

    def ranges(self, name: str) -> Ranges:
        """Code points of one class."""
        return merge_ranges(span for atom in self.classes[name] for span in load_atoms()[atom])


@cache
def _atom_of() -> Mapping[str, str]:
    return {
        chr(point): name
        for name, spans in load_atoms().items()
        for low, high in spans
        for point in range(low, high + 1)
    }


@cache
def load_stored() -> Mapping[str, Stored]:
    """Returns all families by name."""
    entries, contexts = (
        json.loads(path.read_text(encoding="utf-8"))["families"] for path in (FAMILIES, CONTEXTS)
    )
    return {name: _stored(name, entry | contexts.get(name, {})) for name, entry in entries.items()}


@cache
def pair_pattern(family: Stored) -> re.Pattern[str]:
    """Zero-width: matches at p exactly where the characters around p are a certified pair."""
    branches = [
        f"(?<={range_class(family.ranges(left))})"
        f"(?={range_class(span for name in row for span in family.ranges(name))})"
        for left, row in family.pairs.items()
        if row
    ]
    return re.compile("|".join(branches) or r"(?!)")


def _stored(name: str, entry: Mapping[str, Any]) -> Stored:
    sources, left_triples = entry.get("sources", ()), entry.get("left_triples", ())
    return Stored(
        name=name,
        sources=tuple(Spelling(s["engine"], tuple(s["patterns"])) for s in sources),
        classes={key: tuple(atoms) for key, atoms in entry["classes"].items()},
        pairs=entry["pairs"],
        triples=tuple((a, b, c, theorem) for a, b, c, theorem in entry.get("triples", ())),
        left_triples=tuple((a, b, c, theorem) for a, b, c, theorem in left_triples),
        digit_phase=entry.get("digit_phase"),
        universal=entry.get("universal"),
    )
