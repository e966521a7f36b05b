"""Drawn tokenizers are real: they encode nasty texts, and byte-level ones lose nothing."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
import tiktoken
from hypothesis import assume, event, given
from tokenizers import Tokenizer, pre_tokenizers

from tests.support import tokenizers_drawn as drawn
from tests.support.texts import texts


def strips(tokenizer: Tokenizer) -> bool:
    """True if an added token takes the whitespace next to it."""
    tokens = tokenizer.get_added_tokens_decoder().values()
    return any(token.lstrip or token.rstrip for token in tokens)


def encoded(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids without special tokens; gives up on the one panic that is known.

    Two added tokens that strip may claim the same whitespace, and `tokenizers` panics (a
    BaseException): correction 0'.9. Any other panic is a finding.
    """
    try:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)
    except BaseException as error:
        if not (drawn.is_panic(error) and strips(tokenizer)):
            raise
        event("tokenizers panics on added tokens that strip")
        assume(False)
        raise AssertionError("not reached") from error


@given(drawn.with_texts(drawn.hf_specs()))
def test_drawn_tokenizers_encode_nasty_texts_the_same_twice(pair: tuple[Any, str]) -> None:
    spec, text = pair
    tokenizer = drawn.build(spec)
    ids = encoded(tokenizer, text)
    assert encoded(tokenizer, text) == ids
    assert drawn.build(spec) is tokenizer


@given(drawn.with_texts(drawn.hf_specs()))
def test_a_plain_copy_differs_by_nothing_but_truncation_and_padding(pair: tuple[Any, str]) -> None:
    spec, text = pair
    tokenizer = drawn.build(spec)
    copy = drawn.plain_copy(tokenizer)
    assert copy.truncation is None
    assert copy.padding is None
    if spec.extras.truncation is None and spec.extras.padding is None:
        assert encoded(copy, text) == encoded(tokenizer, text)


@given(drawn.with_texts(drawn.byte_level_specs(plain=True)))
def test_byte_level_tokenizers_without_normalizer_give_the_text_back(
    pair: tuple[drawn.ByteLevelSpec, str],
) -> None:
    """But for an added token that spells a byte: "é" is the letter of byte 0xE9, under one id."""
    spec, text = pair
    copy = drawn.plain_copy(drawn.build(spec))
    assume(not {added.content for added in spec.extras.added} & {*drawn.byte_characters()})
    assert drawn.bytes_of(copy, encoded(copy, text)) == text.encode()


@given(drawn.with_texts(drawn.tiktoken_specs()))
def test_tiktoken_encodings_give_the_text_back(pair: tuple[drawn.TiktokenSpec, str]) -> None:
    spec, text = pair
    encoding = drawn.build(spec)
    ids = encoding.encode(text, allowed_special="all")
    assert b"".join(map(encoding.decode_single_token_bytes, ids)) == text.encode()
    ordinary = encoding.encode_ordinary(text)
    assert b"".join(map(encoding.decode_single_token_bytes, ordinary)) == text.encode()


@given(texts(added=("<|endoftext|>", "[MASK]", "<｜end▁of▁sentence｜>", "<s>")))
def test_named_tokenizers_encode_nasty_texts(text: str) -> None:
    for name, tokenizer in drawn.named_tokenizers().items():
        if isinstance(tokenizer, tiktoken.Encoding):
            assert tokenizer.decode_bytes(tokenizer.encode_ordinary(text)) == text.encode(), name
        else:
            assert encoded(tokenizer, text) == encoded(tokenizer, text), name


def test_the_panic_on_added_tokens_that_strip_is_still_there() -> None:
    added = (drawn.Added("a", rstrip=True), drawn.Added(" ", lstrip=True))
    spec = drawn.ByteLevelSpec("gpt2", extras=drawn.Extras(added=added))
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # a panic has no better type
        drawn.build(spec).encode("a  ")
    assert drawn.is_panic(caught.value)


def test_all_committed_vocabularies_are_named() -> None:
    committed = {path.stem for path in drawn.VOCAB.glob("*.tiktoken")}
    committed |= {path.stem for path in drawn.VOCAB.glob("*.json")} - {
        "patterns",
        "expected",
        "format_two",
    }
    assert committed - {"default"} == set(drawn.named_tokenizers()) - {"default"}


def test_the_patterns_are_the_published_ones() -> None:
    published = pytest.importorskip("tiktoken_ext.openai_public")
    assert drawn.PATTERNS["r50k"] == (published.r50k_pat_str,)
    parts = json.loads((drawn.VOCAB / "patterns.json").read_text(encoding="utf-8"))
    for family in ("cl100k", "o200k", "tekken"):
        assert drawn.PATTERNS[family] == (parts[f"{family}_part"],)


def test_the_deepseek_patterns_are_those_of_its_file() -> None:
    data = json.loads((drawn.VOCAB / "deepseek_part.json").read_text(encoding="utf-8"))
    stages = data["pre_tokenizer"]["pretokenizers"][:3]
    assert drawn.PATTERNS["deepseek"] == tuple(stage["pattern"]["Regex"] for stage in stages)


def test_the_qwen2_pattern_is_that_of_transformers() -> None:
    qwen2 = pytest.importorskip("transformers.models.qwen2.tokenization_qwen2")
    assert drawn.PATTERNS["qwen2"] == (qwen2.PRETOKENIZE_REGEX,)


def test_the_byte_characters_are_those_of_tokenizers() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    assert sorted(drawn.byte_characters()) == sorted(alphabet)
    assert drawn.byte_text(" é") == "ĠÃ©"


def test_the_first_merges_do_not_depend_on_their_number() -> None:
    few = drawn.random_merges(drawn.PIECES, 7, 10, True)
    assert drawn.random_merges(drawn.PIECES, 7, 40, True)[: len(few)] == few


def merged(word: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """Parts of the word after merging by rank, leftmost first."""
    parts = [word[i : i + 1] for i in range(len(word))]
    while True:
        pairs = enumerate(pairwise(parts))
        rank, at = min(
            ((ranks.get(a + b, 1 << 30), i) for i, (a, b) in pairs), default=(1 << 30, 0)
        )
        if rank == 1 << 30:
            return parts
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def unreachable(spec: drawn.TiktokenSpec) -> list[bytes]:
    """Tokens that merging their own bytes does not give."""
    words = drawn.build(spec).token_byte_values()
    ranks = {word: drawn.build(spec).encode_single_token(word) for word in words}
    return [word for word in words if merged(word, ranks) != [word]]


@pytest.mark.parametrize("wild", [False, True])
def test_only_wild_merges_leave_tokens_that_cannot_be_reached(wild: bool) -> None:
    specs = [drawn.TiktokenSpec("gpt2", seed, merges=60, wild=wild) for seed in range(20)]
    assert any(map(unreachable, specs)) == wild
