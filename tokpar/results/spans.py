"""Finds the spans of the final ids of a text, only when a caller asks for spans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from tokpar.arrays import IdArray, SpanArray, byte_length, byte_starts, code_point_spans
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import Locates, PostProcesses, TokenizerAdapter, facts_of
from tokpar.errors import EngineError
from tokpar.results.seams import NO_SEAMS, Seams
from tokpar.types import CERTIFIED_CUTS, Rows

_FIRST = 1 << 31


@runtime_checkable
class HasOffsets(Protocol):
    """An adapter that finds the offsets of the tokens of many texts faster than `locate` does."""

    def char_offsets(self, texts: Sequence[str], rows: Rows) -> SpanArray:
        """Returns [start, stop) of each token, int64 (n, 2), in code points of its text.

        `rows`: the ids of the texts before special tokens, truncation and padding. Raises
        LookupError where the offsets are not known, and for rows that are not the ids of the
        texts."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanOrigin:
    """Where the ids of one text came from: enough to find their spans.

    `own`: the ids before special tokens, truncation and padding; None if the engine's own call
    returned the final ids. `layout(n)`: `stand_in_ids(n)` after post-processing, which shows where
    each final id came from; None if the text was post-processed on its own."""

    text: str
    tokenizer: TokenizerAdapter
    own: IdArray | None
    layout: Callable[[int], IdArray] | None = None

    def before_postprocess(self, final: IdArray) -> IdArray:
        """Returns the ids before post-processing. LookupError if they cannot be found again."""
        if self.own is not None:
            return self.own
        own = self.tokenizer.encode(self.text)
        if not np.array_equal(postprocess_single(self.tokenizer, own, self.text), final):
            name = self.tokenizer.name
            raise LookupError(f"{name} cannot tell where the tokens of its own call lie")
        return own

    def origin(self, count: int) -> IdArray:
        """Returns where each final id came from, see `stand_in_ids`. `count`: ids before
        post-processing."""
        if self.layout is not None:
            return self.layout(count)
        return postprocess_single(self.tokenizer, stand_in_ids(count), self.text)

    def spans(self, final: IdArray, seams: Seams, *, code_points: bool = False) -> SpanArray:
        """Returns the spans of the final ids in UTF-8 bytes, or in code points.

        Ids that post-processing inserted have the span (0, 0)."""
        own = Rows.of([self.before_postprocess(final)])
        spans = spans_of(self.tokenizer, [self.text], own, [seams], code_points=code_points)
        return final_spans(spans, self.origin(len(own.ids)))

    def is_truncated(self, final: IdArray) -> bool:
        """Returns True if post-processing dropped ids of the text."""
        if inserted_ids(self.tokenizer) is not None:
            return False
        own = self.before_postprocess(final)
        return int(np.count_nonzero(self.origin(len(own)) >= _FIRST)) < len(own)


def postprocess_single(tokenizer: TokenizerAdapter, ids: IdArray, text: str) -> IdArray:
    """Returns `ids` after post-processing as the ids of a single text."""
    if not isinstance(tokenizer, PostProcesses):
        return ids
    return tokenizer.postprocess(Rows.of([ids]), [text])[0]


def postprocess_own(tokenizer: PostProcesses, rows: Rows, texts: Sequence[str]) -> Rows:
    """Returns the post-processed ids of texts. `rows`: their ids, which the tokenizer gave a moment
    ago.

    Raises EngineError if the tokenizer now has other ids for a text."""
    try:
        return tokenizer.postprocess(rows, texts)
    except LookupError as error:
        raise other_ids(tokenizer, error) from error


def other_ids(tokenizer: PostProcesses, error: LookupError) -> EngineError:
    """Returns the error for ids that the tokenizer gave and no longer knows."""
    name = getattr(tokenizer, "name", "the tokenizer")
    return EngineError(
        f"{name} cannot post-process the ids that it gave: {error}. It was changed during the "
        "call, or trained in place and still has ids of the old model in its cache; encode again, "
        "or make a new tokenizer of the trained one"
    )


def stand_in_ids(length: int) -> IdArray:
    """Returns numbers in place of ids. Post-processing never reads values, so a number that comes
    out shows which id came out."""
    return np.arange(_FIRST, _FIRST + length, dtype=np.uint32)


def final_spans(spans: SpanArray, origin: IdArray) -> SpanArray:
    """Returns the spans of the final ids, (0, 0) for inserted ids.

    `spans`: of the ids before post-processing. `origin`: where each final id came from, see
    `stand_in_ids`."""
    final = np.zeros((len(origin), 2), dtype=np.int64)
    core = origin >= _FIRST
    final[core] = spans[origin[core] - _FIRST]
    return final


def spans_of(
    tokenizer: TokenizerAdapter,
    texts: Sequence[str],
    rows: Rows,
    seams: Sequence[Seams] | None = None,
    *,
    code_points: bool,
) -> SpanArray:
    """Returns the spans of the tokens of `texts` in code points or UTF-8 bytes of each text.

    `rows`: the ids before post-processing. `seams`: the seams of each text. Raises LookupError if
    the tokenizer cannot locate its tokens."""
    seams = [NO_SEAMS] * len(texts) if seams is None else seams
    if not facts_of(tokenizer).tiles and isinstance(tokenizer, HasOffsets):
        spans = tokenizer.char_offsets(texts, rows)
        return spans if code_points else _to_byte_spans(spans, texts, rows)
    if not isinstance(tokenizer, Locates):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    located = [np.empty((0, 2), dtype=np.int64)]
    for k, text in enumerate(texts):
        if facts_of(tokenizer).tiles or not len(seams[k].planned):
            spans = tokenizer.locate(rows[k], text)
        else:
            spans = _locate_each(text, tokenizer, rows[k], seams[k])
        located.append(code_point_spans(spans, text) if code_points else spans)
    return np.concatenate(located)


def _to_byte_spans(spans: SpanArray, texts: Sequence[str], rows: Rows) -> SpanArray:
    """Returns code point spans as UTF-8 byte spans."""
    found = spans.copy()
    for k, text in enumerate(texts):
        if not text.isascii():
            own = slice(rows.offsets[k], rows.offsets[k + 1])
            found[own] = byte_starts(text)[spans[own]]
    return found


def _locate_each(text: str, tokenizer: Locates, ids: IdArray, seams: Seams) -> SpanArray:
    """Locate the tokens part by part. An engine that encodes again never gets the whole text.

    Parts end at certified cuts. Other seams lie within words, where the engine must see both
    sides."""
    from tokpar.results.adding_up import (  # importing tokpar does without it
        parts_between,
        shift_spans,
    )

    planned = map(seams.planned.seam, range(len(seams.planned)))
    cuts = [seam for seam in planned if seam.rule in CERTIFIED_CUTS]
    counts = pairwise([0, *(cut.token for cut in cuts), len(ids)])
    located, first = [], 0
    for part, (start, stop) in zip(parts_between(cuts, len(text)), counts, strict=True):
        piece, first = part.slice_of(text), first + part.absorbed_chars
        spans = tokenizer.locate(ids[start:stop], piece)
        located.append(shift_spans(spans, first, part.absorbed_chars))
        first += byte_length(piece)
    return np.concatenate(located)
