"""The executor `memo`, and the seams of texts that may be cut at every certified space."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.seams import part
from tests.support.tokenizers_drawn import DATA, texts_with
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.errors import EngineError
from tokpar.executors.native import CachedExecutor
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.joining import Recount
from tokpar.pipeline.plan import Plan
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.types import AddedToken, Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def test_what_a_repair_makes_overlap_is_encoded_again_in_one_call() -> None:
    text, options = "the        the the", {"chunk_chars": 1, "overlap_chars": 6, "min_match": 1}
    adapter = tokpar.load(part("deepseek_part"))
    encoding = tokpar.encode(
        text, adapter, executor=CachedExecutor(2), strategy="lopt", on_failure="repair", **options
    )
    assert encoding.ids.tolist() == adapter.encode(text).tolist()
    assert encoding.report.plan == "3 chunks of 1 code points and 6 of overlap"
    assert encoding.report.redundant > 0


CONTENTS = st.text("<s>|a", min_size=1, max_size=4)


@given(st.lists(CONTENTS | st.text("é中<|", min_size=1, max_size=3), max_size=5), st.data())
def test_no_added_token_is_overlooked_where_spaces_are_cut(
    contents: list[str], data: st.DataObject
) -> None:
    tokens = [AddedToken(content, id_) for id_, content in enumerate(contents)]
    added = AddedTokenGuard(tuple(tokens))
    text = data.draw(texts_with(tuple(contents), 30))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    near = text[max(0, start - added.reach) : stop + added.reach]
    assert added.absent(text, start, stop) == (not any(each in near for each in contents))


# ------------------------------------------------------------------------------- the seams


@dataclass
class Given:
    """Cuts that are known; `asked`: what was wanted of them."""

    places: Any
    counts: Any
    asked: list[str] = field(default_factory=list)

    def count(self) -> int:
        self.asked.append("count")
        return len(self.places)

    def positions(self) -> Any:
        self.asked.append("positions")
        return self.places

    def tokens(self) -> Any:
        self.asked.append("tokens")
        return self.counts


def row(planned: list[int], cuts: list[int]) -> Seams:
    places = np.array(cuts, dtype=np.int64)
    everywhere = Everywhere(Seam(0, "PAIR", "20", (("pattern", "x"),)), np.array([[0, 50]]))
    columns = Columns.of(Seam(p, "PAIR", "40", (), p) for p in planned)
    return Seams(columns, everywhere, Given(places, places))


@given(st.sets(st.integers(1, 40)), st.data())
def test_a_row_of_seams_is_a_sequence_in_order(places: set[int], data: st.DataObject) -> None:
    planned = data.draw(st.sets(st.sampled_from(sorted(places)))) if places else set()
    seams = row(sorted(planned), sorted(places - planned))
    listed = list(seams)
    assert [seam.position for seam in listed] == [seam.token for seam in listed] == sorted(places)
    assert {seam.position for seam in listed if seam.theorem == "40"} == planned
    assert [seams[k] for k in range(len(seams))] == listed
    assert [seams[-k - 1] for k in range(len(seams))] == listed[::-1]
    assert seams[1:7:2] == tuple(listed[1:7:2])
    assert seams == listed
    assert seams == tuple(listed)
    assert seams != listed[1:] or not listed
    assert bool(seams) == bool(listed)
    assert seams.lossless
    with pytest.raises(IndexError):
        seams[len(seams)]


def test_seams_between_others_are_made_when_they_are_asked_for() -> None:
    given = Given(np.array([3]), np.array([2]))
    seams = Seams(Columns(), Everywhere(Seam(0, "PAIR", "20"), np.array([[0, 9]])), given)
    assert seams.lossless
    assert given.asked == []
    assert (len(seams), repr(seams)) == (1, "<1 seam>")
    assert given.asked == ["count"], "an array of places is not needed to count them"
    assert [(seam.position, seam.token) for seam in seams] == [(3, 2)]
    assert given.asked == ["count", "positions", "tokens"]
    kept = pickle.loads(pickle.dumps(seams))
    assert repr(kept) == "<0 seams and one at each certified space of 1 region>"


@given(
    st.text("ab. \n", max_size=60),
    st.integers(1, 5),
    st.sampled_from([(), (("left", "any"), ("spared", ".")), (("left", "text"), ("spared", "b"))]),
)
def test_cuts_are_counted_without_their_places(text: str, at_a_time: int, witness: Any) -> None:
    regions = np.array([[0, len(text) // 2], [len(text) // 2, len(text)]])
    everywhere = Everywhere(Seam(0, "STAGE", "50", witness), regions)
    with patch("tokpar.results.seams._BLOCK_CHARS", at_a_time):
        assert everywhere.count(text) == len(everywhere.positions(text))


@needs_kernel
def test_a_tokenizer_that_counts_otherwise_later_is_an_error_not_a_wrong_seam() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    encoder = tokpar.Encoder(adapter)
    encoder.prepare()
    encoding = encoder.encode(ENGLISH)

    class Other:
        name = "other"

        def encode(self, text: str) -> Any:
            return np.zeros(len(text), dtype=np.uint32)

    everywhere = encoding.seams.everywhere
    assert everywhere is not None
    counts = np.array([[0, 1]] * len(everywhere.regions))
    with pytest.raises(EngineError, match="other gave 1 ids for the code points from 0 to"):
        Recount(ENGLISH, Other(), everywhere, counts).tokens()


def test_a_merger_that_drops_ids_leads_to_the_serial_call() -> None:
    class Forgetful(CutMerger):
        def merge(self, *arguments: Any) -> Any:
            joins = super().merge(*arguments)
            return [None if join is None else replace(join, left=join.left - 1) for join in joins]

    adapter = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    plan = Plan(adapter, CutSplitter(500), CachedExecutor(2), Forgetful())
    encoding = pipeline.encode_batch([ENGLISH], plan)[0]
    assert encoding.report.plan == "serial"
    assert encoding.ids.tolist() == adapter.encode(ENGLISH).tolist()
