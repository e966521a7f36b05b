"""Write the tables of ``tokpar/data/tables`` again, or compare them with what is there.

    python -m tests.recipes.generate_cuts [--check]

atoms.json asks the real engines (needs regex, tiktoken and tokenizers). families.json, and
contexts.json beside this file, follow from the stored atoms by `contexts.decide` alone. The windows
of each family (`windows.py`) ask the engines again. Only tests read contexts.json: the windows must
find each of its cuts.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tests.recipes import engines, windows
from tests.recipes.contexts import Contexts, class_run, decide
from tests.recipes.families import GHOSTS, PROPERTIES, RECIPES, STATED, Recipe, Stated
from tests.recipes.known import SHARED, SINGLES
from tests.recipes.pattern import Alt, Atom, Chars, char_sets, parse, walk
from tokpar.patterns.class_tables import WHITESPACE, Ranges, merge_ranges

TABLES = Path(__file__).parents[2] / "tokpar" / "data" / "tables"
ATOMS = TABLES / "atoms.json"
FAMILIES = TABLES / "families.json"
CONTEXTS = Path(__file__).parent / "contexts.json"
WINDOWS = TABLES / "windows"
SPACES = {"space", "newline", "tab", "space_control", "space_Z"}


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


def check_sets(atoms: Iterable[Atom], text: str) -> None:
    """Every one-char class of every family means the same, on the frozen code points of `text`,
    to each engine it is meant for and to the model; AssertionError names the first difference."""
    asked = engines.as_mask(set(text)) & _mask(tuple(r for a in atoms for r in a.ranges))
    sets: dict[tuple[str, str], frozenset[str]] = {}
    for recipe in RECIPES:
        for names, patterns in recipe.stages:
            for engine, pattern in product(names, patterns):
                found = char_sets(parse(pattern, engine, atoms))
                sets |= {(engine, source): members for source, members in found.items()}
    ranges = {atom.name: atom.ranges for atom in atoms}
    for (engine, source), members in sets.items():
        wanted = _mask(tuple(r for name in members for r in ranges[name]))
        got = engines.as_mask(engines.MEMBERS[engine](source, text))
        if (differing := asked & (wanted != got)).any():
            first = int(np.flatnonzero(differing)[0])
            raise AssertionError(f"{engine} {source!r} differs from the model at U+{first:04X}")


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


def stages_of(
    recipe: Recipe, engine: str, patterns: tuple[str, ...], atoms: Iterable[Atom]
) -> tuple[Alt, ...]:
    """The parsed Splits of one spelling, the last made covering by the family's gap pattern."""
    spelled = (*patterns[:-1], patterns[-1] + recipe.gap)
    return tuple(parse(pattern, engine, atoms) for pattern in spelled)


def decide_recipe(recipe: Recipe, atoms: tuple[Atom, ...]) -> tuple[Contexts, int | None]:
    """Safe contexts and digit phase of a family; all its spellings must give the same."""
    universe = (*atoms, *GHOSTS)
    names = frozenset(atom.name for atom in universe)
    digits = frozenset(atom.name for atom in universe if atom.category == "N")
    results = set()
    for engine_names, patterns in recipe.stages:
        for engine in engine_names:
            stages = stages_of(recipe, engine, patterns, universe)
            results.add((decide(stages, names), digit_phase(stages, digits)))
    if len(results) != 1:
        raise AssertionError(f"the spellings of {recipe.name} have different tables")
    return results.pop()


def digit_phase(stages: tuple[Alt, ...], digits: frozenset[str]) -> int | None:
    """n if digits are consumed by one alternative `digits{1,n}` and nothing else (Theorem 22)."""
    users = [
        option
        for option in stages[0].items
        if any(isinstance(node, Chars) and node.atoms & digits for node in walk(option))
    ]
    run = class_run(users[0]) if len(users) == 1 else None
    return run[1] if run is not None and run[0] == digits else None


def make_family(recipe: Recipe, atoms: tuple[Atom, ...]) -> dict[str, Any]:
    """Returns the rows of one recipe, for families.json and for contexts.json."""
    contexts, phase = decide_recipe(recipe, atoms)
    classes = {name: list(members) for name, members in recipe.classes.items()}
    listed = sorted(atom for members in classes.values() for atom in members)
    assert listed == sorted(atom.name for atom in atoms), recipe.name
    pairs: dict[str, dict[str, str]] = {name: {} for name in classes}
    for left, right in _by_class(contexts.pairs, classes, recipe.name):
        pairs[left][right] = _theorem(recipe, left, right)
    return {
        "sources": sources_of(recipe),
        "classes": classes,
        "pairs": pairs,
        "triples": [[*t, "19"] for t in _by_class(contexts.triples, classes, recipe.name)],
        "left_triples": [
            [*t, "19"] for t in _by_class(contexts.left_triples, classes, recipe.name)
        ],
        "digit_phase": phase,
        "universal": recipe.universal,
    }


