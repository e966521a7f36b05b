"""The special tokens that a tokenizer puts around a slice, and what its truncation would hide."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tokpar.arrays import IdArray
from tokpar.concatenation import concatenate
from tokpar.errors import OptionError
from tokpar.interfaces import PostProcesses, TokenizerAdapter
from tokpar.spans import postprocess_single

_NONE: IdArray = np.empty(0, np.uint32)


class SpecialTokens(Protocol):
    """Adds the special tokens of one tokenizer to the ids of slices."""

    @property
    def count(self) -> int:
        """How many special tokens every slice gets, as far as that is known."""

    def require(self, max_tokens: int, overlap: int) -> None:
        """Raises OptionError if no chunk of `max_tokens` ids can be made."""

    def add_to_slice(self, ids: IdArray, text: str, start: int, stop: int) -> IdArray | None:
        """Returns the ids of text[start:stop] with special tokens, or None if the tokenizer's own
        call leaves out ids of the slice. `ids`: without special tokens."""


class FixedTokens:
    """The special tokens `prefix` before every slice and `suffix` behind it.

    `truncates_to`: the most ids that the tokenizer's own call returns, or None."""

    def __init__(self, prefix: IdArray, suffix: IdArray, truncates_to: int | None) -> None:
        self.prefix, self.suffix, self.truncates_to = prefix, suffix, truncates_to
        self.count = len(prefix) + len(suffix)

    def require(self, max_tokens: int, overlap: int) -> None:
        if self.truncates_to is not None and self.truncates_to < max_tokens:
            kept = self.truncates_to
            raise OptionError(
                f"the tokenizer's own truncation keeps {kept} ids, so a chunk of "
                f"max_tokens={max_tokens} would lose its end; pass max_tokens={kept}, or load the "
                "tokenizer with truncation=False"
            )
        _require_room(max_tokens, overlap, self.count)

    def add_to_slice(self, ids: IdArray, text: str, start: int, stop: int) -> IdArray:
        return concatenate([self.prefix, ids, self.suffix]) if self.count else ids


class OwnCall:
    """Post-processing that is known only to the tokenizer's own call."""

    count = 0

    def __init__(self, tokenizer: TokenizerAdapter) -> None:
        self._tokenizer = tokenizer

    def require(self, max_tokens: int, overlap: int) -> None:
        _require_room(max_tokens, overlap, 0)

    def add_to_slice(self, ids: IdArray, text: str, start: int, stop: int) -> IdArray | None:
        final = postprocess_single(self._tokenizer, ids, text[start:stop])
        return None if len(final) < len(ids) else final


def special_tokens_of(tokenizer: TokenizerAdapter) -> SpecialTokens:
    """Returns what puts special tokens around the slices of `tokenizer`."""
    if not isinstance(tokenizer, PostProcesses):
        return FixedTokens(_NONE, _NONE, None)
    if tokenizer.special_tokens is not None:
        return FixedTokens(*tokenizer.special_tokens, tokenizer.truncates_to)
    return OwnCall(tokenizer)


def _require_room(max_tokens: int, overlap: int, count: int) -> None:
    """Raises OptionError unless 0 <= overlap < max_tokens - count."""
    also = f" beside its {count} special tokens" if count else ""
    if max_tokens <= count:
        raise OptionError(f"max_tokens={max_tokens} leaves no room for text{also}")
    if overlap >= max_tokens - count:
        raise OptionError(
            f"overlap must be smaller than a chunk, which has room for {max_tokens - count} tokens"
            f"{also}, got overlap={overlap}"
        )
