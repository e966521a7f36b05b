"""Vocabularies written as tokenizer.json and .tiktoken, read again by the engines and by tokpar."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokpar_conformance import hostile_texts
from tokpar_pure.adapter import PureTokenizer
from tokpar_pure.formats import rank_vocabulary, read_tokenizer_json
from tokpar_pure.patterns import compile_pattern
from tokpar_train.save import (
    merges_of_ranks,
    tokenizer_json,
    write_ranks,
    write_tokenizer_json,
)

import tokpar
from tests.support.paths import DATA, VOCAB
from tests.support.plain_bpe import ByteBPE
from tests.support.pure_ground import on_common_ground
from tests.vocab.samples import LANGUAGES, PYTHON
from tokpar.errors import OptionError
from tokpar.formats.formats import read_ranks
from tokpar.formats.openai import KNOWN_ENCODINGS
from tokpar.formats.vocabulary import GPT2_PATTERN, Vocabulary
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.types import AddedToken

AGREED = (*LANGUAGES, PYTHON, *map(on_common_ground, hostile_texts()))
"""What all engines class alike."""
PATTERNS = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
ANYTHING = r"[\s\S]+"
BYTES = {bytes([byte]): byte for byte in range(256)}
RANK_PARTS = ("cl100k_part", "o200k_part", "tekken_part")
JSON_FILES = (VOCAB / "deepseek_part.json", DATA / "default.json")
HF_GPT2 = GPT2_PATTERN

words = st.text("abc", min_size=2, max_size=6).map(str.encode)
rank_tables = st.lists(words, unique=True, max_size=14).map(
    lambda tokens: BYTES | {token: 256 + i for i, token in enumerate(tokens)}
)
"""Any tokens in any order: some that merging cannot make, some made of later ones."""
texts = st.text("abc", max_size=40)
frozen = st.text(
    st.sampled_from(
        "aAsSdtlLvre'’0１١३12 \t\n\r\x85\xa0\u3000.,!/-_#<|>éßÅλЖשлनि中文カー한😀👍🏽€½²\x00\x7f"
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def rank_part(name: str) -> Vocabulary:
    special = {"<|endoftext|>": 300_000}
    return rank_vocabulary(name, read_ranks(VOCAB / f"{name}.tiktoken"), PATTERNS[name], special)


def native(vocabulary: Vocabulary) -> tiktoken.Encoding:
    return tiktoken.Encoding(
        vocabulary.name,
        pat_str=vocabulary.patterns[0],
        mergeable_ranks=vocabulary.tokens,
        special_tokens={token.content: token.id for token in vocabulary.added},
    )


def ids_in(vocabulary: Vocabulary, text: str) -> list[int]:
    return PureTokenizer(vocabulary).encode(text).tolist()


# From ranks to pairs


@given(rank_tables, texts)
@example(BYTES | {b"abc": 256, b"ab": 257}, "abcab")
@example(BYTES | {b"abcd": 256, b"bc": 257}, "abcd")
@example(BYTES | {b"aaa": 256, b"aa": 257}, "aaaaaaa")
def test_the_pairs_of_ranks_merge_as_the_ranks(ranks: dict[bytes, int], text: str) -> None:
    by_ranks = rank_vocabulary("drawn", ranks, ANYTHING, {})
    pairs = replace(by_ranks, semantics="pairs", merges=merges_of_ranks(ranks))
    assert ByteBPE(pairs).encode(text.encode()) == ByteBPE(by_ranks).encode(text.encode())


def test_a_token_has_one_pair_or_none() -> None:
    ranks = BYTES | {b"ab": 256, b"bc": 257, b"abc": 258, b"xyz": 259}
    assert merges_of_ranks(ranks) == {
        (97, 98): (256, 256),
        (98, 99): (257, 257),
        (256, 99): (258, 258),
    }


# tokenizer.json


@given(ranks=rank_tables, text=texts)
def test_drawn_ranks_keep_their_ids_in_hf_and_here(
    folder: Path, ranks: dict[bytes, int], text: str
) -> None:
    vocabulary = rank_vocabulary("drawn", ranks, ANYTHING, {"<s>": 900})
    vocabulary = replace(vocabulary, keep_gaps=True)
    text = f"{text}<s>{text}"
    expected = native(vocabulary).encode(text, allowed_special="all")
    path = folder / "drawn.json"
    write_tokenizer_json(vocabulary, path)
    assert Tokenizer.from_file(str(path)).encode(text).ids == expected
    again = read_tokenizer_json(path)
    assert ids_in(again, text) == expected
    assert tokenizer_json(again) == tokenizer_json(vocabulary)


@given(ranks=rank_tables, text=st.text("ab C.", max_size=30))
def test_text_that_a_pattern_drops_is_dropped_by_hf_too(ranks: dict[bytes, int], text: str) -> None:
    vocabulary = rank_vocabulary("drawn", ranks, "[a-c]+", {})
    written = Tokenizer.from_str(json.dumps(tokenizer_json(vocabulary)))
    assert written.encode(text).ids == native(vocabulary).encode(text)


@pytest.mark.parametrize("name", RANK_PARTS)
def test_ranks_of_real_vocabularies_keep_their_ids(name: str, folder: Path) -> None:
    vocabulary = rank_part(name)
    path = folder / f"{name}.json"
    write_tokenizer_json(vocabulary, path, covering=PureTokenizer(vocabulary).facts.tiles)
    hf = Tokenizer.from_file(str(path))
    again = PureTokenizer(read_tokenizer_json(path))
    assert shipped_pattern("regex", again.facts.patterns) is not None
    encoding = native(vocabulary)
    for text in AGREED:
        expected = encoding.encode(text, allowed_special="all")
        assert hf.encode(text).ids == again.encode(text).tolist() == expected, text


@pytest.mark.parametrize("path", JSON_FILES, ids=lambda path: path.stem)
def test_a_tokenizer_json_written_again_has_the_same_ids(path: Path, folder: Path) -> None:
    first, target = read_tokenizer_json(path), folder / f"again_{path.name}"
    write_tokenizer_json(first, target)
    second = read_tokenizer_json(target)
    assert (second.tokens, second.added) == (first.tokens, first.added)
    assert (second.patterns, second.whole_piece) == (first.patterns, first.whole_piece)
    before, after = Tokenizer.from_file(str(path)), Tokenizer.from_file(str(target))
    for text in AGREED:
        ids = before.encode(text, add_special_tokens=False).ids
        assert after.encode(text, add_special_tokens=False).ids == ids, text
        assert after.decode(ids) == before.decode(ids)


@given(frozen)
@example("I'LL don't 1234 \n\n  x")
@example("a\n  ")
@example("\r ")
def test_the_spellings_for_hf_split_as_those_of_tiktoken(text: str) -> None:
    for name in ("r50k_base", "cl100k_base"):
        vocabulary = rank_vocabulary(name, BYTES, KNOWN_ENCODINGS[name].pattern, {})
        stages = tokenizer_json(vocabulary)["pre_tokenizer"]
        written = (
            GPT2_PATTERN
            if stages["type"] == "ByteLevel"
            else stages["pretokenizers"][0]["pattern"]["Regex"]
        )
        ours = compile_pattern(vocabulary.patterns[0], "fancy-regex")
        assert regex.findall(written, text) == ours.findall(text)
        split = pre_tokenizers.Split(Regex(written), "isolated").pre_tokenize_str(text)
        assert [piece for piece, _ in split] == ours.findall(text)


def drawn(**changes: Any) -> Vocabulary:
    ranks = BYTES | {b"ab": 256, b"abc": 257}
    return replace(rank_vocabulary("drawn", ranks, ANYTHING, {}), **changes)


# .tiktoken


@pytest.mark.parametrize("name", RANK_PARTS)
def test_a_tiktoken_file_written_again_is_the_same(name: str, folder: Path) -> None:
    target = folder / f"{name}.tiktoken"
    vocabulary = rank_part(name)
    left_out = write_ranks(vocabulary, target)
    assert left_out == {"pat_str": PATTERNS[name], "special_tokens": {"<|endoftext|>": 300_000}}
    assert read_ranks(target) == vocabulary.tokens
    again = tokpar.load(target, engine="pure", **left_out)
    text = "Hello, 中文 1234<|endoftext|>"
    assert again.encode(text).tolist() == ids_in(vocabulary, text)


@pytest.mark.parametrize("name", RANK_PARTS)
def test_ranks_come_back_from_a_tokenizer_json(name: str, folder: Path) -> None:
    vocabulary = replace(rank_part(name), added=())
    write_tokenizer_json(vocabulary, folder / "there.json", covering=True)
    there, target = read_tokenizer_json(folder / "there.json"), folder / "back.tiktoken"
    left_out = write_ranks(there, target, covering=True)
    assert read_ranks(target) == vocabulary.tokens
    back = tokpar.load(target, engine="pure", **left_out)
    for text in AGREED:
        assert back.encode(text).tolist() == ids_in(vocabulary, text), text


@given(ranks=rank_tables, text=texts)
def test_drawn_pairs_keep_their_ids_or_are_refused(
    folder: Path, ranks: dict[bytes, int], text: str
) -> None:
    by_ranks = rank_vocabulary("drawn", ranks, HF_GPT2, {})
    pairs = replace(
        by_ranks,
        semantics="pairs",
        merges=merges_of_ranks(ranks),
        keep_gaps=True,
        whole_piece=False,
    )
    target = folder / "drawn.tiktoken"
    made = {merged for _, merged in pairs.merges.values()}
    if len(made) < len(ranks) - 256:
        with pytest.raises(OptionError, match="is made by no merge"):
            write_ranks(pairs, target)
    else:
        written = tokpar.load(target, allowed_special="all", **write_ranks(pairs, target))
        assert written.encode(text).tolist() == ids_in(pairs, text)


PAIRS = {
    "semantics": "pairs",
    "patterns": (GPT2_PATTERN,),
    "merges": {(97, 98): (0, 256), (256, 99): (1, 257)},
}


NOT_IN_RANKS: list[tuple[dict[str, Any], str]] = [
    ({"merges": {(97, 98): (1, 256), (256, 99): (0, 257)}}, r"merge of ids \(256, 99\)"),
    ({"merges": {(97, 98): (0, 256), (97, 99): (1, 257)}}, r"merge of ids \(97, 99\)"),
    ({"merges": {(97, 98): (0, 256)}}, r"would merge ids \(256, 99\)"),
    ({"patterns": (GPT2_PATTERN, r"\p{N}")}, "has one pattern, this vocabulary has 2"),
    ({"patterns": ()}, "has one pattern, this vocabulary has 0"),
    ({"patterns": ("a+",), "keep_gaps": True}, "drops text that its pattern"),
    ({"patterns": (r"\w+",)}, r"cannot express this: pattern '\\\\w\+'"),
    ({"added": (AddedToken("<s>", 900, lstrip=True, normalized=True),)}, "lstrip, normalized"),
    ({"added": (AddedToken("<s>", 900, special=False),)}, "special=False"),
]
NOT_IN_JSON: list[tuple[dict[str, Any], str]] = [
    ({"added": (AddedToken("<x>", 256),)}, "'<x>': id 256 is another token's"),
    ({"added": (AddedToken("é", 900),)}, "'é': a tokenizer.json cannot keep its id 900"),
    ({"added": (AddedToken("ab", 900),)}, "spelt like a token of the model"),
    ({"patterns": (r"\p{N}{1,3}+|[\s\S]",)}, r"\{1,3\}\+.*is not among"),
    ({"patterns": (r"\s++$|\S|\s",)}, "is not among"),
]


@pytest.mark.parametrize(
    ("write", "changes", "message"),
    [
        *((write_tokenizer_json, *row) for row in NOT_IN_JSON),
        *((write_ranks, PAIRS | changes, message) for changes, message in NOT_IN_RANKS),
    ],
)
def test_what_a_file_cannot_express_is_named(
    folder: Path, write: Callable[..., object], changes: dict[str, Any], message: str
) -> None:
    target = folder / "none"
    with pytest.raises((OptionError, tokpar.errors.FileFormatError), match=message):
        write(drawn(**changes), target)
    assert not target.exists()
