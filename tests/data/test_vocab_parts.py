"""The part vocabularies encode the samples with the ids of the full ones, and lack nothing."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import runpy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.paths import VOCAB

TIKTOKEN_PARTS = ["cl100k_part", "o200k_part", "tekken_part"]
JSON_PARTS = ["bert_part", "deepseek_part", "llama_style", "metaspace_unigram"]
PARTS = TIKTOKEN_PARTS + JSON_PARTS
FAMILIES = ["ascii_pairs", "periodic_chunks", "run_lengths", "short_chunks", "word_chunks"]
MAX_BYTES = {"deepseek_part": 250_000}

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


def merge(atoms: list[Any], rank: Callable[[Any, Any], float]) -> list[Any]:
    """Greedy merging of the leftmost pair of least rank."""
    parts = list(atoms)
    while len(parts) > 1:
        best, i = min((rank(parts[i], parts[i + 1]), i) for i in range(len(parts) - 1))
        if best == math.inf:
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def unmergeable(tokens: list[Any], rank: Callable[[Any, Any], float]) -> list[Any]:
    """The tokens that merging their own atoms does not give back."""
    return [
        token
        for token in tokens
        if merge([token[i : i + 1] for i in range(len(token))], rank) != [token]
    ]


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


def test_no_part_and_no_family_is_left_out() -> None:
    expected = load_json("expected")
    assert sorted(expected["ids"]) == sorted(expected["digests"]) == sorted(PARTS)
    assert sorted(families()) == FAMILIES


@pytest.mark.parametrize("name", TIKTOKEN_PARTS)
def test_every_token_of_a_tiktoken_part_is_reachable(name: str) -> None:
    ranks = load_ranks(name)
    assert unmergeable(list(ranks), lambda a, b: ranks.get(a + b, math.inf)) == []


@pytest.mark.parametrize("name", TIKTOKEN_PARTS)
def test_a_tiktoken_part_holds_all_bytes_and_each_rank_once(name: str) -> None:
    ranks = load_ranks(name)
    assert {bytes([byte]) for byte in range(256)} <= ranks.keys()
    assert len(set(ranks.values())) == len(ranks)


@pytest.mark.parametrize("name", ["deepseek_part", "llama_style"])
def test_every_token_of_a_bpe_file_is_reachable(name: str) -> None:
    data = load_json(name)
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in data["model"]["merges"]]
    ranks = {(left, right): rank for rank, (left, right) in enumerate(pairs)}
    reserved = {token["content"] for token in data["added_tokens"]}
    reserved |= {f"<0x{byte:02X}>" for byte in range(256)}
    tokens = [token for token in data["model"]["vocab"] if token not in reserved]
    assert unmergeable(tokens, lambda a, b: ranks.get((a, b), math.inf)) == []


@pytest.mark.parametrize("name", PARTS)
def test_every_file_is_small(name: str) -> None:
    suffix = "tiktoken" if name in TIKTOKEN_PARTS else "json"
    assert (VOCAB / f"{name}.{suffix}").stat().st_size < MAX_BYTES.get(name, 120_000)


def test_the_deepseek_part_keeps_the_real_ids_of_its_added_tokens() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    stored = {token["id"]: token["content"] for token in load_json("deepseek_part")["added_tokens"]}
    loaded = tokenizer.get_added_tokens_decoder()
    assert {id_: token.content for id_, token in loaded.items()} == stored
    assert stored[1] == "<｜end▁of▁sentence｜>"
    assert [token.content for token in loaded.values() if not token.special] != []


def test_the_bert_part_keeps_its_stored_truncation_and_padding() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(VOCAB / "bert_part.json"))
    assert tokenizer.truncation["max_length"] == 128
    assert [len(tokenizer.encode(text).ids) for text in ("hi", "the " * 400)] == [128, 128]


def test_every_word_of_the_bert_part_is_reachable() -> None:
    data = load_json("bert_part")
    vocab, encode = data["model"]["vocab"], encoder("bert_part")
    words = [token for token in vocab if token.isalpha() and token.isascii()]
    assert len(words) > 1000
    assert [word for word in words if encode(word) != [vocab[word]]] == []


def test_the_bert_part_holds_every_printable_ascii_character_in_both_forms() -> None:
    vocab = load_json("bert_part")["model"]["vocab"]
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    assert [c for c in letters if c not in vocab or f"##{c}" not in vocab] == []


def test_no_llama_piece_has_a_space_mark_after_another_character() -> None:
    vocab = load_json("llama_style")["model"]["vocab"]
    assert [token for token in vocab if "▁" in token.lstrip("▁")] == []
    assert [vocab[f"<0x{byte:02X}>"] for byte in range(256)] == list(range(3, 259))


def test_the_tekken_part_shows_that_one_common_boundary_is_not_enough() -> None:
    ranks, encode = load_ranks("tekken_part"), encoder("tekken_part")
    for text, tokens in {
        " contin": [b" contin"],
        " conti": [b" cont", b"i"],
        "ntin": [b"nt", b"in"],
    }.items():
        assert encode(text) == [ranks[token] for token in tokens]
