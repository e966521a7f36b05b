"""The threads of this process: one pool, which all encoders share.

The pool has as many threads as the process may use cores. It starts at the first use and again
after a fork; the interpreter joins it at exit. A thread of the pool never waits for the pool: what
it shares, it does by itself."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from tokpar.process.fork_locks import in_child, own_lock
from tokpar.process.interrupts import is_foreign
from tokpar.process.limits import worker_count

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Job = TypeVar("Job")
Result = TypeVar("Result")


class _Thread(threading.local):
    """`is_worker`: True in a thread of the pool."""

    is_worker = False


this_thread = _Thread()
_lock = own_lock(sys.modules[__name__])
_pool: ThreadPoolExecutor | None = None


def _forget_threads() -> None:
    """A child process has none of its parent's threads."""
    global _pool, this_thread
    _pool, this_thread = None, _Thread()


in_child(_forget_threads)


def submit(job: Callable[[], Result]) -> Future[Result]:
    """Let a thread of the pool call `job`. Raises RuntimeError if no thread can be started, or at
    the interpreter's exit."""
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor  # short texts do without threads

            size = worker_count(None)
            _pool = ThreadPoolExecutor(size, "tokpar", setattr, (this_thread, "is_worker", True))
    return _pool.submit(job)


def share(
    job: Callable[[Job], Result], work: Iterable[Job], workers: int, both_ends: bool = False
) -> list[Result]:
    """Returns `job` of each element, in order, by at most `workers` threads.

    The calling thread is one of them. Each takes the next job when it finishes one. `both_ends`:
    the other threads take jobs from the last on, so that two threads do the same halves of the same
    work again. After an error no further job begins. An interrupt is raised first, else the first
    error in order; an interrupt between two jobs does not wait for jobs that run."""
    jobs = list(work)
    if workers == 1 or len(jobs) < 2 or this_thread.is_worker:
        return [job(each) for each in jobs]
    found, failed = dict[int, Result](), dict[int, BaseException]()
    waiting, running = deque(range(len(jobs))), set[object]()
    idle = threading.Condition()  # noqa: TID251  # no other call has it

    def take_jobs(next_job: Callable[[], int]) -> None:
        with suppress(IndexError):  # no job is waiting
            while True:
                k = next_job()
                try:
                    found[k] = job(jobs[k])
                except BaseException as error:  # raised again below
                    failed[k] = error
                    waiting.clear()

    def help_out() -> None:
        ticket = object()
        with idle:
            if not waiting:
                return
            running.add(ticket)
        take_jobs(waiting.pop if both_ends else waiting.popleft)
        with idle:
            running.discard(ticket)
            idle.notify_all()

    with suppress(RuntimeError):  # no thread can be started: fewer threads do the work
        for _ in range(1, min(workers, len(jobs))):
            submit(help_out)
    try:
        take_jobs(waiting.popleft)
    finally:
        waiting.clear()  # after an interrupt no further job begins
    with idle:
        while running:
            idle.wait()
    if failed:
        raise next(filter(is_foreign, failed.values()), failed[min(failed)])
    return [found[k] for k in range(len(jobs))]


class BackgroundJob:
    """A job that a thread of the pool does once, or whoever waits for it."""

    def __init__(self, job: Callable[[], object]) -> None:
        self._job: Callable[[], object] | None = job
        self._lock = own_lock(self)
        with suppress(RuntimeError):  # no thread can be started
            submit(self.wait)

    def wait(self) -> None:
        """Do the job, unless another thread does it or has done it: wait for that. Raises its
        error. A forked child does it again if it was not done before the fork."""
        with self._lock:
            if self._job is not None:
                self._job()
                self._job = None