def sources_of(recipe: Recipe) -> list[dict[str, Any]]:
    """The engines and patterns that a family is known by."""
    return [
        {"engine": engine, "patterns": list(patterns)}
        for names, patterns in recipe.stages
        for engine in names
    ]


def _by_class(
    rows: Iterable[tuple[str, ...]], classes: Mapping[str, list[str]], family: str
) -> list[tuple[str, ...]]:
    """Rows of atoms as rows of classes; a row must hold for all atoms of its classes."""
    class_of = {atom: name for name, members in classes.items() for atom in members}
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        if all(atom in class_of for atom in row):
            key = tuple(class_of[atom] for atom in row)
            counts[key] = counts.get(key, 0) + 1
    for key, count in counts.items():
        if count != np.prod([len(classes[name]) for name in key]):
            raise AssertionError(f"classes of {family} are too coarse: {key}")
    order = {name: index for index, name in enumerate(classes)}
    return sorted(counts, key=lambda row: [order[name] for name in row])


def _theorem(recipe: Recipe, left: str, right: str) -> str:
    """The shortest proof of a pair: 20 (U1), 21 (newline row), else 19 (the machine)."""
    x, y = set(recipe.classes[left]), set(recipe.classes[right])
    if not x & SPACES and y <= SPACES and (recipe.universal == "any" or y != {"newline"}):
        return "20"
    return "21" if x == {"newline"} and not y & SPACES else "19"


def stated_family(stated: Stated) -> dict[str, Any]:
    """Returns the rows of a pair-local pre-tokenizer."""
    return {
        "classes": {name: list(atoms) for name, atoms in stated.classes.items()},
        "pairs": {x: dict.fromkeys(row, "4.8") for x, row in stated.pairs.items()},
    }


def atoms_text(atoms: Iterable[Atom]) -> str:
    """atoms.json, one atom per line."""
    lines = [f"  {json.dumps(a.name)}: {json.dumps([list(r) for r in a.ranges])}" for a in atoms]
    provenance = {**engines.versions(), "unicodedata": unicodedata.ucd_3_2_0.unidata_version}
    body = ",\n".join(lines)
    return f'{{"atoms": {{\n{body}\n}},\n"provenance": {json.dumps(provenance)}}}\n'


def make_families(atoms: tuple[Atom, ...]) -> dict[str, dict[str, Any]]:
    """Returns the rows of all regex families by name, for families.json and for contexts.json."""
    return {recipe.name: make_family(recipe, atoms) for recipe in RECIPES}


def shipped(families: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Returns the rows of families.json."""
    named = {
        name: {key: family[key] for key in ("sources", "universal")}
        for name, family in families.items()
    }
    return named | {stated.name: stated_family(stated) for stated in STATED}


def contexts_of(families: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Returns the rows of contexts.json."""
    keys = ("classes", "pairs", "triples", "left_triples", "digit_phase")
    return {name: {key: family[key] for key in keys} for name, family in families.items()}


def families_text(families: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns families.json or contexts.json, with one table row per line, indented by depth."""
    blocks = []
    for name, family in families.items():
        fields = [f"  {json.dumps(key)}: {_rows(value)}" for key, value in family.items()]
        blocks.append(f" {json.dumps(name)}: {{\n" + ",\n".join(fields) + "\n }")
    return '{"families": {\n' + ",\n".join(blocks) + "\n}}\n"


def _rows(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join("   " + _dump(item) for item in value) + "\n  ]"
    if isinstance(value, dict):
        rows = (f"   {_dump(key)}: {_dump(item)}" for key, item in value.items())
        return "{\n" + ",\n".join(rows) + "\n  }"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
    families = make_families(atoms)
    made = {ATOMS: atoms_text(atoms), FAMILIES: families_text(shipped(families))}
    made[CONTEXTS] = families_text(contexts_of(families))
    made |= {WINDOWS / f"{r.name}.json": windows.text(sources_of(r), atoms) for r in RECIPES}
    for path, text in made.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not _same_but_provenance(text, path):
            differing.append(path.name)
    for name in differing:
        print(f"{name} differs from what the engines and the machine give", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
