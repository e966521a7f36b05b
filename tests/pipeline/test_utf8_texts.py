"""Arrow columns and bytes have the ids of the same texts as str, and are read in place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import adapter_of, any_tokenizer
from tests.support.tokenizers_drawn import contents, named_tokenizers, texts_with
from tokpar.compiled.utf8_texts import PAD, TextColumn, Utf8Texts, texts_of

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.ids

WORDS = "the quick brown fox jumps over the lazy dog "
TYPES = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]
ROWS = ["", WORDS * 4, "é 中文 😀 ", "", "a <b", WORDS * 90, "\ufeff", "中" * 400, "\x00"]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def column(texts: list[str], kind: str) -> Any:
    given_texts = texts if "string" in kind else [text.encode() for text in texts]
    return pyarrow.array(given_texts, pyarrow.type_for_alias(kind))


def forms(texts: list[str]) -> Iterator[tuple[str, Any]]:
    """The same texts in each form that `encode_batch` takes."""
    yield "bytes", [text.encode() for text in texts]
    for kind in TYPES:
        yield kind, column(texts, kind)
        around = column(["né", *texts, "é", "x"], kind)
        yield f"a slice of {kind}", around.slice(1, len(texts))
        half = len(texts) // 2
        chunks = [column(part, kind) for part in (texts[:half], [], texts[half:])]
        yield f"chunks of {kind}", pyarrow.chunked_array(chunks, pyarrow.type_for_alias(kind))


@given(st.data(), any_tokenizer())
def test_each_form_has_the_ids_of_the_strings(data: st.DataObject, tokenizer: Any) -> None:
    texts = data.draw(st.lists(texts_with(contents(tokenizer), 80), max_size=6), label="texts")
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    form, given_texts = data.draw(st.sampled_from([*forms(texts)]), label="form")
    batch_bytes = data.draw(st.sampled_from([1, 50, 1000]))
    with tokpar.Encoder(adapter_of(tokenizer)) as encoder:
        expected = encoder.encode_batch(texts)
        alone = [encoder.encode(text).ids.tolist() for text in texts]
        for _ in range(2):  # new, then from the cache
            found = encoder.encode_batch(given_texts)
            assert found == expected, form
        encodings = encoder.encode_iter(given_texts, batch_bytes=batch_bytes)
        assert [row.ids.tolist() for row in encodings] == alone


@pytest.mark.parametrize("name", ["default", "cl100k_part", "bert_part", "metaspace_unigram"])
def test_long_and_short_rows_have_the_ids_spans_and_seams_of_the_strings(name: str) -> None:
    times = 30_000 if name == "default" else 3_000  # the call of Unigram on a long text is slow
    rows = [*ROWS, (WORDS + "中文é") * times, *ROWS]
    with tokpar.Encoder(named_tokenizers()[name]) as encoder:
        expected = encoder.encode_batch(rows)
        for form, given_texts in forms(rows):
            found = encoder.encode_batch(given_texts)
            assert found == expected, form
        assert found.char_spans().tolist() == expected.char_spans().tolist()
        for k in (1, 9, -1):
            assert tokpar.check(found[k], rows[k], encoder.tokenizer).ok


@given(st.lists(ANY_TEXT, max_size=8), st.data())
@example(["", "é", "", "b"], None)
def test_texts_decode_slice_and_choose_as_a_list_does(texts: list[str], data: Any) -> None:
    for form, given_texts in forms(texts):
        found = texts_of(given_texts)
        assert isinstance(found, Utf8Texts) or not texts, form
        if not isinstance(found, Utf8Texts):
            continue
        assert [*found] == texts
        assert [found[k] for k in range(-len(texts), len(texts))] == texts * 2
        assert found.lengths.tolist() == [len(text) for text in texts]
        assert [*found[1:4]] == texts[1:4]
        assert [*found[::-2]] == texts[::-2]
        full = np.flatnonzero(found.lengths)
        assert [*found.select(full)] == [text for text in texts if text]
        assert [*found.select(full[1:])] == [text for text in texts if text][1:]
        buffer, edges = found.rows()
        parts = [buffer[a:b].tobytes().decode() for a, b in pairwise(edges.tolist())]
        assert parts == texts
        assert len(buffer) >= edges[-1] + PAD
        assert found.find_texts_with(["é", "b"]) == [
            k for k, text in enumerate(texts) if "é" in text or "b" in text
        ]


@needs_kernel
@pytest.mark.parametrize("name", ["default", "cl100k_part"])
def test_no_text_that_the_cache_answers_becomes_a_str(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [WORDS * k for k in range(1, 40)]
    with tokpar.Encoder(named_tokenizers()[name]) as encoder:
        expected = encoder.encode_batch(rows)

        def refuse(self: TextColumn, k: int) -> str:
            raise AssertionError(f"text {k} was decoded")

        monkeypatch.setattr(TextColumn, "text", refuse)
        assert encoder.encode_batch(pyarrow.array(rows)) == expected


def test_nothing_is_seen_of_a_list_of_bytes_that_changes_later() -> None:
    rows = [b"a b", b"c"]
    batch = tokpar.encode_batch(rows)
    rows[0] = b"other"
    assert batch[0].tokens == tokpar.encode("a b").tokens


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_null_is_named(kind: str, chunked: bool) -> None:
    array = pyarrow.array([b"a", b"b", None, b"c"]).cast(pyarrow.type_for_alias(kind))
    rows = pyarrow.chunked_array([array.slice(0, 1), array.slice(1)]) if chunked else array
    with pytest.raises(tokpar.OptionError, match=r"text 2 is null: leave .*drop_null"):
        tokpar.encode_batch(rows)
    encodings = tokpar.encode_iter(rows)
    assert [next(encodings), next(encodings)] == [tokpar.encode("a"), tokpar.encode("b")]
    with pytest.raises(tokpar.OptionError, match="text 2 is null"):
        next(encodings)


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view"])
@pytest.mark.parametrize(
    ("wrong", "byte"),
    [
        (b"ab\xff", 2),
        (b"\x80", 0),
        ("é".encode()[:1], 0),
        (b"abc\xc0\xaf", 3),
        (b"\xed\xa0\x80", 0),
        (b"\xf4\x90\x80\x80", 0),
        ("中".encode()[:2], 0),
    ],
)
def test_a_row_that_is_not_utf8_is_named_with_the_byte(kind: str, wrong: bytes, byte: int) -> None:
    rows = [b"a", "é".encode(), wrong, b"c"]
    said = rf"text 2 is not UTF-8: .* at byte {byte} \(0x{wrong[byte]:02x}\)"
    array = pyarrow.array(rows, pyarrow.binary()).cast(pyarrow.type_for_alias(kind))
    for given_texts in (rows, array, pyarrow.chunked_array([array.slice(0, 1), array.slice(1)])):
        with pytest.raises(tokpar.OptionError, match=said):
            tokpar.encode_batch(given_texts)


def test_a_character_that_two_rows_share_is_not_utf8() -> None:
    data = pyarrow.py_buffer("aé".encode())
    offsets = pyarrow.py_buffer(np.array([0, 2, 3], dtype=np.int32))
    array = pyarrow.Array.from_buffers(pyarrow.string(), 2, [None, offsets, data])
    with pytest.raises(tokpar.OptionError, match=r"text 0 is not UTF-8: .* at byte 1"):
        tokpar.encode_batch(array)


@pytest.mark.parametrize(
    "array",
    [
        pyarrow.array([1, 2]),
        pyarrow.array(["a", "b"]).dictionary_encode(),
        pyarrow.array([["a"], ["b"]]),
    ],
)
def test_an_array_of_another_type_is_refused(array: Any) -> None:
    said = r"texts must be an Arrow array of string, .* got .*; make it one by cast\(\"string\"\)"
    with pytest.raises(tokpar.OptionError, match=said):
        tokpar.encode_batch(array)
    with pytest.raises(tokpar.OptionError, match=said):
        [*tokpar.encode_iter(array)]
