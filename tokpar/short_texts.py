"""Encodes short texts from the segment cache, without the pipeline, which costs more than the
engine."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tokpar.arrays import IdArray, frozen_ids
from tokpar.concatenation import EncodeRows
from tokpar.encoding import Encoding
from tokpar.interfaces import HasSegmentCache, PostProcesses, TokenizerAdapter, traits_of
from tokpar.joining import seams_of_wholes
from tokpar.results import divided_report
from tokpar.spans import Origin, postprocess_own
from tokpar.types import Report, Rows, Seam

LEAST_CACHED = 64
"""Code points from which on the cache answers a short text faster than the engine."""
MOST_DIRECT_CHARS, MOST_DIRECT_TEXTS = 1 << 13, 32
"""Up to so many code points in so many parts, parts of a text are encoded one by one, by the cache
or by the tokenizer's own call, faster than by the pipeline."""


class ShortTexts:
    """Encodes short texts whose segments are all in the cache of one tokenizer.

    Answers no text unless the tokenizer's texts may be cut at every certified space."""

    def __init__(self, tokenizer: TokenizerAdapter, report: Report) -> None:
        licence = licence_of(tokenizer)
        self._seams_of = None if licence is None else seams_of_wholes(tokenizer, licence)
        # looking up the abilities of a tokenizer takes longer than encoding a short text
        self._look_up = tokenizer.cached_ids if isinstance(tokenizer, HasSegmentCache) else None
        self._postprocesses = tokenizer if isinstance(tokenizer, PostProcesses) else None
        self.tokenizer = tokenizer
        self._report = divided_report(report)

    def encode(self, text: str) -> Encoding | None:
        """Returns the encoding of `text`, or None if the cache does not know every segment."""
        if self._seams_of is None or self._look_up is None or len(text) < LEAST_CACHED:
            return None
        start = time.perf_counter()
        ids = self._look_up(text)
        if ids is None:
            return None
        final = ids
        if self._postprocesses is not None:
            final = postprocess_own(self._postprocesses, Rows.of([ids]), [text])[0]
        seconds = {"tokenize": time.perf_counter() - start}
        like = self._report
        report = Report(
            like.strategy, like.plan, like.why, "memo", seconds=seconds, agreement=like.agreement
        )
        origin = Origin(text, self.tokenizer, ids)
        return Encoding.of(frozen_ids(final), self._seams_of(text, len(ids)), report, origin)


def licence_of(tokenizer: TokenizerAdapter) -> Seam | None:
    """Returns the seam that lets the cache of `tokenizer` answer whole texts, or None."""
    from tokpar.overlap.chunks import licence_of_texts  # importing tokpar does without it

    return licence_of_texts(tokenizer) if isinstance(tokenizer, HasSegmentCache) else None


def rows_of_parts(
    tokenizer: TokenizerAdapter, in_parallel: EncodeRows | None, looks_up: bool
) -> EncodeRows:
    """Returns the fastest exact encoder of parts of a text, before post-processing. It raises the
    error of the tokenizer's own call for a text that the tokenizer refuses.

    `in_parallel`: encodes parts by the pipeline; None if its strategy is approximate, because
    theorem 27 joins the tokenizer's own ids. `looks_up`: the cache answers a short text faster than
    the tokenizer's own call."""
    known_ids = getattr(tokenizer, "known_ids", None)
    if not looks_up or licence_of(tokenizer) is None:
        known_ids = None
    check_text = traits_of(tokenizer).check_text

    def ids_of(text: str) -> IdArray:
        if check_text is not None:
            check_text(text)
        known = known_ids(text) if known_ids is not None and len(text) >= LEAST_CACHED else None
        return tokenizer.encode(text) if known is None else known

    def encode(texts: Sequence[str]) -> Rows:
        is_small = len(texts) <= MOST_DIRECT_TEXTS and sum(map(len, texts)) <= MOST_DIRECT_CHARS
        if in_parallel is not None and not is_small:
            return in_parallel(texts)
        return Rows.of(map(ids_of, texts))

    return encode
