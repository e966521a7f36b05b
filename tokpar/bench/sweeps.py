"""Latency over the length of the text, the size of chunks, the number of workers and the number of
texts in a batch: figures 3, 4, 7 and 8 of the LoPT paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokpar.bench.laboratory import Experiment
from tokpar.bench.measuring import Job, Sample, Spread
from tokpar.bench.methods import SERIAL, Method
from tokpar.bench.results import Row, SweepRow
from tokpar.bench.runs import batch_job, encode_job
from tokpar.bench.subjects import Opened, Subject

ANY = 0
"""The place of a method that does not depend on what is swept."""
SHORTEST, SMALLEST_CHUNK, LARGEST_BATCH = 1024, 1024, 32
_Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Swept:
    """What stays as it is while one thing is swept. `factor`: from one place to the next, but for
    workers and batch, which double."""

    dataset: str
    text: str
    subject: Subject
    methods: Sequence[Method]
    executor: str
    workers: int
    opened: Opened
    factor: int = 4

    def job(self, method: Method, place: int, text: str, workers: int) -> Job[_Key]:
        pool = self.opened.executor(self.executor, workers, self.subject, len(text))
        return encode_job((method.name, place), self.subject, method, pool, text)


def sweep(kind: str, swept: Swept) -> Experiment:
    """All points of one sweep, in turns; a key is (method, place)."""

    def rows(samples: dict[_Key, list[Sample]]) -> list[Row]:
        return [
            SweepRow(
                sweep=kind,
                dataset=swept.dataset,
                code_points=len(swept.text),
                tokenizer=swept.subject.tokenizer,
                engine=swept.subject.engine,
                method=method,
                x=place,
                equal=all(sample.same for sample in found),
                seconds=Spread.of(sample.seconds for sample in found),
            )
            for (method, place), found in samples.items()
        ]

    return Experiment(list(SWEEPS[kind](swept)), rows)


def places(first: int, most: int, factor: int) -> list[int]:
    """first, first * factor, ... and `most`: 1, 10, 4 -> [1, 4, 10]. What is closer to `most` than
    half the factor is left out: 1, 20, 4 -> [1, 4, 20]."""
    found = []
    while first * factor <= 2 * most and first < most:
        found.append(first)
        first *= factor
    return [*found, most] if most else []


def _lengths(swept: Swept) -> Iterator[Job[_Key]]:
    for length in places(SHORTEST, len(swept.text), swept.factor):
        for method in (SERIAL, *swept.methods):
            yield swept.job(method, length, swept.text[:length], swept.workers)


def _chunks(swept: Swept) -> Iterator[Job[_Key]]:
    yield swept.job(SERIAL, ANY, swept.text, swept.workers)
    for size in places(SMALLEST_CHUNK, len(swept.text) // 2, swept.factor):
        for method in swept.methods:
            sized = method.with_options(chunk_chars=size)
            if sized.options.get("chunk_chars") == size:
                yield swept.job(sized, size, swept.text, swept.workers)


def _workers(swept: Swept) -> Iterator[Job[_Key]]:
    yield swept.job(SERIAL, ANY, swept.text, swept.workers)
    for count in places(1, 2 * swept.workers, 2):
        for method in swept.methods:
            yield swept.job(method, count, swept.text, count)


def _batches(swept: Swept) -> Iterator[Job[_Key]]:
    length = max(1, len(swept.text) // LARGEST_BATCH)
    parts = [swept.text[i * length : (i + 1) * length] for i in range(LARGEST_BATCH)]
    for count in places(1, LARGEST_BATCH, 2):
        pool = swept.opened.executor(swept.executor, swept.workers, swept.subject, count * length)
        for method in (SERIAL, *swept.methods):
            yield batch_job((method.name, count), swept.subject, method, pool, parts[:count])


SWEEPS: dict[str, Callable[[Swept], Iterator[Job[_Key]]]] = {
    "length": _lengths,
    "chunk": _chunks,
    "workers": _workers,
    "batch": _batches,
}
