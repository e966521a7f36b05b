"""Drawn tokenizers with post-processors, drawn texts, and their offsets: the engine's, and ours."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from hypothesis import assume
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors
from tokpar_conformance.worlds.charsmaps import NMT_LIKE

import tokpar
from tests.support.stages_drawn import TEXTS, drawn_tokenizer, shaped
from tests.support.tokenizers_drawn import (
    ByteLevelSpec,
    build,
    contents,
    hf_specs,
    is_panic,
    named_tokenizers,
    plain_copy,
    texts_with,
)
from tokpar.adapters import hf_offsets
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.errors import EngineError
from tokpar.types import Rows

Spans = list[tuple[int, int]]
TEMPLATE = processors.TemplateProcessing(
    single="<s> $A </s>", pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)]
)
WORDS = "the quick brown fox jumps over the lazy dog, and once more "


# ------------------------------------------------------------------------------ what is drawn


def post_processor(rng: random.Random) -> Any:
    def stage() -> Any:
        flags = {"trim_offsets": rng.random() < 0.8, "add_prefix_space": rng.random() < 0.6}
        kinds: list[Callable[[], Any]] = [
            lambda: processors.ByteLevel(**flags),
            lambda: processors.RobertaProcessing(("</s>", 1), ("<s>", 2), **flags),
            lambda: processors.BertProcessing(("</s>", 1), ("<s>", 2)),
            lambda: TEMPLATE,
        ]
        return rng.choice(kinds)()

    count = rng.choice((0, 1, 1, 2, 3))
    row = [stage() for _ in range(count)]
    return processors.Sequence(row) if count > 1 else next(iter(row), None)


@st.composite
def tokenizers(draw: st.DrawFn) -> Tokenizer:
    """Tokenizers of all shapes with any post-processor."""
    rng = random.Random(draw(st.integers(0, 2**32), label="seed"))
    own = draw(st.one_of(hf_specs(finishing=False).map(build), st.none()))
    own = drawn_tokenizer(rng) if own is None else plain_copy(own)
    post = post_processor(rng)
    if post is not None:
        own.post_processor = post
    return own


@st.composite
def adapters(draw: st.DrawFn) -> HuggingFaceTokenizer:
    own = draw(tokenizers())
    try:
        adapter = tokpar.load(own)
    except BaseException as error:
        assume(not is_panic(error))
        raise
    assert isinstance(adapter, HuggingFaceTokenizer)
    assume(adapter.postprocess_refused is None)
    return adapter


def drawn_texts(data: st.DataObject, own: Tokenizer) -> list[str]:
    seeds = TEXTS.strategy()
    text = st.one_of(texts_with(contents(own), 60), seeds, seeds.map(lambda text: 3 * text))
    return data.draw(st.lists(text, min_size=1, max_size=3), label="texts")


@contextmanager
def small_parts(data: st.DataObject, adapter: HuggingFaceTokenizer) -> Iterator[None]:
    """Parts, and calls of the engine, of any size; the compiled call or none."""
    if data.draw(st.booleans(), label="without the compiled call"):
        object.__setattr__(adapter._engine_offsets, "later_call", None)
    part = data.draw(st.sampled_from((1, 2, 5, 4096)), label="PART")
    together = data.draw(st.sampled_from((1, 10, 4096)), label="TOGETHER")
    with (
        mock.patch.object(hf_offsets, "PART", part),
        mock.patch.object(hf_offsets, "TOGETHER", together),
    ):
        yield


def ids_of(adapter: HuggingFaceTokenizer, texts: Sequence[str]) -> Rows:
    try:
        return adapter.encode_many(texts, False)
    except EngineError:
        assume(False)
        raise


def engine_offsets(own: Tokenizer, texts: Sequence[str], special: bool = True) -> Spans:
    """The engine's own, of all texts, without special tokens."""
    found: Spans = []
    for text in texts:
        encoding = own.encode(text, add_special_tokens=special)
        mask = encoding.special_tokens_mask
        found += [o for o, inserted in zip(encoding.offsets, mask, strict=True) if not inserted]
    return found


def our_offsets(adapter: HuggingFaceTokenizer, texts: Sequence[str], **how: Any) -> Spans:
    rows = ids_of(adapter, texts)
    return [(a, b) for a, b in adapter.offset_mapping(texts, rows, **how).tolist()]


def assert_engine_offsets(own: Tokenizer, *texts: str) -> None:
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    for _ in ("cold", "warm"):
        assert our_offsets(adapter, texts) == engine_offsets(own, texts)


def word_level(*words: str) -> Any:
    return models.WordLevel({word: i for i, word in enumerate(("[UNK]", *words))}, "[UNK]")


def deleting() -> Tokenizer:
    """Its table deletes U+00AD."""
    never = pre_tokenizers.Metaspace("▁", "never")
    own = shaped(word_level("a", "▁a", "▁b"), [normalizers.Precompiled(NMT_LIKE)], [never])
    own.add_tokens([AddedToken("<s>", normalized=False)])
    return own


def trimming() -> Tokenizer:
    words = word_level("hello", "Ġworld", "a", "Ġb", "Ġ")
    own = shaped(words, [], [pre_tokenizers.ByteLevel(add_prefix_space=False)])
    own.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    return own


def tiling() -> Tokenizer:
    own = plain_copy(build(ByteLevelSpec("gpt2", 1, 40)))
    own.post_processor = processors.ByteLevel(trim_offsets=True)
    return own


def prefixing() -> Tokenizer:
    return plain_copy(named_tokenizers()["llama_style"])


def bert() -> Tokenizer:
    return plain_copy(named_tokenizers()["bert_part"])


def composing() -> Tokenizer:
    own = plain_copy(build(ByteLevelSpec("qwen2", 1, 60, normalizers=("NFC",))))
    own.add_special_tokens(["<|end|>"])
    return own


def counted(own: Tokenizer) -> tuple[HuggingFaceTokenizer, mock.Mock]:
    """An adapter whose offsets come from an engine that counts how it is asked."""
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    engine = mock.Mock(wraps=adapter._chunks)
    engine.model, engine.normalizer = adapter._chunks.model, adapter._chunks.normalizer
    object.__setattr__(adapter._engine_offsets, "engine", engine)
    return adapter, engine.encode_batch
