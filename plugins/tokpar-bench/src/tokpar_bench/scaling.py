"""Table 2 of the LoPT paper: one chunk per worker, on 1, 2, 4, ... workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokpar.process.limits import cpu_count
from tokpar_bench.comparing import places, stage_means
from tokpar_bench.measuring import Experiment, JobRun, LongText, Samples, encode_job, middle
from tokpar_bench.records import CACHE_OFF, AnyRow, ScalingRow, Spread
from tokpar_bench.stages import BY_CHUNK
from tokpar_bench.subjects import SERIAL, ComparedMethod, suits

PART = "scaling"
OWN = (SERIAL.name, 1)


def scaling(long: LongText, methods: Sequence[ComparedMethod]) -> Experiment:
    """Time each method with as many chunks as workers, on up to as many workers as this machine has
    cores.

    The key of a job is (method, workers). There is no job if no executor that gives the engine one
    chunk at a time suits the tokenizer."""
    subject, text = long.subject, long.text
    executor = next((name for name in BY_CHUNK if suits(subject, name)), None)
    if executor is None:
        return Experiment([], lambda samples: [])
    pool = long.resources.executor("serial", 1, subject, len(text))
    jobs = [encode_job(OWN, subject, SERIAL, pool, text)]
    counts = places(1, cpu_count(), 2)
    for method in methods:
        for workers in counts:
            pool = long.resources.executor(method.executor or executor, workers, subject, len(text))
            jobs.append(
                encode_job((method.name, workers), subject, method.with_chunks(workers), pool, text)
            )

    def rows(samples: Samples) -> Iterator[AnyRow]:
        own = samples.get(OWN)
        for method in methods:
            for workers in counts:
                found = samples.get((method.name, workers))
                if own and found:
                    yield _row(long, method.name, executor, workers, found, own)

    return Experiment(jobs, rows)


def _row(
    long: LongText,
    method: str,
    executor: str,
    workers: int,
    samples: Sequence[JobRun],
    own: Sequence[JobRun],
) -> ScalingRow:
    return ScalingRow(
        dataset=long.dataset,
        code_points=len(long.text),
        tokenizer=long.subject.tokenizer,
        engine=long.subject.engine,
        method=method,
        condition=CACHE_OFF,
        seconds=Spread.of(sample.seconds for sample in samples),
        executor=executor,
        workers=workers,
        equal=all(sample.same for sample in samples),
        stages=stage_means([middle(samples, lambda each: each.seconds)]),
        own=Spread.of(sample.seconds for sample in own),
    )
