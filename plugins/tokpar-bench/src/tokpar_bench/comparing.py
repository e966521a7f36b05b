"""Compare methods: on all texts of a dataset, and on one long text in sweeps.

A sweep varies the length of the text, the size of chunks, the number of workers, or the number of
texts in a batch (LoPT paper, figures 3, 4, 7 and 8)."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from string import ascii_letters

from tokpar_bench.datasets import Dataset
from tokpar_bench.measuring import (
    Experiment,
    JobRun,
    LongText,
    Samples,
    TimedJob,
    encode_job,
    middle,
)
from tokpar_bench.records import CACHE_OFF, AnyRow, MethodRow, Spread, SweepRow
from tokpar_bench.subjects import SERIAL, ComparedMethod, Resources, Subject, suits

NO_EXECUTOR = "none"  # the tokenizer's own call uses no executor
ANY = 0  # the place of a method that does not depend on the swept value
SHORTEST, SMALLEST_CHUNK, LARGEST_BATCH = 1024, 1024, 32
Way = tuple[Subject, str, ComparedMethod]


def comparison(
    part: str,
    dataset: Dataset,
    subjects: Sequence[Subject],
    executors: Sequence[str],
    methods: Sequence[ComparedMethod],
    workers: int,
    resources: Resources,
) -> Experiment:
    """Run every method on every suitable executor in every engine, in turns.

    `subjects` are the engines of one tokenizer. The key of a job is (number of the way, number of
    the text); a way is a subject, an executor and a method."""
    ways: list[Way] = [
        (subject, executor, method)
        for subject in subjects
        for method in methods
        for executor in ([NO_EXECUTOR] if method.name == SERIAL.name else executors)
        # a method with an executor of its own runs once
        if method.executor is None or executor == executors[0]
        if executor == NO_EXECUTOR or suits(subject, executor)
    ]
    jobs = []
    for w, (subject, executor, method) in enumerate(ways):
        for t, text in enumerate(dataset.texts):
            name = "serial" if executor == NO_EXECUTOR else executor
            pool = resources.executor(method.executor or name, workers, subject, len(text))
            jobs.append(encode_job((w, t), subject, method, pool, text))

    def rows(samples: Samples) -> list[AnyRow]:
        found: list[AnyRow] = []
        for w, way in enumerate(ways):
            of_texts = [samples.get((w, t), []) for t in range(len(dataset.texts))]
            if all(of_texts):
                found.append(method_row(part, dataset, way, workers, of_texts))
        return found

    return Experiment(jobs, rows)


def repetitive(dataset: Dataset, seed: int) -> Dataset:
    """Texts as in appendix G of the LoPT paper: each text repeats one drawn letter, at its old
    length."""
    draw = random.Random(seed)
    texts = tuple(draw.choice(ascii_letters) * len(text) for text in dataset.texts)
    return Dataset(f"{dataset.name}, one letter", texts, dataset.origin)


def method_row(
    part: str,
    dataset: Dataset,
    way: Way,
    workers: int,
    of_texts: Sequence[Sequence[JobRun]],
    condition: str = CACHE_OFF,
) -> MethodRow:
    """The row of one method in one engine on one executor. `of_texts`: the samples of each text."""
    subject, executor, method = way
    rounds = list(zip(*of_texts, strict=True))
    last = rounds[-1]
    return MethodRow(
        part=part,
        dataset=dataset.name,
        texts=len(dataset.texts),
        code_points=dataset.code_points,
        tokenizer=subject.tokenizer,
        engine=subject.engine,
        executor=executor,
        workers=workers,
        method=method.name,
        condition=condition,
        strategy=method.strategy_name,
        options=dict(method.options)
        if method.chunks is None
        else {**method.options, "chunk_chars": f"text / {method.chunks}"},
        lossless=all(sample.lossless for turn in rounds for sample in turn),
        texts_equal=statistics.fmean(sample.same for sample in last),
        ids_equal=statistics.fmean(sample.share for sample in last),
        seconds=Spread.of(map(_seconds, rounds)),
        chunks=sum(sample.report.chunks for sample in last),
        retries=sum(sample.report.retries for sample in last),
        repairs=sum(sample.report.repairs for sample in last),
        redundant=sum(sample.report.redundant for sample in last),
        stages=stage_means(middle(rounds, _seconds)),
    )


def _seconds(turn: Sequence[JobRun]) -> float:
    return statistics.fmean(sample.seconds for sample in turn)


def stage_means(samples: Sequence[JobRun]) -> dict[str, float]:
    """Mean seconds of each stage per text. "rest" is the time outside of all stages."""
    sums: defaultdict[str, float] = defaultdict(float)
    for sample in samples:
        stages = sample.report.seconds
        for stage, seconds in {**stages, "rest": sample.seconds - sum(stages.values())}.items():
            sums[stage] += seconds / len(samples)
    return dict(sums)


def sweep(kind: str, long: LongText) -> Experiment:
    """All points of one sweep, in turns. The key of a job is (method, place)."""

    def rows(samples: Samples) -> list[AnyRow]:
        return [
            SweepRow(
                sweep=kind,
                dataset=long.dataset,
                code_points=len(long.text),
                tokenizer=long.subject.tokenizer,
                engine=long.subject.engine,
                method=method,
                condition=CACHE_OFF,
                x=place,
                equal=all(sample.same for sample in found),
                seconds=Spread.of(sample.seconds for sample in found),
            )
            for (method, place), found in samples.items()
        ]

    return Experiment(list(SWEEPS[kind](long)), rows)


def places(first: int, most: int, factor: int) -> list[int]:
    """The places of a sweep: first, first * factor, ... and `most`: 1, 10, 4 -> [1, 4, 10].

    A place closer to `most` than half the factor is left out: 1, 20, 4 -> [1, 4, 20]."""
    found = []
    while first * factor <= 2 * most and first < most:
        found.append(first)
        first *= factor
    return [*found, most] if most else []


def _lengths(long: LongText) -> Iterator[TimedJob]:
    for length in places(SHORTEST, len(long.text), long.factor):
        for method in (SERIAL, *long.methods):
            yield long.job(method, length, long.text[:length], long.workers)


def _chunks(long: LongText) -> Iterator[TimedJob]:
    yield long.job(SERIAL, ANY, long.text, long.workers)
    for size in places(SMALLEST_CHUNK, len(long.text) // 2, long.factor):
        for method in long.methods:
            sized = method.with_options(chunk_chars=size)
            if sized.options.get("chunk_chars") == size:
                yield long.job(sized, size, long.text, long.workers)


def _workers(long: LongText) -> Iterator[TimedJob]:
    yield long.job(SERIAL, ANY, long.text, long.workers)
    for count in places(1, 2 * long.workers, 2):
        for method in long.methods:
            yield long.job(method, count, long.text, count)


def _batches(long: LongText) -> Iterator[TimedJob]:
    length = max(1, len(long.text) // LARGEST_BATCH)
    parts = [long.text[i * length : (i + 1) * length] for i in range(LARGEST_BATCH)]
    for count in places(1, LARGEST_BATCH, 2):
        pool = long.resources.executor(long.executor, long.workers, long.subject, count * length)
        for method in (SERIAL, *long.methods):
            key = method.name, count
            yield encode_job(key, long.subject, method, pool, *parts[:count], batch=True)


SWEEPS: dict[str, Callable[[LongText], Iterator[TimedJob]]] = {
    "length": _lengths,
    "chunk": _chunks,
    "workers": _workers,
    "batch": _batches,
}
