"""The special tokens that a tokenizer puts around a slice, and what its truncation would hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter
from tokpar.errors import OptionError
from tokpar.results.adding_up import concatenate
from tokpar.results.spans import postprocess_single


@dataclass(frozen=True, slots=True)
class SliceFrame:
    """Puts the special tokens of one tokenizer around the ids of slices.

    `around`: the tokens before every slice and behind it; None if only the tokenizer's own call
    knows them. `truncates_to`: the most ids that the tokenizer's own call returns, or None."""

    tokenizer: TokenizerAdapter
    around: tuple[IdArray, IdArray] | None
    truncates_to: int | None = None

    @property
    def count(self) -> int:
        """How many special tokens every slice gets, as far as that is known."""
        return sum(map(len, self.around or ()))

    def require(self, max_tokens: int, overlap: int) -> None:
        """Raises OptionError if no chunk of `max_tokens` ids can be made."""
        if self.truncates_to is not None and self.truncates_to < max_tokens:
            kept = self.truncates_to
            raise OptionError(
                f"the tokenizer's own truncation keeps {kept} ids, so a chunk of "
                f"max_tokens={max_tokens} would lose its end; pass max_tokens={kept}, or load the "
                "tokenizer with truncation=False"
            )
        count = self.count
        also = f" beside its {count} special tokens" if count else ""
        if max_tokens <= count:
            raise OptionError(f"max_tokens={max_tokens} leaves no room for text{also}")
        if overlap >= max_tokens - count:
            raise OptionError(
                "overlap must be smaller than a chunk, which has room for "
                f"{max_tokens - count} tokens{also}, got overlap={overlap}"
            )

    def add_to_slice(self, ids: IdArray, text: str, start: int, stop: int) -> IdArray | None:
        """Returns the ids of text[start:stop] with special tokens, or None if the tokenizer's own
        call leaves out ids of the slice. `ids`: without special tokens."""
        if self.around is not None:
            return concatenate([self.around[0], ids, self.around[1]]) if self.count else ids
        final = postprocess_single(self.tokenizer, ids, text[start:stop])
        return None if len(final) < len(ids) else final


def special_tokens_of(tokenizer: TokenizerAdapter) -> SliceFrame:
    """Returns what puts special tokens around the slices of `tokenizer`."""
    if not isinstance(tokenizer, PostProcesses):
        none = np.empty(0, np.uint32)
        return SliceFrame(tokenizer, (none, none))
    if tokenizer.special_tokens is None:
        return SliceFrame(tokenizer, None)
    return SliceFrame(tokenizer, tokenizer.special_tokens, tokenizer.truncates_to)
