"""Two sides that take turns, so that a busy minute or a warm cache favours neither."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

LEAST_SECONDS = 2.0
"""A row repeats its calls until they took so long."""

Result = TypeVar("Result")
Spread = tuple[float, float, float]
"""Median, least, most."""


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds, and what the call gave."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def spread(values: Sequence[float]) -> Spread:
    """[3, 1, 2] -> (2, 1, 3)."""
    return median(values), min(values), max(values)
