"""Splitters and mergers with a planted mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tests.support.toy import Toy
from tokpar.interfaces import Splitter, TokenizerAdapter
from tokpar.methods.cut import CutSplitter
from tokpar.types import Rows, Split


class Remembering(Toy):
    """Honest: what lies between certain spaces, from a memory."""

    has_segment_cache = True
    counters: ClassVar[dict[str, int]] = {}

    def cached_rows(self, texts: Sequence[str], workers: int) -> Any:
        flags = [len(text) % 2 > 0 for text in texts]
        rows = [
            self.encode(t) if f else np.empty(0, np.uint32)
            for t, f in zip(texts, flags, strict=True)
        ]
        return Rows.of(rows), flags


@dataclass(frozen=True)
class Says:
    """An honest splitter, and what a mutant says of its split."""

    change: Callable[[Split], Any]
    splitter: Splitter = CutSplitter(5)  # noqa: RUF009  # frozen

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Any:
        return self.change(self.splitter.split(text, tokenizer, attempt))
