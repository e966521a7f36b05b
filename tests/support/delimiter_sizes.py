"""Plain text for `delimiter`, and its sizes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import tokpar


def sizes(text: str) -> st.SearchStrategy[int]:
    """Many chunks, or two or three: one seam is certified far more often than all of many."""
    return st.one_of(st.integers(1, 40), st.integers(max(1, len(text) // 3), max(1, len(text))))


def plain(tokenizer: Any) -> Any:
    """The adapter without special tokens, where the tokenizer has such a setting."""
    if hasattr(tokenizer, "encode_ordinary"):
        return tokpar.load(tokenizer, disallowed_special=())
    return tokpar.load(tokenizer, add_special_tokens=False)
