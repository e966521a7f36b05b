"""Strategies that draw calls of methods of a transformers tokenizer that are about chats."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.hf_calls import ENCODE, Call, calls, one_text, some_of
from tests.support.model_files import CHATML, GEMMA, LLAMA_3


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
