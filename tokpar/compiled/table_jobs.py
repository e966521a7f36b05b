"""The jobs of threads that make tables, and what becomes of them in a forked child."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tokpar.process.fork_locks import in_child
from tokpar.process.thread_pool import BackgroundJob

if TYPE_CHECKING:
    from tokpar.compiled.compiled_build import CallParts, LaterCall

_begun: WeakKeyDictionary[LaterCall, CallParts] = WeakKeyDictionary()


def job_of(later: LaterCall, parts: CallParts) -> BackgroundJob:
    """Returns the job of a thread of the pool that makes the tables of a call. A child that is
    forked meanwhile lacks the thread: its call begins again when somebody looks at it."""
    _begun[later] = parts

    def job() -> None:
        try:
            later.build(parts)
        finally:
            _begun.pop(later, None)

    return BackgroundJob(job)


def _defer_begun() -> None:
    for later, parts in [*_begun.items()]:
        if later.call is None:
            del later.call
            later.parts_of_deferred = parts
    _begun.clear()


in_child(_defer_begun)
