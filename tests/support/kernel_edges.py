"""Where the kernel cuts texts into pre-tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support.merges_drawn import plain_bpe
from tokpar.arrays import offsets_of
from tokpar.cache.generations import Generation
from tokpar.cache.machine_tables import Machine
from tokpar.cache.segments import Segments

SEEDS = np.array([12345678901234567, 98765432109876543, 2**64 - 1], dtype=np.uint64)
BYTES = plain_bpe().by_kernel("plain")


def segments(some: Sequence[str]) -> Segments:
    data = np.frombuffer("".join(some).encode() + bytes(16), dtype=np.uint8)
    places = offsets_of(len(each.encode()) for each in some)
    kinds = np.zeros(len(some), dtype=np.uint8)
    return Segments(data, places[:-1].copy(), np.diff(places), kinds)


def edges_by_kernel(
    functions: Any, machine: Machine, some: Sequence[str]
) -> list[list[int] | None]:
    """Where the pieces of each text begin and end, in code points; None for a text that is left to
    the engine. A table without room keeps no piece, so that all are told as new ones."""
    new, none = segments(some), Generation.empty(1)
    size, longest = int(new.lengths.sum()), int(new.lengths.max(initial=0))
    asked_, counts = np.zeros(4 * size + 4, dtype=np.int64), np.zeros(3, dtype=np.int64)
    firsts, stops = np.zeros((2, len(some)), dtype=np.int64)
    work = np.zeros(10 * (longest + functions.BATCH + 1), dtype=np.uint64)
    own = Generation.empty(1)
    functions.encode(
        *(new.data, new.starts, new.lengths, *machine.arrays, BYTES.table, BYTES.byte_ids),
        *(none.slots, none.keys, *none.arrays, *none.arrays, *own.arrays, own.used_counts, SEEDS),
        *(work, np.zeros(size + 2, dtype=np.uint32), firsts, stops, asked_, 0, True, counts),
    )
    ends = {int(at + n) for at, n, _, _ in asked_[: 4 * counts[0]].reshape(-1, 4)}
    assert len(ends) == counts[0] == counts[1] == counts[2]
    found: list[list[int] | None] = []
    for text, start, stop in zip(some, new.starts.tolist(), stops.tolist(), strict=True):
        places = offsets_of(len(char.encode()) for char in text).tolist()
        edges = [0, *(k for k, at in enumerate(places) if k and start + at in ends)]
        found.append(None if stop < 0 else edges)
    return found
