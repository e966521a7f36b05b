"""Calls the compiled function that encodes segments by their pre-tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray
from tokpar.cache.generations import Generation
from tokpar.cache.machine_tables import Machine
from tokpar.cache.segments import SegmentIds, Segments


@dataclass(frozen=True, slots=True, eq=False)
class MergeTables:
    """What new pre-tokens are encoded by, see `_pretokens`.

    `table`: the merges. `byte_ids`: uint32, (256,). `slots`, `keys`: a table of the tokens that are
    one id as a whole pre-token."""

    table: NDArray[np.uint64]
    byte_ids: IdArray
    slots: NDArray[np.uint64]
    keys: NDArray[np.uint8]


_NO_MERGES = MergeTables(
    np.zeros(4, dtype=np.uint64),
    np.zeros(256, dtype=np.uint32),
    np.zeros(4, dtype=np.uint64),
    np.zeros(16, dtype=np.uint8),
)


@dataclass(frozen=True, slots=True, eq=False)
class PretokenIds:
    """The result of one call.

    `fresh`: the ids of the segments; the stop is -1 for a segment that the engine must encode, and
    -2 for one with new pre-tokens that were not merged. `samples`: int64, (n, 4): first byte,
    bytes, first id and number of ids of some new pre-tokens. `pretokens`, `new`: how many
    pre-tokens there were, and how many of them were in no table."""

    fresh: SegmentIds
    samples: IntArray
    pretokens: int
    new: int


def encode_pretokens(
    functions: Any,
    segments: Segments,
    machine: Machine,
    merges: MergeTables | None,
    generations: Sequence[Generation],
    own: Generation,
    seeds: NDArray[np.uint64],
    most_samples: int,
    mask: int = 0,
) -> PretokenIds:
    """Encodes segments that hold no added token.

    `functions`: the module `_pretokens`. `merges`: None: new pre-tokens have no ids, and all of
    them are samples. `generations`: the two tables of known pre-tokens. `own`: the table for new
    pre-tokens. At most `most_samples` pre-tokens become samples: those whose hash has none of the
    bits of `mask`."""
    size, count = int(segments.lengths.sum()), len(segments.lengths)
    room = int(segments.lengths.max(initial=0)) + functions.BATCH + 1
    ids = np.empty(size + 2, dtype=np.uint32)
    firsts, stops = np.zeros((2, count), dtype=np.int64)
    samples, counts = np.empty(4 * most_samples, dtype=np.int64), np.zeros(3, dtype=np.int64)
    known = _NO_MERGES if merges is None else merges
    written = functions.encode(
        segments.data,
        segments.starts,
        segments.lengths,
        *machine.arrays,
        known.table,
        known.byte_ids,
        known.slots,
        known.keys,
        *(array for each in generations for array in each.arrays),
        *own.arrays,
        own.used_counts,
        seeds,
        np.empty(9 * room, dtype=np.uint64),
        ids,
        firsts,
        stops,
        samples,
        mask,
        merges is not None,
        counts,
    )
    sampled, pretokens, new = counts.tolist()
    found = samples[: 4 * sampled].reshape(-1, 4)
    return PretokenIds(SegmentIds(ids[:written], firsts, stops), found, pretokens, new)
