"""Write the tables of ``tokpar/data/tables`` again, or compare them with what is there.

    python -m tests.recipes.generate_cuts [--check]

All of them ask the real engines (needs regex, tiktoken and tokenizers), but classes.json, which
theory states.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.recipes import engines
from tests.recipes.atoms import Atom
from tests.recipes.known import SHARED, SINGLES
from tests.recipes.pair_tables import text
from tests.recipes.shipped import PROPERTIES, SPELLINGS, STATED, sources_of
from tokpar.patterns.class_tables import WHITESPACE, Ranges, merge_ranges
from tokpar.patterns.decided_pattern import covers
from tokpar.patterns.known_pattern import certifies_spaces
from tokpar.patterns.pattern_parser import PatternReader
from tokpar.patterns.splits import SplitStage, decide_pairs

TABLES = Path(__file__).parents[2] / "tokpar" / "data" / "tables"
ATOMS, PATTERNS, CLASSES = (TABLES / f"{name}.json" for name in ("atoms", "patterns", "classes"))


def categories(text: str) -> tuple[list[str], engines.BoolArray]:
    """Category of each code point (C: none of PROPERTIES) and where engines, Unicode 3.2 agree."""
    found = ["C"] * engines.CODE_POINTS
    frozen = np.ones(engines.CODE_POINTS, dtype=np.bool_)
    for name in (*PROPERTIES, "L"):
        members, agreed = engines.agreed_mask(rf"\p{{{name}}}", text)
        frozen &= agreed
        for index in np.flatnonzero(members).tolist() if name != "L" else ():
            found[index] = name
    old = unicodedata.ucd_3_2_0.category
    for index in range(engines.CODE_POINTS):
        frozen[index] &= _old_category(old(chr(index))) == found[index]
    return found, frozen


def _old_category(name: str) -> str:
    """Unicode 3.2 category in the terms of PROPERTIES; "" for unassigned and surrogates."""
    if name in ("Cn", "Cs"):
        return ""
    if name.startswith("L"):
        return name
    return "C" if name in ("Cc", "Cf", "Co") else name[0]


def make_atoms() -> tuple[Atom, ...]:
    """The frozen atoms: every listed or shared atom with its code points, nonempty."""
    text = engines.every_character()
    category, frozen = categories(text)
    for low, high in WHITESPACE:
        frozen[low : high + 1] = True
    members, agreed = engines.agreed_mask(r"\s", text)
    frozen &= agreed & (members == _mask(WHITESPACE))
    frozen &= ~_folds_to_ascii(text)
    atoms = [Atom(name, *entry) for name, entry in SINGLES.items()]
    for atom in atoms:
        assert frozen[_mask(atom.ranges)].all(), atom
        frozen &= ~_mask(atom.ranges)
    by_category = np.array(category)
    for name, (wanted, region) in SHARED.items():
        mask = frozen & _mask(region) & (by_category == wanted)
        atoms.append(
            Atom(name, wanted, merge_ranges((p, p) for p in np.flatnonzero(mask).tolist()))
        )
        frozen &= ~mask
    check_sets(atoms, text)
    return tuple(atoms)


def check_sets(atoms: Iterable[Atom], characters: str) -> None:
    """Each class of a shipped pattern, but one of a single character, takes all of an atom or
    nothing of it, as every engine that runs the pattern says of `characters`; AssertionError names
    the first difference."""
    asked = engines.as_mask(set(characters))
    masks = [(atom.name, asked & _mask(atom.ranges)) for atom in atoms]
    sources = {
        (engine, source)
        for spellings in SPELLINGS.values()
        for names, patterns in spellings
        for engine in names
        for pattern in patterns
        for source in PatternReader(pattern, engine).sources
    }
    for engine, source in sorted(sources):
        members = engines.as_mask(engines.MEMBERS[engine](source, characters))
        for name, mask in masks if members.sum() > 1 else ():
            inside = members[mask]
            assert inside.all() or not inside.any(), f"{engine} {source!r} divides {name}"


def _folds_to_ascii(text: str) -> engines.BoolArray:
    """Non-ASCII code points that some engine matches by a case-insensitive ASCII letter."""
    folding = np.zeros(engines.CODE_POINTS, dtype=np.bool_)
    for members in engines.MEMBERS.values():
        folding |= engines.as_mask(members("(?i:[a-z])", text))
    folding[:0x80] = False
    return folding


def _mask(ranges: Ranges) -> engines.BoolArray:
    mask = np.zeros(engines.CODE_POINTS, dtype=np.bool_)
    for low, high in ranges:
        mask[low : high + 1] = True
    return mask


def patterns_text() -> str:
    """patterns.json: the spellings of each shipped pattern, and what holds of all of them."""
    blocks = []
    for name in SPELLINGS:
        sources = sources_of(name)
        rows = ",\n".join("   " + _dump(source) for source in sources)
        covered = {is_covering(source) for source in sources}
        assert len(covered) == 1, name
        spaced, covering = (_dump(holds) for holds in (True, covered.pop()))
        blocks.append(
            f' {_dump(name)}: {{\n  "sources": [\n{rows}\n  ],\n'
            f'  "space_after_nonspace": {spaced},\n  "covers": {covering}\n }}'
        )
    return '{"patterns": {\n' + ",\n".join(blocks) + "\n}}\n"


def is_covering(source: Mapping[str, Any]) -> bool:
    """True if the matches of the patterns leave no gap. Also checks that the patterns always split
    before a space after a character that is not white space (theorem 20)."""
    splits = [SplitStage(pattern, source["engine"]) for pattern in source["patterns"]]
    decided = decide_pairs(splits)
    alphabet = decided.alphabet
    assert certifies_spaces(alphabet.symbol_of, alphabet.size, decided.pairs), source
    return all(map(covers, decided.stages))


def classes_text() -> str:
    """classes.json: the classes and pairs that theory states."""
    blocks = []
    for stated in STATED:
        classes = [f"   {_dump(name)}: {_short(atoms)}" for name, atoms in stated.classes.items()]
        rows = ",\n".join(classes)
        blocks.append(
            f' {_dump(stated.name)}: {{\n  "classes": {{\n{rows}\n  }},\n'
            f'  "pairs": {_short(stated.pairs)}\n }}'
        )
    return '{"classes": {\n' + ",\n".join(blocks) + "\n}}\n"


def atoms_text(atoms: Iterable[Atom]) -> str:
    """atoms.json, one atom per line."""
    lines = [f"  {json.dumps(a.name)}: {json.dumps([list(r) for r in a.ranges])}" for a in atoms]
    provenance = {**engines.versions(), "unicodedata": unicodedata.ucd_3_2_0.unidata_version}
    body = ",\n".join(lines)
    return f'{{"atoms": {{\n{body}\n}},\n"provenance": {json.dumps(provenance)}}}\n'


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _same_but_provenance(text: str, path: Path) -> bool:
    if not path.exists():
        return False
    new, old = json.loads(text), json.loads(path.read_text(encoding="utf-8"))
    return {**new, "provenance": None} == {**old, "provenance": None}


def main(arguments: list[str] | None = None) -> int:
    """Write all tables, or with --check report those that differ (exit code 1)."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.recipes.generate_cuts", description="Write the tables of cuts again."
    )
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    atoms = make_atoms()
    differing = []
    made = {ATOMS: atoms_text(atoms), PATTERNS: patterns_text(), CLASSES: classes_text()}
    made |= {TABLES / "patterns" / f"{n}.json": text(sources_of(n), atoms) for n in SPELLINGS}
    for path, written in made.items():
        if not check:
            path.write_text(written, encoding="utf-8")
        elif not _same_but_provenance(written, path):
            differing.append(path.name)
    for name in differing:
        print(f"{name} differs from what the engines and the machine give", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
