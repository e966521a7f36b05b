"""Pre-tokens of a corpus and how often each occurs: counted here, or by worker processes."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import FrameType

from tokpar.executors.pipes import WorkerProcess
from tokpar.training.corpus import Job
from tokpar.types import AddedToken

FEW_JOBS = 4
"""Fewer are not worth starting processes."""
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
Moved = Callable[[int], object]
"""Is told the size of each job as it is done."""


def counted(
    jobs: Iterator[Job], counter: NewCounter, workers: int, moved: Moved
) -> Mapping[str, int]:
    """Pre-tokens of all jobs and how often each occurs; few jobs are done here."""
    first = list(islice(jobs, FEW_JOBS))
    if workers > 1 and len(first) == FEW_JOBS:
        return _in_processes(chain(first, jobs), counter, workers, moved)
    own = counter()
    for job in chain(first, jobs):
        own.count(job)
        moved(job.size)
    return own.counts


def _in_processes(
    jobs: Iterable[Job], counter: NewCounter, workers: int, moved: Moved
) -> Mapping[str, int]:
    """Done in order, so that the first error of the corpus is raised. Each worker keeps one count
    over its jobs: memory is bounded by the distinct pre-tokens."""
    crew: list[WorkerProcess] = []
    running: deque[tuple[WorkerProcess, int]] = deque()

    def finish_one() -> None:
        worker, size = running.popleft()
        worker.receive()
        moved(size)

    try:
        for _ in range(workers):
            with _interrupts_later():
                crew.append(WorkerProcess(counter))
        for number, job in enumerate(jobs):
            worker = crew[number % workers]
            worker.send(job)
            running.append((worker, job.size))
            if len(running) > IN_FLIGHT * workers - 1:
                finish_one()
        while running:
            finish_one()
        for worker in crew:
            worker.send("counts")
        counts: Counter[str] = Counter()
        for worker in crew:
            counts.update(worker.receive())
        return counts
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
