"""Pre-tokens divided where two chunks overlap (K5): what `by_pre_token` joins is right, and the
checker agrees; what `kept` and `in_all` refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.support.seams import part, serial
from tests.support.small_models import byte_level
from tests.support.tokenizers_drawn import PATTERNS
from tokpar import pipeline
from tokpar.cuts.within_pretoken import PretokenPlanner, Region, pretoken_planner
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.interfaces import TokenizerAdapter
from tokpar.overlap.acceptance import Accept, by_pre_token, by_rule, by_two_edges
from tokpar.overlap.licences import Licences, Overlap, overlap_of
from tokpar.overlap.mergers import OverlapMerger
from tokpar.plan import Plan
from tokpar.types import Chunk, Join, Piece, Seam, Split

MERGES = [("a", "a"), ("!", "!"), ("'", "'"), ("\u0120", "\u0120"), ("A", "x"), ("aa", "a")]
FAMILIES = ("gpt2", "llama3", "o200k", "tekken")
UNITS = (" ", "  \n", "\n", "a", "A", "x", "中", "!", "'", "s", "/", "\t")


@cache
def small(family: str) -> Tokenizer:
    """Few merges, so that three bytes are longer than any token but one."""
    (pattern,) = PATTERNS[family]
    return byte_level(MERGES, pattern)


@dataclass(frozen=True)
class Given:
    """Chunks that were chosen beforehand."""

    chunks: Sequence[Chunk]

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        return Split(self.chunks if attempt == 0 else Split.whole(text, "").chunks)


def over(length: int, overlaps: Sequence[tuple[int, int]]) -> list[Chunk]:
    """The chunks that share these [start, stop) of a text."""
    starts, stops = [0, *(a for a, _ in overlaps)], [*(b for _, b in overlaps), length]
    edges = [0, *((a + b) // 2 for a, b in overlaps), length]
    ends = zip(starts, stops, edges, edges[1:], strict=False)
    return [Chunk(start, stop, core, end) for start, stop, core, end in ends]


def joined(
    own: Any, text: str, overlaps: Sequence[tuple[int, int]], accept: Accept
) -> tokpar.Encoding:
    """What becomes of the chunks; right, and licensed by the checker's own reading."""
    adapter = tokpar.load(own)
    chunks = over(len(text), overlaps)
    plan = Plan(adapter, Given(chunks), SerialExecutor(), OverlapMerger(accept))
    encoding = pipeline.encode_batch([text], plan)[0]
    assert encoding.ids.tolist() == serial(own, text)
    report = tokpar.check(encoding, text, adapter)
    assert report.ok, report.findings
    return encoding


def licences(own: Any, text: str) -> Licences:
    return Licences.of(text, tokpar.load(own))


def pair_of(
    own: Any, text: str, a: int, b: int, first: int = 0
) -> tuple[PretokenPlanner, list[Piece]]:
    """The ids of text[first:b] and text[a:]."""
    adapter = tokpar.load(own)
    return pretoken_planner(adapter), [
        Piece(adapter.encode(part)) for part in (text[first:b], text[a:])
    ]


def inside_overlap(own: Any, text: str, a: int, b: int, first: int = 0) -> Overlap:
    _, (left, right) = pair_of(own, text, a, b, first)
    middle = (a + b) // 2
    chunks = Chunk(first, b, first, middle), Chunk(a, len(text), middle, len(text))
    return overlap_of(text, chunks, (left, right), tokpar.load(own))


def whole_region(inside: PretokenPlanner, text: str) -> Region:
    region = inside.region(text, 0, len(text))
    assert region is not None
    return region


RUNS = st.tuples(st.sampled_from(UNITS), st.sampled_from((1, 1, 2, 5, 40, 90)))


