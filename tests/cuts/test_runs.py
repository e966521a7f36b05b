"""Runs of one character (theorem 11): when one is taken for granted, and what is probed before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

import tokpar
from tests.support.inside_pretokens import N, encoded, rules
from tests.support.seams import part, serial
from tokpar.arrays import IdArray, SpanArray, spans_from_lengths
from tokpar.cuts.finder import at_pair
from tokpar.cuts.pretokens import Run, run_of, scanner_for, token_edges
from tokpar.cuts.within_pretoken import pretoken_planner
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.types import Facts

pytestmark = pytest.mark.ids


@pytest.mark.each_value
@pytest.mark.parametrize("middle", ["b", "ab", "é"])
@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part", "tekken_part", "default"])
def test_a_pre_token_that_only_begins_and_ends_like_a_run_is_none(name: str, middle: str) -> None:
    text = "a" * N + middle + "a" * N
    encoding = encoded(part(name), text, 64)
    assert encoding.ids.tolist() == serial(part(name), text)
    assert "K6" not in rules(encoding)


@pytest.mark.parametrize("before", ["!!", "12!!", "é!\n!!"])
def test_no_run_is_taken_behind_what_is_no_certified_cut(before: str) -> None:
    """It is a pre-token of its own, but no pair certifies the cut: "!a" alone would be one."""
    adapter, text = tokpar.load(part("cl100k_part")), before + "a" * N
    inside = pretoken_planner(adapter)
    region = inside.region(text, 0, len(text))
    assert region is not None
    assert region.piece(len(before)) == (len(before), len(text))
    cut = inside.finder.certify(text, len(before))
    assert cut is not None
    assert not at_pair(cut)
    encoding = encoded(part("cl100k_part"), text, 64)
    assert encoding.ids.tolist() == serial(part("cl100k_part"), text)
    assert "K6" not in rules(encoding)


def test_a_run_that_saves_less_than_its_probes_cost_is_not_taken() -> None:
    adapter = tokpar.load(part("cl100k_part"))
    inside = pretoken_planner(adapter)
    run = run_of(inside.scanner, adapter, "a")
    assert run is not None
    shortest = 2 * (facts_of(adapter).longest_token + 1)  # of the pre-tokens that are divided
    assert shortest - run.least < run.least
    for count, taken in ((shortest, False), (3 * run.least, True)):
        text = "a" * count
        assert run.times(count) * run.length >= run.length
        region = inside.region(text, 0, count)
        assert region is not None
        places = inside.places(text, region, 0, run.length)
        assert any(place.seam.rule == "K6" for place in places) == taken


# --------------------------------------------------------------------------------- the probes


@dataclass(frozen=True)
class Parted:
    """Ids and lengths of c^n, by a rule of n; else the inner tokenizer."""

    inner: TokenizerAdapter
    lengths: Callable[[int], list[int]]
    name: str = "parted"

    @property
    def facts(self) -> Facts:
        return facts_of(self.inner)

    def encode(self, text: str) -> IdArray:
        return np.array(self.lengths(len(text)), dtype=np.uint32)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        return spans_from_lengths(ids.astype(np.int64))


def probed(lengths: Callable[[int], list[int]]) -> Run | None:
    """Of a tokenizer whose longest token has 8 bytes and whose ids are lengths."""
    inner = tokpar.load(part("cl100k_part"))
    facts = replace(facts_of(inner), longest_token=8)
    return run_of(scanner_for(facts), Parted(inner, lengths), "a")


def by_fours(n: int) -> list[int]:
    return [4] * (n // 4) + [1] * (n % 4)


def test_a_run_is_known_by_the_shortest_that_begin_with_its_token_twice() -> None:
    assert probed(by_fours) == Run(token=4, length=4, least=8 + 4 + 1)


@pytest.mark.parametrize("odd", [14, 15, 16])
def test_every_length_up_to_one_token_more_is_probed(odd: int) -> None:
    found = probed(lambda n: [1, *by_fours(n - 1)] if n == odd else by_fours(n))
    assert found == Run(token=4, length=4, least=16 + 4 + 1)
    assert probed(lambda n: [1, *by_fours(n - 1)] if n % 4 == odd % 4 else by_fours(n)) is None


def test_a_token_that_does_not_follow_itself_is_no_run() -> None:
    assert probed(lambda n: [4, 1, *by_fours(n - 5)]) is None


@dataclass(frozen=True)
class Lost:
    """Cannot locate its tokens."""

    inner: TokenizerAdapter
    name: str = "lost"

    @property
    def facts(self) -> Facts:
        return facts_of(self.inner)

    def encode(self, text: str) -> IdArray:
        ids: IdArray = self.inner.encode(text)
        return ids

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        raise LookupError("lost")


def test_token_edges_are_those_of_one_pre_token() -> None:
    adapter = tokpar.load(part("cl100k_part"))
    scanner = pretoken_planner(adapter).scanner
    assert token_edges(scanner, adapter, "aaaaaaaaaaaa") is not None
    assert token_edges(scanner, adapter, "aa bb") is None
    assert token_edges(scanner, adapter, "1111") is None


def test_a_run_of_a_tokenizer_that_cannot_locate_is_not_known() -> None:
    adapter = tokpar.load(part("cl100k_part"))
    scanner = scanner_for(replace(facts_of(adapter), longest_token=8))
    assert token_edges(scanner, Lost(adapter), "aaaa") is None
    assert run_of(scanner, Lost(adapter), "a") is None
