"""The pure Python adapter against the native engines, on part and full vocabularies."""

from __future__ import annotations

import functools
import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar_conformance import hostile_texts
from tokpar_pure.adapter import PureTokenizer, load

from tests.support.paths import VOCAB
from tests.support.pure_ground import on_common_ground
from tests.vocab.samples import LANGUAGES, PYTHON
from tokpar.formats.formats import read_ranks

pytestmark = pytest.mark.ids

PARTS = ["cl100k_part", "o200k_part", "tekken_part", "deepseek_part"]

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


frozen = st.text(
    st.sampled_from(
        "aAsSdtlLvre'’ſ0١३12 \t\n\r\x0b\x85\xa0\u3000.,!/-_#<｜>|«»éßÅǅſλЖжשלامนักहिन्दी"
        "中文亚洲の・カー한글\u0301\u200d\ufe0f😀👍🏽🇫🇷€½²Ⅷ\x00\x1c\x7f\ufeff\ufffd"
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", PARTS)
def test_all_samples_get_the_ids_of_the_native_engine(name: str) -> None:
    for text in (*LANGUAGES, PYTHON, *map(on_common_ground, hostile_texts())):
        assert pure(name).encode(text).tolist() == native(name)(text), text


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
