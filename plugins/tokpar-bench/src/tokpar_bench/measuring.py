"""Timed runs of methods: the share of ids that equal the tokenizer's own ids, and the time of each
chunk.

Jobs run in turns. Each round has a new random order, so that neither a busy minute nor a warm cache
favours one method."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import tokpar
from tokpar import EngineError, Rows, TokparError
from tokpar.pipeline.plan import executor_name_of
from tokpar.plugin.tokenizer import Executor, IdArray, TokenizerAdapter, first_difference
from tokpar.types import Report
from tokpar_bench.records import AnyRow, BenchResults
from tokpar_bench.subjects import ComparedMethod, Resources, Subject

WINDOW = 1024
RUN = 4  # so many equal ids in a row end a difference between two sequences
Item = TypeVar("Item")
OnProgress = Callable[[int], object]  # called with the number of code points that are done


@dataclass(frozen=True)
class JobRun:
    """One run of one job. `share`: the share of the ids that are the tokenizer's own, 0 to 1.

    `chunk_seconds`: for each call of the executor, the seconds of each chunk."""

    seconds: float
    share: float
    report: Report
    lossless: bool
    chunk_seconds: tuple[tuple[float, ...], ...] = ()

    @property
    def same(self) -> bool:
        """True if all ids are the tokenizer's own."""
        return self.share == 1


Samples = dict[Any, list[JobRun]]  # by the key of the job


@dataclass(frozen=True)
class TimedJob:
    """A job: `call` runs once and times itself, on `chars` code points. `key` names the job; it is
    hashable."""

    key: Any
    chars: int
    call: Callable[[], JobRun]


@dataclass(frozen=True)
class Experiment:
    """Jobs that run in turns, and the function that makes rows of their samples."""

    jobs: Sequence[TimedJob]
    rows: Callable[[Samples], Iterable[AnyRow]]

    def chars(self, repeats: int) -> int:
        """The code points of all rounds, including the warm-up round."""
        return (repeats + 1) * sum(job.chars for job in self.jobs)


def run(
    experiments: Iterable[Experiment],
    repeats: int,
    seed: int,
    results: BenchResults,
    on_progress: OnProgress,
    seconds: float | None = None,
) -> None:
    """Add the rows of each experiment to `results`. An interrupt ends the run after the rows so
    far.

    `seconds`: see `interleave`."""
    try:
        for experiment in experiments:
            samples = interleave(experiment.jobs, repeats, seed, results, on_progress, seconds)
            for row in experiment.rows(samples):
                results.add(row)
            if not results.complete:
                break
    except KeyboardInterrupt:
        results.complete = False


def interleave(
    jobs: Sequence[TimedJob],
    repeats: int,
    seed: int,
    results: BenchResults,
    on_progress: OnProgress,
    seconds: float | None = None,
) -> Samples:
    """`repeats` samples of each job, after one warm-up round. No round begins after `seconds`
    seconds.

    If the first round alone takes that long, it counts instead of warming up. A job that raises is
    named in the notes and left out. After an interrupt, the samples of complete rounds are kept."""
    samples: Samples = {job.key: [] for job in jobs}
    draw = random.Random(seed)
    start = time.perf_counter()
    try:
        for turn in range(repeats + 1):
            found = _round(draw.sample(jobs, len(jobs)), samples, results.notes, on_progress)
            late = seconds is not None and time.perf_counter() - start > seconds
            for key, sample in found.items() if turn or late else ():
                samples[key].append(sample)
            if late:
                on_progress((repeats - turn) * sum(job.chars for job in jobs))
                break
    except KeyboardInterrupt:
        results.complete = False
    return {key: found for key, found in samples.items() if found}


def _round(
    jobs: Iterable[TimedJob], samples: Samples, notes: list[str], on_progress: OnProgress
) -> dict[Any, JobRun]:
    found: dict[Any, JobRun] = {}
    for job in jobs:
        if job.key in samples:
            try:
                found[job.key] = job.call()
            except (TokparError, ValueError) as error:
                del samples[job.key]
                notes.append(f"{job.key}: {error}")
        on_progress(job.chars)
    return found


