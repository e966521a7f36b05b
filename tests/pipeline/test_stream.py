"""Ids of a text that arrives in chunks: those of the whole text, however it is cut, and soon."""

from __future__ import annotations

import base64
import functools
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.support.drawn_runs import adapter_of, any_tokenizer, drawn_text, named, own_call
from tests.support.fakes import WordHash
from tests.support.paths import VOCAB
from tests.support.texts import surrogate_texts
from tests.support.tokenizers_drawn import ByteLevelSpec, Extras, build, byte_level_specs
from tokpar.adapters.incremental import PrefixTokenizer
from tokpar.adapters.pure import PureTokenizer, load
from tokpar.errors import FileFormatError, OptionError
from tokpar.pure.formats import vocabulary_of
from tokpar.types import AddedToken

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part")
TEXT = "Then 1234567 words, I'll say:\r\n  two   spaces\n\n \n中文，和 the rest…" * 3


@functools.cache
def eager(name: str) -> PrefixTokenizer:
    """A part of a real vocabulary with engine="incremental"."""
    if name == "deepseek_part":
        adapter = tokpar.load(VOCAB / f"{name}.json", engine="incremental")
    else:
        pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[name]
        path = VOCAB / f"{name}.tiktoken"
        adapter = tokpar.load(path, engine="incremental", pat_str=pattern)
    assert isinstance(adapter, PrefixTokenizer)
    return adapter


@functools.cache
def with_tokens(*tokens: AddedToken) -> PrefixTokenizer:
    vocabulary = eager("cl100k_part").vocabulary()
    first = max(vocabulary.tokens.values()) + 1
    added = tuple(replace(token, id=first + n) for n, token in enumerate(tokens))
    return PrefixTokenizer(replace(vocabulary, added=added))


def flat(arrays: Iterable[np.ndarray]) -> list[int]:
    """All ids, and a check of the arrays themselves."""
    ids: list[int] = []
    for array in arrays:
        assert array.dtype == np.uint32
        assert array.shape != (0,)
        ids += array.tolist()
    return ids


def cut(text: str, sizes: Iterable[int]) -> list[str]:
    """`text` in chunks of these sizes, the last as long as it takes."""
    chunks, place = [], 0
    for size in sizes:
        chunks.append(text[place : place + size])
        place += size
    return [*chunks, text[place:]]


SIZES = st.lists(st.sampled_from((0, 1, 1, 1, 2, 3, 7, 20, 100)), max_size=80)


def chunks_of(data: st.DataObject, text: str) -> list[str]:
    if data.draw(st.booleans(), label="one by one"):
        return list(text)
    return cut(text, data.draw(SIZES, label="sizes"))


# ------------------------------------------------------------------------------------ equality


@given(data=st.data(), tokenizer=any_tokenizer())
def test_the_arrays_are_the_ids_of_the_whole(data: st.DataObject, tokenizer: Any) -> None:
    text = drawn_text(data, tokenizer)
    expected = own_call(tokenizer, text)
    assert flat(tokpar.stream(chunks_of(data, text), adapter_of(tokenizer))) == expected


@pytest.mark.parametrize("name", ["bert_part", "cl100k_part", "deepseek_part", "llama_style"])
@given(data=st.data())
def test_a_stream_has_the_serial_ids_of_real_vocabularies(name: str, data: st.DataObject) -> None:
    tokenizer = named(name)
    text = drawn_text(data, tokenizer, 1000)
    expected = own_call(tokenizer, text)
    assert flat(tokpar.stream(chunks_of(data, text), adapter_of(tokenizer))) == expected


@pytest.mark.parametrize("name", PARTS)
@given(data=st.data())
def test_the_incremental_engine_on_parts_of_real_vocabularies(
    name: str, data: st.DataObject
) -> None:
    tokenizer = eager(name)
    text = drawn_text(data, named(name), 400)
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


@given(data=st.data(), spec=byte_level_specs(plain=True, finishing=False))
def test_the_incremental_engine_on_drawn_vocabularies(
    data: st.DataObject, spec: ByteLevelSpec
) -> None:
    """Added tokens of all kinds: those that look at what is beside them are followed by cuts."""
    hf: Tokenizer = build(spec)
    text = drawn_text(data, hf)
    try:
        tokenizer = PrefixTokenizer(vocabulary_of(json.loads(hf.to_str()), "drawn"))
    except (FileFormatError, OptionError):
        return
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


