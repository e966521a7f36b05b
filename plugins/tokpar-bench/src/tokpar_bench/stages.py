"""Where the time of one encode goes: the stages, Amdahl's law, and a projection to more workers.

The projection schedules the measured chunk times; all other time counts as serial. It is compared
with real runs on one and two workers. Runs timed by chunk and real runs take turns in each round,
and the least of the rounds counts."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tokpar.pipeline.sizes import sizes_for
from tokpar.plugin.tokenizer import Executor
from tokpar.process.limits import cpu_count
from tokpar_bench.comparing import stage_means
from tokpar_bench.measuring import (
    Experiment,
    JobRun,
    LongText,
    Samples,
    TimingExecutor,
    encode_job,
    middle,
)
from tokpar_bench.records import CACHE_OFF, AnyRow, ProjectionRow, Spread, StageRow
from tokpar_bench.subjects import SERIAL, suits

BY_CHUNK = ("native", "threads", "processes")
"""Executors that give the engine one chunk after another and cache nothing. "auto" stands for the
first suitable one, because a projection needs chunk times."""
REAL = (1, 2)
WORKERS = (4, 8, 16, 32, 64, 128)  # numbers of workers that are projected and not measured
OWN, ALONE = "own", "alone"
Calls = Sequence[Sequence[float]]
"""For each call of the executor, in order, the seconds of each chunk. A call begins after the call
before it has ended."""


def stages(long: LongText) -> Experiment:
    """Time each method on one worker, chunk by chunk, and on 1 and 2 workers.

    The key of a job is (method, how). There is no job if no executor that gives the engine one
    chunk at a time suits the tokenizer."""
    subject, text = long.subject, long.text
    executor: str | None = long.executor
    if executor == "auto":
        executor = next((name for name in BY_CHUNK if suits(subject, name)), None)
    if executor is None:
        return Experiment([], lambda samples: [])

    def pool(name: str, workers: int) -> Executor:
        return long.resources.executor(name, workers, subject, len(text))

    # a method that tunes itself would not cut a text this short, so it gets a chunk size
    short = len(text) < sizes_for(subject.adapter).smallest_split
    size = {"chunk_chars": max(1, len(text) // 16)}
    jobs = [encode_job((SERIAL.name, OWN), subject, SERIAL, pool("serial", 1), text)]
    for method in long.methods:
        sized = method.with_options(**size) if short and not method.options else method
        timing = TimingExecutor(pool(executor, 1))
        jobs.append(encode_job((method.name, ALONE), subject, sized, timing, text))
        jobs += [
            encode_job((method.name, str(n)), subject, sized, pool(executor, n), text)
            for n in REAL
            if n <= cpu_count()
        ]

    def rows(samples: Samples) -> Iterator[AnyRow]:
        own = samples.get((SERIAL.name, OWN))
        for method in long.methods:
            alone = samples.get((method.name, ALONE))
            if own and alone:
                sample = middle(alone, lambda each: each.seconds)
                row = _stage_row(long, method.name, sample, alone, own)
                measured = {workers: samples.get((method.name, str(workers))) for workers in REAL}
                yield row
                yield from _projection(row, least_times(alone), executor, measured)

    return Experiment(jobs, rows)


def makespan(seconds: Iterable[float], workers: int) -> float:
    """When the last chunk ends, if each free worker takes the next chunk in order: [3, 3, 4] on 2
    workers -> 7.

    Raises ValueError for less than one worker."""
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    free = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def longest_first(calls: Calls) -> Calls:
    """The chunk times in Graham's order, longest first. Its makespan is at most 4/3 of the best:
    [3, 3, 4] on 2 workers -> 6."""
    return [sorted(seconds, reverse=True) for seconds in calls]


def least_times(samples: Sequence[JobRun]) -> tuple[float, Calls]:
    """The serial seconds and the chunk times of an undisturbed run: for each the least of the
    rounds.

    If the rounds do not have the same chunks, the times of the fastest round."""
    if len({tuple(map(len, sample.chunk_seconds)) for sample in samples}) > 1:
        samples = [min(samples, key=lambda sample: sample.seconds)]
    serial = min(sample.seconds - sum(map(sum, sample.chunk_seconds)) for sample in samples)
    rounds = zip(*(sample.chunk_seconds for sample in samples), strict=True)
    return serial, [[min(times) for times in zip(*calls, strict=True)] for calls in rounds]


def projected_seconds(serial: float, calls: Calls, workers: int) -> float:
    """The seconds of an encode with `serial` seconds of serial stages, and chunks taken in
    order."""
    return serial + sum(makespan(seconds, workers) for seconds in calls)


def least_seconds(serial: float, calls: Calls, workers: int) -> float:
    """A lower bound for every order: each call needs its share of the work, and its longest
    chunk."""
    return serial + sum(max(sum(seconds) / workers, max(seconds, default=0.0)) for seconds in calls)


def amdahl(parallel: float, workers: int) -> float:
    """Amdahl's law: the speed-up if the share `parallel` of the time is spread over the workers;
    0.95 on 8 -> 5.93."""
    return 1 / ((1 - parallel) + parallel / workers)


def _stage_row(
    long: LongText, method: str, sample: JobRun, samples: Sequence[JobRun], own: Sequence[JobRun]
) -> StageRow:
    times = [seconds for call in sample.chunk_seconds for seconds in call]
    share = sample.report.seconds.get("tokenize", 0.0) / sample.seconds
    law = {str(workers): amdahl(share, workers) for workers in WORKERS}
    return StageRow(
        dataset=long.dataset,
        code_points=len(long.text),
        tokenizer=long.subject.tokenizer,
        engine=long.subject.engine,
        method=method,
        condition=CACHE_OFF,
        equal=sample.same,
        chunks=sample.report.chunks,
        seconds=Spread.of(each.seconds for each in samples),
        stages=stage_means([sample]),
        work=sum(times),
        span=max(times, default=0.0),
        own=Spread.of(each.seconds for each in own),
        amdahl=law | ({"all": 1 / (1 - share)} if share < 1 else {}),
    )


def _projection(
    row: StageRow,
    times: tuple[float, Calls],
    executor: str,
    samples_by_workers: Mapping[int, list[JobRun] | None],
) -> Iterator[ProjectionRow]:
    serial, calls = times
    for workers in (*REAL, *WORKERS):
        seconds = projected_seconds(serial, calls, workers)
        real = samples_by_workers.get(workers)
        spread = Spread.of(each.seconds for each in real) if real else None
        yield ProjectionRow(
            tokenizer=row.tokenizer,
            engine=row.engine,
            executor=executor,
            method=row.method,
            workers=workers,
            projected=seconds,
            longest_first=projected_seconds(serial, longest_first(calls), workers),
            bound=least_seconds(serial, calls, workers),
            speedup=row.own.least / seconds,
            measured=spread,
            error=None if spread is None else 100 * (seconds / spread.least - 1),
        )