def middle(items: Sequence[Item], seconds: Callable[[Item], float]) -> Item:
    """The item of median duration; of two items, the faster one."""
    return sorted(items, key=seconds)[(len(items) - 1) // 2]


class TimingExecutor:
    """Give another executor one chunk at a time. `calls`: for each call, the seconds of each
    chunk."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.name = inner.name
        self.used_name = executor_name_of(inner)
        self.calls: list[tuple[float, ...]] = []

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError."""

        def encode_one(text: str) -> Rows:
            return self._inner.map([text], tokenizer, spans)

        return Rows.concatenate(self._time(texts, encode_one))

    def _time(self, texts: Sequence[str], call: Callable[[str], Item]) -> list[Item]:
        found: list[Item] = []
        seconds: list[float] = []
        for k, text in enumerate(texts):
            start = time.perf_counter()
            try:
                found.append(call(text))
            except EngineError as error:
                error.row = k
                raise
            seconds.append(time.perf_counter() - start)
        self.calls.append(tuple(seconds))
        return found


def encode_job(
    key: Any,
    subject: Subject,
    method: ComparedMethod,
    executor: Executor,
    *texts: str,
    batch: bool = False,
) -> TimedJob:
    """A job that encodes one text, or with `batch` several texts in one call.

    The time is per text, the report is the report of the first text. The ids are compared with the
    tokenizer's own ids; that is not timed. Raises OptionError for an option that the method's
    strategy does not have."""
    encoder = tokpar.Encoder(
        subject.adapter,
        strategy=method.strategy,
        executor=executor,
        allow_approximate=True,
        **method.options_for(len(texts[0])),
    )
    calls = executor.calls if isinstance(executor, TimingExecutor) else []

    def call() -> JobRun:
        own = [subject.own_ids(text) for text in texts]
        calls.clear()
        start = time.perf_counter()
        found = encoder.encode_batch(texts) if batch else [encoder.encode(texts[0])]
        seconds = (time.perf_counter() - start) / len(texts)
        share = statistics.fmean(
            shared_ids(encoding.ids, ids) for encoding, ids in zip(found, own, strict=True)
        )
        lossless = all(encoding.lossless for encoding in found)
        return JobRun(seconds, share, found[0].report, lossless, tuple(calls))

    return TimedJob(key, sum(map(len, texts)), call)


@dataclass(frozen=True, eq=False)
class LongText:
    """The values that stay the same while stages are timed or one value is swept on a long text.

    `factor`: from one place of a sweep to the next. Workers and batch sizes double instead."""

    dataset: str
    text: str
    subject: Subject
    methods: Sequence[ComparedMethod]
    executor: str
    workers: int
    resources: Resources
    factor: int = 4

    def job(self, method: ComparedMethod, place: int, text: str, workers: int) -> TimedJob:
        """A job with the key (method, place)."""
        name = method.executor or self.executor
        pool = self.resources.executor(name, workers, self.subject, len(text))
        return encode_job((method.name, place), self.subject, method, pool, text)


def shared_ids(ids: IdArray, own: IdArray) -> float:
    """The share of the longer sequence that is equal in both, in step.

    [1, 2, 9, 4, 5, 6, 7] and [1, 2, 3, 4, 5, 6, 7] -> 6 / 7. A difference ends at the nearest RUN
    equal ids within WINDOW ids; if there are none, all ids from there on count as wrong. 1.0 only
    for equal sequences."""
    i = j = shared = 0
    while True:
        same = first_difference(ids[i:], own[j:])
        shared, i, j = shared + same, i + same, j + same
        step = _in_step_again(ids[i : i + WINDOW], own[j : j + WINDOW])
        if step is None:
            longer = max(len(ids), len(own))
            return shared / longer if longer else 1.0
        i, j = i + step[0], j + step[1]


def _in_step_again(left: IdArray, right: IdArray) -> tuple[int, int] | None:
    """How many ids to skip in each sequence until RUN ids are equal; the two numbers with the least
    sum. None if there are no such ids."""
    places: dict[bytes, int] = {}
    for place in range(len(right) - RUN, -1, -1):
        places[right[place : place + RUN].tobytes()] = place
    found = (
        (place, places[key])
        for place in range(len(left) - RUN + 1)
        if (key := left[place : place + RUN].tobytes()) in places
    )
    return min(found, key=sum, default=None)
