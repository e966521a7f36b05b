"""Strategies that draw changes and calls of a `tokenizers.Tokenizer`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers

from tests.support.offsets_drawn import post_processor
from tests.support.tokenizers_drawn import NORMALIZERS, contents, texts_with

Change = Callable[[Tokenizer], object]
ODD = (None, 1, "a", [], {})
"""Arguments that no method takes everywhere."""


def _truncation() -> st.SearchStrategy[Change]:
    arguments = st.fixed_dictionaries(
        {"max_length": st.integers(0, 30)},
        optional={
            "stride": st.sampled_from([0, 0, 1, 3]),
            "strategy": st.sampled_from(["longest_first", "only_first", "only_second"]),
            "direction": st.sampled_from(["left", "right"]),
        },
    )
    return arguments.map(lambda given: lambda own: own.enable_truncation(**given))


def _padding() -> st.SearchStrategy[Change]:
    arguments = st.fixed_dictionaries(
        {},
        optional={
            "direction": st.sampled_from(["left", "right"]),
            "pad_id": st.integers(0, 5),
            "pad_type_id": st.integers(0, 2),
            "pad_token": st.sampled_from(["[PAD]", "a", ""]),
            "length": st.sampled_from([None, 0, 7, 40]),
            "pad_to_multiple_of": st.sampled_from([None, 1, 8]),
        },
    )
    return arguments.map(lambda given: lambda own: own.enable_padding(**given))


def _tokens() -> st.SearchStrategy[Change]:
    flag = st.booleans()
    content = st.sampled_from(["the", "a", " ab", "<new>", "é", "A", "[UNK]", "12"])
    token = st.builds(AddedToken, content, single_word=flag, lstrip=flag, normalized=flag)
    names = st.sampled_from(["add_tokens", "add_special_tokens"])
    return st.builds(
        lambda name, new: lambda own: getattr(own, name)(new), names, st.lists(token, max_size=2)
    )


def _components() -> st.SearchStrategy[Change]:
    pre = [
        lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
        lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
        pre_tokenizers.Whitespace,
        lambda: None,
    ]
    decoding = [decoders.ByteLevel, decoders.WordPiece, decoders.Fuse, lambda: None]
    chosen = st.one_of(
        st.tuples(st.just("post_processor"), st.randoms(use_true_random=False).map(post_processor)),
        st.tuples(st.just("pre_tokenizer"), st.sampled_from(pre).map(lambda make: make())),
        st.tuples(st.just("decoder"), st.sampled_from(decoding).map(lambda make: make())),
        st.tuples(st.just("normalizer"), st.sampled_from([*NORMALIZERS]).map(_normalizer)),
        st.tuples(st.just("encode_special_tokens"), st.booleans()),
    )
    return chosen.map(lambda pair: lambda own: setattr(own, *pair))


def _normalizer(name: str) -> Any:
    return normalizers.Sequence([NORMALIZERS[name]()])


def change_in_place(own: Tokenizer) -> None:
    """Turn the prefix space of the pre-tokenizer over, if it has one, by its own attribute."""
    pre = own.pre_tokenizer
    if isinstance(getattr(pre, "add_prefix_space", None), bool):
        pre.add_prefix_space = not pre.add_prefix_space


def set_other_merges(own: Tokenizer) -> None:
    """Set a model with the same tokens, whose merges have another order."""
    config = json.loads(own.to_str())
    merges = config["model"].get("merges")
    if merges:
        config["model"]["merges"] = merges[::-1]
        own.model = Tokenizer.from_str(json.dumps(config)).model


def train(own: Tokenizer) -> None:
    """Train the model in place."""
    trainer = own.model.get_trainer()
    for name, value in (("vocab_size", 300), ("show_progress", False)):
        setattr(trainer, name, value)
    own.train_from_iterator(["the quick brown fox", "aaaa abab é中"], trainer)


def changes() -> st.SearchStrategy[Change]:
    """All that a program may do to a tokenizer, but for training."""
    plain: list[Change] = [
        lambda own: own.no_truncation(),
        lambda own: own.no_padding(),
        change_in_place,
        set_other_merges,
    ]
    return st.one_of(_truncation(), _padding(), _tokens(), _components(), st.sampled_from(plain))


def calls(own: Tokenizer) -> st.SearchStrategy[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The name of a method, and arguments of it, some of which it refuses."""
    text = st.one_of(texts_with(contents(own), 40), st.sampled_from(["", "a", "\ud800b"]))
    texts = st.lists(text, max_size=3)
    pairs = st.tuples(text, text)
    ids = st.lists(st.integers(0, own.get_vocab_size() + 1), max_size=30)
    odd = st.sampled_from(ODD)
    special = st.fixed_dictionaries({}, optional={"add_special_tokens": st.booleans() | odd})
    skip = st.fixed_dictionaries({}, optional={"skip_special_tokens": st.booleans() | odd})
    batch = st.one_of(texts, texts.map(tuple), st.lists(pairs, max_size=2), texts, odd)
    return st.one_of(
        st.tuples(st.just("encode"), st.tuples(text), special),
        st.tuples(st.just("encode"), st.tuples(text, text), special),
        st.tuples(st.just("encode"), st.tuples(texts, st.none(), st.just(True)), special),
        st.tuples(st.just("encode"), st.lists(odd, max_size=5).map(tuple), st.just({})),
        st.tuples(st.just("encode"), st.lists(odd, max_size=2).map(tuple), special),
        st.tuples(st.just("encode_batch"), st.tuples(batch), special),
        st.tuples(st.just("encode_batch_fast"), st.tuples(batch), special),
        st.tuples(
            st.just("encode_batch"), st.tuples(st.just([["a", "b"]]), st.just(True)), special
        ),
        st.tuples(st.just("decode"), st.tuples(ids | odd), skip),
        st.tuples(st.just("decode_batch"), st.tuples(st.lists(ids, max_size=3) | odd), skip),
    )
