"""Runs another executor on a few texts after the other, so that a call can be stopped between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tokpar.errors import EngineError
from tokpar.executors.threads import blocks
from tokpar.interfaces import (
    CachedRows,
    Executor,
    LookUp,
    TokenizerAdapter,
    look_up_of,
    without_cache_of,
)
from tokpar.types import Rows


class SlicedExecutor:
    """Calls `before_slice` before each `slice_chars` code points of texts for another executor.

    The call raises what `before_slice` raises. A longer text is a slice of its own."""

    look_up: LookUp | None
    """None if the other executor has no cache."""

    def __init__(
        self, executor: Executor, before_slice: Callable[[], None], slice_chars: int
    ) -> None:
        self.name = executor.name
        self._executor = executor
        self._look_up = look_up_of(executor)
        self.look_up = None if self._look_up is None else self._look_up_slices
        self._before_slice = before_slice
        self._slice_chars = slice_chars

    @property
    def without_cache(self) -> str:
        return without_cache_of(self._executor)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        rows = []
        for block in self._slices(texts):
            try:
                rows.append(self._executor.map(texts[block.start : block.stop], tokenizer, spans))
            except EngineError as error:
                error.row += block.start
                raise
        return rows[0] if len(rows) == 1 else Rows.concatenate(rows)

    def _look_up_slices(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> CachedRows:
        """Returns the rows of texts from the cache, and which texts the cache answered."""
        assert self._look_up is not None
        found = [
            self._look_up(texts[block.start : block.stop], tokenizer)
            for block in self._slices(texts)
        ]
        rows, flags = zip(*found, strict=True)
        return Rows.concatenate(rows), np.concatenate(
            [np.asarray(each, dtype=bool) for each in flags]
        )

    def _slices(self, texts: Sequence[str]) -> Iterator[range]:
        for block in blocks(texts, self._slice_chars) or [range(0)]:
            self._before_slice()
            yield block
