"""A small encoding of tiktoken."""

from __future__ import annotations

from functools import cache

import tiktoken


@cache
def small_encoding() -> tiktoken.Encoding:
    tokens = [
        *(bytes((byte,)) for byte in range(256)),
        "é".encode(),
        "中".encode()[:2],
        b"ab",
        b" a",
    ]
    tokens += ["😀".encode()[1:], b"\xf0\x9f", b"\xed\xa0", "中a".encode()[1:]]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding(
        "small", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<|e|>": 300}
    )
