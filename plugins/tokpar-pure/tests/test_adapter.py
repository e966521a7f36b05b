"""The pure Python adapter against the native engines, on part and full vocabularies."""

from __future__ import annotations

import functools
import json
import pickle
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_pure.adapter import PureTokenizer, load

from tests.support.paths import VOCAB
from tokpar.cuts.finder import finder_for
from tokpar.errors import FileFormatError, OptionError
from tokpar.files.formats import read_ranks
from tokpar.interfaces import Decodes, HasFacts, HasSpec, Locates

pytestmark = pytest.mark.ids

PARTS = ["cl100k_part", "o200k_part", "tekken_part", "deepseek_part"]
RECENT = {"1\U000125c4111"}
"""Texts with code points that engines of different Unicode versions class differently."""

Encode = Callable[[str], list[int]]


@functools.cache
def pure(name: str) -> PureTokenizer:
    path = VOCAB / f"{name}.{'json' if name == 'deepseek_part' else 'tiktoken'}"
    settings = {} if name == "deepseek_part" else {"pat_str": pattern(name)}
    tokenizer = load(path, **settings)
    assert isinstance(tokenizer, PureTokenizer)
    return tokenizer


def pattern(name: str) -> str:
    value: str = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[name]
    return value


@functools.cache
def native(name: str) -> Encode:
    if name == "deepseek_part":
        hf = Tokenizer.from_file(str(VOCAB / f"{name}.json"))
        return lambda text: list(hf.encode(text, add_special_tokens=False).ids)
    ranks = read_ranks(VOCAB / f"{name}.tiktoken")
    encoding = tiktoken.Encoding(
        name, pat_str=pattern(name), mergeable_ranks=ranks, special_tokens={}
    )
    encode: Encode = encoding.encode_ordinary
    return encode


@functools.cache
def samples() -> list[str]:
    module = runpy.run_path(str(VOCAB / "samples.py"))
    texts = [module["expand"](text) for text in module["catalogue"]()]
    return [text for text in texts if text not in RECENT]


