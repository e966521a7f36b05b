"""Chunks tile the text, fit when they are encoded alone, and end where their boundary says."""

from __future__ import annotations

import contextlib
import json
import pickle
import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers

import tokpar
from tests.chunks.brute_force import called, own_tokenizer, truncates
from tests.chunks.promises import assert_chunks
from tests.conftest import drawn
from tests.support.cli_runs import run
from tests.support.drawn_runs import NAMES, adapter_of, any_tokenizer, drawn_text, named
from tests.support.fakes import WordHash
from tests.support.tokenizers_drawn import plain_copy
from tokpar.chunks import boundaries, encoded_text
from tokpar.chunks.text_chunk import TextChunk
from tokpar.contract.interfaces import PostProcesses
from tokpar.errors import OptionError

pytestmark = pytest.mark.ids

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
BOUNDARIES = st.sampled_from(("token", "cut", "line", "sentence"))
SIZES = st.integers(1, 12) | st.integers(8, 64)


def chunks_of(
    tokenizer: Any, text: str, max_tokens: int, overlap: int, boundary: Any
) -> list[TextChunk]:
    encoder = tokpar.Encoder(adapter_of(tokenizer))
    return list(encoder.chunks(text, max_tokens, overlap, boundary))


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
    # a copy may divide ties in another way
    if isinstance(tokenizer, Tokenizer) and isinstance(tokenizer.model, models.Unigram):
        for part in (text, *(text[chunk.start : chunk.stop] for chunk in found)):
            copied = called(plain_copy(tokenizer), part, False).ids
            assume(copied == adapter.encode(part).tolist())
    assert_chunks(tokenizer, text, max_tokens, overlap, boundary, found)


# ------------------------------------------------------------------------------ texts by hand

FAMILY = "👨‍👩‍👧‍👦"
TEXTS = {
    "English": "It was the best of times; it was the worst of times.\nIt was the age. ",
    "Chinese": "在人工智能领域，分词是第一步。它把文本变成编号！然后模型读取这些编号。" * 2,
    "emoji": f"Look: {FAMILY}{FAMILY}{FAMILY} 😀😀😀🏳️‍🌈 end ",
    "combining marks": "e\u0301\u0300\u0301" * 8 + " a\u0323\u0307" * 6,
    "code": 'def f(x):\r\n    return {"a": [x, "\\n"]}\r\n\r\n' * 2,
    "endless letters": "a" * 60 + "ab" * 20,
    "no spaces": "https://example.com/a/b?c=d&e=f#" * 2,
    "white space": " \n \t\n\n   \r\n" * 4,
    "Korean": "가각\u1100\u1161 한국어 문장입니다. " * 3,
}


@pytest.fixture
def small_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded_text, "REGION", 1)
    monkeypatch.setattr(encoded_text, "LOCATED", 1)


@pytest.mark.usefixtures("small_regions")
@pytest.mark.parametrize("boundary", ["token", "cut", "line", "sentence"])
def test_regions_are_joined_where_they_meet(boundary: str) -> None:
    for name in NAMES:
        for kind in ("English", "Chinese", "code"):
            text, tokenizer = TEXTS[kind], named(name)
            found = chunks_of(tokenizer, text, 9, 2, boundary)
            assert_chunks(tokenizer, text, 9, 2, boundary, found)


@pytest.mark.usefixtures("small_regions")
def test_a_space_that_is_a_token_of_its_own_ends_where_its_region_begins() -> None:
    """A cut before it absorbs it, so that the prefix of the region stands for it."""
    vocab = {char: id_ for id_, char in enumerate(["<unk>", "▁", *BYTES, *"abc.="])}
    tokenizer = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", byte_fallback=True))
    stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    tokenizer.normalizer = normalizers.Sequence(stages)
    text = "ab. =ca. b =a = =b = c.ab" * 8
    for most in range(3, 9):
        found = chunks_of(tokenizer, text, most, 2, "token")
        assert_chunks(tokenizer, text, most, 2, "token", found)


def test_a_tokenizer_without_facts_has_chunks_that_fit() -> None:
    text = "one two  three\n" * 9
    found = list(tokpar.Encoder(WordHash()).chunks(text, 5))
    assert [chunk.start for chunk in found[1:]] == [chunk.stop for chunk in found[:-1]]
    for chunk in found:
        part = text[chunk.start : chunk.stop]
        assert chunk.ids.tolist() == WordHash().encode(part).tolist()
        assert len(chunk.ids) <= 5
    assert "".join(text[chunk.start : chunk.stop] for chunk in found) == text


@pytest.mark.parametrize("pattern", [boundaries.LINE_END, boundaries.SENTENCE_END])
def test_ends_of_lines_and_sentences_are_those_of_the_whole_text(pattern: re.Pattern[str]) -> None:
    text = 'No 3.5!\nA "b". c\r\nIt. ends 你好。” e'
    ends = [match.end() for match in pattern.finditer(text)]
    places = boundaries.MatchPlaces(text, pattern)
    for last in range(1, len(text)):
        assert list(places.descend(0, last)) == [end for end in reversed(ends) if end <= last]
    assert next(places.descend(0, len(text))) == len(text)
    for start in range(1, len(text)):
        first = next((end for end in ends if start <= end < len(text)), None)
        assert places.first(start, len(text)) == first


@pytest.mark.parametrize("boundary", ["token", "line", "sentence"])
def test_the_first_place_in_a_range_is_one_of_all_places(boundary: Any) -> None:
    """A range has its start, and does not have its stop."""
    text = "One two. Three\nfour é中 five! six"
    encoder = tokpar.Encoder(adapter_of(named("default")))
    whole = encoded_text.EncodedText(text, encoder.tokenizer, encoder.rows_of_parts, 0)
    whole.tokens_before(len(text))
    places = boundaries.places_of(boundary, whole)[0]
    found = sorted(place for place in places.descend(0, len(text)) if place < len(text))
    assert found
    for start, stop in combinations(range(1, len(text) + 1), 2):
        some = [place for place in found if start <= place < stop]
        assert places.first(start, stop) == min(some, default=None), (start, stop)


