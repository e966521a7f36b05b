"""Short texts from the cache of segments, where the usual way would cost more than the engine."""

from __future__ import annotations

import time

from tokpar.arrays import frozen_ids
from tokpar.encoding import Encoding
from tokpar.interfaces import HasSegmentCache, PostProcesses, TokenizerAdapter
from tokpar.joining import seams_of_wholes
from tokpar.results import divided_report
from tokpar.spans import Origin, alone
from tokpar.types import Report


class ShortTexts:
    """Encodings of texts all of whose segments a tokenizer remembers. `tokenizer`: its texts may be
    cut at every space, or none is answered."""

    def __init__(self, tokenizer: TokenizerAdapter, report: Report) -> None:
        from tokpar.overlap.chunks import licence_of_rows  # importing tokpar does without it

        has_segment_cache = isinstance(tokenizer, HasSegmentCache)
        licence = licence_of_rows(tokenizer) if has_segment_cache else None
        self._seams_of = None if licence is None else seams_of_wholes(tokenizer, licence)
        # asking what a tokenizer is able to do takes longer than the text
        self._known = tokenizer.known if isinstance(tokenizer, HasSegmentCache) else _nothing
        self._finishes = isinstance(tokenizer, PostProcesses)
        self.tokenizer = tokenizer
        self._report = divided_report(report)

    def encode(self, text: str) -> Encoding | None:
        """None for a text that the tokenizer does not know, or not all of it."""
        if self._seams_of is None:
            return None
        start = time.perf_counter()
        ids = self._known(text)
        if ids is None:
            return None
        final = alone(self.tokenizer, ids, text) if self._finishes else ids
        seconds = {"tokenize": time.perf_counter() - start}
        like = self._report
        report = Report(
            like.strategy, like.plan, like.why, "memo", seconds=seconds, agreement=like.agreement
        )
        origin = Origin(text, self.tokenizer, ids)
        return Encoding(frozen_ids(final), self._seams_of(text, len(ids)), report, origin)


def _nothing(text: str) -> None:
    """Of a tokenizer without a cache."""
