"""Places that an engine tells wrongly are no licence to join, and are not handed on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.seams import assert_lossless
from tokpar.facts.hf_facts import MISPLACED
from tokpar.interfaces import facts_of
from tokpar.kernels import IdArray, SpanArray
from tokpar.overlap.acceptance import certified
from tokpar.overlap.licences import overlap_of
from tokpar.overlap.mergers import OverlapMerger
from tokpar.types import Chunk, Facts, Piece

VOCAB = Path(__file__).parent / "vocab"
MARKS = {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}


def falling_back(**marks: str) -> Tokenizer:
    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256}
    own = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True, **marks))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return own


def test_the_engine_counts_the_mark_as_text() -> None:
    """Without this, the tests below would show nothing."""
    assert falling_back(**MARKS[0]).encode("ab   ").offsets[-1] == (3, 4)
    assert falling_back(**MARKS[1]).encode("ab").offsets[-1][1] > 2
    assert falling_back().encode("ab   ").offsets == [(0, 1), (1, 2)]


@pytest.mark.parametrize("marks", MARKS)
def test_no_chunks_are_joined_by_tokens_that_run_past_their_word(marks: dict[str, str]) -> None:
    own, text = falling_back(**marks), "ab   "
    encoding = tokpar.encode(text, own, strategy="recursive", depth=1)
    assert encoding.ids.tolist() == own.encode(text).ids
    assert "mark of words" in encoding.report.why
    with pytest.raises(LookupError, match="wrong places"):
        print(encoding.spans)
    assert facts_of(tokpar.load(own)).unprovable == MISPLACED


@given(st.text("ab é中", max_size=30), st.sampled_from(MARKS))
def test_whatever_the_marks_the_ids_are_the_engine_s(text: str, marks: dict[str, str]) -> None:
    assert_lossless(falling_back(**marks), text, sizes=(1, 2, 7))


def test_without_marks_the_engine_s_places_stay() -> None:
    adapter = tokpar.load(falling_back())
    assert facts_of(adapter).unprovable is None
    assert tokpar.encode("ab é", falling_back()).spans.tolist() == [[0, 1], [1, 2], [3, 5]]
    assert_lossless(falling_back(), "ab é  ab ba " * 5, sizes=(2, 7))


class Misplacing:
    """One id for each character, at the places that `spans` tells for a text of this length."""

    def __init__(self, misplaced: Any) -> None:
        self._adapter = tokpar.load(falling_back())
        self._misplaced = misplaced
        self.name = "misplacing"
        self.facts = facts_of(self._adapter)

    def encode(self, text: str) -> IdArray:
        return self._adapter.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        spans: SpanArray = self._adapter.locate(ids, text)  # type: ignore[attr-defined]
        return np.array(self._misplaced(spans.copy(), len(text)), dtype=np.int64)


def piece_of(tokenizer: Any, text: str) -> Piece:
    ids = tokenizer.encode(text)
    return Piece(ids, tokenizer.locate(ids, text))


def backwards(spans: SpanArray, length: int) -> SpanArray:
    spans[-1] = spans[0]
    return spans


def beyond(spans: SpanArray, length: int) -> SpanArray:
    spans[-1, 1] = length + 1
    return spans


def before(spans: SpanArray, length: int) -> SpanArray:
    spans[0, 0] = -1
    return spans


def inverted(spans: SpanArray, length: int) -> SpanArray:
    return spans[:, ::-1]


@pytest.mark.parametrize("misplaced", [backwards, beyond, before, inverted])
@pytest.mark.parametrize("side", [0, 1])
def test_places_that_tokens_cannot_have_license_nothing(misplaced: Any, side: int) -> None:
    right, wrong, text = tokpar.load(falling_back()), Misplacing(misplaced), "aa ab ba aa ab"
    chunks = Chunk(0, 9, 0, 6), Chunk(3, 14, 6, 14)
    merger = OverlapMerger(certified)
    first, second = (piece_of(right, text[chunk.start : chunk.stop]) for chunk in chunks)
    assert None not in merger.merge(text, chunks, (first, second), right)
    if side == 0:
        first = piece_of(wrong, text[: chunks[0].stop])
    else:
        second = piece_of(wrong, text[chunks[1].start :])
    assert None in merger.merge(text, chunks, (first, second), right)
    overlap = overlap_of(text, chunks, (first, second), wrong)
    assert not overlap.placed
    assert all(len(found) == 0 for found in overlap.matched())


@dataclass
class LosesPlaces:
    """A tokenizer that cannot locate the tokens of texts with an exclamation mark."""

    inner: Any
    name: str = "loses places"

    @property
    def facts(self) -> Facts:
        return facts_of(self.inner)

    def encode(self, text: str) -> IdArray:
        ids: IdArray = self.inner.encode(text)
        return ids

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        if "!" in text:
            raise LookupError("these are not the ids of this text")
        spans: SpanArray = self.inner.locate(ids, text)
        return spans


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("recursive", {"depth": 3}),
        ("blocks", {"chunk_chars": 40}),
        ("lopt", {"chunk_chars": 60, "overlap_chars": 16}),
    ],
)
@pytest.mark.parametrize("mark", ["", "!"])
def test_a_tokenizer_that_cannot_locate_its_tokens_is_run_serially(
    strategy: str, options: dict[str, Any], mark: str
) -> None:
    inner = tokpar.load(VOCAB / "bert_part.json", add_special_tokens=False)
    tokenizer = LosesPlaces(inner)
    text = "the man saw the dog and the man was in the house" * 9 + mark
    encoding = tokpar.encode(text, tokenizer=tokenizer, strategy=strategy, **options)
    assert encoding.ids.tolist() == inner.encode(text).tolist()
    assert (encoding.report.plan == "serial") == bool(mark)
    assert ("cannot tell where its tokens lie" in encoding.report.why) == bool(mark)