def test_a_slice_that_is_longer_alone_is_cut_earlier() -> None:
    # WordPiece: "ab" is one token behind "x" and two tokens alone
    vocabulary = {"[UNK]": 0, "x": 1, "##ab": 2, "a": 3, "##b": 4}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    found = chunks_of(tokenizer, "xab", 1, 0, "token")
    assert [(chunk.start, chunk.stop) for chunk in found] == [(0, 1), (1, 2), (2, 3)]
    assert [chunk.ids.tolist() for chunk in found] == [[1], [3], [0]]


@pytest.mark.parametrize(
    ("name", "text", "max_tokens"),
    [
        ("cl100k_part", "\n\n\n\n12567834  \n a", 3),
        ("deepseek_part", "…don11567856782 a", 3),
        ("default", "8\n\né56783434… a", 3),
    ],
)
def test_digits_that_are_grouped_in_another_way_alone_make_a_chunk_shorter(
    name: str, text: str, max_tokens: int
) -> None:
    """A slice that begins inside digits may have more ids alone than it has in the text."""
    tokenizer, rng = named(name), random.Random(name)
    pieces = ["1", "2", "34", "5678", "a ", "\n\n", "  ", " b", "'s", "don", "\n", "é", "…"]
    for _ in range(drawn(20)):
        drawn_one = "".join(rng.choices(pieces, k=60))
        for each in (text, drawn_one):
            found = chunks_of(tokenizer, each, max_tokens, 0, "token")
            assert_chunks(tokenizer, each, max_tokens, 0, "token", found)


# ------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_tokens": 0}, "max_tokens must be an int of at least 1, got 0"),
        ({"max_tokens": "8"}, "max_tokens must be an int of at least 1, got '8'"),
        ({"max_tokens": 8, "overlap": -1}, "overlap must be an int of at least 0, got -1"),
        ({"max_tokens": 8, "overlap": 8}, "which has room for 8 tokens, got overlap=8"),
        ({"max_tokens": 8, "boundary": "word"}, "boundary must be one of 'token', 'cut', 'line'"),
        ({"max_tokens": 8, "text": b"a"}, "text must be a str, got bytes"),
        ({"max_tokens": 8, "text": "ab\ud800"}, "the text has a lone surrogate at code point 2"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_at_once(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        tokpar.Encoder().chunks(**{"text": "some text"} | arguments)


def test_a_character_that_needs_more_tokens_than_a_chunk_has_is_named() -> None:
    encoder = tokpar.Encoder(named("cl100k_part"))
    needed = encoder.count("🫠")
    assert needed > 1
    message = (
        rf"max_tokens=1 is too small for the character '🫠' \(U\+1FAE0\) at code point 2: alone it "
        rf"has {needed} ids; pass max_tokens={needed} or more"
    )
    with pytest.raises(OptionError, match=message):
        list(encoder.chunks("ab🫠", 1))


def test_truncation_of_the_settings_hides_no_text() -> None:
    tokenizer = plain_copy(named("bert_part"))
    tokenizer.enable_truncation(20)
    tokenizer.enable_padding(length=64)
    encoder = tokpar.Encoder(tokenizer)
    with pytest.raises(OptionError, match="keeps 20 ids, so a chunk of max_tokens=21 would lose"):
        encoder.chunks("some text", 21)
    text = "some text " * 30
    found = list(encoder.chunks(text, 20))
    assert max(len(chunk.ids) for chunk in found) == 20
    assert "".join(text[chunk.start : chunk.stop] for chunk in found) == text


# ------------------------------------------------------------------------------ command line


def test_the_command_writes_a_line_for_each_chunk(tmp_path: Path) -> None:
    text = TEXTS["English"] + TEXTS["Chinese"]
    file, out = tmp_path / "a.txt", tmp_path / "chunks.jsonl"
    file.write_text(text, encoding="utf-8")
    outcome = run("chunks", file, "--max-tokens", 16, "--overlap", 2, "--boundary", "line")
    assert outcome.code == 0
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    expected = list(tokpar.Encoder().chunks(text, 16, 2, "line"))
    assert [(row["start"], row["stop"], row["certified"]) for row in rows] == [
        (chunk.start, chunk.stop, chunk.certified) for chunk in expected
    ]
    assert [row["ids"] for row in rows] == [chunk.ids.tolist() for chunk in expected]
    assert all(row["text"] == text[row["start"] : row["stop"]] for row in rows)
    assert outcome.err == f"{len(rows)} chunks of at most 16 tokens\n"
    again = run(
        *("chunks", file, "--max-tokens", 16, "--overlap", 2, "--boundary", "line"),
        *("--out", out, "--quiet"),
    )
    assert (again.code, again.out, again.err) == (0, "", "")
    assert out.read_text(encoding="utf-8") == outcome.out


def test_a_pickled_chunk_knows_its_ends_without_the_text() -> None:
    text = "One two three. " * 400
    for chunk in tokpar.Encoder().chunks(text, 40, boundary="sentence"):
        data = pickle.dumps(chunk)
        copy = pickle.loads(data)
        assert len(data) < 2_000
        assert repr(copy) == repr(chunk)
        assert (copy.start, copy.stop, copy.certified) == (chunk.start, chunk.stop, chunk.certified)
        assert copy.ids.tolist() == chunk.ids.tolist()
