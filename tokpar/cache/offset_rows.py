"""Token offsets of segments as rows of 32-bit numbers, so that a cache of ids can keep them.

A row begins with a head, marked by the highest bit: the number of code points of its segment, and a
checksum of ids and offsets. One number for each token follows: where the token starts and stops,
code points from the segment's start."""

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
"""Code points of a segment whose row can be packed."""


def packed(code_points: IntArray, counts: IntArray, spans: SpanArray, ids: IdArray) -> Rows:
    """The rows of segments. `code_points` and `counts`: length and number of tokens of each;
    `spans` and `ids`: of all tokens. ValueError for a segment too long for it, or a token that does
    not lie inside its segment."""
    limits = np.repeat(code_points, counts)
    if code_points.max(initial=0) > LONGEST_SEGMENT or not inside(spans, limits).all():
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


def inside(spans: SpanArray, code_points: IntArray | int) -> NDArray[np.bool_]:
    """Which tokens lie in a segment of so many code points, and begin before its end."""
    starts, stops = spans[:, 0], spans[:, 1]
    found: NDArray[np.bool_] = (starts <= stops) & (stops <= code_points) & (starts < code_points)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class OffsetRows:
    """Offsets of texts, each given as the packed rows of its segments one behind the other.

    `spans`: code points from the start of each text; `edges`: where the tokens of each text begin,
    and the last ones end; `code_points`: of each text. `segments`, `ends`, `checksums`, `tokens`:
    what their ids are compared with."""

    spans: SpanArray
    edges: IntArray
    code_points: IntArray
    segments: IntArray
    ends: IntArray
    checksums: IntArray
    tokens: IdArray

    def of(self, k: int, ids: IdArray) -> SpanArray | None:
        """The offsets of text `k`, if `ids` begin with its ids, as far as checksums tell."""
        own = slice(int(self.edges[k]), int(self.edges[k + 1]))
        tokens = self.tokens[own]
        if len(ids) < len(tokens):
            return None
        first, last = self.segments[k], self.segments[k + 1]
        ends = self.ends[first : last + 1] - self.edges[k]
        found = _checksums(ids[: len(tokens)], tokens, ends)
        return self.spans[own] if np.array_equal(found, self.checksums[first:last]) else None


def unpacked(rows: Rows) -> OffsetRows:
    """What the packed rows of the segments of texts say."""
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
    """16 bits of the ids and packed offsets of each segment; `ends`: the edges of segments."""
    mixed = offsets_of((ids * _ODD[0] ^ tokens * _ODD[1]) >> np.uint32(16))
    return np.diff(mixed[ends]) & 0xFFFF
