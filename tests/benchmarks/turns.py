"""Two sides that take turns, so that a busy minute or a warm cache favours neither."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

LEAST_SECONDS = 2.0
"""A row repeats its calls until they took so long."""
MOST_SECONDS = 60.0

Result = TypeVar("Result")
Kept = TypeVar("Kept")
Spread = tuple[float, float, float]
"""Median, least, most."""


@dataclass(frozen=True)
class Turn(Generic[Kept]):
    """Mean seconds of two own calls and of two of tokpar's between them; the last of tokpar's, and
    what was kept of its result."""

    own: float
    tokpar: float
    last: float
    kept: Kept

    @property
    def ratio(self) -> float:
        """Above 1 tokpar is faster."""
        return self.own / self.tokpar


def in_turns(
    own: Callable[[], object],
    ours: Callable[[], Result],
    keep: Callable[[Result], Kept],
    rounds: int,
    parts: int = 1,
) -> Iterator[Turn[Kept]]:
    """One of `parts` equal parts of the turns: own, tokpar, tokpar, own, and each side's mean,
    because the second of two calls of one object finds its tables in the processor's cache, and
    so there is one such call on either side. No ids are kept, which would cost the next call new
    memory, and neither side's are let go while the clock runs."""
    started, done = time.perf_counter(), 0
    while not _enough(done * parts, rounds, (time.perf_counter() - started) * parts):
        before = timed(own)[0]
        first = _keeping(ours, keep)[0]
        second, kept = _keeping(ours, keep)
        after = timed(own)[0]
        yield Turn((before + after) / 2, (first + second) / 2, second, kept)
        done += 1


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds, and what the call gave."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def spread(values: Sequence[float]) -> Spread:
    """[3, 1, 2] -> (2, 1, 3)."""
    return median(values), min(values), max(values)


def _keeping(call: Callable[[], Result], keep: Callable[[Result], Kept]) -> tuple[float, Kept]:
    seconds, result = timed(call)
    return seconds, keep(result)


def _enough(done: int, rounds: int, seconds: float) -> bool:
    return seconds > MOST_SECONDS or (done >= rounds and seconds > LEAST_SECONDS)