@st.composite
def chunked(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text of runs, and one or two overlaps in it that are mostly inside of a run."""
    runs = draw(st.lists(RUNS, min_size=1, max_size=5))
    text = "".join(unit * count for unit, count in runs)
    if len(text) < 30:
        text += "a" * 60
    count = draw(st.integers(1, 2))
    share, overlaps = len(text) // count, []
    for k in range(count):
        a = draw(st.integers(k * share + 1, (k + 1) * share - 4))
        overlaps.append((a, draw(st.integers(a + 2, (k + 1) * share - 1))))
    return text, overlaps


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("accept", [by_pre_token, by_rule])
@pytest.mark.parametrize("family", FAMILIES)
@given(case=chunked())
def test_chunks_that_overlap_inside_a_pre_token_are_joined_right(
    family: str, accept: Accept, case: tuple[str, list[tuple[int, int]]]
) -> None:
    joined(small(family), *case, accept)


BREAKS = "x  \n" + " " * 80 + "\n\n"
"""All white space of it is one pre-token; up to a place among the spaces it would be two."""


@pytest.mark.parametrize("accept", [by_pre_token, by_rule])
def test_a_part_that_would_scan_otherwise_is_not_left_by_a_seam(accept: Accept) -> None:
    """Both chunks scan as the text does, but what is before the seam would not."""
    own = small("llama3")
    inside, pieces = pair_of(own, BREAKS, 40, 85)
    assert inside.is_closed(BREAKS, whole_region(inside, BREAKS), 0, 85)
    assert accept(inside_overlap(own, BREAKS, 40, 85), licences(own, BREAKS), 0) is not None
    chunks = over(len(BREAKS), [(40, 85)])
    assert OverlapMerger(accept).merge(BREAKS, chunks, pieces, tokpar.load(own)) == [None]
    encoding = joined(own, BREAKS, [(40, 85)], accept)
    assert {seam.rule for seam in encoding.seams} <= {"K1"}


def test_chunks_that_scan_otherwise_are_not_joined_inside_a_pre_token() -> None:
    own = small("llama3")
    assert by_pre_token(inside_overlap(own, BREAKS, 40, 70), licences(own, BREAKS), 0) is None


def test_an_overlap_of_two_pre_tokens_has_no_place_for_two_edges() -> None:
    own, text = small("llama3"), "a" * 200
    inside, overlap = pretoken_planner(tokpar.load(own)), inside_overlap(own, text, 60, 140)
    for edges, good in [((0, 200), True), ((0, 100, 200), False), ((0, 61, 200), False)]:
        region = Region(0, 200, np.array(edges, dtype=np.int64))
        assert (by_two_edges(overlap, 110, region, inside, 0) is not None) == good


def test_no_region_holds_an_added_token() -> None:
    own = Tokenizer.from_str(small("llama3").to_str())
    own.add_tokens(["<x>"])
    inside, text = pretoken_planner(tokpar.load(own)), "aa<x>aa"
    assert inside.region(text, 0, 7) is None
    assert inside.region(text, 0, 2) is not None


@dataclass(frozen=True)
class Closing:
    """Knows of one part that it is not scanned as in the text."""

    loose: tuple[int, int]

    def region(self, text: str, start: int, stop: int) -> Region:
        return Region(start, stop, np.array([start, stop], dtype=np.int64))

    def is_closed(self, text: str, region: Region, start: int, stop: int) -> bool:
        return (start, stop) != self.loose


PARTS = [(0, 10), (10, 20), (20, 30), (30, 40)]


@pytest.mark.parametrize(
    ("loose", "left"),
    [((0, 9), [1, 1, 1]), (PARTS[0], [0, 1, 1]), (PARTS[1], [0, 0, 1]), (PARTS[3], [1, 1, 1])],
)
def test_no_k5_seam_is_kept_beside_a_part_that_scans_otherwise(
    loose: tuple[int, int], left: list[int]
) -> None:
    witness = (("start", 0), ("stop", 40))
    seams = Seam(10, "K5", "5'", witness), Seam(20, "K5", "5'", witness), Seam(30, "K1", "20")
    joins = [Join(seam, 1, 1) for seam in seams]
    kept = Licences("x" * 40, Closing(loose)).filter_joins(joins)  # type: ignore[arg-type]
    assert kept == [join if stays else None for join, stays in zip(joins, left, strict=True)]


def test_the_part_behind_a_k5_seam_is_looked_at_too() -> None:
    joins = [Join(Seam(10, "K5", "5'", (("start", 0), ("stop", 40))), 1, 1)]
    for loose, kept in [((0, 40), joins), ((10, 40), [None]), ((0, 10), [None])]:
        assert Licences("x" * 40, Closing(loose)).filter_joins(joins) == kept  # type: ignore[arg-type]


def test_a_cut_of_the_text_must_be_one_of_each_chunk() -> None:
    """Digits go by threes from where a chunk begins."""
    text = "1" * 20
    for start, good in [(0, True), (3, True), (1, False), (2, False)]:
        own = small("llama3")
        overlap = inside_overlap(own, text, 6, 15, start)
        assert (licences(own, text).in_all(overlap, 9) is not None) == good
        overlap = inside_overlap(own, text, 6 + start, 15)
        assert (licences(own, text).in_all(overlap, 12) is not None) == good


@pytest.mark.parametrize("family", FAMILIES)
def test_a_long_pre_token_is_divided_inside_two_overlaps(family: str) -> None:
    encoding = joined(small(family), "a" * 300, [(90, 120), (190, 220)], by_pre_token)
    assert [seam.rule for seam in encoding.seams] == ["K5", "K5"]


def test_a_place_parts_a_pre_token_only_if_both_sides_stay_one() -> None:
    """o200k: "亚洲AVx" is one pre-token whose first four characters are two, "!\n/" one
    whose last two are."""
    inside = pretoken_planner(tokpar.load(part("o200k_part")))
    for text, place in (("亚洲AVx", 4), ("!\n/", 1)):
        assert inside.scanner.is_one(text)
        assert not inside.is_closed_nearby(text, (0, len(text)), place)
    assert inside.is_closed_nearby("亚洲AVx", (0, 5), 1)
    assert inside.is_closed_nearby("!\n/", (0, 3), 2)


@cache
def reaching_back() -> Tokenizer:
    """By o200k's pattern "中AA..A中" is one pre-token, "中AA..A" alone two. A token reaches from
    the last byte of "中" to the "A"."""
    (pattern,) = PATTERNS["o200k"]
    return byte_level([("Ń", "A"), ("=", "=")], pattern)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "text",
    [
        ("中" + "A" * 200) * 10 + "中",
        ("中" + "A" * 90) * 30 + "中",
        "=" * 300 + "中" + "A" * 120 + "中",
        "=" * 300 + "中" + "A" * 1200 + "中",
        "x " + "中" + "A" * 1200 + "中",
    ],
)
@pytest.mark.parametrize("size", [20, 50, 64, 100])
def test_places_whose_parts_would_scan_otherwise_far_off_are_not_taken(
    text: str, size: int
) -> None:
    tokenizer = tokpar.load(reaching_back())
    expected = tokenizer.encode(text).tolist()
    assert len(tokenizer.encode("中A中")) == len(tokenizer.encode("中A")) + 2  # not + 3
    encoding = tokpar.encode(text, tokenizer, executor="serial", chunk_chars=size)
    assert encoding.ids.tolist() == expected
    assert tokpar.check(encoding, text, tokenizer).ok


def test_what_no_pre_token_is_divided_of() -> None:
    inside = pretoken_planner(tokpar.load(part("cl100k_part")))
    assert inside.refusal is None
    for change, said in (
        ({"pretoken_cuts_refused": "because"}, "because"),
        ({"tiles": False}, "make up the text"),
        ({"longest_token": 0}, "make up the text"),
        ({"model": "Unigram"}, "divided for BPE"),
        ({"scheme": "bert"}, "divided for BPE"),
    ):
        changed: Any = change
        other = replace(inside, facts=replace(inside.facts, **changed))
        assert said in (other.refusal or "")


def test_the_last_cut_before_a_region_is_one_of_two_characters() -> None:
    inside = pretoken_planner(tokpar.load(part("cl100k_part")))
    text = "some words " + "1" * 60
    rules = [inside.finder.certify(text, place) for place in range(1, len(text))]
    assert {"K1", "K10"} <= {seam.rule for seam in rules if seam is not None}
    place = inside.last_cut(text, 1, len(text))
    assert place is not None
    seam = inside.finder.certify(text, place)
    assert seam is not None
    assert seam.rule == "K1"
