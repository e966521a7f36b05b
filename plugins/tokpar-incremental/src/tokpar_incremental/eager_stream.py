"""Ids of a text that arrives, also inside a pre-token: pre-tokens are found while they arrive, and
an eager model encodes each (proofs/stream.md)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

import numpy as np

from tokpar.arrays import IdArray
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.types import Facts
from tokpar_incremental.arriving_pretokens import Sink, TokenSplitter, splitters

CACHED_PRETOKENS = 1 << 16
CACHED_LENGTH = 32


class EagerModel(Protocol):
    """Turns pre-tokens into ids, one pre-token after the other, while their bytes arrive."""

    def feed(self, data: bytes) -> list[int]:
        """Take more bytes of the pre-token. Returns the ids that became final."""

    def finish(self) -> list[int]:
        """End the pre-token. Returns its remaining ids."""


def eager_ids(chunks: Iterator[str], facts: Facts, model: EagerModel) -> Iterator[IdArray] | None:
    """Returns arrays of ids that also come inside pre-tokens, each pre-token by `model`. None if
    the pre-tokens cannot be found while the text arrives."""
    plain = not any(t.lstrip or t.rstrip or t.single_word for t in facts.added_tokens)
    # the pre-tokens are the matches of `regex` and the gaps; no normalizer changes the text before
    known = plain and facts.engine == "regex" and facts.scheme == "regex" and facts.tiles
    if not known:
        return None
    merging = _Merging(model)
    try:
        sink = splitters(facts.patterns, merging)
    except UnsupportedPatternError:
        return None
    for normalized in (True, False):  # the last, outer splitter finds tokens first
        tokens = {t.content: t.id for t in facts.added_tokens if t.normalized is normalized}
        if tokens:
            sink = TokenSplitter(tokens, sink, merging.ids.append)
    return _feed_chunks(chunks, sink, merging)


class _Merging:
    """The last sink: turns pre-tokens into ids.

    Caches the ids of a short pre-token that ends before `take_ids` gets a part of it."""

    def __init__(self, model: EagerModel) -> None:
        self.ids: list[int] = []
        self._model = model
        self._text, self._is_partly_fed = "", False
        self._cached_ids = lru_cache(CACHED_PRETOKENS)(self._encode)

    def feed(self, text: str) -> None:
        self._text += text

    def end(self) -> None:
        may_cache = not self._is_partly_fed and len(self._text) <= CACHED_LENGTH
        self.ids += self._cached_ids(self._text) if may_cache else self._encode(self._text)
        self._text, self._is_partly_fed = "", False

    def take_ids(self) -> IdArray:
        """Returns the ids since the last call, with the final ids of the unfinished pre-token."""
        self.ids += self._model.feed(self._text.encode())
        self._text, self._is_partly_fed = "", self._is_partly_fed or bool(self._text)
        taken = np.array(self.ids, dtype=np.uint32)
        self.ids.clear()
        return taken

    def _encode(self, rest: str) -> list[int]:
        return self._model.feed(rest.encode()) + self._model.finish()


def _feed_chunks(chunks: Iterator[str], sink: Sink, merging: _Merging) -> Iterator[IdArray]:
    for chunk in chunks:
        sink.feed(chunk)
        yield merging.take_ids()
    sink.end()
    yield merging.take_ids()
