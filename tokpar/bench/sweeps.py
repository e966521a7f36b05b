"""Latency over the length of the text, the size of chunks, the number of workers and the number of
texts in a batch: figures 3, 4, 7 and 8 of the LoPT paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokpar.bench.measuring import Experiment, Job, Samples
from tokpar.bench.methods import SERIAL
from tokpar.bench.results import Row, Spread, SweepRow
from tokpar.bench.runs import LongText, encode_job

ANY = 0
"""The place of a method that does not depend on what is swept."""
SHORTEST, SMALLEST_CHUNK, LARGEST_BATCH = 1024, 1024, 32


def sweep(kind: str, long: LongText) -> Experiment:
    """All points of one sweep, in turns; a key is (method, place)."""

    def rows(samples: Samples) -> list[Row]:
        return [
            SweepRow(
                sweep=kind,
                dataset=long.dataset,
                code_points=len(long.text),
                tokenizer=long.subject.tokenizer,
                engine=long.subject.engine,
                method=method,
                x=place,
                equal=all(sample.same for sample in found),
                seconds=Spread.of(sample.seconds for sample in found),
            )
            for (method, place), found in samples.items()
        ]

    return Experiment(list(SWEEPS[kind](long)), rows)


def places(first: int, most: int, factor: int) -> list[int]:
    """first, first * factor, ... and `most`: 1, 10, 4 -> [1, 4, 10]. What is closer to `most` than
    half the factor is left out: 1, 20, 4 -> [1, 4, 20]."""
    found = []
    while first * factor <= 2 * most and first < most:
        found.append(first)
        first *= factor
    return [*found, most] if most else []


def _lengths(long: LongText) -> Iterator[Job]:
    for length in places(SHORTEST, len(long.text), long.factor):
        for method in (SERIAL, *long.methods):
            yield long.job(method, length, long.text[:length], long.workers)


def _chunks(long: LongText) -> Iterator[Job]:
    yield long.job(SERIAL, ANY, long.text, long.workers)
    for size in places(SMALLEST_CHUNK, len(long.text) // 2, long.factor):
        for method in long.methods:
            sized = method.with_options(chunk_chars=size)
            if sized.options.get("chunk_chars") == size:
                yield long.job(sized, size, long.text, long.workers)


def _workers(long: LongText) -> Iterator[Job]:
    yield long.job(SERIAL, ANY, long.text, long.workers)
    for count in places(1, 2 * long.workers, 2):
        for method in long.methods:
            yield long.job(method, count, long.text, count)


def _batches(long: LongText) -> Iterator[Job]:
    length = max(1, len(long.text) // LARGEST_BATCH)
    parts = [long.text[i * length : (i + 1) * length] for i in range(LARGEST_BATCH)]
    for count in places(1, LARGEST_BATCH, 2):
        pool = long.opened.executor(long.executor, long.workers, long.subject, count * length)
        for method in (SERIAL, *long.methods):
            key, texts = (method.name, count), parts[:count]
            yield encode_job(key, long.subject, method, pool, *texts, batch=True)


SWEEPS: dict[str, Callable[[LongText], Iterator[Job]]] = {
    "length": _lengths,
    "chunk": _chunks,
    "workers": _workers,
    "batch": _batches,
}
