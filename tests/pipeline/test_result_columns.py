"""Seams in columns, counts of texts, and spans of parts, each by itself."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.support.fakes import WordHash
from tokpar.arrays import IntArray
from tokpar.results import seams as seams_module
from tokpar.results.adding_up import shift_spans
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.results.spans import _FIRST, final_spans, spans_of
from tokpar.results.text_counts import ENGINE, TextCounts
from tokpar.types import Rows, Seam

LICENCE = Seam(0, "PAIR", "20")
TEXT = "one two  three four.  five six seven"
SPACES = [k for k in range(1, len(TEXT)) if TEXT[k] == " " != TEXT[k - 1]]


class Derived:
    """The cuts of some places; the token before each is its place."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = np.array(places, dtype=np.int64)

    def count(self) -> int:
        return len(self.places)

    def positions(self) -> IntArray:
        return self.places

    def tokens(self) -> IntArray:
        return self.places


def seams_at(planned: Sequence[int], derived: Sequence[int]) -> Seams:
    everywhere = Everywhere(LICENCE, np.array([[0, 99]], dtype=np.int64))
    return Seams(
        Columns.of(Seam(at, "EDGE", "27", token=at) for at in planned), everywhere, Derived(derived)
    )


@pytest.mark.parametrize(
    ("planned", "derived"),
    [
        ([], []),
        ([5], []),
        ([], [5]),
        ([9], [1, 3, 11]),
        ([1, 2, 8], [5]),
        ([4], [1, 2]),
        ([1, 9], [4, 5]),
    ],
)
def test_planned_and_derived_seams_are_one_sequence(planned: list[int], derived: list[int]) -> None:
    seams = seams_at(planned, derived)
    places = sorted(planned + derived)
    assert bool(seams) == bool(places)
    assert len(seams) == len(places)
    assert [seam.position for seam in seams] == places
    for k, place in enumerate(places):
        rule = "EDGE" if place in planned else "PAIR"
        for seam in (seams[k], seams[k - len(places)]):
            assert (seam.position, seam.token, seam.rule) == (place, place, rule)
    assert seams == tuple(seams)
    with pytest.raises(IndexError):
        seams[len(places)]


def test_planned_seams_alone_are_true_without_their_text() -> None:
    """Their regions need the text: it is not asked for where one planned seam is there."""
    seams = seams_at([3], [4])
    assert pickle.loads(pickle.dumps(seams))
    assert not Seams.of([])
    assert Seams.of([Seam(3, "EDGE", "27")])
    with pytest.raises(LookupError):
        bool(pickle.loads(pickle.dumps(seams_at([], [4]))))


@pytest.mark.parametrize("regions", [[], [(0, len(TEXT))], [(0, 9), (9, 23), (23, 30)], [(4, 5)]])
@pytest.mark.parametrize("block", [1, 2, 3, 4, 5, 1000])
def test_places_are_counted_in_blocks(
    regions: list[tuple[int, int]], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seams_module, "_BLOCK_CHARS", block)
    everywhere = Everywhere(LICENCE, np.array(regions, dtype=np.int64).reshape(-1, 2))
    inside = [p for p in SPACES if any(start < p < stop for start, stop in regions)]
    assert everywhere.positions(TEXT).tolist() == inside
    assert everywhere.count(TEXT) == len(inside)


