"""Jobs in turns: each round runs every job once, in an order drawn anew, so that neither a busy
minute nor a warm cache favours one method."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tokpar.bench.records import Results, Row
from tokpar.errors import TokparError
from tokpar.types import Report

Item = TypeVar("Item")
Moved = Callable[[int], object]
"""Is told of so many code points when they are done."""


@dataclass(frozen=True)
class Sample:
    """One run of one job. `share`: of the ids, how many are the tokenizer's own.

    `chunk_seconds`: of each call of the executor, the seconds of each chunk.
    """

    seconds: float
    share: float
    report: Report
    lossless: bool
    chunk_seconds: tuple[tuple[float, ...], ...] = ()

    @property
    def same(self) -> bool:
        """All ids are the tokenizer's own."""
        return self.share == 1


Samples = dict[Any, list[Sample]]
"""By the key of the job."""


@dataclass(frozen=True)
class Job:
    """`call` runs once and times itself; `chars` code points are its share of the work. `key` can
    be hashed, and names the job in notes."""

    key: Any
    chars: int
    call: Callable[[], Sample]


@dataclass(frozen=True)
class Experiment:
    """Jobs that are run in turns, and what becomes of their samples."""

    jobs: Sequence[Job]
    rows: Callable[[Samples], Iterable[Row]]

    def chars(self, repeats: int) -> int:
        """Code points of all rounds, the one to warm up included."""
        return (repeats + 1) * sum(job.chars for job in self.jobs)


def run(
    experiments: Iterable[Experiment], repeats: int, seed: int, results: Results, moved: Moved
) -> None:
    """Adds the rows of each experiment to `results`, as far as an interrupt lets it."""
    try:
        for experiment in experiments:
            samples = interleaved(experiment.jobs, repeats, seed, results, moved)
            for row in experiment.rows(samples):
                results.add(row)
            if not results.complete:
                break
    except KeyboardInterrupt:
        results.complete = False


def interleaved(
    jobs: Sequence[Job], repeats: int, seed: int, results: Results, moved: Moved
) -> Samples:
    """`repeats` samples of each job, after one round to warm up.

    A job that raises is named in the notes of `results` and left out. On an interrupt the rounds
    that are complete are kept, and `results` are no longer complete.
    """
    samples: Samples = {job.key: [] for job in jobs}
    draw = random.Random(seed)
    try:
        for turn in range(repeats + 1):
            found = _round(draw.sample(jobs, len(jobs)), samples, results.notes, moved)
            for key, sample in found.items() if turn else ():
                samples[key].append(sample)
    except KeyboardInterrupt:
        results.complete = False
    return {key: found for key, found in samples.items() if found}


def _round(
    jobs: Iterable[Job], samples: Samples, notes: list[str], moved: Moved
) -> dict[Any, Sample]:
    found: dict[Any, Sample] = {}
    for job in jobs:
        if job.key in samples:
            try:
                found[job.key] = job.call()
            except (TokparError, ValueError) as error:
                del samples[job.key]
                notes.append(f"{job.key}: {error}")
        moved(job.chars)
    return found


def middle(items: Sequence[Item], seconds: Callable[[Item], float]) -> Item:
    """The one of median duration, the faster of two."""
    return sorted(items, key=seconds)[(len(items) - 1) // 2]
