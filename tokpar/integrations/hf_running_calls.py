"""Which own calls of transformers run on an engine now, and with which settings.

Such a call sets truncation and padding on the engine, which all threads share, and then encodes. So
calls with equal settings may run at the same time, and a call with other settings needs another
engine."""

from __future__ import annotations

import sys

from tokpar.fork_locks import in_child, own_lock

_lock = own_lock(sys.modules[__name__])
_running: dict[int, tuple[object, int]] = {}
"""The settings of the calls that run on each engine, by the engine's `id`, and how many calls there
are. A call keeps its engine alive, so no other engine has this `id` meanwhile."""


def begin_call(engine: object, settings: object) -> bool:
    """Returns True, and counts the call, unless calls with other settings run on `engine`.

    Keep `engine` alive until `end_call`."""
    with _lock:
        current, count = _running.get(id(engine), (settings, 0))
        if count and current != settings:
            return False
        _running[id(engine)] = settings, count + 1
        return True


def end_call(engine: object) -> None:
    """Count one call less. For each `begin_call` that returned True."""
    with _lock:
        settings, count = _running.get(id(engine), (None, 0))
        if count > 1:
            _running[id(engine)] = settings, count - 1
        else:
            _running.pop(id(engine), None)


def _keep_lost_calls() -> None:
    """A lost thread of the parent may hold the lock of the engine that it was calling. So its call
    counts as running for ever in a child, with settings that no other call has."""
    for engine in _running:
        _running[engine] = object(), 1


in_child(_keep_lost_calls)
