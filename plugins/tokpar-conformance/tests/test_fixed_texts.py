"""The texts that are not drawn hold what the vocabulary and the added tokens of a tokenizer ask
for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tokpar_conformance import added_contents, all_words, hostile_texts, texts_for
from tokpar_conformance.fixed_texts import SEPARATORS, SURROUNDED, vocabulary_words

from tokpar.arrays import IdArray
from tokpar.types import AddedToken, Facts, NormalizerStage

words = st.sets(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8)
contents = st.lists(st.text("<é>", min_size=1, max_size=3), unique=True, max_size=SURROUNDED)


@dataclass(frozen=True)
class Listed:
    """A tokenizer whose facts list these tokens and added tokens."""

    tokens: frozenset[str]
    contents: tuple[str, ...] = ()
    name: str = "listed"

    @property
    def facts(self) -> Facts:
        added = tuple(AddedToken(content, k) for k, content in enumerate(self.contents))
        spelt = [token.encode() for token in self.tokens]
        return Facts("listed", "none", added_tokens=added, tokens=lambda: [*spelt, b"\xff"])

    def encode(self, text: str) -> IdArray:
        return np.array([ord(one) for one in text], dtype=np.uint32)


@dataclass(frozen=True)
class Unlisted:
    """A tokenizer with one id per code point, which decodes and lists nothing."""

    name: str = "unlisted"

    def encode(self, text: str) -> IdArray:
        return np.array([ord(one) for one in text], dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


@given(words, contents)
def test_the_texts_hold_overlapping_tokens_and_each_added_token_between_separators(
    tokens: set[str], added: list[str]
) -> None:
    tokenizer = Listed(frozenset(tokens), tuple(added))
    texts = texts_for(tokenizer)
    assert set(hostile_texts()) <= set(texts)
    assert all_words(tokenizer) == tokens
    assert [*added_contents(tokenizer)] == added
    for content in added:
        assert {content, content * 2} <= set(texts)
        assert {f"b{one}{content}{one}b" for one in SEPARATORS} <= set(texts)
    joined = "\0".join(texts)
    for left, right in product(tokens, repeat=2):
        for size in range(1, min(len(left), len(right))):
            if left.endswith(right[:size]):
                assert left + right[size:] in joined
    first_two = vocabulary_words(tokenizer)[:2]
    assert all(one.join(first_two) in joined for one in SEPARATORS)


def test_a_tokenizer_that_lists_no_vocabulary_has_the_tokens_of_the_hostile_texts() -> None:
    characters = set("".join(hostile_texts())) - {"\ufffd"}
    assert all_words(Unlisted()) == characters


def test_added_tokens_behind_a_normalizer_have_their_other_forms() -> None:
    @dataclass(frozen=True)
    class Normalizing(Listed):
        @property
        def facts(self) -> Facts:
            stages = (NormalizerStage("NFC", ()),)
            return Facts("n", "none", added_tokens=(AddedToken("\xe9", 1),), normalizers=stages)

    assert {"\xe9", "e\u0301", "\xc9"} <= set(added_contents(Normalizing(frozenset())))
