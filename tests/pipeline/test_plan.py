"""How a plan looks slices up, encodes the others, and puts the rows in their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.fakes import WordHash
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.pipeline import steps as pipeline
from tokpar.pipeline.plan import Plan
from tokpar.types import Rows

pytestmark = pytest.mark.ids
WORDS = "the quick brown fox jumps over it "


@dataclass
class AnswersSome:
    """An executor with a cache that answers the texts of `known`; notes what it is asked."""

    known: frozenset[str]
    name: str = "some"
    without_cache: str = "serial"
    looked_up: list[str] = field(default_factory=list)
    mapped: list[str] = field(default_factory=list)
    fails: str = "nothing"

    def look_up(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Any:
        self.looked_up += texts
        served = [text in self.known for text in texts]
        rows = [tokenizer.encode(t) if s else () for t, s in zip(texts, served, strict=True)]
        return Rows.of(rows), served

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        self.mapped += texts
        if self.fails in texts:
            raise EngineError("it fails", 0, 1, texts.index(self.fails))
        return SerialExecutor().map(texts, tokenizer, spans)


def plan_with(executor: Any, tokenizer: TokenizerAdapter | None = None) -> Plan:
    return Plan(tokenizer or tokpar.load(), CutSplitter(), executor, CutMerger())


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b c", "d e f", ""]), st.booleans()), max_size=9),
    st.frozensets(st.sampled_from(["a", "b c", "d e f"])),
)
def test_rows_lie_at_the_places_of_their_slices(
    slices: list[tuple[str, bool]], known: frozenset[str]
) -> None:
    executor = AnswersSome(known)
    plan = plan_with(executor)
    texts, divisible = [text for text, _ in slices], [may for _, may in slices]
    rows, served = plan.run(texts, divisible)
    assert [rows[k].tolist() for k in range(len(rows))] == [
        plan.tokenizer.encode(text).tolist() for text in texts
    ]
    assert list(served) == [may and text in known for text, may in slices]
    assert executor.looked_up == [text for text, may in slices if may]
    assert executor.mapped == [
        text for (text, _), own in zip(slices, served, strict=True) if not own
    ]


def test_an_error_names_the_slice_and_not_its_place_among_those_that_were_encoded() -> None:
    executor = AnswersSome(frozenset({"a", "c"}), fails="d")
    with pytest.raises(EngineError, match="it fails") as caught:
        plan_with(executor).run(["a", "b", "c", "d"], [True] * 4)
    assert executor.mapped == ["b", "d"]
    assert caught.value.row == 3


def test_a_splitter_without_a_licence_has_no_whole_text_looked_up() -> None:
    executor = AnswersSome(frozenset({WORDS}))
    plan = plan_with(executor, WordHash())
    assert plan.licence is None
    batch = pipeline.encode_batch([WORDS, "a b"], plan, long=[])
    assert executor.looked_up == []
    assert [encoding.ids.tolist() for encoding in batch] == [
        plan.tokenizer.encode(text).tolist() for text in (WORDS, "a b")
    ]
