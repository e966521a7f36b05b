"""`encode_iter` gives what `encode` gives, text by text, and keeps nothing else alive."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.drawn_runs import adapter_of, any_tokenizer
from tests.support.tokenizers_drawn import contents, named_tokenizers, texts_with
from tokpar.encoder import BATCH_BYTES
from tokpar.errors import EngineError
from tokpar.pipeline import text_batches

pytestmark = pytest.mark.ids

WORDS = "the quick brown fox jumps over the lazy dog "


@given(st.data(), any_tokenizer())
def test_each_text_has_the_ids_of_its_own_call(data: st.DataObject, tokenizer: Any) -> None:
    texts = data.draw(st.lists(texts_with(contents(tokenizer), 80), max_size=9), label="texts")
    given_bytes = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    batch_bytes = data.draw(st.sampled_from([1, 20, 100, 1000]), label="batch_bytes")
    with tokpar.Encoder(adapter_of(tokenizer)) as encoder:
        expected = [encoder.encode(text).ids.tolist() for text in texts]
        mixed = [
            text.encode() if as_bytes and not has_surrogate(text) else text
            for text, as_bytes in zip(texts, given_bytes, strict=True)
        ]
        found = [row.ids.tolist() for row in encoder.encode_iter(mixed, batch_bytes=batch_bytes)]
    assert found == expected


def has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def test_texts_are_read_when_encodings_are_asked_for() -> None:
    read: list[int] = []

    def texts() -> Iterator[str]:
        for k in count():
            read.append(k)
            yield "x" * 10

    encodings = tokpar.Encoder().encode_iter(texts(), batch_bytes=30)
    assert read == []
    next(encodings)
    assert len(read) == 3
    next(encodings), next(encodings)
    assert len(read) == 3
    next(encodings)
    assert len(read) == 6


@pytest.mark.parametrize("name", ["default", "cl100k_part", "bert_part"])
def test_an_encoding_keeps_no_text_alive_but_its_own(name: str) -> None:
    texts = [f"text {WORDS * (k % 5)}{k}" for k in range(60)]
    before = [sys.getrefcount(texts[k]) for k in range(60)]
    with tokpar.Encoder(named_tokenizers()[name]) as encoder:
        kept = list(encoder.encode_iter(iter(texts), batch_bytes=1000))[7]
        gc.collect()
        after = [sys.getrefcount(texts[k]) for k in range(60)]
        assert [k for k in range(60) if after[k] > before[k]] == [7]
        assert kept.ids.base is None, "the ids of the batch are kept alive"
        assert kept.report.plan
        assert len(kept.spans) == len(kept)


@pytest.mark.parametrize("batch_bytes", [1, 40, BATCH_BYTES])
@pytest.mark.parametrize(
    ("name", "wrong", "kind", "said"),
    [
        ("cl100k_part", "x <|endoftext|>", ValueError, "^text 5: .*disallowed special token"),
        ("cl100k_part", b"x <|endoftext|>", ValueError, "^text 5: .*disallowed special token"),
        ("default", b"ab\xff", tokpar.OptionError, r"^text 5 is not UTF-8: .* at byte 2 \(0xff\)"),
        ("default", b"a\xed\xa0\x80", tokpar.OptionError, "^text 5 is not UTF-8: .* at byte 1 "),
        ("default", 3, tokpar.OptionError, "^text 5 must be a str or UTF-8 bytes, got int"),
        ("default", None, tokpar.OptionError, "^text 5 must be .*, got NoneType"),
    ],
)
def test_a_refused_text_is_named_after_the_texts_before_it(
    name: str, wrong: Any, kind: Any, said: str, batch_bytes: int
) -> None:
    texts = [WORDS, "a", "", "b c", WORDS * 3]
    with tokpar.Encoder(named_tokenizers()[name]) as encoder:
        encodings = encoder.encode_iter([*texts, wrong, "d"], batch_bytes=batch_bytes)
        found = [row.ids.tolist() for row in islice(encodings, 5)]
        assert found == [encoder.encode(text).ids.tolist() for text in texts]
        with pytest.raises(kind, match=said):
            next(encodings)
        assert [*encoder.encode_iter(["d"])] == [encoder.encode("d")]


@pytest.mark.parametrize("door", ["encode_iter", "encode_batch"])
@pytest.mark.parametrize("name", ["default", "bert_part"])
def test_a_surrogate_is_the_engines_own_error_with_the_number_of_the_text(
    name: str, door: str
) -> None:
    tokenizer = named_tokenizers()[name]
    with pytest.raises(Exception) as own:  # noqa: PT011  # another for each engine
        tokenizer.encode("a\ud800")
    found = []
    with pytest.raises(own.type, match="text 2"):
        found.extend(getattr(tokpar.Encoder(tokenizer), door)(["a", "b" * 9000, "a\ud800", "c"]))
    assert len(found) == (2 if door == "encode_iter" else 0)


@pytest.mark.parametrize("encode_iter", [tokpar.Encoder().encode_iter, tokpar.encode_iter])
def test_a_caller_who_stops_early_closes_the_source(encode_iter: Any) -> None:
    closed: list[bool] = []

    def texts() -> Iterator[str]:
        try:
            while True:
                yield WORDS
        finally:
            closed.append(True)

    encodings = encode_iter(texts(), batch_bytes=100)
    next(encodings)
    assert not closed
    encodings.close()
    assert closed == [True]


@pytest.mark.parametrize(
    ("texts", "batch_bytes", "said"),
    [
        ("a text", 10, "encode_iter takes several texts, got one str; use encode for one text"),
        (b"bytes", 10, "encode_iter takes several texts, got one bytes"),
        (["a"], 0, "batch_bytes must be an int of at least 1, got 0"),
        (["a"], True, "batch_bytes must be an int of at least 1, got True"),
        (["a"], "8", "batch_bytes must be an int of at least 1, got '8'"),
    ],
)
def test_wrong_arguments_are_refused_at_the_call(texts: Any, batch_bytes: Any, said: str) -> None:
    with pytest.raises(tokpar.OptionError, match=said):
        tokpar.Encoder().encode_iter(texts, batch_bytes=batch_bytes)


@pytest.mark.parametrize("batch_bytes", [1, 7, 30, 1000])
def test_a_column_is_read_in_batches_that_hold_each_text_once(batch_bytes: int) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is missing")
    texts = [WORDS[: 3 * k % 29] for k in range(60)]
    column = arrow.chunked_array([texts[:17], texts[17:17], texts[17:]])
    with tokpar.Encoder() as encoder:
        found = [row.ids.tolist() for row in encoder.encode_iter(column, batch_bytes=batch_bytes)]
        assert found == [encoder.encode(text).ids.tolist() for text in texts]


def test_a_text_that_fails_when_its_encoding_is_made_is_named_by_its_number() -> None:
    def encode(texts: Any) -> Any:
        def row(k: int) -> Any:
            raise EngineError("it cannot", 1, 2)

        return row

    with pytest.raises(EngineError, match=r"^text 7: it cannot") as raised:
        text_batches._rows_of(["a", "b", "c"], encode, 5)(2)
    assert raised.value.row == 7
