"""Time the same text under four conditions: cache off, cold, warm and seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from tokpar_bench.comparing import NO_EXECUTOR, method_row
from tokpar_bench.datasets import Dataset
from tokpar_bench.measuring import Experiment, JobRun, Samples, TimedJob, encode_job
from tokpar_bench.records import CACHE_OFF, CONDITIONS, SEEN, WARM, AnyRow
from tokpar_bench.subjects import SERIAL, ComparedMethod, Resources, Subject

PART = "conditions"


class ConditionRuns:
    """Encode the second half of a text with one method, under a given condition.

    `CACHE_OFF` and `SEEN` use the same object in all rounds. `COLD` and `WARM` load a new object
    each time."""

    def __init__(
        self,
        subject: Subject,
        method: ComparedMethod,
        workers: int,
        resources: Resources,
        text: str,
    ) -> None:
        half = len(text) // 2
        self.first, self.second = text[:half], text[half:]
        self._subject, self._method = subject, method
        self._workers, self._resources = workers, resources
        self._jobs: dict[str, TimedJob] = {}

    def run(self, condition: str) -> JobRun:
        """The timed sample. Work that prepares the condition is not timed."""
        for text in (self.first, self.second):  # not timed, on the object without a cache
            self._subject.own_ids(text)
        if condition not in (CACHE_OFF, SEEN):
            subject = self._fresh()
            if condition == WARM:
                self._job(subject, self.first).call()
            return self._job(subject, self.second).call()
        if condition not in self._jobs:
            subject = self._subject if condition == CACHE_OFF else self._fresh()
            self._jobs[condition] = self._job(subject, self.second)
            self._jobs[condition].call()
        return self._jobs[condition].call()

    def _fresh(self) -> Subject:
        return replace(self._subject, adapter=self._subject.fresh())

    def _job(self, subject: Subject, text: str) -> TimedJob:
        name = "serial" if self._method == SERIAL else "auto"
        executor = self._resources.executor(name, self._workers, subject, len(text))
        return encode_job("", subject, self._method, executor, text)


WITHOUT_CACHE = ("delimiter", "overlap", "lopt", "recursive", "blocks")
"""Strategies that never consult the cache of segments."""


def has_cache(method: ComparedMethod) -> bool:
    """True if the method is timed under all four conditions.

    A method that does not consult the cache is timed with the cache off only; the other conditions
    would give the same time."""
    return method.strategy_name not in WITHOUT_CACHE


def conditions(
    dataset: Dataset,
    subject: Subject,
    methods: Sequence[ComparedMethod],
    workers: int,
    resources: Resources,
    chars: int,
) -> Experiment:
    """Time the own call and each method under each condition, on the second half of a text.

    The text is the dataset's texts joined, at most `chars` code points. The key of a job is
    (method, condition)."""
    text = "".join(dataset.texts)[:chars]
    timed = Dataset(dataset.name, (text[len(text) // 2 :],), dataset.origin)
    compared = [SERIAL, *(method for method in methods if method != SERIAL)]
    runs = {
        method.name: ConditionRuns(subject, method, workers, resources, text) for method in compared
    }

    def call(method: ComparedMethod, condition: str) -> JobRun:
        return runs[method.name].run(condition)

    def rows(samples: Samples) -> Iterator[AnyRow]:
        for method in compared:
            executor = NO_EXECUTOR if method == SERIAL else "auto"
            for condition in CONDITIONS:
                found = samples.get((method.name, condition))
                if found:
                    way = (subject, executor, method)
                    yield method_row(PART, timed, way, workers, [found], condition)

    jobs = [
        TimedJob((method.name, condition), len(text) // 2, partial(call, method, condition))
        for method in compared
        for condition in CONDITIONS
        if condition == CACHE_OFF or has_cache(method)
    ]
    return Experiment(jobs, rows)
