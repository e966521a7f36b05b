"""Encodes texts on a pool of Python threads, for engines that release the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import TypeVar

import numpy as np

from tokpar.arrays import offsets_of
from tokpar.executors.serial_executor import check_spans, encode_rows
from tokpar.foreign_errors import is_foreign
from tokpar.interfaces import TokenizerAdapter, traits_of
from tokpar.limits import worker_count
from tokpar.types import Rows

Job = TypeVar("Job")
Result = TypeVar("Result")
Own = TypeVar("Own", bound="ThreadPool")

# Taking the next block costs some 5 us. A fast engine encodes a block of this size in 60 us.
LEAST_BLOCK_CHARS = 16384
BLOCKS_PER_WORKER = 16


def blocks(texts: Sequence[str], chars: int) -> list[range]:
    """Returns blocks of neighbouring texts, each but the last with at least `chars` code points."""
    ends = offsets_of(map(len, texts))
    found: list[range] = []
    first = 0
    while first < len(texts):
        stop = min(len(texts), int(np.searchsorted(ends, ends[first] + max(1, chars))))
        found.append(range(first, stop))
        first = stop
    return found


def deal_blocks(texts: Sequence[str], workers: int, least: int, each: int = 4) -> list[range]:
    """Returns about `each` blocks per worker, so that no worker waits long for the slowest.

    A block has at least `least` code points, so that handing out a block costs little."""
    return blocks(texts, max(least, sum(map(len, texts)) // (each * workers)))


class ThreadPool:
    """A pool of `workers` threads, started at the first use and kept until `close`.

    The pool is thread-safe, and usable after `close`. A context manager that closes. After a fork,
    the child starts its own threads: pools are kept by process id, and an inherited pool, whose
    threads do not exist in the child, is never used."""

    is_reusable = True
    """Jobs may be run after `close`."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = self._threads = worker_count(workers)
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def run(self, job: Callable[[Job], Result], work: Iterable[Job]) -> list[Result]:
        """Returns `job` of each element, in order.

        Raises the first error in order. Jobs that have not begun by then never begin."""
        jobs = list(work)
        if self._threads == 1 or len(jobs) == 1:
            return [job(each) for each in jobs]
        futures: list[Future[Result]] = []
        try:
            futures += (self._submit(partial(job, each)) for each in jobs)
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def share(self, job: Callable[[Job], Result], work: Iterable[Job]) -> list[Result]:
        """Returns `job` of each element, in order. Faster than `run` for many small jobs.

        Each thread, the calling thread included, takes the next job when it finishes one. An
        interrupt is raised first, else the first error in order among the jobs that ran."""
        jobs = list(work)
        found, failed = dict[int, Result](), dict[int, BaseException]()
        waiting, others = deque(range(len(jobs))), list[Future[None]]()

        def take_on() -> None:
            with suppress(IndexError):  # no job is waiting
                while True:
                    k = waiting.popleft()
                    try:
                        found[k] = job(jobs[k])
                    except BaseException as error:  # raised again below
                        failed[k] = error
                        waiting.clear()

        try:
            others.extend(self._submit(take_on) for _ in range(1, min(self._threads, len(jobs))))
            take_on()
        finally:
            waiting.clear()  # after an interrupt no further job begins
            wait([each for each in others if not each.cancel()])
        if failed:
            raise next(filter(is_foreign, failed.values()), failed[min(failed)])
        return [found[k] for k in range(len(jobs))]

    def close(self) -> None:
        """Wait for the running jobs and end the threads. The engine's own threads are not ended."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.shutdown()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Submit a job to the pool.

        If another thread closes the pool before the submit, a new pool runs the job. The closed
        pool still runs its earlier jobs, and `close` waits for them."""
        while True:
            pool = self._pool()
            try:
                return pool.submit(job)
            except RuntimeError:
                if self._pools.get(os.getpid()) is pool:  # not closed: no thread can be started
                    raise

    def _pool(self) -> ThreadPoolExecutor:
        known = self._pools.get(os.getpid())
        if known is not None:
            return known
        fresh = ThreadPoolExecutor(self._threads, thread_name_prefix="tokpar")
        return self._pools.setdefault(os.getpid(), fresh)  # no thread starts before a submit


class ThreadExecutor(ThreadPool):
    """Encodes texts on `workers` threads."""

    name = "threads"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)

        def encode_block(block: range) -> Rows:
            return encode_rows(texts[block.start : block.stop], tokenizer, spans, block.start)

        wants_one_thread = traits_of(tokenizer).wants_one_thread
        if self._workers > 1 and wants_one_thread is not None and wants_one_thread(texts):
            return encode_block(range(len(texts)))
        blocks = deal_blocks(texts, self._workers, LEAST_BLOCK_CHARS, BLOCKS_PER_WORKER)
        return Rows.concatenate(self.share(encode_block, blocks))
