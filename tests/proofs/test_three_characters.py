"""Theorem 63: cuts that three characters make sure, in stored and drawn rows, by the engines."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import drawn, is_quick
from tests.recipes.coq_tables import decided_tables, trees_of
from tests.support.proof_pages import PROOFS
from tests.support.sure_cuts import (
    Conditions,
    is_sure_last,
    is_sure_middle,
    is_sure_pair,
    last_conditions,
    middle_conditions,
    sure_triples,
)
from tests.support.windows_brute import Brute, ask, asked, edges_of
from tests.support.windows_drawn import ATOMS, RELAXED, rows, split
from tokpar.patterns.automaton import Automaton, automaton
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, machines_of
from tokpar.patterns.time_budget import SECONDS, Budget

TABLES = [*decided_tables()]
STORED = [
    pytest.param(entry, source, id=f"{name}_{number}-{source['engine']}-{k}")
    for name, number, entry in TABLES
    for k, source in enumerate(entry["sources"])
]
Triples = set[tuple[int, ...]]


def stored_row(entry: Any) -> list[Automaton]:
    return [automaton(tree, entry["size"], Budget(SECONDS)) for tree in trees_of(entry)[0]]


@cache
def stored_triples(name: str, number: int) -> tuple[Triples, Triples]:
    (entry,) = (entry for *key, entry in TABLES if key == [name, number])
    return sure_triples(stored_row(entry))


def triples_of(entry: Any) -> tuple[Triples, Triples]:
    ((name, number),) = ((name, number) for name, number, each in TABLES if each is entry)
    return stored_triples(name, number)


def characters(source: Any) -> dict[str, int]:
    """A character of each symbol of a stored pattern, with its symbol. A symbol of characters that
    another version of Unicode has assigned has none."""
    shipped = shipped_pattern(source["engine"], tuple(source["patterns"]))
    assert shipped is not None
    symbols, first = np.unique(shipped.table.symbol_of, return_index=True)
    pairs = zip(first.tolist(), symbols.tolist(), strict=True)
    return {chr(point): symbol for point, symbol in pairs if symbol < shipped.table.size}


def refuted(brute: Brute, symbols: Sequence[int], triples: Triples, before: int) -> list[str]:
    """The texts of a triple that are cut after `before` characters, and that some text refutes.
    `symbols`: those of the characters."""
    wrong = np.flatnonzero(brute.refuted(before, 3 - before)).tolist()
    places = [*product(range(len(symbols)), repeat=3)]
    return [
        "".join(brute.atoms[i] for i in places[k])
        for k in wrong
        if tuple(symbols[i] for i in places[k]) in triples
    ]


# ------------------------------------------------------------------------------ stored rows


@pytest.mark.parametrize(("entry", "source"), STORED)
def test_no_text_refutes_a_sure_triple_of_a_stored_row(entry: Any, source: Any) -> None:
    """All texts over a character of each symbol."""
    last, middle = triples_of(entry)
    chars = characters(source)
    longest = 3 if is_quick() or len(chars) > 15 else 4
    splits = [SplitStage(pattern, source["engine"]) for pattern in source["patterns"]]
    brute = Brute(splits, "".join(chars), longest)
    assert refuted(brute, [*chars.values()], last, 2) == []
    assert refuted(brute, [*chars.values()], middle, 1) == []
    assert min(len(last), len(middle)) > 100


@pytest.mark.parametrize(
    ("entry", "source"), [case for case in STORED if "fancy" not in str(case.id)]
)
def test_no_longer_text_refutes_a_sure_triple_of_a_stored_row(entry: Any, source: Any) -> None:
    last, middle = triples_of(entry)
    char_of = {symbol: char for char, symbol in characters(source).items()}
    known = [[each for each in sorted(sure) if {*each} <= {*char_of}] for sure in (last, middle)]
    splits = [SplitStage(pattern, source["engine"]) for pattern in source["patterns"]]
    edges = edges_of(splits, ())
    draw, cuts = random.Random(str(source)), 0
    for _ in range(drawn(2000)):
        parts = [draw.choice(draw.choice(known)) for _ in range(3)] + [draw.sample([*char_of], 2)]
        symbols = [symbol for part in draw.sample(parts, 4) for symbol in part]
        text = "".join(char_of[symbol] for symbol in symbols)
        for p in range(1, len(text)):
            is_last = p > 1 and tuple(symbols[p - 2 : p + 1]) in last
            if is_last or tuple(symbols[p - 1 : p + 2]) in middle:
                cuts += 1
                assert edges(text) == edges(text[:p]) | edges(text[p:]) << p, (text, p)
    assert cuts > 2 * drawn(2000)


def test_the_counts_in_coq_are_those_of_the_stored_rows() -> None:
    """SureCuts.v, `stored_counts`: triples whose pair at the cut is not sure."""
    source = (PROOFS / "coq" / "SureCuts.v").read_text(encoding="utf-8")
    written = source.partition("Definition stored_counts")[2].partition(".\n")[0]
    in_coq = [
        [*map(int, re.findall(r"\d+", each))] for each in re.findall(r"\[(\d[^]]*)\]", written)
    ]
    found = []
    for name, number, entry in TABLES:
        row, (last, middle) = stored_row(entry), stored_triples(name, number)
        size = range(entry["size"])
        pairs = {(a, b) for a in size for b in size if is_sure_pair(row, a, b)}
        found.append(
            [
                len(pairs),
                sum((b, c) not in pairs for _, b, c in last),
                sum((a, b) not in pairs for a, b, _ in middle),
            ]
        )
    assert found == in_coq


# ------------------------------------------------------------------------------- drawn rows


@pytest.mark.parametrize("engine", ["regex", "oniguruma"])
@RELAXED
@given(data=st.data())
def test_theorem_63_no_text_refutes_a_sure_triple_of_a_drawn_row(
    engine: str, data: st.DataObject
) -> None:
    splits = data.draw(rows(engine)) if data.draw(st.booleans()) else [data.draw(split(engine))]
    try:
        alphabet, row = machines_of(splits, ask(ATOMS), asked(ATOMS))
    except UnsupportedPatternError:
        return
    brute = Brute(splits, ATOMS[:5], 4)
    symbols = alphabet.symbols(ATOMS[:5])
    last, middle = sure_triples(row)
    pairs = [pair for pair in product({*symbols}, repeat=2) if is_sure_pair(row, *pair)]
    assert {(third, *pair) for third in symbols for pair in pairs} <= last
    assert {(*pair, third) for third in symbols for pair in pairs} <= middle
    assert refuted(brute, symbols, last, 2) == []
    assert refuted(brute, symbols, middle, 1) == []


# --------------------------------------------------------------------------- each condition

LAST = {
    "a gap holds b and c": (["x"], "(a) begun at b: hits", "ab", "c"),
    "the run that begins at b goes on": (["bc|."], "(a) begun at b: dies", "ab", "c"),
    "the run that begins at b hits before c only": (["b(?=c)"], "(a) begun at b: END", "ab", "c"),
    "a run goes on": (["abc|."], "(b)", "ab", "c"),
    "a run hits before c only": (["ab(?=c)|."], "(c)", "ab", "c"),
    "a run hits before END only": ([r"a\s+(?!\S)|."], "(c)", "a ", "c"),
    "an earlier stage reads over the cut": (["abc|.", "ab|."], "(d)", "ab", "c"),
    "an earlier stage ends before b": (["a", "ab|[bc]+"], "(a) begun at b: dies", "ab", "c"),
}
MIDDLE = {
    "a gap holds a and b": (["x"], "(a)", "a", "bc"),
    "a run hits before b only": (["xa(?=b)|."], "(b)", "xa", "bc"),
    "a run hits before c": (["ab|."], "(c) hits", "a", "bc"),
    "a run goes on over c": (["abc|."], "(c) goes on", "a", "bc"),
    "an earlier stage reads over the cut": (["xab|.", "xa|."], "(d)", "xa", "bc"),
    "an earlier stage ends before c": (["c", "ab(?!c)|."], "(e)", "a", "bc"),
}


def assert_only_missing(
    patterns: Sequence[str], left: str, right: str, conditions: Any, name: str
) -> None:
    """Of the conditions of the last stage only `name` fails, and the cut changes the pieces."""
    splits = [SplitStage(pattern, "oniguruma") for pattern in patterns]
    atoms = "abcx "
    alphabet, row = machines_of(splits, ask(atoms), asked(atoms))
    found: Conditions = conditions(row, len(row) - 1, *alphabet.symbols((left + right)[-3:]))
    assert [each for each, holds in found.items() if not holds] == [name]
    edges = edges_of(splits, ())
    assert edges(left + right) != edges(left) | edges(right) << len(left)


@pytest.mark.parametrize("case", LAST)
def test_a_condition_of_the_last_character_is_needed(case: str) -> None:
    patterns, name, left, right = LAST[case]
    assert_only_missing(patterns, left, right, last_conditions, name)


@pytest.mark.parametrize("case", MIDDLE)
def test_a_condition_of_the_middle_character_is_needed(case: str) -> None:
    patterns, name, left, right = MIDDLE[case]
    assert_only_missing(patterns, left, right, middle_conditions, name)


def test_the_last_space_of_several_goes_with_the_word_behind() -> None:
    """What the two kinds are for, in one covering Split: GPT-2's spaces."""
    splits = [SplitStage(r" ?[a-z]+|\s+(?!\S)|\s+", "oniguruma")]
    alphabet, row = machines_of(splits, ask("a \n"), asked("a \n"))
    letter, space, line = alphabet.symbols("a \n")
    assert not is_sure_pair(row, space, space)
    assert is_sure_middle(row, space, space, letter)
    assert not is_sure_pair(row, space, letter)
    assert is_sure_last(row, letter, line, letter)
