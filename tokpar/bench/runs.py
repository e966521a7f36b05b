"""One timed run of a method, and an executor that times each chunk."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

import tokpar
from tokpar.bench.equality import shared_ids
from tokpar.bench.measuring import Job, Sample
from tokpar.bench.methods import Method
from tokpar.bench.subjects import Subject
from tokpar.errors import EngineError
from tokpar.interfaces import Divided, Divides, Executor, TokenizerAdapter
from tokpar.mending import run
from tokpar.types import Rows

Key = TypeVar("Key", bound=Hashable)


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
        return self._one_by_one(texts, [False] * len(texts), tokenizer, spans)[0]

    def divide(
        self, texts: Sequence[str], divisible: Sequence[bool], tokenizer: TokenizerAdapter
    ) -> Divided:
        """One row per text, divided where the other executor does that. Raises EngineError."""
        return self._one_by_one(texts, divisible, tokenizer, spans=False)

    def _one_by_one(
        self,
        texts: Sequence[str],
        divisible: Sequence[bool],
        tokenizer: TokenizerAdapter,
        spans: bool,
    ) -> Divided:
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
    key: Key, subject: Subject, method: Method, executor: str | Executor, text: str
) -> Job[Key]:
    """Encodes the text; compares the ids with the tokenizer's own, outside of the time."""
    encoder = encoder_of(subject, method, executor)

    def call() -> Sample:
        own = subject.own_ids(text)
        if isinstance(executor, TimingExecutor):
            executor.calls.clear()
        start = time.perf_counter()
        encoding = encoder.encode(text)
        seconds = time.perf_counter() - start
        calls = tuple(executor.calls) if isinstance(executor, TimingExecutor) else ()
        same = np.array_equal(encoding.ids, own)
        share = 1.0 if same else shared_ids(encoding.ids, own)
        return Sample(seconds, same, share, encoding.report, encoding.lossless, calls)

    return Job(key, len(text), call)


def batch_job(
    key: Key, subject: Subject, method: Method, executor: str | Executor, texts: Sequence[str]
) -> Job[Key]:
    """Encodes the texts in one call; the time is per text, the report that of the first."""
    encoder = encoder_of(subject, method, executor)

    def call() -> Sample:
        own = [subject.own_ids(text) for text in texts]
        start = time.perf_counter()
        encodings = encoder.encode_batch(texts)
        seconds = (time.perf_counter() - start) / len(texts)
        same = [np.array_equal(got.ids, ids) for got, ids in zip(encodings, own, strict=True)]
        lossless = all(encoding.lossless for encoding in encodings)
        share = sum(same) / len(same)
        return Sample(seconds, all(same), share, encodings[0].report, lossless)

    return Job(key, sum(map(len, texts)), call)


def encoder_of(subject: Subject, method: Method, executor: str | Executor) -> tokpar.Encoder:
    """Raises OptionError for an option that the method's strategy does not have."""
    return tokpar.Encoder(
        subject.adapter,
        strategy=method.strategy,
        executor=executor,
        allow_approximate=True,
        **method.options,
    )
