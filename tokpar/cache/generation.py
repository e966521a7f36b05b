"""One table of segments and their ids: its arrays, and how the table grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray
from tokpar.cache import compiled
from tokpar.cache.segments import Fresh, Segments

LONGEST_KEPT = 512  # UTF-8 bytes, and ids; longer segments hardly repeat


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """A table of segments, see `_segments`.

    `used`: the number of entries, the used bytes of `keys`, and the used places of `ids`."""

    slots: NDArray[np.uint64]
    keys: NDArray[np.uint8]
    ids: IdArray
    used: IntArray

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
        fresh: Fresh,
        first: int,
        met: IntArray,
        door: NDArray[np.uint8],
    ) -> int:
        """Put the segments from index `first` on into the table.

        Returns the index after the last segment that was handled. The index is smaller than the
        number of segments if the table is full. `met`, `door`: see `_segments.put`."""
        segments = new.data, new.starts, new.lengths, fresh.ids, fresh.firsts, fresh.stops
        rest = first, LONGEST_KEPT, met, door
        return int(functions.put(*self.arrays, self.used, seeds, *segments, *rest))

    def add(self, other: Generation, seeds: Any, first: int) -> int:
        """Put the entries of `other` from slot `first` on into the table.

        Returns the slot after the last slot that was handled."""
        functions: Any = compiled.PRETOKENS
        return int(functions.copy_entries(*other.arrays, *self.arrays, self.used, seeds, first))

    def larger(self, functions: Any, seeds: NDArray[np.uint64], most: int) -> Generation | None:
        """Returns a table of the same entries, with each array that is nearly full doubled.

        None if the new table would take more than `most` bytes."""
        entries, key_bytes, places = self.used.tolist()
        slots, keys, ids = self.arrays
        more_slots = 1 + (8 * (entries + 1) > 5 * (len(slots) // 4))
        more_keys = 1 + (key_bytes + LONGEST_KEPT + 8 > len(keys))
        more_ids = 1 + (places + LONGEST_KEPT > len(ids))
        size = more_slots * slots.nbytes + more_keys * keys.nbytes + more_ids * ids.nbytes
        if size > most:
            return None
        used = self.used.copy()
        if more_slots > 1:
            slots = np.zeros(2 * len(slots), dtype=np.uint64)
            used[0] = functions.copy_to_larger(self.slots, keys, slots, seeds)
        if more_keys > 1:
            keys = np.concatenate([keys, np.zeros_like(keys)])
        if more_ids > 1:
            ids = np.concatenate([ids, np.zeros_like(ids)])
        return Generation(slots, keys, ids, used)
