"""Jobs in turns: each round runs every job once, in an order drawn anew, so that neither a busy
minute nor a warm cache favours one method."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tokpar.errors import TokparError
from tokpar.types import Report

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Spread:
    """Five numbers of a sample: least, lower quartile, median, upper quartile, most."""

    least: float
    lower: float
    median: float
    upper: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """[1, 2, 3, 4, 5] -> 1, 2, 3, 4, 5; quartiles by linear interpolation, both ends counted.
        Raises ValueError for no value."""
        found = sorted(values)
        if not found:
            raise ValueError("expected at least one value, got none")
        two = found * 2 if len(found) == 1 else found
        lower, median, upper = statistics.quantiles(two, n=4, method="inclusive")
        return cls(found[0], lower, median, upper, found[-1], len(found))


@dataclass(frozen=True)
class Sample:
    """One run of one job. `same`: all ids are the tokenizer's own; `share`: of the ids, how many.

    `chunk_seconds`: of each call of the executor, the seconds of each chunk.
    """

    seconds: float
    same: bool
    share: float
    report: Report
    lossless: bool
    chunk_seconds: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Job(Generic[Key]):
    """`call` runs once and times itself; `chars` code points are its share of the work."""

    key: Key
    chars: int
    call: Callable[[], Sample]


@dataclass
class Watch:
    """Who is told of progress, and what came up. `stopped`: by an interrupt."""

    moved: Callable[[int], object] = lambda chars: None
    stopped: bool = False
    notes: list[str] = field(default_factory=list)


def interleaved(
    jobs: Sequence[Job[Key]], repeats: int, seed: int, watch: Watch
) -> dict[Key, list[Sample]]:
    """`repeats` samples of each job, after one round to warm up.

    A job that raises is named in the notes and left out. On an interrupt the rounds that are
    complete are kept.
    """
    samples: dict[Key, list[Sample]] = {job.key: [] for job in jobs}
    draw = random.Random(seed)
    try:
        for turn in range(repeats + 1):
            found = _round(draw.sample(jobs, len(jobs)), samples, watch)
            for key, sample in found.items() if turn else ():
                samples[key].append(sample)
    except KeyboardInterrupt:
        watch.stopped = True
    return {key: found for key, found in samples.items() if found}


def _round(
    jobs: Iterable[Job[Key]], samples: dict[Key, list[Sample]], watch: Watch
) -> dict[Key, Sample]:
    found: dict[Key, Sample] = {}
    for job in jobs:
        if job.key in samples:
            try:
                found[job.key] = job.call()
            except (TokparError, ValueError) as error:
                del samples[job.key]
                watch.notes.append(f"{job.key}: {error}")
        watch.moved(job.chars)
    return found


def middle(samples: Sequence[Sample]) -> Sample:
    """The sample of median duration, the faster of two."""
    return sorted(samples, key=lambda sample: sample.seconds)[(len(samples) - 1) // 2]
