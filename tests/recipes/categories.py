"""Writes ``data/tables/categories.json``: what a code point outside the frozen set may be.

    python -m tests.recipes.categories

Needs regex, tiktoken and tokenizers."""

from __future__ import annotations

import json
import unicodedata

import numpy as np

from tests.recipes.engines import CODE_POINTS, MEMBERS, as_mask
from tokpar.certificate.frozen_tables import TABLES, load_tables
from tokpar.patterns.class_tables import load_pictographs

KINDS = ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S", "Z")
FILE = TABLES / "categories.json"
FOLDED = "(?i:[a-z])"


def candidates() -> str:
    """Code points outside the frozen tables that some engine takes for a letter, mark, number,
    punctuation or symbol, but none for an ASCII letter of the other case."""
    frozen = [(low, high) for low, high, _ in load_tables().ranges] + [*load_pictographs()]
    outside = np.ones(CODE_POINTS, dtype=np.bool_)
    outside[0xD800:0xE000] = False
    for low, high in frozen:
        outside[low : high + 1] = False
    text = "".join(map(chr, np.flatnonzero(outside).tolist()))
    known = set().union(*(find(r"[\p{L}\p{M}\p{N}\p{P}\p{S}]", text) for find in MEMBERS.values()))
    folded = set().union(*(find(FOLDED, text) for find in MEMBERS.values()))
    return "".join(sorted(known - folded))


def categories() -> dict[str, list[list[int]]]:
    """Returns the ranges of each set of possible categories: "P S" -> [[0xa7, 0xa7], ...].

    Asks all engines, Python's newest tables, and those of Unicode 3.2."""
    text = candidates()
    possible: dict[str, set[str]] = {char: set() for char in text}
    for find in MEMBERS.values():
        found = {kind: find(rf"\p{{{kind}}}", text) for kind in KINDS}
        for char, kinds in possible.items():
            kinds |= {kind for kind, members in found.items() if char in members} or {"C"}
    for table in (unicodedata, unicodedata.ucd_3_2_0):
        for char, kinds in possible.items():
            name = table.category(char)
            kinds.add(name if name in KINDS else name[0])
    sets = sorted({" ".join(sorted(kinds)) for kinds in possible.values()})
    return {
        name: ranges({char for char, kinds in possible.items() if " ".join(sorted(kinds)) == name})
        for name in sets
    }


def ranges(chars: set[str]) -> list[list[int]]:
    """Returns inclusive ranges."""
    mask = np.append(as_mask(chars), False).astype(np.int8)
    steps = np.diff(mask, prepend=0)
    firsts, lasts = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0) - 1
    return [[int(low), int(high)] for low, high in zip(firsts, lasts, strict=True)]


def written() -> str:
    """Returns the file."""
    rows = [f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in categories().items()]
    return '{"categories": {\n' + ",\n".join(rows) + "\n}}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
