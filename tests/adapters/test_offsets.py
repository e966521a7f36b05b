"""Offsets of tokens are the engine's own (theorem 53), however they were found."""

from __future__ import annotations

from itertools import chain
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, processors

import tokpar
from tests.conftest import at_most
from tests.support.offsets_drawn import (
    Spans,
    adapters,
    assert_engine_offsets,
    deleting,
    drawn_texts,
    engine_offsets,
    ids_of,
    our_offsets,
    prefixing,
    small_parts,
    trimming,
    word_level,
)
from tests.support.seams import finder
from tests.support.stages_drawn import shaped
from tokpar.adapters import hf_offsets
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import code_point_spans
from tokpar.contract.adapter import inserted_ids
from tokpar.facts.wrong_offsets import why_misplaced
from tokpar.results import adding_up as concatenation

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@given(st.data(), adapters(), st.sampled_from((None, None, "left", "right")), st.integers(1, 6))
def test_offsets_are_the_engine_s_cold_and_warm(
    data: st.DataObject, adapter: HuggingFaceTokenizer, side: str | None, limit: int
) -> None:
    own, special = adapter.engine, data.draw(st.booleans())
    texts, how = drawn_texts(data, own), {"add_special_tokens": special}
    dropped = np.maximum(0, np.diff(ids_of(adapter, texts).offsets) - limit)
    none = np.zeros_like(dropped)
    cut = {"left": (dropped, none), "right": (none, dropped)}
    with small_parts(data, adapter):
        found = [our_offsets(adapter, texts, cut=cut.get(side), **how) for _ in ("cold", "warm")]
    if side is not None:
        inserted = own.num_special_tokens_to_add(False) if special else 0
        own.enable_truncation(limit + inserted, direction=side)
    assert found == [engine_offsets(own, texts, special)] * 2


@given(st.data(), adapters())
def test_spans_are_the_engine_s_before_post_processing(
    data: st.DataObject, adapter: HuggingFaceTokenizer
) -> None:
    own = adapter.engine
    texts = drawn_texts(data, own)
    ids_of(adapter, texts)
    with small_parts(data, adapter), tokpar.Encoder(own) as encoder:
        batch = encoder.encode_batch(texts)
        try:
            chars = batch.char_spans()
        except LookupError:
            refused = [why_misplaced(adapter.facts, text) for text in texts]
            assert getattr(own.model, "byte_fallback", False) or any(refused)
            return
        one_by_one = [encoding.char_spans.tolist() for encoding in batch]
        in_bytes = [encoding.spans.tolist() for encoding in batch]
    own.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    places = [inserted for e in batch for inserted in _inserted(e, adapter)]
    assert [(a, b) for (a, b), i in zip(chars.tolist(), places, strict=True) if not i] == (
        engine_offsets(own, texts)
    )
    assert not chars[places].any()
    assert chars.tolist() == [*chain(*one_by_one)]
    assert batch.spans().tolist() == [*chain(*in_bytes)]
    for text, spans, wide in zip(texts, in_bytes, one_by_one, strict=True):
        found = code_point_spans(np.array(spans, dtype=np.int64).reshape(-1, 2), text)
        assert found.tolist() == wide


def _inserted(encoding: Any, adapter: HuggingFaceTokenizer) -> list[bool]:
    """Which of the final ids are special tokens that were put around the text."""
    inserted = inserted_ids(adapter)
    assert inserted is not None
    prefix, suffix = map(len, inserted)
    return [True] * prefix + [False] * (len(encoding) - prefix - suffix) + [True] * suffix


@given(st.data(), adapters())
@at_most(60)
def test_theorem_53_holds_at_every_certified_cut(
    data: st.DataObject, adapter: HuggingFaceTokenizer
) -> None:
    offsets, [text, *_] = adapter._engine_offsets, drawn_texts(data, adapter.engine)
    ids_of(adapter, [text])
    cuts = finder(adapter.engine)
    if cuts.refusal_for(text) is not None or not offsets._composes(text):
        return
    whole = engine_offsets(adapter._chunks, [text])
    for p in range(1, len(text)):
        seam = cuts.certify(text, p)
        if seam is not None:
            parts = concatenation.parts_between([seam], len(text))
            found = [composed(adapter._chunks, text, part) for part in parts]
            assert [*chain(*found)] == whole


def composed(engine: Tokenizer, text: str, part: concatenation.Part) -> Spans:
    spans = np.array(engine_offsets(engine, [part.slice_of(text)]), dtype=np.int64).reshape(-1, 2)
    first = part.start + part.absorbed_chars
    moved = concatenation.shift_spans(spans, first, part.absorbed_chars)
    return [(a, b) for a, b in moved.tolist()]


# ------------------------------------------------------------------------------ theorem 53


CONDITIONS = {
    "a cut inside a token": (lambda: shaped(word_level("ab")), "ab", 1, 1),
    "an absorbed space": (prefixing, "a b", 1, 2),
    "a deletion at the beginning": (deleting, "\xadaa b", 3, 3),
    "a deletion behind a token": (deleting, "<s>\xadaa b", 6, 6),
    "after trimming": (trimming, "hello world", 5, 5),
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_theorem_53_needs_each_condition(case: str) -> None:
    """Offsets of both sides do not compose, and ours are those of the whole text all the same."""
    make, text, stop, start = CONDITIONS[case]
    own = make()
    left, right = engine_offsets(own, [text[:stop]]), engine_offsets(own, [text[start:]])
    assert [*left, *((a + start, b + start) for a, b in right)] != engine_offsets(own, [text])
    with mock.patch.object(hf_offsets, "PART", 1):
        assert_engine_offsets(own, text, 9 * text)


@pytest.mark.parametrize(
    ("in_front", "special", "whole", "rest"),
    [
        (False, True, [(0, 1), (2, 3), (4, 5)], [(1, 3), (4, 5)]),
        (True, True, [(0, 1), (2, 3), (4, 5)], [(2, 3), (4, 5)]),
        (True, False, [(0, 1), (2, 3), (4, 5)], [(1, 3), (4, 5)]),
    ],
)
def test_trimming_spares_the_first_token_that_truncation_leaves_unless_one_was_put_in_front(
    in_front: bool, special: bool, whole: Spans, rest: Spans
) -> None:
    own, text = trimming(), "a b b"
    if in_front:
        bert = processors.BertProcessing(("</s>", 1), ("<s>", 2))
        own.post_processor = processors.Sequence([bert, own.post_processor])
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    cut = np.array([1]), np.array([0])
    assert our_offsets(adapter, [text], add_special_tokens=special) == whole
    assert our_offsets(adapter, [text], cut=cut, add_special_tokens=special) == rest
    own.enable_truncation(2 + (2 if in_front and special else 0), direction="left")
    assert engine_offsets(own, [text], special) == rest
