"""Encodes parts of a text without the pipeline, which costs more than a short part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.adapter import later_call_of, traits_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.results.text_counts import COMPILED, ENGINE
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.compiled.compiled_call import CompiledCall
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
        self._tokenizer, self._in_parallel, self._workers = tokenizer, in_parallel, workers
        self._check_text = traits_of(tokenizer).check_text
        self._later = None if in_parallel is None else later_call_of(tokenizer)

    def __call__(self, texts: Sequence[str]) -> Rows:
        """Returns one row per text. Raises the error of the tokenizer's own call for a text that
        the tokenizer refuses."""
        return self.rows_and_ways(texts)[0]

    def rows_and_ways(self, texts: Sequence[str]) -> tuple[Rows, Mapping[str, int]]:
        """Returns one row per text, and how many texts were encoded in each way."""
        call = None if self._later is None else self._later.call
        is_small = len(texts) <= MOST_DIRECT_TEXTS and sum(map(len, texts)) <= MOST_DIRECT_CHARS
        if call is not None and texts:
            rows = _few_rows(call, texts) if is_small else self._many_rows(call, texts)
            if rows is not None:
                return rows, {COMPILED: len(texts)}
        if self._in_parallel is not None and not is_small:
            batch = self._in_parallel(texts)
            return batch.rows, batch.ways
        return Rows.of(map(self._own_ids, texts)), {ENGINE: len(texts)}

    def _many_rows(self, call: CompiledCall, texts: Sequence[str]) -> Rows | None:
        """Returns the rows of texts, or None if the compiled call leaves one to the engine."""
        if len(texts) == 1:
            found = call.encode_long(texts[0], self._workers)
            return None if found is None else Rows.of([call.without_special(found[0])])
        rows, is_answered = call.rows(texts, self._workers)
        return rows if all(is_answered) else None

    def _own_ids(self, text: str) -> IdArray:
        if self._check_text is not None:
            self._check_text(text)
        return np.asarray(self._tokenizer.encode(text), dtype=np.uint32)


def _few_rows(call: CompiledCall, texts: Sequence[str]) -> Rows | None:
    """Returns what `_many_rows` returns, of texts whose threads would cost more than they save."""
    found = []
    for text in texts:
        ids = call.encode_plain(text)
        if ids is None:
            return None
        found.append(ids)
    if len(found) > 1:
        return Rows.of(found)
    return Rows(found[0], np.array((0, len(found[0])), dtype=np.int64))