frozen = st.text(
    st.sampled_from(
        "aAsSdtlLvre'’ſ0١३12 \t\n\r\x0b\x85\xa0\u3000.,!/-_#<｜>|«»éßÅǅſλЖжשלامนักहिन्दी"
        "中文亚洲の・カー한글\u0301\u200d\ufe0f😀👍🏽🇫🇷€½²Ⅷ\x00\x1c\x7f\ufeff\ufffd"
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", PARTS)
def test_all_samples_get_the_ids_of_the_native_engine(name: str) -> None:
    for text in samples():
        assert pure(name).encode(text).tolist() == native(name)(text), text


@pytest.mark.parametrize("name", PARTS)
def test_every_character_of_latin_1_is_split_as_by_the_native_engine(name: str) -> None:
    for char in map(chr, range(256)):
        for text in (char, f"a{char}b", f"1{char}1", f" {char} ", f"{char}\n", f"'{char}"):
            assert pure(name).encode(text).tolist() == native(name)(text), text


@pytest.mark.parametrize("name", PARTS)
@given(text=frozen)
@example(text="I'ſ don'T")
@example(text=" \n \n  ")
def test_text_of_long_known_characters_gets_the_ids_of_the_native_engine(
    name: str, text: str
) -> None:
    assert pure(name).encode(text).tolist() == native(name)(text)


@given(
    pieces=st.lists(
        st.sampled_from(
            ["<｜User｜>", "<｜User", "<|EOT|>", "<", " ", "a", "<｜end▁of▁sentence｜>"]
        )
    )
)
def test_added_tokens_are_found_as_by_hf(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert pure("deepseek_part").encode(text).tolist() == native("deepseek_part")(text)


@pytest.mark.parametrize("name", PARTS)
@given(text=frozen)
def test_spans_are_those_of_the_decoded_tokens(name: str, text: str) -> None:
    tokenizer = pure(name)
    ids = tokenizer.encode(text)
    spans = tokenizer.locate(ids, text)
    data = text.encode()
    assert spans.dtype == np.int64
    assert spans.shape == (len(ids), 2)
    assert b"".join(data[start:stop] for start, stop in spans) == data
    assert tokenizer.decode(ids.tolist()) == text
    assert [stop - start for start, stop in spans] == [
        len(tokenizer._bytes_of[id_]) for id_ in ids.tolist()
    ]


def test_ids_are_uint32_also_of_the_empty_text() -> None:
    ids = pure("cl100k_part").encode("")
    assert ids.dtype == np.uint32
    assert ids.shape == (0,)
    assert pure("cl100k_part").locate(ids, "").shape == (0, 2)


def test_ids_of_another_text_cannot_be_located() -> None:
    tokenizer = pure("cl100k_part")
    with pytest.raises(LookupError, match="do not tile"):
        tokenizer.locate(tokenizer.encode("abc"), "abcd")


def test_an_unknown_id_cannot_be_decoded() -> None:
    with pytest.raises(LookupError, match="no token with id 4000000000"):
        pure("cl100k_part").decode([4_000_000_000])


def test_a_lone_surrogate_is_refused_with_its_position() -> None:
    for call in (pure("cl100k_part").encode, pure("cl100k_part").check_text):
        with pytest.raises(OptionError, match="lone surrogate at position 2"):
            call("ab\ud800")


def test_it_has_the_abilities_it_should_have() -> None:
    for ability in (Decodes, HasFacts, HasSpec, Locates):
        assert isinstance(pure("cl100k_part"), ability)
    ids = pure("cl100k_part").encode("a b")
    assert pure("cl100k_part").encode_whole("a b").tolist() == ids.tolist()


@pytest.mark.parametrize("name", PARTS)
def test_the_adapter_can_be_built_again_in_another_process(name: str) -> None:
    build, arguments = pickle.loads(pickle.dumps(pure(name).spec()))
    again = build(**arguments)
    assert again.name == pure(name).name
    assert again.encode("Hello 中文 123").tolist() == native(name)("Hello 中文 123")


@pytest.mark.parametrize("name", PARTS)
def test_its_facts_are_those_of_a_shipped_pattern(name: str) -> None:
    facts = pure(name).facts
    assert (facts.engine, facts.model, facts.scheme) == ("regex", "BPE", "regex")
    assert facts.unprovable is None
    assert facts.byte_level
    assert facts.tiles
    longest = max(len(pure(name)._bytes_of[id_]) for id_ in pure(name).vocabulary().tokens.values())
    assert facts.longest_token == longest


def test_a_pattern_that_is_not_shipped_is_cut_by_its_pairs() -> None:
    tokenizer = load(VOCAB / "cl100k_part.tiktoken", pat_str="[a-c]+|[^a-c]+")
    assert tokenizer is not None
    assert tokenizer.facts.unprovable is None
    found = [finder_for(tokenizer.facts).certify("aabdd", p) for p in range(1, 5)]
    assert [seam and seam.rule for seam in found] == [None, None, "PAIR", None]
    assert not tokenizer.facts.tiles


def test_special_tokens_given_for_ranks_are_all_matched() -> None:
    tokenizer = load(
        str(VOCAB / "cl100k_part.tiktoken"), name="cl100k_base", special_tokens={"<|x|>": 100300}
    )
    assert tokenizer is not None
    assert tokenizer.name == "pure:cl100k_base"
    assert tokenizer.encode("a<|x|>").tolist() == [64, 100300]
    assert [token.content for token in tokenizer.facts.added_tokens] == ["<|x|>"]
    assert tokenizer.decode([64, 100300]) == "a<|x|>"


@pytest.mark.parametrize("source", [b"x.json", 5, "vocab.csv", "cl100k_base", None])
def test_another_kind_of_source_is_left_to_others(source: Any) -> None:
    assert load(source) is None


def test_it_leaves_other_engines_alone() -> None:
    assert load(VOCAB / "deepseek_part.json", engine="tiktoken") is None
    assert load(VOCAB / "deepseek_part.json", engine="pure") is not None


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown setting 'speed'"):
        load(VOCAB / "deepseek_part.json", speed=1)
    with pytest.raises(OptionError, match="known: name, pat_str, special_tokens"):
        load(VOCAB / "cl100k_part.tiktoken", speed=1)
    with pytest.raises(OptionError, match="cl100k_base, gpt2"):
        load(VOCAB / "cl100k_part.tiktoken")


def test_a_model_of_another_kind_is_refused_with_its_file() -> None:
    with pytest.raises(FileFormatError, match=r"metaspace_unigram\.json: model type = 'Unigram'"):
        load(VOCAB / "metaspace_unigram.json")


def test_a_missing_file_is_not_found() -> None:
    for name in ("none.json", "cl100k_base.tiktoken"):
        with pytest.raises(FileNotFoundError):
            load(VOCAB / name)


def test_full_deepseek_gets_the_ids_of_hf(full_vocab: Callable[[str], Path]) -> None:
    path = full_vocab("deepseek.json")
    ours, hf = load(path), Tokenizer.from_file(str(path))
    assert ours is not None
    for text in samples():
        assert ours.encode(text).tolist() == hf.encode(text, add_special_tokens=False).ids
