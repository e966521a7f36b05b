"""Parts between certified cuts, encoded and added up by one function; nothing else concatenates the
ids of a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.drawn_runs import adapter_of, any_tokenizer, drawn_text, named
from tests.support.fakes import WordHash
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.errors import EngineError
from tokpar.pipeline.chunks_at_cuts import split_without_overlaps
from tokpar.pipeline.joining import Recount, sound_joins
from tokpar.results.adding_up import Part, encode_parts, parts_between, place_seams
from tokpar.results.seams import Everywhere
from tokpar.types import Chunk, Join, Piece, Rows, Seam


@pytest.mark.ids
@given(data=st.data(), tokenizer=any_tokenizer())
def test_the_parts_between_any_certified_cuts_have_the_ids_of_the_text(
    data: st.DataObject, tokenizer: Any
) -> None:
    adapter, text = adapter_of(tokenizer), drawn_text(data, tokenizer, 200)
    check_parts(adapter, text, [cut for cut in cuts_of(adapter, text) if data.draw(st.booleans())])


@pytest.mark.ids
def test_a_part_begins_behind_the_space_that_its_cut_absorbs() -> None:
    adapter, text = adapter_of(named("llama_style")), "one two  three\n four é"
    cuts = cuts_of(adapter, text)
    assert any(cut.absorbed for cut in cuts)
    check_parts(adapter, text, cuts)


def cuts_of(adapter: Any, text: str) -> list[Seam]:
    finder = finder_for(facts_of(adapter))
    places = range(1, len(text)) if finder.refusal_for(text) is None else ()
    return [seam for seam in (finder.certify(text, place) for place in places) if seam is not None]


def check_parts(adapter: Any, text: str, cuts: list[Seam]) -> None:
    parts = [*parts_between(cuts, len(text))]
    given, rows = encode_parts(text, parts, lambda some: Rows.of(map(adapter.encode, some)))
    assert given == [part.slice_of(text) for part in parts]
    assert rows.ids.tolist() == adapter.encode(text).tolist()
    for seam, cut in zip(place_seams(cuts, rows.offsets), cuts, strict=True):
        assert (seam.position, seam.rule) == (cut.position, cut.rule)
        left = adapter.encode(text[: seam.position])
        assert rows.ids[: seam.token].tolist() == left.tolist()


def test_a_part_does_not_end_at_a_seam_that_no_rule_licenses() -> None:
    with pytest.raises(ValueError, match="ends at a certified cut"):
        list(parts_between([Seam(3, None, "")], 9))


@given(st.integers(0, 3), st.integers(0, 9), st.integers(0, 500))
def test_an_error_of_a_part_has_positions_of_the_whole_text(
    row: int, start: int, origin: int
) -> None:
    parts = [Part(0, 10), Part(10, 20, 1), Part(20, 30), Part(30, 40, 1)]

    def fail(texts: Any) -> Rows:
        raise EngineError("no ids", start, start + 1, row)

    with pytest.raises(EngineError, match="no ids") as caught:
        encode_parts("x" * 40, parts, fail, origin)
    first = origin + parts[row].start + parts[row].absorbed_chars
    assert (caught.value.start, caught.value.stop) == (first + start, first + start + 1)


@pytest.mark.parametrize(
    ("stop", "start", "join", "is_kept"),
    [
        (4, 4, (3, 0), True),
        (4, 4, (2, 0), False),  # the chunks do not overlap: no id is dropped
        (4, 4, (3, 1), False),
        (6, 4, (2, 1), True),
        (6, 4, (4, 0), False),  # there are three
        (6, 4, (2, 3), False),
        (6, 4, (-1, 0), False),
    ],
)
def test_a_join_keeps_and_drops_ids_that_are_there(
    stop: int, start: int, join: tuple[int, int], is_kept: bool
) -> None:
    chunks = [Chunk(0, stop, 0, stop, 0), Chunk(start, 9, start, 9, 0)]
    pieces = [Piece(np.arange(3, dtype=np.uint32)), Piece(np.arange(2, dtype=np.uint32))]
    found = Join(Seam(start, "PAIR", "20"), *join)
    assert sound_joins([found], chunks, pieces) == [found if is_kept else None]


def test_a_text_that_may_be_cut_anywhere_is_left_to_chunks_that_overlap() -> None:
    adapter = adapter_of(named("deepseek_part"))
    assert split_without_overlaps("one two three", adapter, 3, plan_cuts=True) is None
    assert split_without_overlaps("one two three", adapter, 3, plan_cuts=False) is None
    refused = WordHash()
    split = split_without_overlaps("one two three", refused, 3, plan_cuts=True)
    assert split is not None
    assert len(split.chunks) == 1
    assert split.why


def test_ids_before_derived_cuts_are_counted_and_a_changed_count_is_an_error() -> None:
    adapter, text = adapter_of(named("deepseek_part")), "one two  three four.\nfive é six " * 3
    ids = [len(adapter.encode(text[:place])) for place in range(len(text) + 1)]
    licence = Seam(0, "PAIR", "20")
    regions = np.array([[0, 31], [63, len(text)]], dtype=np.int64)
    counts = np.array([[ids[start], ids[stop]] for start, stop in regions.tolist()])
    found = Recount(text, adapter, Everywhere(licence, regions), counts)
    places = found.positions().tolist()
    assert found.count() == len(places) > 5
    assert found.tokens().tolist() == [ids[place] for place in places]
    counts[1, 1] += 1
    with pytest.raises(EngineError, match="and now gives") as raised:
        found.tokens()
    assert (raised.value.start, raised.value.stop) == (63, len(text))
