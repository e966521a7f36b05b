"""Streams of ``engine="incremental"``: the ids of the whole text, also inside pre-tokens, and
soon."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_incremental.adapter import PrefixTokenizer
from tokpar_pure.formats import vocabulary_of

import tokpar
from tests.support.drawn_runs import drawn_text, named
from tests.support.paths import VOCAB
from tests.support.streams import arrivals, chunks_of, flat
from tests.support.tokenizers_drawn import ByteLevelSpec, build, byte_level_specs
from tokpar.errors import FileFormatError, OptionError
from tokpar.types import AddedToken

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

PARTS = ("cl100k_part", "o200k_part", "tekken_part", "deepseek_part")


@cache
def incremental(name: str) -> PrefixTokenizer:
    """A part of a real vocabulary."""
    if name == "deepseek_part":
        adapter = tokpar.load(VOCAB / f"{name}.json", engine="incremental")
    else:
        pattern = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))[name]
        path = VOCAB / f"{name}.tiktoken"
        adapter = tokpar.load(path, engine="incremental", pat_str=pattern)
    assert isinstance(adapter, PrefixTokenizer)
    return adapter


@pytest.mark.parametrize("name", PARTS)
@given(data=st.data())
def test_parts_of_real_vocabularies(name: str, data: st.DataObject) -> None:
    tokenizer = incremental(name)
    text = drawn_text(data, named(name), 400)
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


@given(data=st.data(), spec=byte_level_specs(plain=True, finishing=False))
def test_drawn_vocabularies(data: st.DataObject, spec: ByteLevelSpec) -> None:
    """Added tokens of all kinds: those that look at what is beside them are followed by cuts."""
    hf: Tokenizer = build(spec)
    text = drawn_text(data, hf)
    try:
        tokenizer = PrefixTokenizer(vocabulary_of(json.loads(hf.to_str()), "drawn"))
    except (FileFormatError, OptionError):
        return
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


TOKENS = ("<s>", "<s><s>", "s>a", "<|end|>", "aa", "  ")


@given(data=st.data(), chosen=st.lists(st.sampled_from(TOKENS), unique=True, max_size=4))
def test_added_tokens_cut_anywhere(data: st.DataObject, chosen: list[str]) -> None:
    vocabulary = incremental("cl100k_part").vocabulary()
    first = max(vocabulary.tokens.values()) + 1
    added = [AddedToken(t, first + n, normalized=t == "s>a") for n, t in enumerate(chosen)]
    tokenizer = PrefixTokenizer(replace(vocabulary, added=tuple(added)))
    parts = st.lists(st.sampled_from((*TOKENS, "<", "s", ">", "a", " ", "<s><|end")))
    text = "".join(data.draw(parts, label="text"))
    expected = tokenizer.encode(text).tolist()
    assert flat(tokpar.stream(chunks_of(data, text), tokenizer)) == expected


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_added_tokens_that_look_beside_them(flag: str) -> None:
    vocabulary = incremental("cl100k_part").vocabulary()
    token = AddedToken("<s>", max(vocabulary.tokens.values()) + 1, **{flag: True})
    tokenizer = PrefixTokenizer(replace(vocabulary, added=(token,)))
    text = "a <s> b  <s>\n c<s>d<s> e <s>"
    assert flat(tokpar.stream(list(text), tokenizer)) == tokenizer.encode(text).tolist()


def test_text_is_kept_only_while_it_may_become_an_added_token() -> None:
    vocabulary = incremental("cl100k_part").vocabulary()
    added = (AddedToken("<|end|>", max(vocabulary.tokens.values()) + 1),)
    tokenizer = PrefixTokenizer(replace(vocabulary, added=added))
    seen = arrivals(["a b", " <|en", "d", " c d"], tokenizer)
    complete = [len(tokenizer.encode(text)) for text in ("a b", "a b <|end c")]
    assert seen[0] >= complete[0] - 1
    assert seen[1] >= len(tokenizer.encode("a b"))
    assert seen[3] >= complete[1] - 1


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
    tokenizer = incremental(name)
    size = 97
    chunks = [giant.text[i : i + size] for i in range(0, len(giant.text), size)]
    spans = tokenizer.locate(tokenizer.encode(giant.text), giant.text)
    most, arrived = 0, 0
    for chunk, count in zip(chunks[:-1], arrivals(chunks, tokenizer)[:-1], strict=True):
        arrived += len(chunk.encode())
        most = max(most, arrived - (int(spans[count - 1, 1]) if count else 0))
    assert most <= giant.kept
