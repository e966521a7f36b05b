"""Runs another executor on a few texts after the other, so that a call can be stopped between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tokpar.errors import EngineError
from tokpar.executors.threads import blocks
from tokpar.interfaces import Executor, LooksUp, Served, TokenizerAdapter
from tokpar.types import Rows


def sliced(executor: Executor, before_slice: Callable[[], None], slice_chars: int) -> Executor:
    """Returns an executor that calls `before_slice` before each `slice_chars` code points of texts.

    What `before_slice` raises, the call raises. A longer text is a slice of its own."""
    kind = SlicedLookUps if isinstance(executor, LooksUp) else SlicedExecutor
    return kind(executor, before_slice, slice_chars)


class SlicedExecutor:
    """Runs an executor slice by slice; see `sliced`."""

    def __init__(
        self, executor: Executor, before_slice: Callable[[], None], slice_chars: int
    ) -> None:
        self.name = executor.name
        self._executor = executor
        self._before_slice = before_slice
        self._slice_chars = slice_chars

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        rows = []
        for block in self._slices(texts):
            try:
                rows.append(self._executor.map(texts[block.start : block.stop], tokenizer, spans))
            except EngineError as error:
                error.row += block.start
                raise
        return rows[0] if len(rows) == 1 else Rows.joined(rows)

    def _slices(self, texts: Sequence[str]) -> Iterator[range]:
        for block in blocks(texts, self._slice_chars) or [range(0)]:
            self._before_slice()
            yield block


class SlicedLookUps(SlicedExecutor):
    """A `SlicedExecutor` of an executor with a cache."""

    @property
    def without_cache(self) -> str:
        inner = self._executor
        assert isinstance(inner, LooksUp)
        return inner.without_cache

    def look_up(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Served:
        """Returns the rows of texts from the cache, and which texts the cache answered."""
        inner = self._executor
        assert isinstance(inner, LooksUp)
        found = [
            inner.look_up(texts[block.start : block.stop], tokenizer)
            for block in self._slices(texts)
        ]
        rows, flags = zip(*found, strict=True)
        return Rows.joined(rows), np.concatenate([np.asarray(each, dtype=bool) for each in flags])
