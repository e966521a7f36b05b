"""Texts on a pool of Python threads, for engines that release the GIL; or through an engine's own
batch call, which uses threads of its own. Where that returns bulky objects, in waves, two at a
time: while the engine works on one, another Python thread turns the other into arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np

from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial import PASSING, check_spans, encode_rows, engine_error, only
from tokpar.interfaces import Divided, EncodesMany, Remembers, TokenizerAdapter, facts_of
from tokpar.kernels import IdArray, offsets_of
from tokpar.limits import cpu_count, worker_count
from tokpar.types import Rows

Job = TypeVar("Job")
Result = TypeVar("Result")
Own = TypeVar("Own", bound="Pooled")

# Handing a block to a thread costs about 30 us; a fast engine needs 500 us for this much text.
LEAST_BLOCK_CHARS = 16384


def blocks(texts: Sequence[str], chars: int) -> list[range]:
    """Neighbouring texts together, each block of at least `chars` code points but the last."""
    ends = offsets_of(map(len, texts))
    found: list[range] = []
    first = 0
    while first < len(texts):
        stop = min(len(texts), int(np.searchsorted(ends, ends[first] + max(1, chars))))
        found.append(range(first, stop))
        first = stop
    return found


def dealt(texts: Sequence[str], workers: int, least: int) -> list[range]:
    """Four blocks per worker, so that nobody waits long for the slowest; a block has at least
    `least` code points, so that handing it out costs little."""
    return blocks(texts, max(least, sum(map(len, texts)) // (4 * workers)))


class Pooled:
    """An executor with `workers` threads, started at first use and kept until `close`; usable again
    afterwards, and by other threads meanwhile. A context manager that closes. After a fork the
    child starts threads of its own: pools are kept by process id, and an inherited one, whose
    threads do not exist in the child, is never touched."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = self._threads = worker_count(workers)
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def run(self, job: Callable[[Job], Result], work: Iterable[Job]) -> list[Result]:
        """`job` on each element, results in order. The first error in order is raised again; what
        has not begun by then is never begun."""
        jobs = list(work)
        if self._threads == 1 or len(jobs) == 1:
            return [job(each) for each in jobs]
        futures: list[Future[Result]] = []
        try:
            futures += (self._submitted(job, each) for each in jobs)
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def close(self) -> None:
        """Wait for what is running and end the threads; an engine's own are not ours to end."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.shutdown()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submitted(self, job: Callable[[Job], Result], each: Job) -> Future[Result]:
        """Another thread may close the pool between the two steps: then it is done by a new one.
        What was handed out before is still done by the old one, for which `close` waits."""
        while True:
            pool = self._pool()
            try:
                return pool.submit(job, each)
            except RuntimeError:
                if self._pools.get(os.getpid()) is pool:  # not closed: no thread can be started
                    raise

    def _pool(self) -> ThreadPoolExecutor:
        known = self._pools.get(os.getpid())
        if known is not None:
            return known
        fresh = ThreadPoolExecutor(self._threads, thread_name_prefix="tokpar")
        return self._pools.setdefault(os.getpid(), fresh)  # no thread starts before a submit


class ThreadExecutor(Pooled):
    """Encodes on `workers` threads."""

    name = "threads"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)

        def encode_block(block: range) -> Rows:
            return encode_rows(texts[block.start : block.stop], tokenizer, spans, block.start)

        blocks = dealt(texts, self._workers, LEAST_BLOCK_CHARS)
        return Rows.joined(self.run(encode_block, blocks))


WAVE_CHARS_PER_WORKER = 262144
WAVES_AT_A_TIME = 2


class NativeExecutor(Pooled):
    """For adapters with `encode_many`, whose engine decides how many threads it uses; for fewer
    `workers` than CPUs it is given single texts from so many threads."""

    name = "native"

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        self._single = self._workers < cpu_count()
        if not self._single:
            self._threads = WAVES_AT_A_TIME

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError; OptionError without `encode_many`."""
        if not isinstance(tokenizer, EncodesMany):
            raise OptionError(
                f"executor 'native' needs a batch call, which {tokenizer.name} does not have; "
                "use executor='threads', 'processes' or 'serial'"
            )
        encode_wave = partial(_encode_wave, texts, tokenizer, spans)
        if not facts_of(tokenizer).bulky and not self._single:
            return encode_wave(range(len(texts)))
        # Enough to keep every worker busy, but no more than a quarter of a long text.
        most = min(WAVE_CHARS_PER_WORKER * self._workers, sum(map(len, texts)) // 4)
        waves = blocks(texts, 1 if self._single else max(WAVE_CHARS_PER_WORKER, most))
        return Rows.joined(self.run(encode_wave, waves))


class MemoExecutor(NativeExecutor):
    """Texts that may be cut at every space go through the memory of a tokenizer that remembers what
    lies between; all others, and those for which that does not pay, through its batch call."""

    name = "memo"
    undivided = NativeExecutor.name

    def divide(
        self, texts: Sequence[str], divisible: Sequence[bool], tokenizer: TokenizerAdapter
    ) -> Divided:
        """One row per text, and which of them were divided. Raises as `map` does."""
        found: dict[int, IdArray] = {}
        if isinstance(tokenizer, Remembers) and tokenizer.remembers:
            numbers = [k for k, may in enumerate(divisible) if may]
            known = tokenizer.remembered([texts[k] for k in numbers], self._workers)
            found = {k: ids for k, ids in zip(numbers, known, strict=True) if ids is not None}
        left = [k for k in range(len(texts)) if k not in found]
        if left:
            rest = self.map([texts[k] for k in left], tokenizer, False)
            others = {k: rest[n] for n, k in enumerate(left)}
        rows = Rows.of(found[k] if k in found else others[k] for k in range(len(texts)))
        return rows, [k in found for k in range(len(texts))]


def _encode_wave(texts: Sequence[str], engine: EncodesMany, spans: bool, wave: range) -> Rows:
    part = texts if len(wave) == len(texts) else texts[wave.start : wave.stop]
    try:
        rows = engine.encode_many(part, spans)
        if len(rows) != len(part):
            raise RuntimeError(f"encode_many gave {len(rows)} rows for {len(part)} texts")
    except PASSING:
        raise
    except BaseException as error:
        raise _guilty(texts, wave, engine, spans, error) from error
    return rows


def _guilty(
    texts: Sequence[str], wave: range, engine: EncodesMany, spans: bool, error: BaseException
) -> EngineError:
    """The error of the first text of the wave that also fails alone, else that of the wave."""
    for row in wave:
        try:
            only(engine.encode_many([texts[row]], spans))
        except PASSING:  # noqa: PERF203  # one text after the other
            raise
        except BaseException as alone:
            return engine_error(alone, len(texts[row]), row)
    return engine_error(error, sum(len(texts[row]) for row in wave), wave.start)
