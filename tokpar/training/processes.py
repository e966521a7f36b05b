"""Worker processes that count pre-tokens.

A worker is a fresh interpreter that answers pickled requests over its standard streams: safe after
native pools were used, and no script needs an ``if __name__ == "__main__"`` guard for it. When its
parent is gone, its input ends, and so does it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from tokpar.errors import TokparError, WorkerError
from tokpar.training.corpus import Job
from tokpar.training.counting import PreTokenCounter, PreTokens

IN_FLIGHT = 2
"""Jobs that each worker has, so that the next is there when one is done."""

# A Ctrl-C is for the parent, which then ends its workers.
_BOOTSTRAP = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import pickle, sys
try:
    sys.path[:] = pickle.load(sys.stdin.buffer)
except EOFError:
    sys.exit()
from tokpar.training.processes import serve
serve()
"""


def count_in_processes(
    jobs: Iterable[Job], pre_tokens: PreTokens, workers: int, counts: dict[str, int]
) -> Generator[int, None, None]:
    """Add the pre-tokens of all jobs to `counts`, by `workers` processes; yields the size of each
    job as it is done, in order, so that the first error of the corpus is the one that is raised.

    Each worker keeps one count over all its jobs: memory is bounded by the distinct pre-tokens.
    """
    crew: list[_Worker] = []
    try:
        for _ in range(workers):
            with _interrupts_later():
                crew.append(_Worker(pre_tokens))
        running: deque[tuple[_Worker, int]] = deque()
        for number, job in enumerate(jobs):
            worker = crew[number % workers]
            worker.send(job)
            running.append((worker, job.size))
            if len(running) > IN_FLIGHT * workers - 1:
                yield _finished(running)
        while running:
            yield _finished(running)
        for worker in crew:
            worker.send(None)
        for worker in crew:
            add_counts(counts, worker.receive())
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


def _finished(running: deque[tuple[_Worker, int]]) -> int:
    worker, size = running.popleft()
    worker.receive()
    return size


def add_counts(counts: dict[str, int], more: Mapping[str, int]) -> None:
    """Add `more` to `counts`."""
    known = counts.get
    for pre_token, count in more.items():
        counts[pre_token] = known(pre_token, 0) + count


class _Worker:
    """One process, which counts from the moment it is made."""

    def __init__(self, pre_tokens: PreTokens) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # out of the reach of a Ctrl-C even in its first moments
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        try:
            self.send(sys.path)
            self.send(pre_tokens)
        except BaseException:
            self.kill()
            raise

    def send(self, request: Any) -> None:
        """WorkerError if the process is gone."""
        try:
            pickle.dump(request, self._requests, pickle.HIGHEST_PROTOCOL)
            self._requests.flush()
        except OSError as error:
            raise self._dead() from error

    def receive(self) -> Any:
        """The next reply. Raises what the worker raised; WorkerError if it is gone."""
        try:
            reply = pickle.load(self._replies)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise self._dead() from error
        if isinstance(reply, Exception):
            raise reply
        return reply

    def kill(self) -> None:
        """End it now and close its streams."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()

    def _dead(self) -> WorkerError:
        self._process.kill()
        return WorkerError(f"a worker process died (exit code {self._process.wait()})")


def serve() -> None:
    """What runs in a worker: count jobs until there is no more, then give the counts."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def reply(value: Any) -> None:
        pickle.dump(value, replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()

    with contextlib.suppress(EOFError, OSError):
        counter = PreTokenCounter(pickle.load(requests))
        while (job := pickle.load(requests)) is not None:
            reply(_failure(counter, job))
        reply(dict(counter.counts))


def _failure(counter: PreTokenCounter, job: Job) -> Exception | None:
    try:
        counter.count(job)
    except (TokparError, OSError) as error:
        return error
    return None
