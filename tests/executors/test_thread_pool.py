"""The threads of a process do each job once, in any nesting, after forks and at exit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from tests.support.executed import Panic
from tokpar.process import thread_pool
from tokpar.process.thread_pool import BackgroundJob, share, submit


@pytest.fixture(autouse=True)
def pool_of_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(thread_pool, "worker_count", lambda _: 2)
    monkeypatch.setattr(thread_pool, "_pool", None)
    yield
    if thread_pool._pool is not None:
        thread_pool._pool.shutdown()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_shared_work_is_done_once_and_its_results_are_in_order(workers: int) -> None:
    begun: list[int] = []

    def job(number: int) -> int:
        begun.append(number)
        return number * 2

    assert share(job, [], workers) == []
    assert share(job, range(300), workers) == list(range(0, 600, 2))
    assert sorted(begun) == list(range(300))


@pytest.mark.parametrize("error", [ValueError, IndexError, RuntimeError, Panic])
def test_the_first_error_of_shared_work_is_raised_and_nothing_begins_after_it(
    error: type[BaseException],
) -> None:
    begun: list[int] = []
    late = threading.Event()

    def job(number: int) -> None:
        begun.append(number)
        if number == 0:
            assert late.wait(60)
            raise error("first")
        if number == 1:
            late.set()
            raise error("second")

    with pytest.raises(error, match="first"):
        share(job, range(100), 2)
    assert len(begun) < 100
    assert share(abs, [1, -2], 2) == [1, 2]


def test_shared_work_ends_when_whoever_asked_for_it_is_interrupted() -> None:
    begun, caller = [], threading.current_thread()

    def job(number: int) -> None:
        begun.append(number)
        time.sleep(0.02)
        if threading.current_thread() is caller:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share(job, range(100), 2)
    assert len(begun) < 100


def test_whoever_asks_for_shared_work_does_some_of_it() -> None:
    both, threads = threading.Barrier(2), set[threading.Thread]()

    def job(number: int) -> int:
        if threading.current_thread() not in threads:
            threads.add(threading.current_thread())
            both.wait(60)
        return -number

    assert share(job, range(100), 2) == [-number for number in range(100)]
    assert threading.current_thread() in threads
    assert len(threads) == 2


def test_jobs_are_taken_from_both_ends() -> None:
    both = threading.Barrier(2)

    def job(number: int) -> tuple[int, bool]:
        if number in (0, 3):
            both.wait(60)
        return number, threading.current_thread() is threading.main_thread()

    found = dict(share(job, range(4), 2, both_ends=True))
    assert found[0]
    assert not found[3]


def test_a_thread_of_the_pool_shares_with_nobody() -> None:
    """While the other thread of the pool has nothing to do."""

    def inner(_: int) -> threading.Thread:
        time.sleep(0.002)
        return threading.current_thread()

    def job(_: int) -> tuple[threading.Thread, set[threading.Thread]]:
        later = BackgroundJob(lambda: time.sleep(0.01))
        later.wait()
        return threading.current_thread(), {*share(inner, range(20), 4)}

    mine, threads = submit(lambda: job(0)).result(60)
    assert mine.name.startswith("tokpar")
    assert threads == {mine}
    assert len(share(job, range(4), 4)) == 4


def test_a_job_in_the_background_is_done_once_whoever_waits() -> None:
    done: list[int] = []
    free = threading.Event()
    busy = [submit(lambda: free.wait(60)) for _ in range(2)]
    later = BackgroundJob(lambda: done.append(1))
    later.wait()  # no thread of the pool has begun
    assert done == [1]
    free.set()
    assert all(each.result(60) for each in busy)
    waiting = [threading.Thread(target=later.wait) for _ in range(4)]
    for each in waiting:
        each.start()
    for each in waiting:
        each.join(60)
    assert done == [1]


SCRIPT = """
import os, sys, threading, time
from tokpar.process import thread_pool
from tokpar.process.thread_pool import BackgroundJob, share, submit
thread_pool.worker_count = lambda _: 2
free, begun = threading.Event(), threading.Event()
later = BackgroundJob(lambda: (begun.set(), free.wait(60), print("made", os.getpid() == parent)))
parent = os.getpid()
assert begun.wait(60)
submit(int).result(60)  # the second thread; the child has neither
child = os.fork()
free.set()
assert share(abs, range(-50, 0), 2) == list(range(50, 0, -1))
if child == 0:
    later.wait()
    later = BackgroundJob(lambda: time.sleep(0.1) or print("joined at exit", flush=True))
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_process_has_its_own_threads_and_exit_waits_for_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True
    )
    said = sorted(done.stdout.split("\n"))
    assert said == ["", "joined at exit", "made False", "made True"]
