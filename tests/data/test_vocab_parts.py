"""The part vocabularies encode the samples with the ids of the full ones, and lack nothing."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import runpy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.paths import VOCAB

TIKTOKEN_PARTS = ["cl100k_part", "o200k_part", "tekken_part"]
JSON_PARTS = ["bert_part", "deepseek_part", "llama_style", "metaspace_unigram"]
PARTS = TIKTOKEN_PARTS + JSON_PARTS
FAMILIES = ["ascii_pairs", "periodic_chunks", "run_lengths", "short_chunks", "word_chunks"]

Encode = Callable[[str], list[int]]


@functools.cache
def load_json(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((VOCAB / f"{name}.json").read_text(encoding="utf-8"))
    return data


@functools.cache
def load_ranks(name: str) -> dict[bytes, int]:
    lines = (VOCAB / f"{name}.tiktoken").read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


@functools.cache
def encoder(name: str) -> Encode:
    """Encode without special tokens, truncation and padding."""
    if name in TIKTOKEN_PARTS:
        tiktoken = pytest.importorskip("tiktoken")
        pattern, ranks = load_json("patterns")[name], load_ranks(name)
        encoding = tiktoken.Encoding(
            name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        encode: Encode = encoding.encode_ordinary
        return encode
    tokenizer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(VOCAB / f"{name}.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


@functools.cache
def families() -> dict[str, list[str]]:
    result: dict[str, list[str]] = runpy.run_path(str(VOCAB / "samples.py"))["families"]()
    return result


def expand_text(text: str | list[tuple[str, int]]) -> str:
    return text if isinstance(text, str) else "".join(unit * count for unit, count in text)


def expand_ids(packed: list[int | list[int]]) -> list[int]:
    """The ids of a packed list: [[7, 3], 5] -> [7, 7, 7, 5]."""
    runs = [[item, 1] if isinstance(item, int) else item for item in packed]
    return [id_ for id_, count in runs for _ in range(count)]


@pytest.mark.parametrize("name", PARTS)
def test_every_stored_text_gets_its_real_ids(name: str) -> None:
    expected, encode = load_json("expected"), encoder(name)
    assert len(expected["texts"]) == len(expected["ids"][name])
    for text, packed in zip(expected["texts"], expected["ids"][name], strict=True):
        assert encode(expand_text(text)) == expand_ids(packed), text


@pytest.mark.each_value
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", PARTS)
def test_every_family_of_texts_gets_its_real_ids(name: str, family: str) -> None:
    encode = encoder(name)
    ids = [encode(text) for text in families()[family]]
    digest = hashlib.sha256(json.dumps(ids, separators=(",", ":")).encode()).hexdigest()
    assert digest == load_json("expected")["digests"][name][family]


def test_the_deepseek_part_keeps_the_real_ids_of_its_added_tokens() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    stored = {token["id"]: token["content"] for token in load_json("deepseek_part")["added_tokens"]}
    loaded = tokenizer.get_added_tokens_decoder()
    assert {id_: token.content for id_, token in loaded.items()} == stored
    assert stored[1] == "<｜end▁of▁sentence｜>"
    assert [token.content for token in loaded.values() if not token.special] != []
