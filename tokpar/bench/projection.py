"""Speed on machines that are not here, from chunk times measured on this one.

Work is the sum of the chunk times, span the longest; everything else of an encode is serial.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

WORKERS = (8, 32, 112)
Calls = Sequence[Sequence[float]]
"""Of each call of the executor, in order, the seconds of each chunk. No call begins before the
one before it has ended."""


def makespan(seconds: Iterable[float], workers: int) -> float:
    """When the last chunk ends, if each worker that is free takes the next one in order:
    [3, 3, 4] on 2 workers -> 7. Raises ValueError for less than one worker."""
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    free = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def longest_first(seconds: Iterable[float]) -> list[float]:
    """Graham's order, whose makespan is at most 4/3 of the best: [3, 3, 4] on 2 workers -> 6."""
    return sorted(seconds, reverse=True)


def projected(serial: float, calls: Calls, workers: int) -> float:
    """Seconds of an encode whose serial stages take `serial`, chunks taken in order."""
    return serial + sum(makespan(seconds, workers) for seconds in calls)


def projected_longest_first(serial: float, calls: Calls, workers: int) -> float:
    """The same, the longest chunk of each call first."""
    return serial + sum(makespan(longest_first(seconds), workers) for seconds in calls)


def bound(serial: float, calls: Calls, workers: int) -> float:
    """Less no order can take: each call needs its share of the work, and its longest chunk."""
    return serial + sum(max(sum(seconds) / workers, max(seconds, default=0.0)) for seconds in calls)


def amdahl(parallel: float, workers: int) -> float:
    """Amdahl's law: speed-up if the share `parallel` of the time is spread over the workers and the
    rest stays as it is; 0.95 on 8 -> 5.93."""
    return 1 / ((1 - parallel) + parallel / workers)
