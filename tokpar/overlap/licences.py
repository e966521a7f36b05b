"""Compares two overlapping chunks, and finds what licenses a seam in the overlap.

A seam is licensed by a certified cut, or by a pre-token that is known between two K1 cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    clean_split,
    equal_tokens,
    has_surrogate,
)
from tokpar.cuts.finder import CutFinder
from tokpar.cuts.pretokens import spans_of
from tokpar.cuts.within_pretoken import PretokenPlanner, Region, pretoken_planner
from tokpar.interfaces import TokenizerAdapter
from tokpar.overlap.chunks import FAR
from tokpar.types import Chunk, Join, Piece, Rule, Seam

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

    def shared_edges(self) -> list[int]:
        """Returns the positions where both sides have a token edge, code points, ascending."""
        shared = {*self.left_spans.ravel().tolist()}.intersection(self.right_spans.ravel().tolist())
        return [k for k, edge in enumerate(self.edges.tolist(), self.start) if edge in shared]

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
    return spans_of(tokenizer, piece.ids, text[chunk.start : chunk.stop])


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
    """Finds the licensed seams of one text. `regions`: scanned regions, each once (theorem 14)."""

    text: str
    planner: PretokenPlanner
    regions: dict[tuple[int, int], Region | None] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, tokenizer: TokenizerAdapter) -> Licences:
        return cls(text, pretoken_planner(tokenizer))

    @property
    def finder(self) -> CutFinder:
        return self.planner.finder

    @cached_property
    def has_no_cuts(self) -> bool:
        """True if no place of the text is a certified cut."""
        return self.finder.refusal_for(self.text) is not None

    @cached_property
    def has_no_pretoken_cuts(self) -> bool:
        """True if no pre-token of the text may be divided."""
        return self.planner.refusal is not None or has_surrogate(self.text)

    def in_all(self, overlap: Overlap, position: int, end: bool = False) -> Seam | None:
        """Returns the seam at a certified cut of the text that both chunks also have, or None.

        Each chunk, as a text of its own, must have the same cut (window lemma). Cuts by K9 are not
        considered. `end`: the left chunk may also end at the place."""
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

    def region_of(self, seam: Seam) -> Region | None:
        """Returns the region that the witness of a seam names, or None."""
        named = dict(seam.witness)
        if not {"start", "stop"} <= named.keys():
            return None
        return self._region_between(int(named["start"]), int(named["stop"]))

    def region_around(self, start: int, stop: int) -> Region | None:
        """Returns the region around [start, stop), or None if it cannot be known.

        The region lies between the nearest K1 cuts that are found, or the ends of the text."""
        for (first, last), region in self.regions.items():
            if first <= start and stop <= last:
                return region
        return self._region_between(self._cut_before(start), self._cut_behind(stop))

    def part_scans_alike(self, seam: Seam, start: int, stop: int) -> bool:
        """True if the part [start, stop) next to a seam scans as the text does.

        Only the seam's region is compared."""
        region = self.region_of(seam)
        return region is not None and self.planner.is_closed(self.text, region, start, stop)

    def filter_joins(self, joins: Sequence[Join | None]) -> list[Join | None]:
        """Returns the joins, with None for a join by K5 next to a part that scans differently.

        Parts end at seams. Where a join is missing, the chunks are encoded again in any case."""
        places = (None if join is None else join.seam.position for join in joins)
        ends = [0, *places, len(self.text)]

        def scans_alike(seam: Seam, start: int | None, stop: int | None) -> bool:
            return start is None or stop is None or self.part_scans_alike(seam, start, stop)

        return [
            join
            if join is None
            or join.seam.rule != Rule.COMMON_BOUNDARIES
            or (scans_alike(join.seam, before, here) and scans_alike(join.seam, here, after))
            else None
            for join, before, here, after in zip(joins, ends, ends[1:], ends[2:], strict=False)
        ]

    def _region_between(self, start: int, stop: int) -> Region | None:
        if (start, stop) not in self.regions:
            self.regions[start, stop] = self.planner.region(self.text, start, stop)
        return self.regions[start, stop]

    def _cut_before(self, place: int) -> int:
        """Returns a K1 cut at or before a place, or 0. The search steps grow."""
        reach = FAR
        while self.planner.finder.refusal is None and place > reach:
            cut = self.planner.last_cut(self.text, place - reach, place + 1)
            if cut is not None:
                return cut
            reach *= 4
        return 0

    def _cut_behind(self, place: int) -> int:
        """Returns the first K1 cut found at or after a place, or the end of the text."""
        seam = self.finder.find_pair(self.text, place, len(self.text))
        return len(self.text) if seam is None else seam.position
