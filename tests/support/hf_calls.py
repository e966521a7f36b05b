"""Strategies that draw calls of methods of a transformers tokenizer: that encode, pad, decode."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.support.tokenizers_drawn import contents, texts_with, token_texts

base = pytest.importorskip("transformers.tokenization_utils_base", reason="transformers is missing")
PaddingStrategy, TruncationStrategy = base.PaddingStrategy, base.TruncationStrategy
TensorType = base.TensorType

Drawing = Callable[[Any], st.SearchStrategy[Any]]
"""From a tokenizer to a strategy for calls of one of its methods."""


@dataclass(frozen=True)
class Encoded:
    """An argument that the tokenizer itself makes: its result for a text or a batch."""

    text: str | list[str]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """Arguments of a method. Each call gets copies of them, because some methods change them."""

    given: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def on(self, tokenizer: Any, name: str) -> Any:
        """What the method `name` of the tokenizer returns."""
        given = [made(tokenizer, each) for each in self.given]
        named = {key: made(tokenizer, each) for key, each in self.named.items()}
        return getattr(tokenizer, name)(*given, **named)


def made(tokenizer: Any, value: Any) -> Any:
    """The argument itself, or what the tokenizer makes of an `Encoded`."""
    if isinstance(value, Encoded):
        return tokenizer(value.text, **value.options)
    if isinstance(value, list):
        return [made(tokenizer, each) for each in value]
    return copy.deepcopy(value)


def calls(
    *given: st.SearchStrategy[Any], few: Mapping[str, st.SearchStrategy[Any]] | None = None
) -> st.SearchStrategy[Call]:
    """Calls with these positional arguments, and up to five of the named ones."""
    return st.builds(Call, st.tuples(*given), some_of(few or {}))


def some_of(
    table: Mapping[str, st.SearchStrategy[Any]], least: int = 0, most: int = 5
) -> st.SearchStrategy[dict[str, Any]]:
    """Values for some of the names."""
    if not table:
        return st.just({})
    names = st.lists(st.sampled_from(sorted(table)), unique=True, min_size=least, max_size=most)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({k: table[k] for k in chosen}))


# --------------------------------------------------------------------------------- texts, ids


def one_text(own: Any) -> st.SearchStrategy[str]:
    engine = own.backend_tokenizer
    return texts_with(contents(engine), 200, token_texts(engine))


def inputs(own: Any) -> st.SearchStrategy[Any]:
    """Texts, batches, pairs and words as the first argument of a call takes them, and some that it
    does not take."""
    text = one_text(own)
    lists = st.lists(text, max_size=4)
    odd = st.sampled_from([None, 3, b"ab", [3], ["a", None], [["a", "b"]], "\ud800", ["a\udfff"]])
    return st.one_of(text, text, lists, lists, lists.map(tuple), st.lists(lists, max_size=3), odd)


def ids(own: Any) -> st.SearchStrategy[int]:
    """Ids of the vocabulary and of special tokens, and a few that no token has."""
    special = [each for each in own.all_special_ids if each is not None]
    most = len(own) - 1
    return st.one_of(st.integers(0, most), st.sampled_from([*special, 0, most]))


def id_lists(own: Any) -> st.SearchStrategy[Any]:
    rows = st.lists(ids(own), max_size=12)
    arrays = rows.map(lambda row: np.array(row, dtype=np.int64))
    odd = st.sampled_from([None, "a", 2.5, [2**40], [-1], [[1], []], [["a"]]])
    return st.one_of(ids(own), rows, rows, arrays, st.lists(rows, max_size=3), odd)


def tokens(own: Any) -> st.SearchStrategy[str]:
    vocab = sorted(own.get_vocab())
    return st.one_of(st.sampled_from(vocab), st.sampled_from(["", "no such token", "é"]))


ENCODE: dict[str, st.SearchStrategy[Any]] = {
    "add_special_tokens": st.sampled_from([False, False, True, True, None, 1]),
    "padding": st.sampled_from([False, True, "max_length", *PaddingStrategy, "longest", "other"]),
    "truncation": st.sampled_from(
        [None, False, True, True, "longest_first", "only_first", *TruncationStrategy, 7]
    ),
    "max_length": st.none() | st.integers(-1, 40) | st.sampled_from([2.5, "3", True, 4096]),
    "pad_to_multiple_of": st.sampled_from([None, 0, 1, 7, 8, -1, True]),
    "padding_side": st.sampled_from([None, "left", "right", "middle"]),
    "return_tensors": st.sampled_from([None, "np", "np", TensorType.NUMPY, "other", 3]),
    "return_token_type_ids": st.sampled_from([None, False, True]),
    "return_attention_mask": st.sampled_from([None, False, True]),
    "return_special_tokens_mask": st.booleans(),
    "return_offsets_mapping": st.booleans(),
    "return_length": st.booleans(),
    "split_special_tokens": st.sampled_from([None, False, True, 0, 1]),
    "verbose": st.booleans(),
    "stride": st.sampled_from([0, 1, 3, None, -1]),
    "is_split_into_words": st.booleans(),
    "return_overflowing_tokens": st.booleans(),
    "an_argument_of_nobody": st.none(),
}


SENSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "add_special_tokens": st.booleans(),
    "padding": st.sampled_from([True, True, "max_length"]),
    "truncation": st.sampled_from([True, "only_first"]),
    "max_length": st.integers(2, 24),
    "pad_to_multiple_of": st.sampled_from([None, 1, 4]),
    "padding_side": st.sampled_from(["left", "right"]),
    "return_token_type_ids": st.just(True),
    "return_special_tokens_mask": st.just(True),
    "return_length": st.just(True),
    "return_tensors": st.sampled_from([None, "np"]),
}
"""Arguments that hardly any call refuses, so that many of them are drawn together."""


def sensible_calls(own: Any) -> st.SearchStrategy[Call]:
    texts = one_text(own) | st.lists(one_text(own), min_size=2, max_size=4)
    return st.builds(Call, st.tuples(texts), some_of(SENSIBLE, least=6, most=10))


def encode_calls(own: Any) -> st.SearchStrategy[Call]:
    pair = {"text_pair": st.none() | inputs(own)}
    return sensible_calls(own) | calls(inputs(own), few=ENCODE | pair)


def full_calls(own: Any) -> st.SearchStrategy[Call]:
    """Calls of `__call__`, which has arguments of its own."""
    text = st.none() | inputs(own)
    more = {
        "text_pair": text,
        "text_target": text,
        "text_pair_target": text,
        "max_target_length": st.sampled_from([None, 3]),
        "tokenizer_kwargs": st.sampled_from([None, {"return_length": True}, {"padding": True}]),
    }
    return sensible_calls(own) | calls(inputs(own), few=ENCODE | more)


def tokenize_calls(own: Any) -> st.SearchStrategy[Call]:
    options = {"pair": st.none() | inputs(own), "add_special_tokens": st.booleans()}
    return calls(inputs(own), few=options | {"max_length": st.sampled_from([None, 3])})


def decode_calls(own: Any) -> st.SearchStrategy[Call]:
    options = {
        "skip_special_tokens": st.booleans(),
        "clean_up_tokenization_spaces": st.sampled_from([None, False, True]),
        "spaces_between_special_tokens": st.booleans(),
        "use_source_tokenizer": st.booleans(),
    }
    encoded = st.builds(Encoded, one_text(own)) | st.builds(Encoded, st.lists(one_text(own)))
    return calls(id_lists(own) | encoded, few=options)


def pad_calls(own: Any) -> st.SearchStrategy[Call]:
    options = {
        key: ENCODE[key]
        for key in (
            *("padding", "max_length", "pad_to_multiple_of", "padding_side"),
            *("return_attention_mask", "return_tensors", "verbose"),
        )
    }
    text, rows = one_text(own), st.lists(st.lists(ids(own), max_size=9), max_size=3)
    asked = {"return_token_type_ids": st.booleans(), "return_special_tokens_mask": st.booleans()}
    encoded = st.builds(Encoded, text | st.lists(text, min_size=1, max_size=3), some_of(asked))
    dicts = rows.map(lambda each: {"input_ids": each})
    lists = rows.map(lambda each: [{"input_ids": row} for row in each])
    results = st.lists(st.builds(Encoded, text), max_size=3)
    return calls(st.one_of(encoded, dicts, lists, results), few=options)
