"""Encodes short texts from the segment cache, without the pipeline, which costs more than the
engine."""

from __future__ import annotations

import time

from tokpar.arrays import frozen_ids
from tokpar.encoding import Encoding
from tokpar.interfaces import HasSegmentCache, PostProcesses, TokenizerAdapter
from tokpar.joining import seams_of_wholes
from tokpar.results import divided_report
from tokpar.spans import Origin, postprocess_own
from tokpar.types import Report, Rows


class ShortTexts:
    """Encodes short texts whose segments are all in the cache of one tokenizer.

    Answers no text unless the tokenizer's texts may be cut at every certified space."""

    def __init__(self, tokenizer: TokenizerAdapter, report: Report) -> None:
        from tokpar.overlap.chunks import licence_of_texts  # importing tokpar does without it

        has_segment_cache = isinstance(tokenizer, HasSegmentCache)
        licence = licence_of_texts(tokenizer) if has_segment_cache else None
        self._seams_of = None if licence is None else seams_of_wholes(tokenizer, licence)
        # looking up the abilities of a tokenizer takes longer than encoding a short text
        self._look_up = tokenizer.cached_ids if isinstance(tokenizer, HasSegmentCache) else _no_ids
        self._postprocesses = tokenizer if isinstance(tokenizer, PostProcesses) else None
        self.tokenizer = tokenizer
        self._report = divided_report(report)

    def encode(self, text: str) -> Encoding | None:
        """Returns the encoding of `text`, or None if the cache does not know every segment."""
        if self._seams_of is None:
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


def _no_ids(text: str) -> None:
    """The lookup of a tokenizer without a cache: finds no text."""
