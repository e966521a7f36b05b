"""`encode` with `max_tokens`, and `count` with a limit: as the ids of the whole text, and early."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.chunks.brute_force import called, own_tokenizer
from tests.conftest import cases
from tests.support.drawn_runs import NAMES, adapter_of, any_tokenizer, drawn_text, named
from tests.support.fakes import WordHash
from tests.support.paths import VOCAB
from tests.support.tokenizers_drawn import plain_copy
from tokpar.chunks import encoded_text, end_ids
from tokpar.contract.interfaces import PostProcesses
from tokpar.errors import OptionError

pytestmark = pytest.mark.ids

SIDES = st.sampled_from(("right", "left"))


def truncated(tokenizer: Any, text: str, max_tokens: int, side: str) -> list[int]:
    """The ids of the library's own truncation."""
    if not isinstance(tokenizer, Tokenizer):
        ids = own_tokenizer(tokenizer).ids(text)
        return ids[:max_tokens] if side == "right" else ids[max(0, len(ids) - max_tokens) :]
    copy = plain_copy(tokenizer)
    copy.enable_truncation(max_tokens, direction=side)
    ids: list[int] = copy.encode(text).ids
    return ids


@given(
    data=st.data(),
    tokenizer=any_tokenizer(),
    max_tokens=st.integers(0, 40),
    side=SIDES,
    times=st.sampled_from((1, 40)),
)
def test_max_tokens_is_the_truncation_of_the_library(
    data: st.DataObject, tokenizer: Any, max_tokens: int, side: Any, times: int
) -> None:
    text = drawn_text(data, tokenizer, 100) * times
    if isinstance(tokenizer, Tokenizer):  # a copy may divide ties of Unigram in another way
        copied = called(plain_copy(tokenizer), text, False).ids
        assume(copied == adapter_of(tokenizer).encode(text).tolist())
    check_truncation(tokenizer, text, max_tokens, side)


def check_truncation(tokenizer: Any, text: str, max_tokens: int, side: Any) -> None:
    adapter = adapter_of(tokenizer)
    encoder = tokpar.Encoder(adapter)
    if isinstance(adapter, PostProcesses) and adapter.special_tokens is None:
        with pytest.raises(OptionError, match="nothing is known of those of"):
            encoder.encode(text, max_tokens=max_tokens or 1, side=side)
        return
    special = own_tokenizer(tokenizer).special
    if max_tokens == 0 or max_tokens < special:
        with pytest.raises(OptionError, match="max_tokens"):
            encoder.encode(text, max_tokens=max_tokens, side=side)
        return
    limit = getattr(adapter, "truncates_to", None)
    least = max_tokens if limit is None else min(max_tokens, limit)
    found = encoder.encode(text, max_tokens=max_tokens, side=side)
    assert found.ids.tolist() == truncated(tokenizer, text, least, side)


@given(
    data=st.data(),
    tokenizer=any_tokenizer(),
    limit=st.integers(0, 300),
    times=st.sampled_from((1, 40)),
)
@example(data=None, tokenizer=None, limit=0, times=1)
def test_count_with_a_limit_is_the_count_or_one_more_than_the_limit(
    data: Any, tokenizer: Any, limit: int, times: int
) -> None:
    if data is None:
        assert tokpar.Encoder().count("", limit=limit) == 0
        return
    text = drawn_text(data, tokenizer, 100) * times
    if isinstance(tokenizer, Tokenizer):  # its own call may panic: not such texts
        called(tokenizer, text, False)
    encoder = tokpar.Encoder(adapter_of(tokenizer))
    assert encoder.count(text, limit=limit) == min(encoder.count(text), limit + 1)


@given(data=st.data(), tokenizer=any_tokenizer(), count=st.integers(0, 5))
def test_the_counts_of_a_batch_are_those_of_its_texts(
    data: st.DataObject, tokenizer: Any, count: int
) -> None:
    texts = [drawn_text(data, tokenizer, 60) for _ in range(count)]
    for text in texts if isinstance(tokenizer, Tokenizer) else ():  # its own call may panic
        called(tokenizer, text, False)
    encoder = tokpar.Encoder(adapter_of(tokenizer))
    assert encoder.count_batch(texts) == [encoder.count(text) for text in texts]


