"""Texts as bytes that threads look up in parts, and where these are cut."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.kernel.texts import PAD
from tokpar.kernels import IdArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What was found in some rows: `ids`; for each row, how many of them stand before its end, and
    how many stretches were missed before that; of each miss, first byte, length, ids before it."""

    ids: IdArray
    ends: IntArray
    passed: IntArray
    misses: IntArray
    stretches: int


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Where a thread writes while it looks up, kept for the next wave: new pages cost as much."""

    out: IdArray
    misses: IntArray
    scratch: NDArray[np.uint64]

    @classmethod
    def of(cls, size: int, rows: int, block: int) -> Room:
        """For so many bytes in so many rows: a stretch has one byte at least, but for the first of
        a row two."""
        return cls(
            np.empty(size + 2, dtype=np.uint32),
            np.empty(3 * (size // 2 + rows + 1), dtype=np.int64),
            np.empty(4 * block + 8, dtype=np.uint64),
        )


def next_cut(data: NDArray[np.uint8], at: int) -> int:
    """The first space from byte `at` on that stands behind a visible ASCII character, which is one
    of those that `look_up` cuts at, or the end."""
    step = 256
    while at < len(data):
        window = data[at - 1 : at + step]
        here = (window[1:] == 32) & (window[:-1] > 32) & (window[:-1] < 127)
        found = int(here.argmax())
        if here[found]:
            return at + found
        at, step = at + step, 4 * step
    return len(data)


def part_of(
    data: NDArray[np.uint8], start: int, stop: int, parts: int
) -> tuple[NDArray[np.uint8], IntArray]:
    """Bytes `start` to `stop`, with 16 more behind them, cut into so many parts or fewer."""
    places = [next_cut(data, start + (stop - start) * k // parts) for k in range(1, parts)]
    rows = np.unique([start, *(place for place in places if place < stop), stop])
    if stop + PAD <= len(data):
        return data, rows
    last = np.zeros(stop - start + PAD, dtype=np.uint8)
    last[: stop - start] = data[start:stop]
    return last, rows - start


@contextmanager
def beside(work: Callable[[], None], threads: int) -> Iterator[None]:
    """While so many other threads do it too; `threading` would wait until each has started."""
    done = [_thread.allocate_lock() for _ in range(threads)]

    def run(lock: _thread.LockType) -> None:
        try:
            work()
        finally:
            lock.release()

    for lock in done:
        lock.acquire()
        try:
            _thread.start_new_thread(run, (lock,))
        except RuntimeError:  # there can be no more threads: fewer do it
            lock.release()
    yield
    for lock in done:
        lock.acquire()
