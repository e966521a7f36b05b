"""Where the time of one encode goes, what Amdahl's law makes of it, and what a schedule of the
measured chunk times does, beside real runs on one and two workers."""

from __future__ import annotations

from collections.abc import Sequence

from tokpar.bench.comparing import stage_means
from tokpar.bench.laboratory import Experiment
from tokpar.bench.measuring import Sample, Spread, middle
from tokpar.bench.methods import SERIAL, Method
from tokpar.bench.projection import (
    WORKERS,
    amdahl,
    bound,
    projected,
    projected_longest_first,
)
from tokpar.bench.results import ProjectionRow, Row, StageRow
from tokpar.bench.runs import TimingExecutor, encode_job
from tokpar.bench.subjects import Opened, Subject
from tokpar.executors.workers import cpu_count
from tokpar.methods.sizes import fit_for

REAL = (1, 2)
OWN, ALONE = "own", "alone"
_Key = tuple[str, str]


def stages(
    dataset: str,
    text: str,
    subject: Subject,
    methods: Sequence[Method],
    executor: str,
    opened: Opened,
) -> Experiment:
    """Of each method: alone, chunk by chunk, and on 1 and 2 workers. A key is (method, how)."""
    jobs = [encode_job((SERIAL.name, OWN), subject, SERIAL, "serial", text)]
    real = [workers for workers in REAL if workers <= cpu_count()]
    for method in methods:
        timing = TimingExecutor(opened.executor(executor, 1, subject, len(text)))
        jobs.append(encode_job((method.name, ALONE), subject, method, timing, text))
        for workers in real:
            pool = opened.executor(executor, workers, subject, len(text))
            jobs.append(encode_job((method.name, str(workers)), subject, method, pool, text))

    def rows(samples: dict[_Key, list[Sample]]) -> list[Row]:
        own = samples.get((SERIAL.name, OWN))
        if not own:
            return []
        found: list[Row] = []
        for method in methods:
            alone = samples.get((method.name, ALONE))
            if alone:
                first = _stage_row(dataset, len(text), subject, method, alone, own)
                measured = {workers: samples.get((method.name, str(workers))) for workers in real}
                found += [first, *_projection(first, middle(alone), executor, measured)]
        return found

    return Experiment(jobs, rows)


def staged(methods: Sequence[Method], text: str, subject: Subject) -> list[Method]:
    """Methods that split; the tuned ones in chunks even where the text is short for that."""
    smallest = fit_for(subject.adapter).smallest_split
    return [
        method.with_options(chunk_chars=max(1, len(text) // 16))
        if not method.options and len(text) < smallest
        else method
        for method in methods
        if method.strategy != SERIAL.strategy
    ]


def _stage_row(
    dataset: str,
    length: int,
    subject: Subject,
    method: Method,
    alone: Sequence[Sample],
    own: Sequence[Sample],
) -> StageRow:
    sample = middle(alone)
    times = [seconds for call in sample.chunk_seconds for seconds in call]
    share = sample.report.seconds.get("tokenize", 0.0) / sample.seconds
    law = {str(workers): amdahl(share, workers) for workers in WORKERS}
    return StageRow(
        dataset=dataset,
        code_points=length,
        tokenizer=subject.tokenizer,
        engine=subject.engine,
        method=method.name,
        equal=sample.same,
        chunks=sample.report.chunks,
        seconds=Spread.of(each.seconds for each in alone),
        stages=stage_means([sample]),
        work=sum(times),
        span=max(times, default=0.0),
        own=Spread.of(each.seconds for each in own),
        amdahl=law | ({"all": 1 / (1 - share)} if share < 1 else {}),
    )


def _projection(
    row: StageRow, sample: Sample, executor: str, measured: dict[int, list[Sample] | None]
) -> list[ProjectionRow]:
    serial = sample.seconds - row.work
    found = []
    for workers in (*REAL, *WORKERS):
        seconds = projected(serial, sample.chunk_seconds, workers)
        real = measured.get(workers)
        spread = Spread.of(each.seconds for each in real) if real else None
        found.append(
            ProjectionRow(
                tokenizer=row.tokenizer,
                engine=row.engine,
                executor=executor,
                method=row.method,
                workers=workers,
                projected=seconds,
                longest_first=projected_longest_first(serial, sample.chunk_seconds, workers),
                bound=bound(serial, sample.chunk_seconds, workers),
                speedup=row.own.median / seconds,
                measured=spread,
                error=None if spread is None else 100 * (seconds / spread.median - 1),
            )
        )
    return found
