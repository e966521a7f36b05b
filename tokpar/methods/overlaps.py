"""Compares two overlapping chunks, and finds the certified cuts that license a seam there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    clean_split,
    equal_tokens,
    spans_from_lengths,
)
from tokpar.contract.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.process.cached_property import cached_property
from tokpar.types import Chunk, Join, Piece, Seam

_MOST_TRIED = 16


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """The text [start, stop), code points, that two neighbouring chunks both tokenized.

    `left_spans` and `right_spans`: the tokens of each side that touch it, int64, (n, 2), UTF-8
    bytes from `start`. `left_first`: number, in its piece, of the first token of `left_spans`; on
    the right that is 0. `edges`: byte offset, from `start`, of each code point of the overlap and
    of its end. `spans_fit`: the spans of both sides are places that tokens of their chunk can
    have; if not, no join is made by spans."""

    text: str
    left: Chunk
    right: Chunk
    start: int
    stop: int
    left_ids: IdArray
    right_ids: IdArray
    left_spans: SpanArray
    right_spans: SpanArray
    left_first: int
    edges: IntArray
    spans_fit: bool

    def match_tokens(self) -> tuple[IntArray, IntArray]:
        """Returns the indices, on both sides, of tokens with equal id and span; ascending."""
        if not self.spans_fit:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return equal_tokens(self.left_spans, self.left_ids, self.right_spans, self.right_ids)

    def position(self, offset: int) -> int:
        """Returns the position, code points, of a byte offset from `start`; -1 inside of one."""
        place = int(np.searchsorted(self.edges, offset))
        found = place < len(self.edges) and self.edges[place] == offset
        return self.start + place if found else -1

    def join(self, seam: Seam) -> Join | None:
        """Returns the join at a seam in [start, stop]. None if a token may lie across the seam."""
        if not self.spans_fit:
            return None
        offset = int(self.edges[seam.position - self.start])
        left = clean_split(self.left_spans, offset)
        right = clean_split(self.right_spans, offset)
        if left is None or right is None:
            return None
        return Join(seam, self.left_first + left, right)


@dataclass
class PieceLocator:
    """Locates the tokens of chunks, and keeps the last answer.

    The right chunk of one pair is the left chunk of the next pair."""

    text: str
    tokenizer: TokenizerAdapter
    _last: tuple[Chunk, Piece, tuple[SpanArray, bool]] | None = None

    def spans_of(self, chunk: Chunk, piece: Piece) -> tuple[SpanArray, bool]:
        """Returns the spans of a piece, and True if tokens of the chunk can have these spans.

        UTF-8 bytes from the start of the chunk. LookupError if the tokenizer has no spans."""
        last = self._last
        if last is None or last[0] is not chunk or last[1] is not piece:
            spans = _spans(self.text, chunk, piece, self.tokenizer)
            last = self._last = chunk, piece, (spans, _in_order(spans, self.text, chunk))
        return last[2]


def overlap_of(
    text: str,
    chunks: tuple[Chunk, Chunk],
    pieces: tuple[Piece, Piece],
    tokenizer: TokenizerAdapter,
    locator: PieceLocator | None = None,
) -> Overlap:
    """Returns the overlap of two neighbouring chunks. LookupError if there are no spans."""
    left, right = chunks
    start, stop = right.start, left.stop
    edges = byte_starts(text[start:stop]) if start < stop else np.zeros(1, dtype=np.int64)
    where = locator or PieceLocator(text, tokenizer)
    left_spans, left_placed = where.spans_of(left, pieces[0])
    right_spans, right_placed = where.spans_of(right, pieces[1])
    spans_fit = left_placed and right_placed
    shift = byte_length(text[left.start : start])
    first = int(left_spans[:, 1].searchsorted(shift, "right"))
    last = int(right_spans[:, 0].searchsorted(edges[-1]))
    return Overlap(
        text,
        left,
        right,
        start,
        stop,
        left_ids=pieces[0].ids[first:],
        right_ids=pieces[1].ids[:last],
        left_spans=left_spans[first:] - shift,
        right_spans=right_spans[:last],
        left_first=first,
        edges=edges,
        spans_fit=spans_fit,
    )


def _spans(text: str, chunk: Chunk, piece: Piece, tokenizer: TokenizerAdapter) -> SpanArray:
    if piece.spans is not None:
        return piece.spans
    # isinstance of a protocol takes longer
    if getattr(tokenizer, "locate", None) is None:
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    return _spans_of(tokenizer, piece.ids, text[chunk.start : chunk.stop])


def _spans_of(tokenizer: TokenizerAdapter, ids: IdArray, text: str) -> SpanArray:
    """Returns the UTF-8 byte spans of the ids of a text, for a tokenizer that `Locates`.

    If the facts have token sizes and the normalizer leaves the text unchanged, the token lengths
    give the spans (theorem 45). Otherwise the tokenizer locates the ids, and several tokens of one
    character share the character's span. Raises LookupError if the spans cannot be found."""
    sizes, inert = facts_of(tokenizer).sizes, inert_for(facts_of(tokenizer)).inert
    if sizes is None or not inert(text):
        return cast(Locates, tokenizer).locate(ids, text)
    spans = spans_from_lengths(sizes(ids))
    if int(spans[-1, 1] if len(spans) else 0) != byte_length(text):
        raise LookupError("the tokens' bytes do not tile the text")
    return spans


