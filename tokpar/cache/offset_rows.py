"""Packs the token offsets of segments into rows of 32-bit numbers, for a cache of ids.

A row begins with a head, which has the highest bit set. The head has the number of code points of
the segment, and a checksum of ids and offsets. One number for each token follows: the start and the
stop of the token, in code points from the start of the segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, SpanArray, offsets_of
from tokpar.types import Rows

_MARK = 1 << 31
_BITS = 15
_ODD = np.array([0x9E3779B1, 0x85EBCA6B], dtype=np.uint32)
LONGEST_SEGMENT = (1 << _BITS) - 1
"""The most code points of a segment whose row can be packed."""


def pack_rows(code_points: IntArray, counts: IntArray, spans: SpanArray, ids: IdArray) -> Rows:
    """Returns the packed rows of segments.

    `code_points`, `counts`: the length and the number of tokens of each segment. `spans`, `ids`: of
    all tokens. Raises ValueError for a segment that is too long, and for a token that does not lie
    inside its segment."""
    limits = np.repeat(code_points, counts)
    if code_points.max(initial=0) > LONGEST_SEGMENT or not are_inside(spans, limits).all():
        raise ValueError("these offsets cannot be packed")
    offsets = offsets_of(counts + 1)
    heads = offsets[:-1]
    numbers = np.empty(int(offsets[-1]), dtype=np.uint32)
    is_token = np.ones(len(numbers), dtype=np.bool_)
    is_token[heads] = False
    tokens = (spans[:, 0] << _BITS | spans[:, 1]).astype(np.uint32)
    numbers[is_token] = tokens
    numbers[heads] = code_points | _MARK | _checksums(ids, tokens, offsets_of(counts)) << _BITS
    return Rows(numbers, offsets)


def are_inside(spans: SpanArray, code_points: IntArray | int) -> NDArray[np.bool_]:
    """Returns which tokens lie in a segment of `code_points` and begin before its end."""
    starts, stops = spans[:, 0], spans[:, 1]
    found: NDArray[np.bool_] = (starts <= stops) & (stops <= code_points) & (starts < code_points)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class OffsetRows:
    """The token offsets of texts, unpacked from the rows of their segments.

    `spans`: code points from the start of each text. `edges`: where the tokens of each text begin,
    and the end. `code_points`: the length of each text. `segments`, `ends`, `checksums`, `tokens`
    serve to check the ids of a text."""

    spans: SpanArray
    edges: IntArray
    code_points: IntArray
    segments: IntArray
    ends: IntArray
    checksums: IntArray
    tokens: IdArray

    def spans_of(self, k: int, ids: IdArray) -> SpanArray | None:
        """Returns the offsets of text `k`, or None if `ids` do not begin with its ids.

        The ids are compared by checksums."""
        own = slice(int(self.edges[k]), int(self.edges[k + 1]))
        tokens = self.tokens[own]
        if len(ids) < len(tokens):
            return None
        first, last = self.segments[k], self.segments[k + 1]
        ends = self.ends[first : last + 1] - self.edges[k]
        found = _checksums(ids[: len(tokens)], tokens, ends)
        return self.spans[own] if np.array_equal(found, self.checksums[first:last]) else None


def unpack_rows(rows: Rows) -> OffsetRows:
    """Returns the offsets that packed rows hold. Row k has the rows of all segments of text k."""
    numbers = rows.ids
    is_head = numbers >= _MARK
    heads = np.flatnonzero(is_head)
    said = numbers[heads].astype(np.int64)
    starts = offsets_of(said & LONGEST_SEGMENT)
    counts = np.diff(heads, append=len(numbers)) - 1
    segments = np.searchsorted(heads, rows.offsets)
    text_starts = starts[segments]
    shift = starts[:-1] - np.repeat(text_starts[:-1], np.diff(segments))
    shift = np.repeat(shift, counts)
    tokens = numbers[~is_head]
    spans: SpanArray = np.empty((len(tokens), 2), dtype=np.int64)
    np.add(tokens >> _BITS, shift, out=spans[:, 0])
    np.add(tokens & LONGEST_SEGMENT, shift, out=spans[:, 1])
    return OffsetRows(
        spans,
        rows.offsets - segments,
        np.diff(text_starts),
        segments,
        offsets_of(counts),
        said >> _BITS & 0xFFFF,
        tokens,
    )


def _checksums(ids: IdArray, tokens: IdArray, ends: IntArray) -> IntArray:
    """Returns a 16-bit checksum of the ids and packed offsets of each segment.

    `ends`: the edges of the segments, in tokens."""
    mixed = offsets_of((ids * _ODD[0] ^ tokens * _ODD[1]) >> np.uint32(16))
    return np.diff(mixed[ends]) & 0xFFFF
