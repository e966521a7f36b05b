"""The pre-tokens of the checker's own scan are those of the engines, however it guesses."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import tiktoken
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers
from tokpar_model import pretoken_scan
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.pretoken_machine import machine_of
from tokpar_model.pretoken_scan import mark_pretokens

from tests.conftest import needs_below_one
from tests.support.model_worlds import DRAWN, FAMILIES, PIECES
from tests.support.patterns_drawn import patterns
from tests.support.tokenizers_drawn import PATTERNS
from tokpar.certificate.check_context import RefusedError

pytestmark = needs_below_one
LONG = (
    "abababab" * 9,
    "111111111",
    "          ",
    "\n\n\n\n",
    "word another ",
    "中文" * 20,
    "e" * 70,
)


def edges_of(
    row: Sequence[str], text: str, engine: str = "oniguruma", steps: int = 1000
) -> list[int]:
    """Where pieces begin, and the end, by the checker's machines."""
    marks = np.zeros(len(text) + 1, dtype=np.uint8)
    marks[[0, len(text)]] = 1
    for pattern in row:
        machine = machine_of(pattern, engine)
        symbols = machine.symbols.symbol_of[[ord(char) for char in text]]
        mark_pretokens(machine, symbols, marks, StepLimit(steps * (len(text) + 1)))
    return np.flatnonzero(marks).tolist()


def edges_of_engine(row: Sequence[str], text: str) -> list[int]:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in row]
    pieces = pre_tokenizers.Sequence(splits).pre_tokenize_str(text)
    return sorted({0, len(text), *(edge for _, span in pieces for edge in span)})


def text_of(seed: int, longest: int = 60) -> str:
    rng = random.Random(seed)
    return "".join(rng.choices([*PIECES, *LONG], k=rng.randint(1, longest)))


seeds = st.integers(0, 1 << 32)
rows = st.one_of(
    st.sampled_from(FAMILIES),
    st.lists(st.sampled_from(DRAWN[:2] + DRAWN[3:]), min_size=1, max_size=3),
)


@given(rows, seeds)
def test_pieces_are_those_of_oniguruma(row: Sequence[str], seed: int) -> None:
    text = text_of(seed)
    assert edges_of(row, text) == edges_of_engine(row, text)


@given(patterns(), seeds)
def test_pieces_of_any_pattern_are_those_of_oniguruma(pattern: object, seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choices("aA1 \n.", k=rng.randint(1, 40)))
    source = pattern.source  # type: ignore[attr-defined]
    try:
        found = edges_of([source], text)
    except RefusedError:
        assume(False)
    assert found == edges_of_engine([source], text)


@pytest.mark.parametrize("name", ["cl100k", "o200k", "r50k", "gpt2"])
@given(seeds)
def test_pieces_are_those_of_fancy_regex(name: str, seed: int) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    text = text_of(seed, 12)
    found = edges_of(PATTERNS[name], text, "fancy-regex")
    for start, stop in pairwise(found):
        ranks.setdefault(text[start:stop].encode(), len(ranks))
    engine = tiktoken.Encoding(
        "pieces", pat_str=PATTERNS[name][0], mergeable_ranks=ranks, special_tokens={}
    )
    pieces = [text[a:b] for a, b in pairwise(found)]
    assert engine.encode_ordinary(text) == [ranks[piece.encode()] for piece in pieces]


@pytest.mark.parametrize(("lane", "steps"), [(8, 4), (16, 4), (64, 4), (16, 0)])
@given(rows, seeds)
def test_guessed_places_change_nothing(
    lane: int, steps: int, row: Sequence[str], seed: int
) -> None:
    """Also where chains take too many steps and are given up."""
    text = text_of(seed)
    expected = edges_of(row, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretoken_scan, "_FEW", 0)
        patch.setattr(pretoken_scan, "_LANE", lane)
        patch.setattr(pretoken_scan, "_STEPS", steps)
        patch.setattr(pretoken_scan, "_MORE", 512 if steps else 20)
        assert edges_of(row, text) == expected


@pytest.mark.parametrize(
    "text", ["1" * 9_000, "a" * 9_000, " " * 9_000, "a b" * 4_000, "中" * 6_000]
)
def test_long_runs_are_divided_as_the_engine_divides_them(text: str) -> None:
    for row in FAMILIES:
        assert edges_of(row, text) == edges_of_engine(row, text)


def test_a_pattern_that_reads_far_and_fails_is_refused_for_its_work() -> None:
    with pytest.raises(RefusedError, match="too many steps"):
        edges_of([r"a+b|[\s\S]"], "a" * 3_000, steps=256)


OUTSIDE = (
    *(r"\p{N}{1,3}+", r"\p{N}{2}?", r"\p{Han}+", r"(?<!a)b", r"a*", r"(a)\1", r"[a&&b]"),
    *("(" * 500, "[", "", "a{1,9999}" * 3),
)


@pytest.mark.parametrize("pattern", OUTSIDE)
def test_a_pattern_outside_the_gate_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        machine_of(pattern, "oniguruma")
    assert refusal.value.kind == "pattern"