@pytest.mark.parametrize(
    "setting",
    [
        lambda own: None,
        lambda own: own.enable_truncation(4),
        lambda own: own.enable_padding(pad_id=0, pad_token="[PAD]"),
        lambda own: own.enable_padding(pad_id=0, pad_token="[PAD]", length=9),
    ],
    ids=["special tokens", "truncation", "padding to the longest", "padding to 9"],
)
def test_the_counts_of_a_batch_are_those_of_the_own_calls(setting: Any) -> None:
    """Each text by itself: a batch pads its texts to the longest, and padding is no text."""
    own = Tokenizer.from_file(str(VOCAB / "bert_part.json"))
    own.no_truncation()
    own.no_padding()
    setting(own)
    texts = ["the", "the man of the house, and more", "", "a cat"]
    counts = [len(own.encode(text).ids) for text in texts]
    encoder = tokpar.Encoder(own)
    assert encoder.count_batch(texts) == counts == [encoder.count(text) for text in texts]
    assert encoder.count_batch([text.encode() for text in texts]) == counts
    assert all(type(count) is int for count in encoder.count_batch(texts))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", NAMES)
def test_a_first_guess_that_is_too_short_is_followed_by_longer_ones(
    name: str, side: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_ids, "_CHARS_PER_TOKEN", 1)
    monkeypatch.setattr(end_ids, "_LEAST_CHARS", 1)
    for max_tokens in cases(range(3, 40), range(3, 40, 6)):
        check_truncation(named(name), "internationalization of words " * 8, max_tokens, side)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_tokens": 0}, "max_tokens must be an int of at least 1, got 0"),
        ({"max_tokens": True}, "max_tokens must be an int of at least 1, got True"),
        ({"max_tokens": 5, "side": "middle"}, "side must be one of 'left', 'right', got 'middle'"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        tokpar.Encoder().encode("text", **arguments)


def test_parts_of_a_text_are_exact_where_the_strategy_is_approximate() -> None:
    """An approximate encoder gave 23 chunks with other ids than their slices have alone."""
    text = "12345678901234567890 hello, world. " * 40
    own = tokpar.encode(text, strategy="serial").ids.tolist()
    with tokpar.Encoder(strategy="overlap", chunk_chars=13, allow_approximate=True) as encoder:
        assert encoder.encode(text).ids.tolist() != own
        chunks = list(encoder.chunks(text, 20))
        assert encoder.encode(text, max_tokens=50).ids.tolist() == own[:50]
        assert encoder.encode(text, max_tokens=50, side="left").ids.tolist() == own[-50:]
        assert encoder.count(text, limit=10**6) == len(own)
    for chunk in chunks:
        alone = tokpar.encode(text[chunk.start : chunk.stop], strategy="serial").ids.tolist()
        assert chunk.ids.tolist() == alone
        assert len(alone) <= 20


def test_a_truncation_to_no_id_keeps_no_id() -> None:
    tokenizer = plain_copy(named("deepseek_part"))
    tokenizer.enable_truncation(0)
    encoder = tokpar.Encoder(tokenizer)
    for side in ("left", "right"):
        assert encoder.encode("some words", max_tokens=3, side=side).ids.tolist() == []


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_ends_of_a_long_text_are_encoded_without_the_rest(side: Any) -> None:
    adapter, text = adapter_of(named("deepseek_part")), "some words of a text, and more. " * 400
    whole = adapter.encode(text).tolist()
    part, ids = end_ids.kept_part(text, adapter, adapter.encode, 20, side)
    assert 20 <= len(ids) < len(part) < len(text) // 4
    assert ids.tolist() == (whole[: len(ids)] if side == "right" else whole[-len(ids) :])
    refused = WordHash()
    assert end_ids.kept_part(text, refused, refused.encode, 20, side)[0] == text


def test_tokens_before_a_place_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded_text, "REGION", 2000)
    monkeypatch.setattr(encoded_text, "LOCATED", 2000)
    with tokpar.Encoder(named("deepseek_part")) as encoder:
        text = "some words of a text, and more. " * 600
        whole = encoded_text.EncodedText(text, encoder.tokenizer, encoder.rows_of_parts, 0)
        starts, most = encoder.encode(text).char_spans[:, 0].tolist(), 0
        for k in range(0, len(starts) - 100, 200):
            assert whole.start_behind(starts[k], 50) == starts[k + 50]
            most = max(most, len(whole.ids))
    assert most < len(starts) // 2
