"""Chunks tile the text, fit when they are encoded alone, and end where their boundary says."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tokpar
from tests.chunks.brute_force import BruteForce, own_tokenizer, truncates
from tests.support.drawn_runs import NAMES, adapter_of, any_tokenizer, drawn_text, named
from tokpar.chunks.text_chunks import TextChunk
from tokpar.errors import OptionError
from tokpar.interfaces import PostProcesses

pytestmark = pytest.mark.ids

BOUNDARIES = st.sampled_from(("token", "cut", "line", "sentence"))
SIZES = st.integers(1, 12) | st.integers(8, 64)


def chunks_of(
    tokenizer: Any, text: str, max_tokens: int, overlap: int, boundary: Any
) -> list[TextChunk]:
    encoder = tokpar.Encoder(adapter_of(tokenizer))
    return list(encoder.chunks(text, max_tokens, overlap, boundary))


def assert_chunks(
    tokenizer: Any, text: str, max_tokens: int, overlap: int, boundary: str, chunks: list[TextChunk]
) -> None:
    """Everything that is promised of the chunks of one text."""
    own, adapter = own_tokenizer(tokenizer), adapter_of(tokenizer)
    brute = BruteForce(text, own, adapter)
    whole = tokpar.Encoder(adapter).unprocessed_batch([text], adapter).ids.tolist()
    reached = 0
    for k, chunk in enumerate(chunks):
        before = chunks[k - 1].start if k else -1
        assert before < chunk.start <= reached < chunk.stop
        assert chunk.start == reached or overlap
        reached = chunk.stop
        part = text[chunk.start : chunk.stop]
        assert chunk.ids.tolist() == own.ids(part)
        assert len(chunk.ids) <= max_tokens
        if chunk.certified and not own.special:
            size = len(chunk.ids)
            slices = (whole[i : i + size] for i in range(len(whole) - size + 1))
            assert chunk.ids.tolist() in slices
        expected = brute.stop(chunk.start, max_tokens, boundary)
        if expected is None:
            assert chunk.stop == len(text) or not brute.fits(
                chunk.start, chunk.stop + 1, max_tokens
            )
        else:
            assert chunk.stop == expected
    assert reached == len(text)


@given(
    data=st.data(),
    tokenizer=any_tokenizer(),
    max_tokens=SIZES,
    boundary=BOUNDARIES,
    overlap=st.just(0) | st.integers(0, 8),
)
def test_chunks_tile_the_text_and_fit_and_are_as_long_as_their_boundary_allows(
    data: st.DataObject, tokenizer: Any, max_tokens: int, boundary: str, overlap: int
) -> None:
    check_drawn(data, tokenizer, max_tokens, boundary, overlap)


@pytest.mark.parametrize("name", NAMES)
@given(
    data=st.data(),
    max_tokens=SIZES,
    boundary=BOUNDARIES,
    overlap=st.just(0) | st.integers(0, 8),
)
def test_parts_of_real_vocabularies(
    name: str, data: st.DataObject, max_tokens: int, boundary: str, overlap: int
) -> None:
    check_drawn(data, named(name), max_tokens, boundary, overlap)


def check_drawn(
    data: st.DataObject, tokenizer: Any, max_tokens: int, boundary: str, overlap: int
) -> None:
    text = drawn_text(data, tokenizer, 100)
    own = own_tokenizer(tokenizer)
    adapter = adapter_of(tokenizer)
    assume(not isinstance(adapter, PostProcesses) or adapter.special_tokens is not None)
    if truncates(tokenizer, max_tokens):
        with pytest.raises(OptionError, match="own truncation keeps"):
            chunks_of(tokenizer, text, max_tokens, overlap, boundary)
        return
    if not overlap < max_tokens - own.special:
        with pytest.raises(OptionError, match="room"):
            chunks_of(tokenizer, text, max_tokens, overlap, boundary)
        return
    if any(len(own.ids(char)) > max_tokens for char in text):
        with contextlib.suppress(OptionError):  # no chunk need begin with such a character
            chunks_of(tokenizer, text, max_tokens, overlap, boundary)
        return
    found = chunks_of(tokenizer, text, max_tokens, overlap, boundary)
    assert_chunks(tokenizer, text, max_tokens, overlap, boundary, found)
