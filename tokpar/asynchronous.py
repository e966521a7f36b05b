"""Encodes texts for an event loop: on threads of the encoder, with a bounded queue, in slices.

A thread encodes one text, slice by slice. Between two slices a cancelled call ends. The engines
and the cache release the GIL for most of a slice, so the loop stays responsive."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar
from weakref import WeakKeyDictionary

from tokpar.errors import EngineError
from tokpar.executors.sliced_executor import SlicedExecutor
from tokpar.plan import Plan

SLICE_CHARS = 1 << 17
"""Code points between two moments at which a call can be stopped."""
PLACES_PER_THREAD = 2
"""Calls per thread that are running or wait for a thread. Further calls wait in their tasks."""
_CLOSED_MESSAGE = "the encoder was closed before this text was encoded"

Result = TypeVar("Result")
Work = Callable[[Callable[[], None]], Result]
"""Encodes; calls its argument before each slice."""


def slice_plan(plan: Plan, before_slice: Callable[[], None]) -> Plan:
    """Returns a plan that calls `before_slice` before each slice. Long texts are always cut."""
    executor = SlicedExecutor(plan.executor, before_slice, SLICE_CHARS)
    return replace(plan, executor=executor, whole=False)


class _StoppedError(Exception):
    """Ends the work of a call. No EngineError, of which the pipeline would look for the cause."""


class AsyncCalls:
    """The asynchronous calls of one encoder in this process. For any number of event loops."""

    def __init__(self, threads: int) -> None:
        self.pid = os.getpid()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tokpar-async")
        self._places = PLACES_PER_THREAD * threads
        self._of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._of_loop = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._is_closed = False

    async def run(self, work: Work[Result]) -> Result:
        """Returns the result of `work`, which runs in a thread. Raises what `work` raises.

        Waits for a place first. If the task is cancelled, `work` ends before its next slice, and
        its place is free then. Raises EngineError if the encoder is closed before the end."""
        loop = asyncio.get_running_loop()
        places = self._places_of(loop)
        await places.acquire()
        cancel_event = threading.Event()
        try:
            future = self._pool.submit(work, partial(self._before_slice, cancel_event))
        except RuntimeError:  # the pool was shut down
            places.release()
            raise EngineError(_CLOSED_MESSAGE) from None
        future.add_done_callback(partial(_free_place, loop, places))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancel_event.set()
            raise
        except _StoppedError:
            raise EngineError(_CLOSED_MESSAGE) from None

    def close(self) -> None:
        """End all calls: those that run end before their next slice. Waits for the threads."""
        self._is_closed = True
        self._pool.shutdown(wait=True)

    def _before_slice(self, cancel_event: threading.Event) -> None:
        if cancel_event.is_set() or self._is_closed:
            raise _StoppedError

    def _places_of(self, loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
        with self._lock:
            return self._of_loop.setdefault(loop, asyncio.Semaphore(self._places))


def _free_place(
    loop: asyncio.AbstractEventLoop, places: asyncio.Semaphore, future: Future[object]
) -> None:
    with suppress(RuntimeError):  # the loop is closed, and its places with it
        loop.call_soon_threadsafe(places.release)
