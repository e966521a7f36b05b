"""Tables.v has the patterns that tokpar knows; its symbols are all characters of the engines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.recipes.coq_tables import FILE, coq_file, decided_tables, trees_of
from tokpar.patterns.charclass_members import CODE_POINTS, SURROGATES, members
from tokpar.patterns.class_tables import Ranges, read_table

TABLES = [*decided_tables()]
NAMES = [f"{family}_{number}" for family, number, _ in TABLES]
BY_ENGINE = [
    (entry, engine)
    for _, _, entry in TABLES
    for engine in sorted({source["engine"] for source in entry["sources"]})
]
LONG_S, KELVIN = 0x17F, 0x212A


@cache
def asked(engine: str) -> Mapping[str, Ranges]:
    """Every class of the tables -> its members, in one pass over all code points."""
    entries = [entry for entry, known in BY_ENGINE if known == engine]
    return members({source for entry in entries for source in entry["classes"]}, engine)


def signatures(entry: Mapping[str, Any], engine: str) -> tuple[np.ndarray[Any, Any], list[int]]:
    """The classes that hold each code point, and those that hold each symbol, as bits."""
    points = np.zeros(CODE_POINTS, np.int64)
    symbols = [0] * entry["size"]
    for bit, (source, held) in enumerate(entry["classes"].items()):
        for low, high in asked(engine)[source]:
            points[low : high + 1] |= 1 << bit
        for symbol in held:
            symbols[symbol] |= 1 << bit
    return points, symbols


def test_the_file_is_what_the_recipe_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == coq_file(), (
        "run `python -m tests.recipes.coq_tables`"
    )


def test_every_family_has_tables() -> None:
    assert {family for family, _, _ in TABLES} == read_table("patterns.json")["patterns"].keys()


@pytest.mark.parametrize(("entry", "engine"), BY_ENGINE)
def test_each_character_is_one_of_the_symbols(entry: Mapping[str, Any], engine: str) -> None:
    """The theorem asks for a symbol below `size` for each character: every character has one."""
    points, symbols = signatures(entry, engine)
    assert len(set(symbols)) == len(symbols)
    texts = np.ones(CODE_POINTS, np.bool_)
    texts[SURROGATES[0] : SURROGATES[1] + 1] = False
    assert set(np.unique(points[texts]).tolist()) == set(symbols)


@pytest.mark.parametrize(("entry", "engine"), BY_ENGINE)
def test_what_folds_to_ascii_is_the_symbol_of_the_letter(
    entry: Mapping[str, Any], engine: str
) -> None:
    points, _ = signatures(entry, engine)
    if any("(?i:" in source for source in entry["classes"]):
        assert points[LONG_S] == points[ord("s")]
    assert points[KELVIN] == points[0x178]  # another capital letter: no family has (?i:k)


@pytest.mark.parametrize("entry", [entry for _, _, entry in TABLES], ids=NAMES)
def test_all_spellings_of_a_table_are_one_tree(entry: Mapping[str, Any]) -> None:
    first, *others = trees_of(entry)
    assert all(other == first for other in others)
