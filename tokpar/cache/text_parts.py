"""Cuts the bytes of texts into parts that threads look up, and runs the threads."""

from __future__ import annotations

import _thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.cache.utf8_texts import PAD
from tokpar.facts.space_stages import SpaceCut

_T = TypeVar("_T")


ANYTHING = np.full(1, 7, dtype=np.uint8)
"""The argument `neighbours` of `look_up` if any byte may stand next to a cut."""


def neighbours_of(cut: SpaceCut | None) -> NDArray[np.uint8]:
    """Returns the argument `neighbours` of `look_up`: where each byte may stand next to a cut."""
    if cut is None:
        return ANYTHING
    return np.frombuffer(cut.sides[:128] + cut.sides[128:] * 128, dtype=np.uint8)


def next_cut(data: NDArray[np.uint8], place: int, neighbours: NDArray[np.uint8] = ANYTHING) -> int:
    """Returns the first place from byte `place` on where `look_up` cuts, or the end of `data`.

    Only a space after a visible ASCII character is found. If `neighbours` bars some bytes, all
    bytes next to the space must be ASCII and allowed."""
    step, barred = 256, len(neighbours) > 1
    while place < len(data):
        window = data[place - 1 : place + step]
        here = (window[1:] == 32) & (window[:-1] > 32) & (window[:-1] < 127)
        for found in (place + np.flatnonzero(here)).tolist():
            if not barred or _may_cut(data[max(0, found - 2) : found + 2], neighbours):
                return int(found)
        place, step = place + step, 4 * step
    return len(data)


def _may_cut(four: NDArray[np.uint8], neighbours: NDArray[np.uint8]) -> bool:
    """True if the four bytes are ASCII, and no byte bars the cut before the third byte."""
    if len(four) < 4 or four.max() > 126:
        return False
    further, before, _, behind = neighbours[four].tolist()
    return bool(before & further >> 1 & behind >> 2 & 1)


def part_of(
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    parts: int,
    neighbours: NDArray[np.uint8] = ANYTHING,
) -> tuple[NDArray[np.uint8], IntArray]:
    """Returns the bytes [start, stop) with 16 bytes after them, and the edges of at most `parts`
    parts."""
    wanted = (start + (stop - start) * k // parts for k in range(1, parts))
    places = [next_cut(data, place, neighbours) for place in wanted]
    rows = np.unique([start, *(place for place in places if place < stop), stop])
    if stop + PAD <= len(data):
        return data, rows
    last = np.zeros(stop - start + PAD, dtype=np.uint8)
    last[: stop - start] = data[start:stop]
    return last, rows - start


def in_threads(jobs: Sequence[Callable[[], _T]], workers: int) -> list[_T]:
    """Run the jobs on `workers` threads, the calling thread included. Returns their results.

    Each thread takes job after job, so a slow thread takes fewer jobs. Raises the first error in
    the order of the jobs. An interrupt may leave a thread running."""
    if len(jobs) == 1:
        return [jobs[0]()]
    found: list[_T | BaseException | None] = [None] * len(jobs)
    waiting = deque(enumerate(jobs))

    def work() -> None:
        with suppress(IndexError):  # no job is waiting
            while True:
                k, job = waiting.popleft()
                try:
                    found[k] = job()
                except BaseException as error:  # raised again below, in the calling thread
                    found[k] = error

    with extra_threads(work, min(workers, len(jobs)) - 1):
        work()
    done: list[_T] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        done.append(each)  # type: ignore[arg-type]  # a job may return None
    return done


@contextmanager
def extra_threads(work: Callable[[], None], threads: int) -> Iterator[None]:
    """Run `work` on `threads` extra threads for the duration of the block.

    `threading` is not used, because it waits until each thread has started."""
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
        except RuntimeError:  # no more threads can be started: fewer threads run `work`
            lock.release()
    yield
    for lock in done:
        lock.acquire()
