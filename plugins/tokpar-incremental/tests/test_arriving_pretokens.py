"""Pre-tokens that are found while they arrive are those of the whole text."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokpar_incremental.arriving_pretokens import (
    PatternSplitter,
    TokenSplitter,
    machine_for,
    splitters,
)

from tests.conftest import cases, drawn
from tests.recipes.shipped import SPELLINGS as NAMED
from tests.support.draws import up_to
from tests.support.texts import texts
from tokpar.patterns.pattern_reader import UnsupportedPatternError

SPELLINGS = sorted(
    {
        (name, patterns)
        for name, spellings in NAMED.items()
        for engines, patterns in spellings
        if "regex" in engines
    }
)
OTHERS = [
    ("the end matters", (r"s'(?=[\s\S])|[\s\S]",)),
    ("gaps", (r"s'+|\s'\s|\p{Lu}",)),
]
PATTERNS = sorted({pattern for _, patterns in SPELLINGS for pattern in patterns})


class Pieces:
    """Keeps the pieces that are complete, and what has come of the next one."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun = ""

    def feed(self, text: str) -> None:
        assert text
        self.begun += text

    def end(self) -> None:
        assert self.begun
        self.done.append(self.begun)
        self.begun = ""


@cache
def compiled(pattern: str) -> Any:
    return regex.compile(pattern.replace(r"|\s++$|", r"|\s++(?![\s\S])|"))


def pieces_of(patterns: tuple[str, ...], text: str) -> list[str]:
    """Matches and gaps of each pattern in turn, by `regex` on the whole text."""
    pieces = [text] if text else []
    for pattern in patterns:
        parts = []
        for piece in pieces:
            edges = {0, len(piece)}
            for match in compiled(pattern).finditer(piece):
                edges |= set(match.span())
            places = sorted(edges)
            parts += [piece[i:j] for i, j in pairwise(places)]
        pieces = parts
    return pieces


@pytest.mark.ids
@pytest.mark.parametrize(("name", "patterns"), [*SPELLINGS, *OTHERS])
@given(data=st.data(), text=texts(max_size=200))
def test_pieces_are_those_of_the_whole_text(
    name: str, patterns: tuple[str, ...], data: st.DataObject, text: str
) -> None:
    """On all code points, also where engines differ, since `regex` is what classes are asked of."""
    pieces = Pieces()
    row = splitters(patterns, pieces)
    sizes = [step % 10 for step in data.draw(up_to(len(text)))]
    place = 0
    for size in [*sizes, len(text)]:
        row.feed(text[place : place + size])
        place += size
    row.end()
    assert pieces.done == pieces_of(patterns, text)
    assert not pieces.begun
    row.feed("again, 1234")
    row.end()
    assert pieces.done == pieces_of(patterns, text) + pieces_of(patterns, "again, 1234")


ALL = [*SPELLINGS, *OTHERS]
ALPHABET = "as'A1 \n.中\u0301"


def all_texts(longest: int) -> list[str]:
    return ["".join(t) for n in range(longest + 1) for t in product(ALPHABET, repeat=n)]


@pytest.mark.parametrize(("name", "patterns"), cases(ALL, ALL[::3]))
def test_what_is_passed_on_is_what_all_continuations_share(
    name: str, patterns: tuple[str, ...]
) -> None:
    """Against all texts of up to 3 characters behind drawn ones. What is passed on is always right;
    for a single Split of a family it is all that can be known, and a row of them waits for one
    character more at times."""
    short = all_texts(3)
    rng = random.Random(name)
    long = ["".join(rng.choices(ALPHABET, k=5)) for _ in range(20)]
    for text in ["s'", *rng.sample(short, drawn(40)), *cases(long, long[::5])]:
        pieces = Pieces()
        splitters(patterns, pieces).feed(text)
        count = len(pieces.done)
        continued = [pieces_of(patterns, text + more) for more in short]
        for found in continued:
            assert found[:count] == pieces.done, text
            assert "".join(found[count : count + 1]).startswith(pieces.begun), text
        if len(patterns) == 1 and name in NAMED:
            same = [len(set(map(tuple, (f[:n] for f in continued)))) == 1 for n in range(1, 6)]
            known = same.index(False) if False in same else len(same)
            shared = min(len("".join(f[count : count + 1])) for f in continued)
            assert (count, len(pieces.begun)) == (known, shared) or not text, text


class Counted(tuple[int, ...]):
    """Counts how often it is looked at."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        Counted.looks += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_text_makes_the_machine_read_characters_many_times(pattern: str) -> None:
    """Runs of all pairs of classes, and pairs again and again: each character at most 3 times."""
    machine = machine_for(pattern)
    counted = replace(machine, signs=Counted(machine.signs))
    every = np.delete(np.arange(0x110000), np.s_[0xD800:0xE000])
    first = [chr(every[machine.symbol_of[every] == n][0]) for n in range(machine.width)]
    pairs = [*product(first, repeat=2)]
    for a, b in cases(pairs, pairs[::3]):
        for text in (a + b * 200 + ".", (a + b * 20) * 10, (a + b) * 100, a * 100 + b * 100 + a):
            Counted.looks = 0
            splitter = PatternSplitter(counted, Pieces())
            splitter.feed(text)
            splitter.end()
            assert Counted.looks <= 3 * len(text), text


def test_a_pattern_that_looks_back_has_no_machine() -> None:
    with pytest.raises(UnsupportedPatternError):
        machine_for(r"(?<=a)b|.")


@given(
    contents=st.lists(st.text("ab<", min_size=1, max_size=3), min_size=1, max_size=4, unique=True),
    chunks=st.lists(st.text("ab<", max_size=4), max_size=6),
)
def test_added_tokens_are_found_leftmost_and_longest(
    contents: list[str], chunks: list[str]
) -> None:
    found: list[str | int] = []

    class Segments(Pieces):
        def end(self) -> None:
            found.extend([self.begun] if self.begun else [])
            self.begun = ""

    splitter = TokenSplitter({c: n for n, c in enumerate(contents)}, Segments(), found.append)
    for chunk in chunks:
        splitter.feed(chunk)
    splitter.end()
    longest_first = "|".join(map(regex.escape, sorted(contents, key=len, reverse=True)))
    parts = regex.split(f"({longest_first})", "".join(chunks))
    assert found == [contents.index(p) if n % 2 else p for n, p in enumerate(parts) if p]