@functools.cache
def in_python() -> PureTokenizer:
    tokenizer = load(VOCAB / "deepseek_part.json")
    assert isinstance(tokenizer, PureTokenizer)
    return tokenizer


@given(data=st.data())
def test_a_stream_of_the_pure_engine_has_the_ids_of_the_whole_text(data: st.DataObject) -> None:
    tokenizer = in_python()
    text = drawn_text(data, named("deepseek_part"))
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


def test_an_empty_text_has_no_array() -> None:
    for chunks in ([], [""], ["", ""]):
        assert list(tokpar.stream(chunks)) == []
        assert list(tokpar.stream(chunks, eager("cl100k_part"))) == []


def test_a_tokenizer_that_was_changed_streams_as_it_is_now() -> None:
    own = Tokenizer.from_str(named("deepseek_part").to_str())
    assert flat(tokpar.stream(list(TEXT), own)) == own.encode(TEXT).ids
    own.add_tokens(["two   spaces"])
    assert flat(tokpar.stream(list(TEXT), own)) == own.encode(TEXT).ids


# -------------------------------------------------------------------------------- added tokens

TOKENS = ("<s>", "<s><s>", "s>a", "<|end|>", "aa", "  ")


@given(data=st.data(), chosen=st.lists(st.sampled_from(TOKENS), unique=True, max_size=4))
@example(data=None, chosen=["<s>", "<s><s>"])
def test_added_tokens_cut_anywhere(data: st.DataObject | None, chosen: list[str]) -> None:
    tokens = [AddedToken(text, 0, normalized=text == "s>a") for text in chosen]
    tokenizer = with_tokens(*tokens)
    text, chunks = "x<s><s><s>", list("x<s><s><s>")
    if data is not None:
        parts = st.lists(st.sampled_from((*TOKENS, "<", "s", ">", "a", " ", "<s><|end")))
        text = "".join(data.draw(parts, label="text"))
        chunks = chunks_of(data, text)
    assert flat(tokpar.stream(chunks, tokenizer)) == tokenizer.encode(text).tolist()


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_added_tokens_that_look_beside_them_with_the_incremental_engine(flag: str) -> None:
    tokenizer = with_tokens(replace(AddedToken("<s>", 0), **{flag: True}))
    text = "a <s> b  <s>\n c<s>d<s> e <s>"
    assert flat(tokpar.stream(list(text), tokenizer)) == tokenizer.encode(text).tolist()


def test_text_is_kept_only_while_it_may_become_an_added_token() -> None:
    tokenizer = with_tokens(AddedToken("<|end|>", 0))
    seen = arrivals(["a b", " <|en", "d", " c d"], tokenizer)
    complete = [len(tokenizer.encode(text)) for text in ("a b", "a b <|end c")]
    assert seen[0] >= complete[0] - 1
    assert seen[1] >= len(tokenizer.encode("a b"))
    assert seen[3] >= complete[1] - 1


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


def test_special_tokens_stand_alone_around_nothing() -> None:
    tokenizer = surrounded()
    assert flat(tokpar.stream([], tokenizer)) == tokenizer.encode("").ids


@pytest.mark.parametrize(
    "extras",
    [{"truncation": (20, "left")}, {"truncation": (20, "right")}],
)
def test_where_the_whole_is_cut_all_ids_come_at_the_end(extras: dict[str, Any]) -> None:
    tokenizer = surrounded(**extras)
    arrays = list(tokpar.stream(list(TEXT), tokenizer))
    assert len(arrays) == 1
    assert arrays[0].tolist() == tokenizer.encode(TEXT).ids


def test_a_tokenizer_nothing_is_known_of_gives_all_ids_at_the_end() -> None:
    arrays = list(tokpar.stream(list(TEXT), WordHash()))
    assert [array.tolist() for array in arrays] == [WordHash().encode(TEXT).tolist()]


# ------------------------------------------------------------------------------------- in time


def recorded(chunks: Iterable[str], taken: list[str]) -> Iterator[str]:
    for chunk in chunks:
        taken.append(chunk)
        yield chunk


def arrivals(chunks: Sequence[str], tokenizer: Any) -> list[int]:
    """How many ids are out after each chunk; they are those of the serial encode's beginning."""
    expected = tokpar.load(tokenizer).encode("".join(chunks)).tolist()
    after = [0] * len(chunks)
    taken: list[str] = []
    ids: list[int] = []
    for array in tokpar.stream(recorded(chunks, taken), tokenizer):
        ids += array.tolist()
        assert ids == expected[: len(ids)]
        for chunk in range(len(taken) - 1, len(chunks)):
            after[chunk] = len(ids)
    assert ids == expected
    return after


