"""Pre-tokens of a corpus and how often each occurs: counted here, or by worker processes."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from types import FrameType

from tokpar.executors.pipes import WorkerProcess
from tokpar.training.corpus import Job
from tokpar.types import AddedToken

IN_FLIGHT = 2
"""Jobs that each worker has, so that the next is there when one is done."""


class PreTokenCounter:
    """Counts the pre-tokens of one job after the other: special tokens are left out and divide the
    text, then `pattern` splits it, and what it does not match is a pre-token too."""

    def __init__(self, pattern: str, special_tokens: Sequence[str]) -> None:
        from tokpar.pure.added import AddedTokens
        from tokpar.pure.pretokenize import PreTokenizer

        added = [AddedToken(token, id_) for id_, token in enumerate(special_tokens)]
        self._segments = AddedTokens(added).segments
        self._split = PreTokenizer([pattern], "oniguruma", keep_gaps=True).split
        self.counts: Counter[str] = Counter()

    def count(self, job: Job) -> None:
        """Raises FileFormatError for bytes that are not UTF-8, OSError."""
        for part in job.slices:
            text = part.decode("utf-8") if isinstance(part, bytes) else part.text()
            for segment in self._segments(text):
                if isinstance(segment, str):
                    self.counts.update(self._split(segment))

    def __call__(self, job: Job | str) -> dict[str, int] | None:
        """What a worker process answers: counts a job, gives the counts for "counts"."""
        if isinstance(job, str):
            return dict(self.counts)
        self.count(job)
        return None


NewCounter = Callable[[], PreTokenCounter]


def count_here(
    jobs: Iterable[Job], counter: NewCounter, counts: Counter[str]
) -> Generator[int, None, None]:
    """Add the pre-tokens of all jobs to `counts`; yields the size of each job as it is done."""
    own = counter()
    for job in jobs:
        own.count(job)
        yield job.size
    counts.update(own.counts)


def count_in_processes(
    jobs: Iterable[Job], counter: NewCounter, workers: int, counts: Counter[str]
) -> Generator[int, None, None]:
    """The same by `workers` processes; jobs are done in order, so that the first error of the
    corpus is the one that is raised.

    Each worker keeps one count over all its jobs: memory is bounded by the distinct pre-tokens.
    """
    crew: list[WorkerProcess] = []
    try:
        for _ in range(workers):
            with _interrupts_later():
                crew.append(WorkerProcess(counter))
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
