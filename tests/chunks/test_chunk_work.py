"""The work of chunks grows as the text does. Counted are the code points that the engine encodes,
and those that the finder of cuts normalizes, so no clock decides."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

import tokpar
from tests.support.small_models import bert, byte_level
from tests.support.tokenizers_drawn import PATTERNS, ByteLevelSpec, MetaspaceSpec, build
from tokpar.adapters.hf_offsets import EngineOffsets
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.cuts.normalized_context import NormalizerGuard

pytestmark = pytest.mark.ids

SIZES = 2_000, 16_000
MOST_ENCODED, MOST_NORMALIZED = 5, 60
"""Times a code point of the text is encoded, and normalized, at most."""


def qwen_like(*stages: Any) -> Tokenizer:
    [pattern] = PATTERNS["qwen2"]
    own = byte_level([("a", "b"), ("Ġ", "a")], pattern)
    own.normalizer = normalizers.Sequence(list(stages)) if stages else None
    own.add_special_tokens(["<|im_start|>"])
    return own


def uncut() -> Tokenizer:
    """No pre-tokenizer splits, so no place is a cut."""
    own = qwen_like(normalizers.NFC())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return own


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "NFC": lambda: qwen_like(normalizers.NFC()),
    "NFKC": lambda: qwen_like(normalizers.NFKC()),
    "NFD and Lowercase": lambda: qwen_like(normalizers.NFD(), normalizers.Lowercase()),
    "no normalizer": qwen_like,
    "bytes without tokens": lambda: build(ByteLevelSpec("qwen2", merges=20, missing=3)),
    "BERT": bert,
    "Metaspace": lambda: build(MetaspaceSpec("BPE", merges=20)),
    "no cuts": uncut,
}


def words(rng: random.Random, size: int, letters: str, between: str, longest: int) -> str:
    found: list[str] = []
    while sum(map(len, found)) < size:
        found += ["".join(rng.choices(letters, k=rng.randint(1, longest))), rng.choice(between)]
    return "".join(found)[:size]


def half_and_half(rng: random.Random, size: int) -> str:
    """Many spaces, then none."""
    return TEXTS["English"](rng, size // 2) + TEXTS["Chinese"](rng, size - size // 2)


TEXTS: dict[str, Callable[[random.Random, int], str]] = {
    "Chinese": partial(words, letters="在人工智能领域分词是第一步", between="，。；", longest=30),
    "no-break spaces": partial(
        words, letters="abcdefgh", between="\xa0\xa0\xa0\xa0,.\n", longest=9
    ),
    "English": partial(words, letters="abcdefgh", between="    ,.", longest=9),
    "one letter": partial(words, letters="中", between="中", longest=9),
    "English, then Chinese": half_and_half,
}


@contextmanager
def counted_work() -> Iterator[Counter[str]]:
    """Counts the code points that go into the engine, and through a normalizer."""
    work: Counter[str] = Counter()

    def wrapped(owner: Any, name: str, kind: str, size: Callable[[Any], int]) -> Any:
        own = getattr(owner, name)

        def call(self: Any, given: Any, *rest: Any, **settings: Any) -> Any:
            work[kind] += size(given)
            return own(self, given, *rest, **settings)

        return mock.patch.object(owner, name, call)

    def total(texts: Any) -> int:
        return sum(map(len, texts))

    with (
        wrapped(HuggingFaceTokenizer, "encode", "encoded", len),
        wrapped(HuggingFaceTokenizer, "encode_many", "encoded", total),
        wrapped(EngineOffsets, "_encode", "encoded", total),
        wrapped(NormalizerGuard, "_map", "normalized", len),
    ):
        yield work


@pytest.mark.each_value
@pytest.mark.parametrize("boundary", ["token", "cut", "line", "sentence"])
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_work_of_chunks_is_linear_in_the_text(name: str, kind: str, boundary: Any) -> None:
    rng = random.Random(f"{name} {kind}")
    tokenizer = TOKENIZERS[name]()
    encoder = tokpar.Encoder(tokenizer, workers=1)
    list(encoder.chunks(TEXTS[kind](rng, 1_000), 100))
    for size in SIZES:
        text = TEXTS[kind](rng, size)
        with counted_work() as work:
            stops = [chunk.stop for chunk in encoder.chunks(text, 256, boundary=boundary)]
        assert stops[-1] == size
        assert work["encoded"] <= MOST_ENCODED * size
        assert work["normalized"] <= MOST_NORMALIZED * size
