"""Two sides that take turns, so that a busy minute or a warm cache favours neither."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
