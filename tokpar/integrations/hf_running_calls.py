"""Which own calls of transformers run on an engine now, and with which settings.

Such a call sets truncation and padding on the engine, which all threads share, and then encodes. So
calls with equal settings may run at the same time, and a call with other settings needs another
engine. Where no other engine has the same ids, the call waits."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from threading import get_ident

from tokpar.process.fork_locks import in_child, own_lock

_lock = own_lock(sys.modules[__name__])
_ended = threading.Condition(_lock)  # noqa: TID251  # a child gets a new one
_running: dict[int, tuple[object, tuple[int, ...]]] = {}
"""The settings of the calls that run on each engine, by the engine's `id`, and the threads of the
calls. A call keeps its engine alive, so no other engine has this `id` meanwhile."""
_waiting = Counter[int]()
"""How many calls wait for each engine."""
_lost = set[int]()
"""The engines that threads of the parent were calling when this process was forked."""


def begin_call(engine: object, settings: object) -> bool:
    """Returns True, and counts the call, unless calls with other settings run on `engine` or calls
    wait for it.

    Keep `engine` alive until `end_call`."""
    key = id(engine)
    with _lock:
        if key in _waiting or key in _lost:
            return False
        running = _running.get(key)
        if running is None:
            _running[key] = settings, (get_ident(),)
            return True
        if running[0] != settings:
            return False
        _running[key] = settings, (*running[1], get_ident())
        return True


def begin_call_alone(engine: object) -> None:
    """Count a call as soon as no call of another thread runs on `engine`.

    A signal handler may call within a call of its thread: it does not wait for that call."""
    key, thread = id(engine), get_ident()
    with _ended:
        _waiting[key] += 1
        try:
            _ended.wait_for(lambda: {thread}.issuperset(_running.get(key, (None, ()))[1]))
        finally:
            _waiting[key] -= 1
            if not _waiting[key]:
                del _waiting[key]
        threads = _running.get(key, (None, ()))[1]
        _running[key] = object(), (*threads, thread)


def end_call(engine: object) -> None:
    """Count one call of this thread less. For each `begin_call` that returned True, and for each
    `begin_call_alone`."""
    key, thread = id(engine), get_ident()
    with _lock:
        settings, threads = _running.get(key, (None, ()))
        if threads == (thread,):
            del _running[key]
        elif thread in threads:  # a child has forgotten the calls of its parent
            place = threads.index(thread)
            _running[key] = settings, threads[:place] + threads[place + 1 :]
        if key in _waiting:
            _ended.notify_all()


def _keep_lost_calls() -> None:
    """A lost thread of the parent may hold the lock of the engine that it was calling. So a child
    takes another engine for ever, if another one has the same ids."""
    global _ended
    _ended = threading.Condition(_lock)  # noqa: TID251  # the lock is a new one
    _lost.update(_running)
    _running.clear()
    _waiting.clear()


in_child(_keep_lost_calls)
