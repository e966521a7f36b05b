"""Compute the ids of a text from its segments between certified cuts (theorem 31).

Each distinct segment is encoded once, by the tokenizer's own call. By theorem 27, the ids of the
text are the ids of the segments, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IdArray, IntArray, offsets_of, range_indices
from tokpar.certificate.distinct_segments import distinct_segments
from tokpar.certificate.tokenizer_probe import TokenizerProbe
from tokpar.types import Rows

_BLOCK = 1 << 16
"""Segments per block: their ids are written together, and then compared."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentIds:
    """The ids of all segments, each distinct row stored once.

    `rows`: one row for each distinct segment. `kinds`: the row of each segment. `ids_before`: how
    many ids lie before each segment, then how many there are; int64, (segments + 1,)."""

    rows: Rows
    kinds: IntArray
    ids_before: IntArray

    def ids(self) -> IdArray:
        """Returns the ids of the text: uint32, (before[-1],)."""
        found = np.empty(int(self.ids_before[-1]), dtype=np.uint32)
        offsets, lengths = self.rows.offsets, np.diff(self.rows.offsets)
        for k in range(0, len(self.kinds), _BLOCK):
            kinds = self.kinds[k : k + _BLOCK]
            first, last = self.ids_before[k], self.ids_before[min(k + _BLOCK, len(self.kinds))]
            found[first:last] = self.rows.ids[range_indices(offsets[kinds], lengths[kinds])]
        return found


def segment_ids(cuts: IntArray, absorbed_bytes: IntArray, probe: TokenizerProbe) -> SegmentIds:
    """Returns the ids of the segments between `cuts` of the text of `probe`.

    `cuts`: UTF-8 bytes, ascending. `absorbed_bytes`: how many bytes are left out behind each cut
    (theorem 6.4). Raises RefusedError if the tokenizer fails on a segment."""
    codes = probe.utf8.codes
    starts = np.concatenate(([0], cuts + absorbed_bytes))
    stops = np.concatenate((cuts, [len(codes)]))
    distinct = distinct_segments(codes, starts, stops)
    data, at = memoryview(codes.data), np.stack((starts, stops), axis=1)[distinct.first].tolist()
    rows = probe.encode_many([str(data[start:stop], "utf-8") for start, stop in at])
    before = offsets_of(np.diff(rows.offsets)[distinct.kinds])
    return SegmentIds(rows, distinct.kinds, before)
