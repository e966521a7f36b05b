"""How many workers there are, how chunks are dealt out to them, and the pool of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tokpar.errors import OptionError
from tokpar.types import Chunk

Job = TypeVar("Job")
Result = TypeVar("Result")

# What Hugging Face tokenizers reads as "no" in TOKENIZERS_PARALLELISM.
_OFF = {"", "off", "false", "f", "no", "n", "0"}


def worker_count(workers: int | None) -> int:
    """`workers` if given, else how many CPUs this process may use; 1 if TOKENIZERS_PARALLELISM
    says no. Raises OptionError for anything that is not an int of at least 1."""
    if workers is None:
        return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "yes").lower() in _OFF else cpu_count()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise OptionError(f"workers must be an int of at least 1 or None, got {workers!r}")
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    return workers


def cpu_count() -> int:
    """CPUs this process may use."""
    if hasattr(os, "process_cpu_count"):
        count: int | None = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    return count or 1


def blocks(chunks: Sequence[Chunk], chars: int) -> list[Sequence[Chunk]]:
    """Neighbouring chunks together, each block of at least `chars` code points but the last."""
    found: list[Sequence[Chunk]] = []
    first, size = 0, 0
    for i, chunk in enumerate(chunks, start=1):
        size += chunk.stop - chunk.start
        if size >= chars or i == len(chunks):
            found.append(chunks[first:i])
            first, size = i, 0
    return found


def dealt(chunks: Sequence[Chunk], workers: int, least: int) -> list[Sequence[Chunk]]:
    """Four blocks per worker, so that nobody waits long for the slowest; a block has at least
    `least` code points, so that handing it out costs little."""
    total = sum(chunk.stop - chunk.start for chunk in chunks)
    return blocks(chunks, max(least, total // (4 * workers)))


class ThreadPool:
    """Threads that are started at first use and kept until `close`; usable again afterwards.

    After a fork the child starts threads of its own: pools are kept by process id, and an
    inherited one, whose threads do not exist in the child, is never touched.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def run(self, job: Callable[[Job], Result], work: Iterable[Job]) -> list[Result]:
        """`job` on each element, results in order. The first error in order is raised again; what
        has not begun by then is never begun."""
        jobs = list(work)
        if self._threads == 1 or len(jobs) == 1:
            return [job(each) for each in jobs]
        futures: list[Future[Result]] = []
        try:
            futures += (self._pool().submit(job, each) for each in jobs)
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def close(self) -> None:
        """Wait for what is running and end the threads."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.shutdown()

    def _pool(self) -> ThreadPoolExecutor:
        known = self._pools.get(os.getpid())
        if known is not None:
            return known
        fresh = ThreadPoolExecutor(self._threads, thread_name_prefix="tokpar")
        return self._pools.setdefault(os.getpid(), fresh)  # no thread starts before a submit
