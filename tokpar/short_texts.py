"""Encodes parts of a text without the pipeline, which costs more than a short part."""

from __future__ import annotations

from collections.abc import Sequence

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


def licence_of(tokenizer: TokenizerAdapter) -> Seam | None:
    """Returns the seam that lets the cache of `tokenizer` answer whole texts, or None."""
    from tokpar.overlap.chunks import licence_of_texts  # importing tokpar does without it

    return licence_of_texts(tokenizer) if isinstance(tokenizer, HasSegmentCache) else None


def rows_of_parts(tokenizer: TokenizerAdapter, in_parallel: EncodeRows | None) -> EncodeRows:
    """Returns the fastest exact encoder of parts of a text, before post-processing. It raises the
    error of the tokenizer's own call for a text that the tokenizer refuses.

    `in_parallel`: encodes parts by the pipeline; None if its strategy is approximate, because
    theorem 27 joins the tokenizer's own ids."""
    check_text = traits_of(tokenizer).check_text
    later = later_call_of(tokenizer)

    def ids_of(text: str) -> IdArray:
        if check_text is not None:
            check_text(text)
        return tokenizer.encode(text)

    def encode(texts: Sequence[str]) -> Rows:
        call = None if later is None or in_parallel is None else later.call
        if call is not None and len(texts) <= MOST_DIRECT_TEXTS:
            found = [ids for text in texts if (ids := call.encode_plain(text)) is not None]
            if len(found) == len(texts):
                return Rows.of(found)
        is_small = len(texts) <= MOST_DIRECT_TEXTS and sum(map(len, texts)) <= MOST_DIRECT_CHARS
        if in_parallel is not None and not is_small:
            return in_parallel(texts)
        return Rows.of(map(ids_of, texts))

    return encode
