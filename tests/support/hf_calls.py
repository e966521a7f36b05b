"""Strategies that draw arguments for each method of transformers' class of fast tokenizers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tokenizers import AddedToken

from tests.support.model_files import CHATML, GEMMA, LLAMA_3
from tests.tokenizers_drawn import contents, texts_with, token_texts

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
    "max_length": st.none() | st.integers(-1, 40) | st.sampled_from([2.5, "3", True, 10**12]),
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


# --------------------------------------------------------------------------------- chats


def multiply(a: int, b: int) -> int:
    """
    Multiplies two numbers.

    Args:
        a: The one.
        b: The other.
    """
    return a * b


TOOL = {"type": "function", "function": {"name": "look_up", "description": "Looks a word up."}}
DOCUMENT = {"title": "The <|im_end|> token", "text": "It ends a message."}
PARSED = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "content": {"close": "<|im_end|>"},
    },
}


def messages(own: Any) -> st.SearchStrategy[dict[str, Any]]:
    role = st.sampled_from(["user", "assistant", "system"])
    content = st.one_of(one_text(own), one_text(own), st.sampled_from(["", " Yes. \n", None, 3]))
    return st.fixed_dictionaries({"role": role, "content": content})


def chats(own: Any) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Conversations in which user and assistant take turns, and others."""
    roles = ("user", "assistant")
    turns = st.lists(one_text(own), max_size=4).map(
        lambda said: [{"role": roles[k % 2], "content": text} for k, text in enumerate(said)]
    )
    return turns | turns | st.lists(messages(own), max_size=4)


CHAT: dict[str, st.SearchStrategy[Any]] = {
    "tools": st.sampled_from([None, [], [TOOL], [multiply], [TOOL, multiply], [3]]),
    "documents": st.sampled_from([None, [], [DOCUMENT]]),
    "chat_template": st.sampled_from([None, CHATML, LLAMA_3, GEMMA, "default", "{% if %}", ""]),
    "add_generation_prompt": st.booleans(),
    "continue_final_message": st.sampled_from([False, True, True, "content", "thinking"]),
    "tokenize": st.booleans(),
    "sanitize_control_tokens": st.booleans(),
    "padding": ENCODE["padding"],
    "truncation": st.booleans(),
    "max_length": st.sampled_from([None, 0, 1, 5, 20]),
    "return_tensors": ENCODE["return_tensors"],
    "return_dict": st.booleans(),
    "return_assistant_tokens_mask": st.booleans(),
    "tokenizer_kwargs": some_of(
        {
            key: ENCODE[key]
            for key in (
                *("return_offsets_mapping", "return_length", "split_special_tokens"),
                *("return_special_tokens_mask", "return_token_type_ids", "padding_side"),
            )
        }
    ),
    "enable_thinking": st.booleans(),
    "bos_token": st.sampled_from(["", "<s>"]),
}


def chat_calls(own: Any) -> st.SearchStrategy[Call]:
    batches = st.lists(chats(own), min_size=1, max_size=3)
    template = {} if own.chat_template else {"chat_template": st.sampled_from([CHATML, LLAMA_3])}
    table = CHAT | template
    return calls(chats(own) | batches, few=table)


def message_calls(own: Any) -> st.SearchStrategy[Call]:
    table = {key: CHAT[key] for key in ("tools", "documents", "add_generation_prompt", "padding")}
    return calls(messages(own), st.none() | chats(own), few=table)


def response_calls(own: Any) -> st.SearchStrategy[Call]:
    written = st.sampled_from(["<think>Well</think>Yes.<|im_end|>", "No.", ""])
    texts = one_text(own) | written | st.lists(st.integers(0, len(own) - 1), max_size=5)
    options = {
        "schema": st.sampled_from([None, PARSED, PARSED, {"fields": 3}]),
        "prefix": st.just("<|im_start|>assistant\n") | texts,
        "tools": CHAT["tools"],
    }
    return calls(texts | st.lists(texts, max_size=3), few=options)


# --------------------------------------------------------------------------------- vocabulary


def added(own: Any) -> st.SearchStrategy[Any]:
    """New tokens and old ones, as texts and with flags."""
    text = st.one_of(tokens(own), st.sampled_from(["the man", " x", "<new>", "é\n", "1", "ab"]))
    flag = st.booleans()
    token = st.builds(
        AddedToken, text, single_word=flag, lstrip=flag, rstrip=flag, normalized=flag, special=flag
    )
    return text | token


def special_tokens(own: Any) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["bos_token", "eos_token", "pad_token", "cls_token", "x_token"])
    single = st.dictionaries(names, added(own), max_size=2)
    several = st.fixed_dictionaries({"extra_special_tokens": st.lists(added(own), max_size=2)})
    return st.builds(dict.__or__, single, several | st.just({}))


def add_calls(own: Any) -> st.SearchStrategy[Call]:
    new = added(own) | st.lists(added(own), max_size=3) | st.sampled_from([None, 3, [3]])
    return calls(new, few={"special_tokens": st.booleans()})


def training_calls(own: Any) -> st.SearchStrategy[Call]:
    texts = st.lists(one_text(own).filter(len), min_size=1, max_size=3)
    options = {
        "length": st.sampled_from([None, 3]),
        "new_special_tokens": st.sampled_from([None, ["<new>"]]),
        "special_tokens_map": st.sampled_from([None, {"[CLS]": "[START]", "<bos>": "<start>"}]),
        "show_progress": st.just(False),
    }
    return calls(texts, st.sampled_from([10, 300, 400]), few=options)


def truncation_calls(own: Any) -> st.SearchStrategy[Call]:
    named = st.fixed_dictionaries(
        {
            "padding_strategy": st.sampled_from(PaddingStrategy),
            "truncation_strategy": st.sampled_from(TruncationStrategy),
            "max_length": st.sampled_from([None, 5, 20]),
            "stride": st.sampled_from([0, 2]),
            "pad_to_multiple_of": st.sampled_from([None, 4]),
            "padding_side": st.sampled_from([None, "left", "right"]),
        }
    )
    return st.builds(Call, st.just(()), named)


ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "pad_token": st.sampled_from(["<pad>", "[PAD]", "the", "<|endoftext|>", None, 3]),
    "pad_token_id": st.sampled_from([0, 3, None]),
    "bos_token": st.sampled_from(["a", "<bos>", None]),
    "eos_token": st.sampled_from(["a", "the", None]),
    "extra_special_tokens": st.sampled_from([[], ["a", "the"], None, 3]),
    "add_bos_token": st.booleans(),
    "add_eos_token": st.booleans(),
    "padding_side": st.sampled_from(["left", "right", "middle"]),
    "truncation_side": st.sampled_from(["left", "right", "middle"]),
    "model_max_length": st.sampled_from([0, 5, 10**30]),
    "model_input_names": st.sampled_from([["input_ids"], ["input_ids", "token_type_ids"]]),
    "_pad_token_type_id": st.sampled_from([0, 3]),
    "split_special_tokens": st.booleans(),
    "chat_template": st.sampled_from([None, LLAMA_3, CHATML, {"default": CHATML, "other": GEMMA}]),
    "chat_control_tokens": st.sampled_from([None, ["<think>"]]),
    "response_template": st.sampled_from([None, PARSED]),
    "clean_up_tokenization_spaces": st.booleans(),
    "max_len_single_sentence": st.sampled_from([0, 5]),
    "max_len_sentences_pair": st.sampled_from([0, 5]),
    "vocab_size": st.just(3),
}
"""Values to set each attribute to; some of them are refused."""
