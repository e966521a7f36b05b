"""Encodes parts of a text without the pipeline, which costs more than a short part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.adapter import front_of, traits_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.results.text_counts import COMPILED, ENGINE
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_call import TokenPlaces
    from tokpar.results.encoding import Batch

MOST_DIRECT_CHARS, MOST_DIRECT_TEXTS = 1 << 13, 32
"""Up to so many code points in so many parts, parts of a text are encoded one by one, by the
tokenizer's own call, faster than by the pipeline."""


class PartEncoder:
    """Encodes parts of texts, before post-processing, by the fastest exact way: the compiled call,
    and what it does not answer by the pipeline or, if it is short, by the tokenizer's own call.

    `in_parallel`: encodes parts by the pipeline; None if its strategy is approximate, because
    theorem 27 joins the tokenizer's own ids. `workers`: threads of the compiled call."""

    def __init__(
        self,
        tokenizer: TokenizerAdapter,
        in_parallel: Callable[[Sequence[str]], Batch] | None,
        workers: int,
    ) -> None:
        self._tokenizer, self._in_parallel = tokenizer, in_parallel
        self._check_text = traits_of(tokenizer).check_text
        self._front = None if in_parallel is None else front_of(tokenizer, workers)

    def __call__(self, texts: Sequence[str]) -> Rows:
        """Returns one row per text. Raises the error of the tokenizer's own call for a text that
        the tokenizer refuses."""
        return self.rows_and_ways(texts)[0]

    @property
    def is_compiled(self) -> bool:
        """True if the compiled call encodes parts, or gives back those that it cannot decide."""
        return self._front is not None and self._front.call is not None

    def rows_and_ways(self, texts: Sequence[str]) -> tuple[Rows, Mapping[str, int]]:
        """Returns one row per text, and how many texts were encoded in each way."""
        known = None if self._front is None or not texts else self._front.many(texts)
        if known is not None and all(known[1]):
            return known[0], {COMPILED: len(texts)}
        return self._by_engine(texts)

    def one(self, text: str) -> IdArray:
        """Returns the ids of one text; uint32, (n,). Raises as a call does."""
        ids = None if self._front is None else self._front.plain(text)
        return self._by_engine((text,))[0].ids if ids is None else ids

    def places(self, text: str) -> TokenPlaces | None:
        """Returns the ids of one text and where its tokens are; None if only the engine knows."""
        return None if self._front is None else self._front.places(text)

    def _by_engine(self, texts: Sequence[str]) -> tuple[Rows, Mapping[str, int]]:
        is_small = len(texts) <= MOST_DIRECT_TEXTS and sum(map(len, texts)) <= MOST_DIRECT_CHARS
        if self._in_parallel is not None and not is_small:
            batch = self._in_parallel(texts)
            return batch.rows, batch.ways
        return Rows.of(map(self._own_ids, texts)), {ENGINE: len(texts)}

    def _own_ids(self, text: str) -> IdArray:
        if self._check_text is not None:
            self._check_text(text)
        return np.asarray(self._tokenizer.encode(text), dtype=np.uint32)
