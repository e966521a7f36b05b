"""A run: which experiments, in which order, kept up to an interrupt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tokpar.bench.measuring import Job, Sample, Watch, interleaved
from tokpar.bench.results import Results, Row


@dataclass(frozen=True)
class Experiment:
    """Jobs that are run in turns, and what becomes of their samples."""

    jobs: Sequence[Job[Any]]
    rows: Callable[[dict[Any, list[Sample]]], list[Row]]

    def chars(self, repeats: int) -> int:
        """Code points of all rounds, the one to warm up included."""
        return (repeats + 1) * sum(job.chars for job in self.jobs)


def run(
    experiments: Iterable[Experiment], repeats: int, seed: int, watch: Watch, results: Results
) -> None:
    """Adds the rows of each experiment to `results`, as far as an interrupt lets it."""
    try:
        for experiment in experiments:
            results.add(experiment.rows(interleaved(experiment.jobs, repeats, seed, watch)))
            if watch.stopped:
                break
    except KeyboardInterrupt:
        watch.stopped = True
    results.complete = not watch.stopped
    results.notes += watch.notes
