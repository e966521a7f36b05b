"""Encodes short texts from the segment cache, without the pipeline, which costs more than the
engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

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


class PartEncoder:
    """Encodes parts of texts, before post-processing, by the fastest exact way.

    `in_parallel`: encodes parts by the pipeline; None if its strategy is approximate, because
    theorem 27 joins the tokenizer's own ids. `looks_up`: the cache answers a short text faster than
    the tokenizer's own call."""

    def __init__(
        self, tokenizer: TokenizerAdapter, in_parallel: EncodeRows | None, looks_up: bool
    ) -> None:
        self._tokenizer, self._in_parallel = tokenizer, in_parallel
        self._check_text = traits_of(tokenizer).check_text
        may_look_up = looks_up and licence_of(tokenizer) is not None
        self._known_ids = getattr(tokenizer, "known_ids", None) if may_look_up else None
        self._lookups = self._hits = 0

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
        if self._check_text is not None:
            self._check_text(text)
        ids = None
        if self._known_ids is not None and len(text) >= LEAST_CACHED:
            ids = self._look_up(self._known_ids, text)
        return self._tokenizer.encode(text) if ids is None else ids

    def _look_up(self, known_ids: Callable[[str], IdArray | None], text: str) -> IdArray | None:
        """Returns the ids from the cache, or None. Where most texts are new, the cache is asked for
        one text of 16: a lookup takes a fifth of the engine's time."""
        self._lookups += 1
        if 4 * self._hits < self._lookups - 32 and self._lookups % 16:
            return None
        ids = known_ids(text)
        self._hits += ids is not None
        return ids
