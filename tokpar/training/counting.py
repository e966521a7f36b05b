"""Pre-tokens of a corpus and how often each occurs: counted here, or by worker processes."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType

from tokpar.executors.pipes import WorkerProcess
from tokpar.training.corpus import Job
from tokpar.types import AddedToken

IN_FLIGHT = 2
"""Jobs that each worker has, so that the next is there when one is done."""


@dataclass(frozen=True, slots=True)
class PreTokens:
    """How text falls into pre-tokens: special tokens are left out and divide it, then `patterns`
    split as in a vocabulary, text between matches is a pre-token too."""

    patterns: tuple[str, ...]
    special_tokens: tuple[str, ...]


class PreTokenCounter:
    """Counts the pre-tokens of one job after the other."""

    def __init__(self, pre_tokens: PreTokens) -> None:
        from tokpar.pure.added import AddedTokens
        from tokpar.pure.pretokenize import PreTokenizer

        added = [AddedToken(token, id_) for id_, token in enumerate(pre_tokens.special_tokens)]
        self._segments = AddedTokens(added).segments
        self._split = PreTokenizer(pre_tokens.patterns, "oniguruma", keep_gaps=True).split
        self.counts: Counter[str] = Counter()

    def count(self, job: Job) -> None:
        """Raises FileFormatError for bytes that are not UTF-8, OSError."""
        for part in job.slices:
            for segment in self._segments(part.text()):
                if isinstance(segment, str):
                    self.counts.update(self._split(segment))

    def __call__(self, job: Job | str) -> dict[str, int] | None:
        """What a worker process answers: counts a job, gives the counts for "counts"."""
        if isinstance(job, str):
            return dict(self.counts)
        self.count(job)
        return None


def count_here(
    jobs: Iterable[Job], pre_tokens: PreTokens, counts: Counter[str]
) -> Generator[int, None, None]:
    """Add the pre-tokens of all jobs to `counts`; yields the size of each job as it is done."""
    counter = PreTokenCounter(pre_tokens)
    for job in jobs:
        counter.count(job)
        yield job.size
    counts.update(counter.counts)


def count_in_processes(
    jobs: Iterable[Job], pre_tokens: PreTokens, workers: int, counts: Counter[str]
) -> Generator[int, None, None]:
    """The same by `workers` processes; jobs are done in order, so that the first error of the
    corpus is the one that is raised.

    Each worker keeps one count over all its jobs: memory is bounded by the distinct pre-tokens.
    """
    crew: list[WorkerProcess] = []
    try:
        for _ in range(workers):
            with _interrupts_later():
                crew.append(WorkerProcess(partial(PreTokenCounter, pre_tokens)))
        running: deque[tuple[WorkerProcess, int]] = deque()
        for number, job in enumerate(jobs):
            worker = crew[number % workers]
            worker.send(job)
            running.append((worker, job.size))
            if len(running) > IN_FLIGHT * workers - 1:
                yield _finished(running)
        while running:
            yield _finished(running)
        for worker in crew:
            worker.send("counts")
        for worker in crew:
            counts.update(worker.receive())
    finally:
        for worker in crew:
            worker.kill()


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """A Ctrl-C in here comes at the end, so that no process is started that nobody knows of."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # never interrupted by a KeyboardInterrupt
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(signal.SIGINT, came[0])


def _finished(running: deque[tuple[WorkerProcess, int]]) -> int:
    worker, size = running.popleft()
    worker.receive()
    return size
