"""The cuts near many places, found at once, are certified cuts of the text and of its slices."""

from __future__ import annotations

import random

import pytest

from tests.support.drawn_runs import NAMES, adapter_of, named
from tokpar.cuts import near_cuts
from tokpar.cuts.finder import finder_for
from tokpar.cuts.near_cuts import REACH, near_cut_finder
from tokpar.interfaces import facts_of
from tokpar.patterns.known_pattern import OPEN, SURE

pytestmark = pytest.mark.ids

PIECES = (
    "word",
    " ",
    "\n",
    "12",
    "中文。",
    "é",
    "\u0301",
    "'s",
    "<|endoftext|>",
    "\t",
    "  ",
    "ab-",
)
WITH_TABLE = ("cl100k_part", "deepseek_part", "bert_part")


def drawn_texts(count: int) -> list[str]:
    rng = random.Random("near cuts")
    return ["".join(rng.choices(PIECES, k=rng.randint(2, 60))) for _ in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_every_cut_that_is_found_is_certified(name: str) -> None:
    finder = finder_for(facts_of(adapter_of(named(name))))
    table = near_cut_finder(finder)
    assert table is not None or name not in WITH_TABLE
    for text in drawn_texts(12) if table is not None else ():
        places = list(range(1, len(text)))
        near = table.find_near(text, places)
        for p, before, at, after in zip(
            places, near.cuts_before, near.statuses, near.cuts_after, strict=True
        ):
            assert before == -1 or p - REACH <= before < p
            assert after == -1 or p < after <= p + REACH
            found = [before, after, p if at == SURE else -1]
            assert all(cut == -1 or finder.certify(text, cut) for cut in found)
            for cut in (before, after):  # also in a slice that begins or ends close by
                for start, stop in ((cut - 1, cut + 1), (max(0, cut - 4), len(text))):
                    part = text[start:stop]
                    assert cut == -1 or finder.certify(part, cut - start), (part, cut)


@pytest.mark.parametrize("name", WITH_TABLE)
def test_ids_of_both_sides_of_a_cut_are_those_of_the_text(name: str) -> None:
    adapter = adapter_of(named(name))
    table = near_cut_finder(finder_for(facts_of(adapter)))
    assert table is not None
    for text in drawn_texts(6):
        near = table.find_near(text, places := list(range(1, len(text))))
        whole = adapter.encode(text).tolist()
        for p in {
            *near.cuts_before,
            *near.cuts_after,
            *(p for p, at in zip(places, near.statuses, strict=True) if at == SURE),
        }:
            if p > 0:
                parts = adapter.encode(text[:p]).tolist() + adapter.encode(text[p:]).tolist()
                assert parts == whole


def test_beside_an_added_token_something_else_decides() -> None:
    finder = finder_for(facts_of(adapter_of(named("cl100k_part"))))
    table = near_cut_finder(finder)
    assert table is not None
    token = finder.facts.added_tokens[0].content
    text = f"some words {token} and more words"
    near = table.find_near(text, [5, 20])
    assert near.cuts_before[0] == near.cuts_after[0] == -1
    assert near.statuses == [OPEN, OPEN]


def test_beside_no_added_token_each_place_is_decided() -> None:
    finder = finder_for(facts_of(adapter_of(named("cl100k_part"))))
    table = near_cut_finder(finder)
    assert table is not None
    for text in drawn_texts(20):
        places = [*range(1, len(text))] if "<|endoftext|>" not in text else []
        decided = dict(zip(places, table.find_near(text, places).statuses, strict=True))
        certified = {p for p in places if finder.certify(text, p) is not None}
        assert OPEN not in decided.values()
        assert {p for p in places if decided[p] == SURE} == certified


def test_no_place_has_no_cuts() -> None:
    table = near_cut_finder(finder_for(facts_of(adapter_of(named("cl100k_part")))))
    assert table is not None
    assert table.find_near("some text", []).cuts_before == []
    assert near_cuts.REACH > 8
