"""`serial`: encodes the whole text in one call. The reference for all other strategies."""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.methods.cut import CutMerger
from tokpar.types import Split


@dataclass(frozen=True)
class OneChunk:
    """Makes one chunk of the whole text."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        return Split.whole(text, "")


def build() -> tuple[OneChunk, CutMerger]:
    """No options."""
    return OneChunk(), CutMerger()
