"""Token offsets of segments as rows of 32-bit numbers, so that a cache of ids can keep them.

A row begins with the number of code points of its segment, marked by the highest bit. One number
for each token follows: where the token starts and stops, code points from the segment's start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokpar.kernels import IntArray, SpanArray, offsets_of
from tokpar.types import Rows

_MARK = 1 << 31
_BITS = 15
LONGEST_SEGMENT = (1 << _BITS) - 1
"""Code points of a segment whose row can be packed."""


def packed(code_points: IntArray, counts: IntArray, spans: SpanArray) -> Rows:
    """The rows of segments. `code_points` and `counts`: length and number of tokens of each.
    ValueError for a segment too long for it, or a token that does not lie inside its segment."""
    limits = np.repeat(code_points, counts)
    if code_points.max(initial=0) > LONGEST_SEGMENT or not inside(spans, limits).all():
        raise ValueError("these offsets cannot be packed")
    offsets = offsets_of(counts + 1)
    heads = offsets[:-1]
    numbers = np.empty(int(offsets[-1]), dtype=np.uint32)
    is_token = np.ones(len(numbers), dtype=np.bool_)
    is_token[heads] = False
    numbers[is_token] = spans[:, 0] << _BITS | spans[:, 1]
    numbers[heads] = code_points | _MARK
    return Rows(numbers, offsets)


def inside(spans: SpanArray, code_points: IntArray | int) -> NDArray[np.bool_]:
    """Which tokens lie in a segment of so many code points, and begin before its end."""
    starts, stops = spans[:, 0], spans[:, 1]
    found: NDArray[np.bool_] = (starts <= stops) & (stops <= code_points) & (starts < code_points)
    return found


def unpacked(rows: Rows) -> tuple[SpanArray, IntArray, IntArray]:
    """The offsets of texts, each given as the packed rows of its segments one behind the other.
    Returns spans in code points from the start of each text, where the tokens of each text begin
    and the last ones end, and how many code points each text has."""
    numbers = rows.ids
    is_head = numbers >= _MARK
    heads = np.flatnonzero(is_head)
    ends = offsets_of((numbers[heads] & (_MARK - 1)).astype(np.int64))
    counts = np.diff(heads, append=len(numbers)) - 1
    segments = np.searchsorted(heads, rows.offsets)
    text_starts = ends[segments]
    shifts = ends[:-1] - np.repeat(text_starts[:-1], np.diff(segments))
    tokens = numbers[~is_head].astype(np.int64)
    spans: SpanArray = np.empty((len(tokens), 2), dtype=np.int64)
    shift = np.repeat(shifts, counts)
    np.add(tokens >> _BITS, shift, out=spans[:, 0])
    np.add(tokens & LONGEST_SEGMENT, shift, out=spans[:, 1])
    return spans, rows.offsets - segments, np.diff(text_starts)