def _in_order(spans: SpanArray, text: str, chunk: Chunk) -> bool:
    """True if the tokens lie in their chunk, in order.

    Tokens of one character share its span. No token begins or ends before an earlier token."""
    if not len(spans):
        return True
    if spans[0, 0] < 0 or spans[-1, 1] > byte_length(text[chunk.start : chunk.stop]):
        return False
    starts, ends = spans[:, 0], spans[:, 1]  # by columns: rows of two are compared slowly
    pairs = (starts, ends), (starts[:-1], starts[1:]), (ends[:-1], ends[1:])
    return not any(np.count_nonzero(before > after) for before, after in pairs)


@dataclass(frozen=True)
class Licences:
    """Finds the licensed seams of one text."""

    text: str
    finder: CutFinder

    @classmethod
    def of(cls, text: str, tokenizer: TokenizerAdapter) -> Licences:
        return cls(text, finder_for(facts_of(tokenizer)))

    @cached_property
    def has_no_cuts(self) -> bool:
        """True if no place of the text is a certified cut."""
        return self.finder.refusal_for(self.text) is not None

    def in_all(self, overlap: Overlap, position: int, end: bool = False) -> Seam | None:
        """Returns the seam at a certified cut of the text that both chunks also have, or None.

        Each chunk, as a text of its own, must have the same cut (window lemma). Cuts by EDGE are
        not considered. `end`: the left chunk may also end at the place."""
        if self.has_no_cuts:
            return None
        text, left, right = overlap.text, overlap.left, overlap.right
        for chunk in (right,) if end and position == left.stop else (left, right):
            own = text[chunk.start : chunk.stop]
            if self.finder.certify_context(own, position - chunk.start) is None:
                return None
        return self.finder.certify_context(text, position)

    def cuts(self, overlap: Overlap) -> Iterator[Seam]:
        """Yield the certified cuts of the overlap, the planned cut first."""
        if self.has_no_cuts:
            return
        text, place, planned = overlap.text, overlap.start + 1, overlap.right.cut
        found = planned
        if planned is None or planned.rule is None:
            found = self.finder.find(text, place, overlap.stop)
        tried: set[int] = set()
        while found is not None and len(tried) < _MOST_TRIED:
            position = found.position
            if found is not planned:
                place = position + 1
            if position not in tried and overlap.start < position < overlap.stop:
                seam = self.in_all(overlap, position)
                if seam is not None:
                    yield seam
            tried.add(position)
            found = self.finder.find(text, place, overlap.stop)

    def as_certified(
        self, overlap: Overlap, join: Join, position: int, end: bool = False
    ) -> Join | None:
        """Returns the join by the rule of a certified cut in the overlap, see `in_all`, or None.

        None if the certified cut divides the tokens of either side in another way."""
        seam = self.in_all(overlap, position, end)
        found = None if seam is None else overlap.join(seam)
        return found if found is not None and replace(found, seam=join.seam) == join else None
