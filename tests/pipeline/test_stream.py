"""Ids of a text that arrives in chunks: those of the whole text, however it is cut, and soon."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.support.drawn_runs import adapter_of, drawn_text, named, own_call
from tests.support.streams import arrivals, chunks_of, cut, flat, recorded
from tests.support.texts import surrogate_texts
from tests.support.tokenizers_drawn import ByteLevelSpec, Extras, build
from tokpar.arrays import IdArray
from tokpar.errors import EngineError
from tokpar.sessions import streaming

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

TEXT = "Then 1234567 words, I'll say:\r\n  two   spaces\n\n \n中文，和 the rest…" * 3


# ------------------------------------------------------------------------------------ equality


@pytest.mark.parametrize("name", ["bert_part", "cl100k_part", "deepseek_part", "llama_style"])
@given(data=st.data())
def test_a_stream_has_the_serial_ids_of_real_vocabularies(name: str, data: st.DataObject) -> None:
    tokenizer = named(name)
    text = drawn_text(data, tokenizer, 1000)
    expected = own_call(tokenizer, text)
    assert flat(tokpar.stream(chunks_of(data, text), adapter_of(tokenizer))) == expected


def test_a_tokenizer_that_was_changed_streams_as_it_is_now() -> None:
    own = Tokenizer.from_str(named("deepseek_part").to_str())
    assert flat(tokpar.stream(list(TEXT), own)) == own.encode(TEXT).ids
    own.add_tokens(["two   spaces"])
    assert flat(tokpar.stream(list(TEXT), own)) == own.encode(TEXT).ids


# -------------------------------------------------------------------------------- added tokens


def test_a_disallowed_special_token_is_refused_although_cut_in_two() -> None:
    encoding = named("cl100k_part")
    special = tiktoken.Encoding(
        "special",
        pat_str=encoding._pat_str,
        mergeable_ranks=encoding._mergeable_ranks,
        special_tokens={"<|end of text|>": 200_000},
    )
    text = "words before <|end of text|> words behind"
    for place in range(13, 29):
        chunks = iter([text[:place], text[place:], "never asked for"])
        with pytest.raises(ValueError, match="disallowed special token"):
            list(tokpar.stream(chunks, special))
        assert place == 28 or list(chunks) == ["never asked for"]
    allowed = tokpar.load(special, allowed_special="all")
    assert flat(tokpar.stream(list(text), allowed)) == allowed.encode(text).tolist()


# ----------------------------------------------------------------------------------- finishing


def surrounded(**extras: Any) -> Tokenizer:
    return build(ByteLevelSpec("llama3", 3, 40, extras=Extras(template=(True, True), **extras)))


def test_special_tokens_come_first_and_last() -> None:
    tokenizer = surrounded()
    start, end = (tokenizer.token_to_id(token) for token in ("<s>", "</s>"))
    taken: list[str] = []
    ids = tokpar.stream(recorded(cut(TEXT, [20] * 6), taken), tokenizer)
    assert next(ids).tolist() == [start]
    assert taken == []
    rest = flat(ids)
    assert rest[-1] == end
    assert [start, *rest] == tokenizer.encode(TEXT).ids


@pytest.mark.parametrize(
    "extras",
    [{"truncation": (20, "left")}, {"truncation": (20, "right")}],
)
def test_where_the_whole_is_cut_all_ids_come_at_the_end(extras: dict[str, Any]) -> None:
    tokenizer = surrounded(**extras)
    arrays = list(tokpar.stream(list(TEXT), tokenizer))
    assert len(arrays) == 1
    assert arrays[0].tolist() == tokenizer.encode(TEXT).ids


# ------------------------------------------------------------------------------------- in time


@pytest.mark.parametrize(
    "tokenizer",
    [named("cl100k_part"), named("deepseek_part")],
    ids=["tiktoken", "hf"],
)
def test_of_words_all_but_the_last_are_out(tokenizer: Any) -> None:
    """The last word may go on; the space behind a word tells that it does not."""
    text = "It was the best of times, it was the worst of times; 2024 and no 12345 words.\n" * 5
    adapter = tokpar.load(tokenizer)
    chunks = list(text)
    for place, count in enumerate(arrivals(chunks, tokenizer)):
        complete = text[: place + 1].rpartition(" ")[0]
        assert count >= len(adapter.encode(complete)), complete[-20:]


def test_chunks_are_asked_for_one_by_one_and_no_more_after_closing() -> None:
    taken: list[str] = []
    source = recorded(iter(lambda: "word ", None), taken)  # never ends
    ids = tokpar.stream(source)
    next(ids)
    first = len(taken)
    assert 0 < first < 5
    next(ids)
    assert len(taken) <= first + 2
    ids.close()  # type: ignore[attr-defined]
    assert list(ids) == []
    assert len(taken) <= first + 2


# -------------------------------------------------------------------------------- wrong chunks


@given(data=st.data(), text=surrogate_texts(max_size=60))
@example(data=None, text="a \ud83d\ude00 b \ud83d c")
def test_lone_surrogates_end_as_in_the_whole(data: st.DataObject | None, text: str) -> None:
    """Pairs of them too, which tiktoken joins, also from two chunks."""
    chunks = list(text) if data is None else chunks_of(data, text)
    tokenizer = named("cl100k_part")
    assert flat(tokpar.stream(chunks, tokenizer)) == own_call(tokenizer, text)
    refusing = named("deepseek_part")
    with pytest.raises((TypeError, ValueError)) as own:
        tokpar.encode(text, refusing)
    with pytest.raises(own.type):
        list(tokpar.stream(chunks, refusing))


def test_an_error_of_a_stream_names_the_place_in_the_whole_text() -> None:
    """The text before a cut is encoded as soon as it is there."""
    parts: list[str] = []

    def one(part: str) -> IdArray:
        parts.append(part)
        if len(parts) == 2:
            raise EngineError("bad", 1, 3)
        return np.zeros(1, np.uint32)

    chunks = iter(["some words and ", "more words and ", "others"])
    encode: Any = SimpleNamespace(one=one)
    ids = streaming._encode_between_cuts(chunks, adapter_of(named("deepseek_part")), encode)
    next(ids)
    assert 0 < len(parts[0]) < 15
    with pytest.raises(EngineError) as error:
        next(ids)
    assert (error.value.start, error.value.stop) == (len(parts[0]) + 1, len(parts[0]) + 3)


def test_a_chunk_that_is_no_text_is_named_with_its_place() -> None:
    chunks: Any = ["ab", "c", 3]
    with pytest.raises(tokpar.OptionError, match="chunk 2, at code point 3 of the text"):
        [*tokpar.Encoder().stream(chunks)]
