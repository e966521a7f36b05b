"""What tells the offsets of which text: lengths of tokens, the cache, the engine (theorem 53)."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.odd_offsets import MARKS, falling_back
from tests.support.offsets_drawn import (
    WORDS,
    assert_engine_offsets,
    bert,
    composing,
    counted,
    deleting,
    engine_offsets,
    our_offsets,
    tiling,
)
from tests.support.tokenizers_drawn import (
    ByteLevelSpec,
    build,
    plain_copy,
)
from tokpar.adapters import hf_offsets
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import byte_starts, code_point_spans
from tokpar.cache.offset_rows import LONGEST_SEGMENT, pack_rows, unpack_rows
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.interfaces import facts_of
from tokpar.limits import LEAST_CACHE_BYTES
from tokpar.types import Rows

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@needs_kernel
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (bert, WORDS * 40 + "É"),
        (composing, WORDS * 40 + "e\u0301 x"),
        (deleting, "a b ab b " * 200),
    ],
    ids=["BERT", "NFC", "Precompiled"],
)
def test_what_the_cache_knows_the_engine_is_not_asked(make: Any, text: str) -> None:
    own = make()
    adapter, asked = counted(own)
    expected = engine_offsets(own, [text])
    assert our_offsets(adapter, [text]) == expected
    assert 0 < sum(len("".join(call.args[0])) for call in asked.call_args_list) < len(text)
    asked.reset_mock()
    assert our_offsets(adapter, [text, WORDS[:39] if make is not deleting else "a"]) == [
        *expected,
        *engine_offsets(own, [WORDS[:39] if make is not deleting else "a"]),
    ]
    assert not [call for call in asked.call_args_list if call.args[0]]


@pytest.mark.parametrize("make", [tiling, composing], ids=["tiling", "inert"])
def test_where_lengths_tell_the_engine_is_not_asked(make: Any) -> None:
    own = make()
    adapter, asked = counted(own)
    texts = ["", WORDS, "a", WORDS * 30]
    assert our_offsets(adapter, texts) == engine_offsets(own, texts)
    assert not [call for call in asked.call_args_list if call.args[0]]


def test_the_engine_is_given_little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 150 bytes for each byte of text: never the whole of a long one."""
    own = bert()
    adapter, asked = counted(own)
    object.__setattr__(adapter._engine_offsets, "cache_bytes", 0)
    monkeypatch.setattr(hf_offsets, "TOGETHER", 20_000)
    text = WORDS * 3_000
    assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
    sizes = [sum(map(len, call.args[0])) for call in asked.call_args_list]
    assert len(sizes) >= 8
    assert max(sizes) <= 20_000


def test_of_other_text_than_ascii_lengths_tell_when_there_was_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, text = composing(), "中文的éя" * 2_000
    adapter, asked = counted(own)
    object.__setattr__(adapter._engine_offsets, "cache_bytes", 0)
    monkeypatch.setattr(hf_offsets, "WORTH_A_TABLE", 5_000)
    for _ in range(2):
        asked.reset_mock()
        assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
    assert not [call for call in asked.call_args_list if call.args[0]]


def test_ascii_characters_are_inert_as_the_table_says() -> None:
    for names in (("NFC",), ("Lowercase",), ("StripAccents", "Replace ab by c"), ("Strip",), ()):
        own = plain_copy(build(ByteLevelSpec("qwen2", 1, 10, normalizers=names)))
        guard = inert_for(facts_of(tokpar.load(own)))
        for code in range(128):
            expected = guard.chars is None or bool(guard.chars.has[code])
            assert guard.inert(chr(code)) == expected, (names, code)


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


@needs_kernel
def test_a_segment_too_long_for_the_cache_is_encoded_by_the_engine() -> None:
    text = "a b " + "é" * (LONGEST_SEGMENT + 5) + " a b"
    assert_engine_offsets(bert(), text)
    assert_engine_offsets(composing(), text)


def test_several_threads_may_ask_at_once() -> None:
    own = bert()
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    object.__setattr__(adapter._engine_offsets, "cache_bytes", LEAST_CACHE_BYTES)
    rng = random.Random(1)
    texts = [" ".join(rng.choices([*WORDS.split(), "É", "x1", "中a"], k=400)) for _ in range(24)]
    expected = [engine_offsets(own, [text]) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda text: our_offsets(adapter, [text]), texts)) == expected


def test_a_tokenizer_that_was_changed_has_other_offsets() -> None:
    own = bert()
    with tokpar.Encoder(own) as encoder:
        for lowercase in (True, False):
            own.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
            adapter = encoder.tokenizer
            assert isinstance(adapter, HuggingFaceTokenizer)
            texts = [WORDS * 30 + "THE DOG É"]
            assert our_offsets(adapter, texts) == engine_offsets(own, texts)


# ------------------------------------------------------------------------------ packed rows


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 99), max_size=4)))),
    st.integers(0, 2**32 - 1),
)
def test_packed_rows_are_unpacked_as_they_were(
    texts: list[list[tuple[int, list[int]]]], first_id: int
) -> None:
    segments = [segment for text in texts for segment in text]
    spans = [(a % n, n) for n, places in segments if n for a in places]
    ids = (np.arange(len(spans)) + first_id).astype(np.uint32)
    row = pack_rows(
        np.array([n for n, _ in segments], dtype=np.int64),
        np.array([len(places) if n else 0 for n, places in segments], dtype=np.int64),
        np.array(spans, dtype=np.int64).reshape(-1, 2),
        ids,
    )
    firsts = np.cumsum([0, *map(len, texts)])
    found = unpack_rows(Rows(row.ids, row.offsets[firsts]))
    assert found.code_points.tolist() == [sum(n for n, _ in text) for text in texts]
    for k, text in enumerate(texts):
        expected, done = [], 0
        for length, places in text:
            expected += [[a % length + done, length + done] for a in places if length]
            done += length
        own = ids[: len(expected)]
        told = found.spans_of(k, ids)  # more ids than the text has
        assert told is not None
        assert told.tolist() == expected
        ids = ids[len(expected) :]
        for place in range(len(own)):
            other = own.copy()
            other[place] ^= 1 << 5
            assert found.spans_of(k, other) is None
        assert not len(own) or found.spans_of(k, own[:-1]) is None


@pytest.mark.parametrize(
    ("length", "span"),
    [(3, (1, 4)), (3, (3, 3)), (3, (2, 1)), (LONGEST_SEGMENT + 1, (0, 1))],
)
def test_what_does_not_lie_in_its_segment_is_not_packed(length: int, span: Any) -> None:
    with pytest.raises(ValueError, match="cannot be packed"):
        pack_rows(np.array([length]), np.array([1]), np.array([span]), np.array([7], np.uint32))


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