@dataclass(frozen=True)
class Giant:
    """One pre-token, and how many bytes of it an eager engine may keep at most."""

    name: str
    text: str
    kept: int


def giants() -> list[Giant]:
    random_bytes = random.Random(5).randbytes(6000)
    others = {ord(other): "x" for other in "0123456789+/="}
    letters = base64.b64encode(random_bytes).decode().translate(others)
    chinese = random.Random(7).choices("的一是不了在人有我他这中大来上国个到说", k=4000)
    return [
        Giant("one letter", "a" * 20_000, 16),
        Giant("base64", letters, 24),
        Giant("chinese", "".join(chinese), 24),
        Giant("spaces", " " * 20_000, 300),
        Giant("words", "theunbelievablewordsofamanwhocouldnotstop" * 300, 24),
    ]


@pytest.mark.each_value
@pytest.mark.parametrize("giant", giants(), ids=lambda giant: giant.name)
@pytest.mark.parametrize("name", PARTS)
def test_inside_one_giant_pre_token_few_bytes_are_kept(name: str, giant: Giant) -> None:
    tokenizer = eager(name)
    size = 97
    chunks = [giant.text[i : i + size] for i in range(0, len(giant.text), size)]
    spans = tokenizer.locate(tokenizer.encode(giant.text), giant.text)
    most, arrived = 0, 0
    for chunk, count in zip(chunks[:-1], arrivals(chunks, tokenizer)[:-1], strict=True):
        arrived += len(chunk.encode())
        most = max(most, arrived - (int(spans[count - 1, 1]) if count else 0))
    assert most <= giant.kept


@pytest.mark.parametrize(
    "tokenizer",
    [named("cl100k_part"), named("deepseek_part"), eager("cl100k_part")],
    ids=["tiktoken", "hf", "incremental"],
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


def test_many_tiny_chunks_of_a_region_without_cuts_take_linear_time() -> None:
    """50,000 chunks of one letter; a copy of all that is kept for each would be 1.25 GB."""
    text = "a" * 50_000
    for tokenizer in (adapter_of(named("cl100k_part")), eager("cl100k_part")):
        assert flat(tokpar.stream(list(text), tokenizer)) == tokenizer.encode(text).tolist()


# -------------------------------------------------------------------------------- wrong chunks


@pytest.mark.parametrize("tokenizer", ["default", eager("cl100k_part"), WordHash()])
def test_a_chunk_that_is_no_text_is_named_with_its_place_and_type(tokenizer: Any) -> None:
    chunks: list[Any] = ["one ", "two", b"three"]
    with pytest.raises(OptionError, match=r"chunk 2, at code point 7 .* got bytes"):
        list(tokpar.stream(chunks, tokenizer))


def test_a_single_text_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match=r"got one str; pass \[text\]"):
        tokpar.stream("text")


@given(data=st.data(), text=surrogate_texts(max_size=60))
@example(data=None, text="a \ud83d\ude00 b \ud83d c")
def test_lone_surrogates_end_as_in_the_whole(data: st.DataObject | None, text: str) -> None:
    """Pairs of them too, which tiktoken joins, also from two chunks."""
    chunks = list(text) if data is None else chunks_of(data, text)
    tokenizer = named("cl100k_part")
    assert flat(tokpar.stream(chunks, tokenizer)) == own_call(tokenizer, text)
    for refusing in (named("deepseek_part"), eager("cl100k_part")):
        with pytest.raises((TypeError, ValueError)) as own:
            tokpar.encode(text, refusing)
        with pytest.raises(own.type):
            list(tokpar.stream(chunks, refusing))


def test_from_a_lone_surrogate_on_nothing_is_cut() -> None:
    chunks = ["one two ", "th\ud800ree ", "four five ", "six "]
    arrays = list(tokpar.stream(chunks, named("cl100k_part")))
    assert len(arrays) == 2
    assert flat(arrays) == own_call(named("cl100k_part"), "".join(chunks))


def test_the_place_of_a_lone_surrogate_is_told() -> None:
    with pytest.raises(OptionError, match=r"at code point 4 .* at position 2"):
        list(tokpar.stream(["abc ", "de\ud800"], eager("cl100k_part")))
