"""Texts that are one endless word, number, run or period: the ids are the serial ones, and where no
place is a certified cut the text is encoded in one call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.endless_texts import CJK, N, drawn, encoded, rules
from tests.support.seams import part, serial
from tests.support.texts import aperiodic, near_overlaps, periodic, runs, runs_at_offsets
from tests.support.tokenizers_drawn import (
    PATTERNS,
    TIKTOKEN_FAMILIES,
    ByteLevelSpec,
    TiktokenSpec,
    build,
)

PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default")
ENDLESS = {
    "letters": "a" * N,
    "a space and letters": " " + "a" * N,
    "many letters": drawn("etaoinshrdlu"),
    "syllables": "ha" * N,
    "chinese": drawn(CJK),
    "one accented letter": "é" * N,
    "digits": drawn("0123456789"),
}
CUT = {
    "letters behind words": "some words " * 40 + "x" * N + " and more words" * 40,
}


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_word_is_encoded_in_one_call(name: str, kind: str) -> None:
    text = ENDLESS[kind]
    encoding = encoded(part(name), text, 64)
    assert encoding.ids.tolist() == serial(part(name), text)
    assert (encoding.report.plan, encoding.seams) == ("serial", ())


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kind", CUT)
def test_only_certified_cuts_divide_a_text(name: str, kind: str) -> None:
    text = CUT[kind]
    encoding = encoded(part(name), text, 64)
    assert encoding.ids.tolist() == serial(part(name), text)
    assert set() < rules(encoding) <= {"PAIR"}


def repetitive() -> st.SearchStrategy[str]:
    letters = st.text("ab", min_size=40, max_size=300)
    kinds = st.one_of(periodic(), aperiodic(), near_overlaps(), runs_at_offsets(), runs(), letters)
    return st.lists(kinds, min_size=1, max_size=3).map("".join)


@pytest.mark.ids
@given(
    family=st.sampled_from(sorted(PATTERNS)),
    seed=st.integers(0, 99),
    merges=st.integers(0, 60),
    native=st.booleans(),
    text=repetitive(),
    size=st.sampled_from([1, 2, 7, 20, 64]),
)
def test_small_tokenizers_on_repetitive_texts(
    family: str, seed: int, merges: int, native: bool, text: str, size: int
) -> None:
    spec: ByteLevelSpec | TiktokenSpec = ByteLevelSpec(family, seed=seed, merges=merges)
    if native and family in TIKTOKEN_FAMILIES:
        spec = TiktokenSpec(family, seed=seed, merges=merges)
    assert encoded(build(spec), text, size).ids.tolist() == serial(build(spec), text)
