"""Texts as bytes that threads look up in parts, and where these are cut."""

from __future__ import annotations

import _thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray
from tokpar.cache.text_arrays import PAD
from tokpar.facts.space_stages import SpaceCut

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What was found in some rows: `ids`; for each row, how many of them stand before its end, and
    how many segments were missed before that; of each miss, first byte, length, ids before it."""

    ids: IdArray
    ends: IntArray
    passed: IntArray
    misses: IntArray
    segments: int


@dataclass(frozen=True, slots=True, eq=False)
class Scratch:
    """Where a thread writes while it looks up, kept for the next wave: new pages cost as much."""

    out: IdArray
    misses: IntArray
    scratch: NDArray[np.uint64]

    @classmethod
    def of(cls, size: int, rows: int, block: int) -> Scratch:
        """For so many bytes in so many rows: a segment has one byte at least, but for the first of
        a row two."""
        return cls(
            np.empty(size + 2, dtype=np.uint32),
            np.empty(3 * (size // 2 + rows + 1), dtype=np.int64),
            np.empty(4 * block + 8, dtype=np.uint64),
        )


ANYTHING = np.full(1, 7, dtype=np.uint8)
"""Bytes beside a cut where none is barred."""


def beside_of(cut: SpaceCut | None) -> NDArray[np.uint8]:
    """What `look_up` takes: where each byte may stand; all but ASCII ones may anywhere."""
    if cut is None:
        return ANYTHING
    return np.frombuffer(cut.sides[:128] + cut.sides[128:] * 128, dtype=np.uint8)


def next_cut(data: NDArray[np.uint8], at: int, beside: NDArray[np.uint8] = ANYTHING) -> int:
    """The first space from byte `at` on that stands behind a visible ASCII character, and between
    others if bytes may be barred: it is one of those that `look_up` cuts at. Or the end."""
    step, barred = 256, len(beside) > 1
    while at < len(data):
        window = data[at - 1 : at + step]
        here = (window[1:] == 32) & (window[:-1] > 32) & (window[:-1] < 127)
        for found in (at + np.flatnonzero(here)).tolist():
            if not barred or _free(data[max(0, found - 2) : found + 2], beside):
                return int(found)
        at, step = at + step, 4 * step
    return len(data)


def _free(around: NDArray[np.uint8], beside: NDArray[np.uint8]) -> bool:
    """The four bytes are ASCII, and none of them bars the cut before the third."""
    if len(around) < 4 or around.max() > 126:
        return False
    further, before, _, behind = beside[around].tolist()
    return bool(before & further >> 1 & behind >> 2 & 1)


def part_of(
    data: NDArray[np.uint8], start: int, stop: int, parts: int, beside: NDArray[np.uint8] = ANYTHING
) -> tuple[NDArray[np.uint8], IntArray]:
    """Bytes `start` to `stop`, with 16 more behind them, cut into so many parts or fewer."""
    wanted = (start + (stop - start) * k // parts for k in range(1, parts))
    places = [next_cut(data, place, beside) for place in wanted]
    rows = np.unique([start, *(place for place in places if place < stop), stop])
    if stop + PAD <= len(data):
        return data, rows
    last = np.zeros(stop - start + PAD, dtype=np.uint8)
    last[: stop - start] = data[start:stop]
    return last, rows - start


def in_threads(jobs: Sequence[Callable[[], _T]], workers: int) -> list[_T]:
    """What the jobs return, done by so many threads, this one among them, that take one after the
    other: one that is held up has fewer. Raises what one of them raises. An interrupt may leave a
    thread behind."""
    found: list[_T | BaseException | None] = [None] * len(jobs)
    left = deque(enumerate(jobs))

    def work() -> None:
        with suppress(IndexError):  # none is left
            while True:
                k, job = left.popleft()
                try:
                    found[k] = job()
                except BaseException as error:  # raised again below, by who asked
                    found[k] = error

    with beside(work, min(workers, len(jobs)) - 1):
        work()
    done: list[_T] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        done.append(each)  # type: ignore[arg-type]  # a job may return None
    return done


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
