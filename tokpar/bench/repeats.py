"""One timed run of a method: how many ids are the tokenizer's own, and the time of each chunk."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tokpar
from tokpar.agreement.differing import first_difference
from tokpar.bench.measuring import Job, Sample
from tokpar.bench.methods import Method
from tokpar.bench.subjects import Opened, Subject
from tokpar.errors import EngineError
from tokpar.interfaces import Divided, Divides, Executor, TokenizerAdapter
from tokpar.kernels import IdArray
from tokpar.mending import run
from tokpar.types import Rows

WINDOW = 1024
RUN = 4
"""Ids in a row that must be equal for two sequences to count as in step again."""


class TimingExecutor:
    """Gives another executor one chunk at a time; `calls` has the seconds of each chunk of each
    call."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.name = inner.name
        self.undivided = inner.undivided if isinstance(inner, Divides) else inner.name
        self.calls: list[tuple[float, ...]] = []

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError."""
        return self.divide(texts, [False] * len(texts), tokenizer, spans)[0]

    def divide(
        self,
        texts: Sequence[str],
        divisible: Sequence[bool],
        tokenizer: TokenizerAdapter,
        spans: bool = False,
    ) -> Divided:
        """One row per text, divided where the other executor does that. Raises EngineError."""
        rows: list[Rows] = []
        divided: list[bool] = []
        seconds: list[float] = []
        for k, (text, may) in enumerate(zip(texts, divisible, strict=True)):
            start = time.perf_counter()
            try:
                row, flags = run(self._inner, [text], [may], tokenizer, spans)
            except EngineError as error:
                error.row = k
                raise
            seconds.append(time.perf_counter() - start)
            rows.append(row)
            divided += map(bool, flags)
        self.calls.append(tuple(seconds))
        return Rows.joined(rows), divided


def encode_job(
    key: Any, subject: Subject, method: Method, executor: Executor, *texts: str, batch: bool = False
) -> Job:
    """Encodes a text, or with `batch` several in one call; compares the ids with the tokenizer's
    own, outside of the time. The time is per text, the report that of the first. Raises OptionError
    for an option that the method's strategy does not have."""
    encoder = tokpar.Encoder(
        subject.adapter,
        strategy=method.strategy,
        executor=executor,
        allow_approximate=True,
        **method.options,
    )
    calls = executor.calls if isinstance(executor, TimingExecutor) else []

    def call() -> Sample:
        own = [subject.own_ids(text) for text in texts]
        calls.clear()
        start = time.perf_counter()
        found = encoder.encode_batch(texts) if batch else [encoder.encode(texts[0])]
        seconds = (time.perf_counter() - start) / len(texts)
        share = statistics.fmean(
            shared_ids(encoding.ids, ids) for encoding, ids in zip(found, own, strict=True)
        )
        lossless = all(encoding.lossless for encoding in found)
        return Sample(seconds, share, found[0].report, lossless, tuple(calls))

    return Job(key, sum(map(len, texts)), call)


@dataclass(frozen=True, eq=False)
class LongText:
    """What stays as it is while one long text is taken apart or one thing is swept. `factor`: from
    one place of a sweep to the next, but for workers and batch, which double."""

    dataset: str
    text: str
    subject: Subject
    methods: Sequence[Method]
    executor: str
    workers: int
    opened: Opened
    factor: int = 4

    def job(self, method: Method, place: int, text: str, workers: int) -> Job:
        """The key is (method, place)."""
        pool = self.opened.executor(self.executor, workers, self.subject, len(text))
        return encode_job((method.name, place), self.subject, method, pool, text)


def shared_ids(ids: IdArray, own: IdArray) -> float:
    """Share of the longer sequence that stands in both, in step: [1, 2, 9, 4, 5, 6, 7] and
    [1, 2, 3, 4, 5, 6, 7] -> 6 / 7. Where they part, the nearest RUN equal ids within WINDOW end the
    difference; without them all that follows counts as wrong. 1.0 only for equal sequences."""
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
    """How many ids to leave out on either side, as few as possible together."""
    places: dict[bytes, int] = {}
    for place in range(len(right) - RUN, -1, -1):
        places[right[place : place + RUN].tobytes()] = place
    found = (
        (place, places[key])
        for place in range(len(left) - RUN + 1)
        if (key := left[place : place + RUN].tobytes()) in places
    )
    return min(found, key=sum, default=None)
