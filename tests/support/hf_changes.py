"""Strategies that draw changes of a transformers tokenizer: added tokens, settings, training."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tokenizers import AddedToken

from tests.support.hf_calls import (
    Call,
    PaddingStrategy,
    TruncationStrategy,
    calls,
    one_text,
    tokens,
)
from tests.support.hf_chats import PARSED
from tests.support.hf_releases import EXTRA_TOKENS
from tests.support.model_files import CHATML, GEMMA, LLAMA_3


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
    several = st.fixed_dictionaries({EXTRA_TOKENS: st.lists(added(own), max_size=2)})
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
    EXTRA_TOKENS: st.sampled_from([[], ["a", "the"], None, 3]),
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
