"""The tables of a cache: segments, pre-tokens and their ids, in two generations.

When the newer table is full, the older table is evicted. Readers never see a table change: new
entries are put into the newer table while no thread reads, else into a copy, which is then
published."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tokpar import kernel_modules
from tokpar.arrays import NO_INTS, IdArray, IntArray
from tokpar.cache.segments import EncodeMany, SegmentIds, Segments

LONGEST_KEPT = 512
"""The most UTF-8 bytes, and the most ids, of a segment in a table. Longer ones hardly repeat."""
LONGEST = 1 << 18
"""The most bytes of a segment that is encoded here. Each byte needs 72 bytes of work space."""
DOOR = 1 << 18
"""Bytes of the filter that tells which segments were met before."""
_OPEN_DOOR = np.zeros(1, dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """One table of segments and pre-tokens, see `_segments`.

    `used_counts`: the number of entries, the used bytes of `keys`, and the used places of `ids`."""

    slots: NDArray[np.uint64]
    keys: NDArray[np.uint8]
    ids: IdArray
    used_counts: IntArray

    @classmethod
    def empty(cls, slots: int) -> Generation:
        return cls(
            np.zeros(4 * slots, dtype=np.uint64),
            np.zeros(8 * slots, dtype=np.uint8),
            np.zeros(2 * slots, dtype=np.uint32),
            np.zeros(3, dtype=np.int64),
        )

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        return self.slots, self.keys, self.ids

    def put(
        self,
        functions: Any,
        seeds: Any,
        new: Segments,
        fresh: SegmentIds,
        first: int,
        times_met: IntArray,
        door: NDArray[np.uint8],
    ) -> int:
        """Put the segments from index `first` on into the table.

        Returns the index after the last segment that was handled. The index is smaller than the
        number of segments if the table is full. `times_met`, `door`: see `_segments.put`."""
        segments = new.data, new.starts, new.lengths, fresh.ids, fresh.firsts, fresh.stops
        rest = first, LONGEST_KEPT, times_met, door
        return int(functions.put(*self.arrays, self.used_counts, seeds, *segments, *rest))

    def add(self, other: Generation, seeds: Any, first: int) -> int:
        """Put the entries of `other` from slot `first` on into the table.

        Returns the slot after the last slot that was handled."""
        functions: Any = kernel_modules.PRETOKENS
        return int(
            functions.copy_entries(*other.arrays, *self.arrays, self.used_counts, seeds, first)
        )

    def larger(self, functions: Any, seeds: NDArray[np.uint64], most: int) -> Generation | None:
        """Returns a table of the same entries, with each array that is nearly full doubled.

        None if the new table would take more than `most` bytes."""
        entries, key_bytes, places = self.used_counts.tolist()
        slots, keys, ids = self.arrays
        more_slots = 1 + (8 * (entries + 1) > 5 * (len(slots) // 4))
        more_keys = 1 + (key_bytes + LONGEST_KEPT + 8 > len(keys))
        more_ids = 1 + (places + LONGEST_KEPT > len(ids))
        size = more_slots * slots.nbytes + more_keys * keys.nbytes + more_ids * ids.nbytes
        if size > most:
            return None
        used = self.used_counts.copy()
        if more_slots > 1:
            slots = np.zeros(2 * len(slots), dtype=np.uint64)
            used[0] = functions.copy_to_larger(self.slots, keys, slots, seeds)
        if more_keys > 1:
            keys = np.concatenate([keys, np.zeros_like(keys)])
        if more_ids > 1:
            ids = np.concatenate([ids, np.zeros_like(ids)])
        return Generation(slots, keys, ids, used)


@dataclass(slots=True, eq=False)
class _State:
    """The tables of one process.

    `door`: marks the hashes of segments that were met once. `puts`: how often segments were put
    in."""

    newer: Generation
    older: Generation
    door: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(DOOR, dtype=np.uint8))
    puts: int = 0
    pid: int = field(default_factory=os.getpid)
    lock: threading.Lock = field(default_factory=threading.Lock)
    readers: int = 0


_making = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_making=threading.Lock()))


class Generations:
    """The two tables of a cache. Thread-safe; a forked child begins with empty tables.

    `functions`: the compiled module `_segments`. `seeds`: see `_segments`. `cache_bytes`: the most
    bytes of both tables, without the table that is being grown."""

    def __init__(self, functions: Any, seeds: NDArray[np.uint64], cache_bytes: int) -> None:
        self._functions, self._seeds = functions, seeds
        self._half = cache_bytes // 2
        self._smallest = 1 << min(12, (self._half // 64).bit_length() - 1)
        self._state: _State | None = None

    @contextmanager
    def reading(self) -> Iterator[tuple[Generation, Generation]]:
        """Yield the newer and the older table. No thread changes them inside of the block."""
        state = self._state
        if state is None or state.pid != os.getpid():
            state = self._own_state()
        with state.lock:
            state.readers += 1
            tables = state.newer, state.older
        try:
            yield tables
        finally:
            with state.lock:
                state.readers -= 1

    def put(
        self,
        new: Segments,
        fresh: SegmentIds,
        times_met: IntArray | None = None,
        pretokens: Generation | None = None,
    ) -> None:
        """Put segments, and all of `pretokens`, into the newer table, and publish the table.

        `times_met`: how often each segment is in this wave; only segments that were met before are
        put in. None: all segments are put in."""
        state = self._own_state()
        with state.lock:
            newer, older = state.newer, state.older
            if state.readers:  # no reader reads `keys` and `ids` after their used places
                newer = replace(
                    newer, slots=newer.slots.copy(), used_counts=newer.used_counts.copy()
                )
            door = _OPEN_DOOR if times_met is None else state.door
            state.puts += 1
            if state.puts % 64 == 0 and np.count_nonzero(state.door) > DOOR // 2:
                state.door[:] = 0
            tools = self._functions, self._seeds

            def put_all(put: Callable[[Generation, int], int], total: int) -> None:
                nonlocal newer, older
                done = 0
                while (done := put(newer, done)) < total:
                    larger = newer.larger(*tools, self._half)
                    if larger is None:
                        newer, older = Generation.empty(self._smallest), newer
                    else:
                        newer = larger

            times = NO_INTS if times_met is None else times_met
            put_all(
                lambda to, done: to.put(*tools, new, fresh, done, times, door), len(new.lengths)
            )
            if pretokens is not None:
                slots = len(pretokens.slots) // 4
                put_all(lambda to, done: to.add(pretokens, self._seeds, done), slots)
            state.newer, state.older = newer, older

    def clear(self) -> None:
        """Forget everything."""
        self._state = None

    def _own_state(self) -> _State:
        """Returns the state of this process.

        A forked child gets an empty state, because another thread of the parent may have been
        changing the parent's state."""
        state = self._state
        if state is None or state.pid != os.getpid():
            with _making:
                if self._state is state:
                    size = self._smallest
                    self._state = _State(Generation.empty(size), Generation.empty(size))
                assert self._state is not None
                state = self._state
        return state


@dataclass(frozen=True, slots=True, eq=False)
class SolvedSegments:
    """The ids of some segments.

    `fresh`: the ids; a segment that needs the engine has the stop -1. `table`: the new pieces.
    `pieces`: how many pieces there were. `new`: how many of them were new."""

    fresh: SegmentIds
    table: Generation
    pieces: int
    new: int


class SolvesSegments(Protocol):
    """An object that encodes new segments by their pre-tokens."""

    def solve(
        self, new: Segments, generations: Sequence[Generation], encode_many: EncodeMany
    ) -> SolvedSegments:
        """Returns the ids of `new`.

        `generations`: tables of known pieces. `encode_many`: the engine's batch call."""
