"""Encodes parts of a text without the pipeline, which costs more than a short part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokpar.arrays import IdArray
from tokpar.concatenation import EncodeRows
from tokpar.interfaces import (
    HasSegmentCache,
    TokenizerAdapter,
    later_call_of,
    traits_of,
)
from tokpar.types import Rows, Seam

MOST_DIRECT_CHARS, MOST_DIRECT_TEXTS = 1 << 13, 32
"""Up to so many code points in so many parts, parts of a text are encoded one by one, by the
tokenizer's own call, faster than by the pipeline."""


def licence_for(tokenizer: TokenizerAdapter, text: str) -> Seam | None:
    """Returns the seam that licenses a cut of `text` at every certified space, or None."""
    from tokpar.overlap.chunks import licence_of_texts  # importing tokpar does without it

    if not isinstance(tokenizer, HasSegmentCache):
        return None
    may_divide = getattr(tokenizer, "may_divide", None)
    if may_divide is None or not may_divide(text):
        return None
    return licence_of_texts(tokenizer)


class PartEncoder:
    """Encodes parts of texts, before post-processing, by the fastest exact way.

    `in_parallel`: encodes parts by the pipeline; None if its strategy is approximate, because
    theorem 27 joins the tokenizer's own ids."""

    def __init__(self, tokenizer: TokenizerAdapter, in_parallel: EncodeRows | None) -> None:
        self._tokenizer, self._in_parallel = tokenizer, in_parallel
        self._check_text = traits_of(tokenizer).check_text
        self._later = None if in_parallel is None else later_call_of(tokenizer)

    def __call__(self, texts: Sequence[str]) -> Rows:
        """Returns one row per text. Raises the error of the tokenizer's own call for a text that
        the tokenizer refuses."""
        if len(texts) == 1 and len(texts[0]) <= MOST_DIRECT_CHARS:
            ids = np.asarray(self._ids_of(texts[0]), dtype=np.uint32)
            return Rows(ids, np.array((0, len(ids)), dtype=np.int64))
        is_small = len(texts) <= MOST_DIRECT_TEXTS and sum(map(len, texts)) <= MOST_DIRECT_CHARS
        if self._in_parallel is not None and not is_small:
            return self._in_parallel(texts)
        return Rows.of(map(self._ids_of, texts))

    def _ids_of(self, text: str) -> IdArray:
        call = None if self._later is None else self._later.call
        ids: IdArray | None = None if call is None else call.encode_plain(text)
        if ids is not None:
            return ids
        if self._check_text is not None:
            self._check_text(text)
        return self._tokenizer.encode(text)
