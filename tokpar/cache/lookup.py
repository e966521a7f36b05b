"""Looks up the segments of texts in the tables of a cache, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, offsets_of
from tokpar.cache.cache_policy import LARGEST_WAVE
from tokpar.cache.generations import Generations
from tokpar.cache.segments import SegmentIds, Segments
from tokpar.cache.text_parts import in_threads

LEAST_PART = 1 << 17
"""The least bytes that one thread looks up."""


@dataclass(frozen=True, slots=True, eq=False)
class LookupResult:
    """The result of looking up some rows.

    `ids`: the ids of the known segments. `ends`: for each row, how many ids lie before its end.
    `miss_ends`: for each row, how many misses lie before its end. `misses`: three numbers for each
    miss: the first byte, the length in bytes, and the number of ids before the miss. `segments`:
    how many segments were looked up."""

    ids: IdArray
    ends: IntArray
    miss_ends: IntArray
    misses: IntArray
    segments: int


@dataclass(frozen=True, slots=True, eq=False)
class Scratch:
    """The buffers of one lookup, kept for the next wave because new memory pages are slow."""

    ids: IdArray
    misses: IntArray
    scratch: NDArray[np.uint64]

    @classmethod
    def of(cls, size: int, rows: int, block: int) -> Scratch:
        """Returns buffers for `size` ids in `rows` rows.

        A segment has at least two bytes, except for the first segment of a row: at least one."""
        return cls(
            np.empty(size + 2, dtype=np.uint32),
            np.empty(3 * (size // 2 + rows + 1), dtype=np.int64),
            np.empty(4 * block + 8, dtype=np.uint64),
        )


class Lookup:
    """Looks up segments, and puts the ids of misses in their places.

    `functions`: the compiled module `_segments`. `neighbours`: which bytes may stand next to a
    cut."""

    def __init__(
        self,
        functions: Any,
        tables: Generations,
        seeds: NDArray[np.uint64],
        neighbours: NDArray[np.uint8],
    ) -> None:
        self._functions, self._tables, self._seeds = functions, tables, seeds
        self._neighbours = neighbours
        self._scratches: list[Scratch] = []

    def look_up(
        self, data: NDArray[np.uint8], rows: IntArray, workers: int
    ) -> list[LookupResult] | None:
        """Look up the rows in parts. Each thread takes part after part, so a slow one takes fewer.

        `rows`: see `_segments.look_up`. None if a part has too many ids."""
        size = int(rows[-1] - rows[0])
        parts = max(1, min(2 * workers if workers > 1 else 1, size // LEAST_PART, len(rows) - 1))
        if parts == 1:
            found = [self.look_up_part(data, rows)]
        else:
            inner = np.searchsorted(rows, rows[0] + size * np.arange(1, parts) // parts)
            edges = np.unique([0, *inner.tolist(), len(rows) - 1]).tolist()
            jobs = [partial(self.look_up_part, data, rows[i : j + 1]) for i, j in pairwise(edges)]
            found = in_threads(jobs, workers)
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def look_up_part(self, data: NDArray[np.uint8], rows: IntArray) -> LookupResult | None:
        """Look up some rows. None if the rows have more ids than bytes."""
        size, count = int(rows[-1] - rows[0]), len(rows) - 1
        ends, miss_ends = np.empty(count, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
        try:
            buffers = self._scratches.pop()
        except IndexError:
            buffers = Scratch.of(size, count, self._functions.BLOCK)
        if len(buffers.ids) < size + 2 or len(buffers.misses) < 3 * (size // 2 + count + 1):
            buffers = Scratch.of(size, count, self._functions.BLOCK)
        # each thread reads for itself: an interrupted call may leave a thread that still reads
        with self._tables.reading() as generations:
            missed = self._functions.look_up(
                data,
                rows,
                *generations[0].arrays,
                *generations[1].arrays,
                self._seeds,
                buffers.scratch,
                buffers.ids,
                ends,
                miss_ends,
                buffers.misses,
                self._neighbours,
            )
        if missed < 0:
            return None
        ids, misses = buffers.ids[: int(ends[-1])].copy(), buffers.misses[: 3 * missed].copy()
        if size <= 2 * LARGEST_WAVE:
            self._scratches.append(buffers)
        return LookupResult(ids, ends, miss_ends[:-1], misses, int(miss_ends[-1]))

    def distinct(self, data: NDArray[np.uint8], misses: IntArray) -> tuple[Segments, IntArray]:
        """Returns the distinct segments of the misses, and the index of each miss among them."""
        count = len(misses) // 3
        table = np.full(1 << (2 * count).bit_length(), -1, dtype=np.int64)
        which, firsts = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        kinds = np.empty(count, dtype=np.uint8)
        found = self._functions.distinct(
            data, misses, count, self._seeds, table, which, firsts, kinds
        )
        places = misses.reshape(-1, 3)[firsts[:found]]
        starts, lengths = places[:, 0].copy(), places[:, 1].copy()
        return Segments(data, starts, lengths, kinds[:found]), which

    def splice(
        self, results: Sequence[LookupResult], which: IntArray, fresh: SegmentIds | None
    ) -> tuple[list[IdArray], IntArray]:
        """Returns the ids of all parts, and where the ids of each row end.

        `which`: the index in `fresh` of each miss. None for `fresh`: there was no miss."""
        if fresh is None:
            counts = [part.ends for part in results]
            parts = [part.ids for part in results]
        else:
            counts, parts, first = [], [], 0
            sizes = fresh.stops - fresh.firsts
            for part in results:
                own = which[first : first + len(part.misses) // 3]
                first += len(own)
                before = offsets_of(sizes[own])
                target = np.empty(len(part.ids) + before[-1], dtype=np.uint32)
                rest = part.misses, own, fresh.firsts, fresh.stops, fresh.ids, target
                self._functions.splice(part.ids, len(part.ids), *rest)
                counts.append(part.ends + before[part.miss_ends])
                parts.append(target)
        starts = offsets_of(int(ends[-1]) for ends in counts)
        return parts, np.concatenate([c + s for c, s in zip(counts, starts[:-1], strict=True)])
