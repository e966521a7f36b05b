"""Encodings of tiktoken whose views are tested."""

from __future__ import annotations

import functools
from typing import Any

import tiktoken
import tiktoken.registry

from tests.support.tokenizers_drawn import named_tokenizers

LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! " * 150


def again(own: tiktoken.Encoding, kind: Any = tiktoken.Encoding, **options: Any) -> Any:
    """Another encoding with the same tokens, of class `kind`."""
    arguments = {
        "name": "again",
        "pat_str": own._pat_str,
        "mergeable_ranks": own._mergeable_ranks,
        "special_tokens": own._special_tokens,
    }
    return kind(**arguments | options)


@functools.cache
def encoding(name: str) -> tiktoken.Encoding:
    if name != "odd specials":
        return named_tokenizers()[name]
    own = named_tokenizers()["cl100k_part"]
    first = own.max_token_value + 1
    odd = ("<|endoftext|>", "<|endoftext|>a", "\ufffd", "🫠", "ab", " ")
    return again(own, special_tokens={token: first + n for n, token in enumerate(odd)})
