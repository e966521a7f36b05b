"""The stored tables are what the windows of one character on either side, and of three, say."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from tests.conftest import below_one, cases
from tokpar.facts.expression import UnsupportedPatternError
from tokpar.facts.splits import SplitStage, decide_windows
from tokpar.facts.tables import Spelling, load_families
from tokpar.facts.windows import Windows

SPELLINGS = [
    (name, source)
    for name, family in load_families().items()
    if family.sources and name != "bert"
    for source in family.sources
]
DOLLAR = [(name, source) for name, source in SPELLINGS if r"\s++$" in source.patterns[-1]]
REFUSED = [(name, source) for name, source in DOLLAR if source.engine == "regex"]
DECIDED = [each for each in SPELLINGS if each not in REFUSED]


def label(value: object) -> str:
    return (
        f"{value.engine} {len(value.patterns[-1])}" if isinstance(value, Spelling) else str(value)
    )


@cache
def windows_of(source: Spelling) -> Windows:
    if source.engine == "oniguruma":
        below_one()
    return decide_windows([SplitStage(pattern, source.engine) for pattern in source.patterns])


@cache
def symbols_of(name: str, source: Spelling) -> dict[str, frozenset[int]]:
    """The symbols that the characters of each class are."""
    family = load_families()[name]
    symbol_of = windows_of(source).alphabet.symbol_of
    return {
        label: frozenset(
            int(c) for low, high in family.ranges(label) for c in set(symbol_of[low : high + 1])
        )
        for label in family.classes
    }


def certified(
    name: str, source: Spelling, left: tuple[str, ...], right: tuple[str, ...]
) -> set[bool]:
    """What the windows of these classes say, whichever characters they are of."""
    symbols = symbols_of(name, source)
    tables = windows_of(source).tables
    return {
        tables.holds(word[: len(left)], word[len(left) :])
        for word in product(*(symbols[label] for label in (*left, *right)))
    }


FEW = [(name, source) for name, source in DECIDED if source.engine == "oniguruma"]


@pytest.mark.parametrize(("name", "source"), cases(DECIDED, FEW), ids=label)
def test_the_stored_pairs_are_the_windows_of_two_characters(name: str, source: Spelling) -> None:
    family = load_families()[name]
    for left, right in product(family.classes, repeat=2):
        stored = family.theorem(left, right) is not None
        assert certified(name, source, (left,), (right,)) == {stored}, (left, right)


@pytest.mark.parametrize(("name", "source"), cases(DECIDED, FEW), ids=label)
def test_the_stored_triples_are_windows_of_three_characters(name: str, source: Spelling) -> None:
    family = load_families()[name]
    for left, first, second, _ in family.triples:
        if second in family.classes:
            assert certified(name, source, (left,), (first, second)) == {True}
    for second, first, right, _ in family.left_triples:
        if second in family.classes:
            assert certified(name, source, (second, first), (right,)) == {True}


@pytest.mark.parametrize(("name", "source"), REFUSED, ids=label)
def test_a_dollar_of_two_characters_is_refused(name: str, source: Spelling) -> None:
    with pytest.raises(UnsupportedPatternError, match="two characters ahead"):
        windows_of(source)


def test_seven_families_are_decided() -> None:
    seven = {"gpt2", "cl100k", "cl100k_tiktoken", "qwen2", "o200k", "tekken", "deepseek"}
    assert {name for name, _ in DECIDED} == seven
    assert len(REFUSED) == 2