def test_sides_are_read_over_the_edge_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to two characters before a space and one behind it decide (theorem 50)."""
    text = "one éa b ab éc ab. x  y ab cd oé ef"
    licence = Seam(0, "PAIR", "50", (("left", "sure"), ("spared", ".")))
    everywhere = Everywhere(licence, np.array([[0, len(text)]], dtype=np.int64))
    assert everywhere.positions(text).tolist() == [8, 23, 26, 29]
    for block in range(1, 9):
        monkeypatch.setattr(seams_module, "_BLOCK_CHARS", block)
        assert everywhere.count(text) == 4


def test_each_way_of_a_text_is_counted() -> None:
    total = TextCounts()
    counts = TextCounts(total)
    counts.one_by_engine("arguments")
    counts.add({ENGINE: 2, "cut": 3, "compiled": 0}, "no_compiled_call")
    counts.add_own(4, "mismatch")
    counts.one_compiled()
    counts.one_handed_over()
    for each in (counts, total):
        assert each.by_way == {"compiled": 1, "cut": 3, "untrusted": 0, "engine": 8}
        assert each.fallbacks == {"arguments": 2, "no_compiled_call": 2, "mismatch": 4}
        assert each.through_tokpar == 7


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 1), (0, 1)], [(4, 5), (5, 6)]),
        ([(0, 1), (1, 2)], [(4, 6), (6, 7)]),
        ([(0, 3)], [(4, 8)]),
        ([], []),
    ],
)
def test_a_prefix_that_is_a_token_of_its_own_is_the_absorbed_space(
    spans: list[tuple[int, int]], expected: list[tuple[int, int]]
) -> None:
    given = np.array(spans, dtype=np.int64).reshape(-1, 2)
    assert shift_spans(given, 5, 1).tolist() == [[*each] for each in expected]
    assert shift_spans(given, 5, 0).tolist() == [[a + 5, b + 5] for a, b in spans]


def test_an_encoding_is_an_array_of_numpy_of_the_type_that_is_asked_for() -> None:
    encoding = tokpar.encode("some words")
    for dtype, kind in ((None, np.uint32), (np.uint32, np.uint32), (np.int64, np.int64)):
        found = np.asarray(encoding, dtype)
        assert found.dtype == kind
        assert found.tolist() == [*encoding]
    assert np.shares_memory(np.asarray(encoding), encoding.ids)
    with pytest.raises(ValueError, match="they must be copied"):
        encoding.__array__(np.dtype(np.int64), copy=False)


def test_inserted_ids_have_no_span() -> None:
    origin = np.array([7, _FIRST + 1, _FIRST, 9], dtype=np.uint32)
    spans = np.array([(0, 2), (2, 5)], dtype=np.int64)
    assert final_spans(spans, origin).tolist() == [[0, 0], [2, 5], [0, 2], [0, 0]]
    assert final_spans(spans, origin[:1]).tolist() == [[0, 0]]


@pytest.mark.parametrize("side", ["right", "left"])
def test_rows_are_filled_with_the_id_zero(side: str) -> None:
    with tokpar.Encoder() as encoder:
        rectangle, mask = encoder.encode_batch(["a b c", "x"]).padded(0, side=side)
    assert (rectangle[~mask] == 0).all()
    assert mask.sum() < mask.size


def test_texts_of_a_batch_that_the_engine_encodes_are_counted_with_the_reason() -> None:
    with tokpar.Encoder(WordHash()) as encoder:
        assert encoder.encode_batch(["a b", "c"]).ways[ENGINE] == 2
        assert encoder.report.fallbacks == {"no_compiled_call": 2}


def test_a_tokenizer_that_locates_by_encoding_again_gets_the_parts() -> None:
    asked: list[str] = []

    def locate(ids: Any, text: str) -> Any:
        asked.append(text)
        return np.array([(k, k + 1) for k in range(len(ids))], dtype=np.int64)

    for tiles, texts in ((False, ["ab", " c"]), (True, ["ab c"])):
        asked.clear()
        found = SimpleNamespace(name="fake", facts=SimpleNamespace(tiles=tiles), locate=locate)
        rows = Rows.of([np.arange(4, dtype=np.uint32)])
        seams = Seams.of([Seam(2, "PAIR", "20", token=2)])
        spans = spans_of(found, ["ab c"], rows, [seams], code_points=True)  # type: ignore[arg-type]
        assert asked == texts
        assert spans.tolist() == [[k, k + 1] for k in range(4)]
