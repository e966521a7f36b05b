"""What tells the offsets of which text: the compiled call, lengths of tokens, the engine (theorem
53)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.calls_drawn import draw_words
from tests.support.odd_offsets import MARKS, falling_back
from tests.support.offsets_drawn import (
    WORDS,
    assert_engine_offsets,
    bert,
    composing,
    counted,
    engine_offsets,
    our_offsets,
    prefixing,
    tiling,
)
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import byte_starts, code_point_spans

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@needs_kernel
@pytest.mark.parametrize(
    "make",
    [lambda: draw_words(random.Random(1)), prefixing, tiling],
    ids=["words", "llama", "gpt2"],
)
def test_where_the_compiled_call_tells_the_engine_is_not_asked(make: Any) -> None:
    own = make()
    adapter, asked = counted(own)
    texts = ["", WORDS, "a", "\u00c9 x1", WORDS * 30]
    for _ in range(2):
        assert our_offsets(adapter, texts) == engine_offsets(own, texts)
    assert not [call for call in asked.call_args_list if call.args[0]]


@needs_kernel
def test_only_the_parts_that_the_compiled_call_leaves_are_the_engine_s() -> None:
    own, text = composing(), WORDS * 400 + "e\u0301 x " + WORDS * 400
    adapter, asked = counted(own)
    assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
    sizes = [len("".join(call.args[0])) for call in asked.call_args_list]
    assert 0 < sum(sizes) < len(text) / 2


def test_other_ids_are_a_lookup_error() -> None:
    for own in (bert(), tiling(), composing()):
        adapter = tokpar.load(own)
        assert isinstance(adapter, HuggingFaceTokenizer)
        rows = adapter.encode_many(["the dog"], False)
        for text in ("a fox", "the dogs", "", "É\u0301"):
            with pytest.raises(LookupError, match="not those of the text"):
                adapter.offset_mapping([text], rows)


@pytest.mark.parametrize("marks", MARKS)
def test_wrong_places_of_the_engine_are_its_offset_mapping_and_no_spans(
    marks: dict[str, str],
) -> None:
    own = falling_back(**marks)
    assert_engine_offsets(own, "ab   ", "ab é ab")
    with pytest.raises(LookupError, match="wrong places"):
        tokpar.Encoder(own).encode_batch(["ab", "é"]).char_spans()


def test_a_tokenizer_that_was_changed_has_other_offsets() -> None:
    own = bert()
    with tokpar.Encoder(own) as encoder:
        for lowercase in (True, False):
            own.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
            adapter = encoder.tokenizer
            assert isinstance(adapter, HuggingFaceTokenizer)
            texts = [WORDS * 30 + "THE DOG É"]
            assert our_offsets(adapter, texts) == engine_offsets(own, texts)


@given(st.text(max_size=30), st.data())
def test_code_points_of_byte_spans_are_those_that_they_touch(
    text: str, data: st.DataObject
) -> None:
    starts = byte_starts(text)
    place = st.integers(0, int(starts[-1]))
    spans = data.draw(st.lists(st.tuples(place, place).map(sorted)))
    found = code_point_spans(np.array(spans, dtype=np.int64).reshape(-1, 2), text).tolist()
    left = (np.searchsorted(starts, [a for a, _ in spans], side="right") - 1).tolist()
    right = np.searchsorted(starts, [b for _, b in spans], side="left").tolist()
    assert found == [list(pair) for pair in zip(left, right, strict=True)]
