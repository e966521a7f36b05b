"""Several threads at once, switched so often that a race that can be lost is lost."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tokpar.testing.checks import outcome

Result = TypeVar("Result")


def at_once(work: Callable[[int], Result], threads: int) -> list[Result]:
    """Results of `work(0)`, `work(1)`, ..., each in a thread of its own, or the error it raised.
    Threads that do something else meanwhile, such as comparing, would seldom meet."""
    found: dict[int, Result] = {}
    start = threading.Barrier(threads)

    def run(number: int) -> None:
        start.wait()
        found[number] = outcome(partial(work, number))

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    return [found[number] for number in range(threads)]
