"""What a forked child needs: free locks, whole modules, and no trace of its parent's threads.

A child process has only the thread that forked. A lock that another thread held at that moment is
never released there. So each lock of a module or of an object is made by `own_lock`, and one hook
gives each owner a new lock in the child. `in_child` adds what else a child has to forget.

A lock that is replaced protects nothing that is half done: what its holder changes must be whole
after each line. One assignment commits a change of several values."""

from __future__ import annotations

import logging  # noqa: F401  # its hook holds a lock that imports need: it runs after ours
import os
import sys
import threading
import time
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from _thread import RLock

_owners: WeakSet[object] = WeakSet()
_actions: list[Callable[[], None]] = []
_is_child = False
_import_locks: MutableMapping[str, Callable[[], object]]
_import_locks = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})
"""A weak reference to the lock of each module that is being imported, by the module's name."""
_PACKAGES = sys.stdlib_module_names | {"numpy", "pluggy", "regex", "tiktoken", "tokenizers"}
_PACKAGES |= {"huggingface_hub", "requests", "transformers"}

longest_wait = 20.0
"""Seconds that a fork waits for the imports of other threads, and for tiktoken's registry."""
longest_stall = 2.0
"""Seconds without one step of these threads after which a fork waits for no import any more."""
_taken: dict[int, RLock] = {}
"""tiktoken's lock, by the thread that forks while it has it."""


def own_lock(owner: object) -> RLock:
    """Returns a new lock for the attribute `_lock` of `owner`, an object or a module."""
    _owners.add(owner)
    return threading.RLock()


def in_child(action: Callable[[], None]) -> None:
    """Call `action` in each child that is forked later, when its locks are new."""
    _actions.append(action)


def is_child() -> bool:
    """True in a process that was forked after tokpar was imported: the threads that engines had
    started are missing there."""
    return _is_child


def _await_imports() -> None:
    """Wait until no other thread is importing a module that this package imports: a child would
    have to import such a module again. Functions import what they need at their first run.

    A hook that ran before this one may hold a lock that the import needs, as filelock's does, so
    the wait ends when the import stands still."""
    limit = time.monotonic() + longest_wait
    places, stalled = set[object](), 0.0
    while (found := _importing_places()) and (now := time.monotonic()) < limit:
        if found != places:
            places, stalled = found, now + longest_stall
        elif now > stalled:
            break
        time.sleep(0.0005)


def _importing_places() -> set[object]:
    """Returns where each other thread is that imports a module that this package imports."""
    locks = [each() for name, each in [*_import_locks.items()] if _is_imported_here(name)]
    threads = {getattr(lock, "owner", None) for lock in locks} - {None, threading.get_ident()}
    if not threads:
        return set()
    frames = sys._current_frames()
    running = [(thread, frames.get(thread)) for thread in threads if thread is not None]
    return {(thread, id(frame), getattr(frame, "f_lasti", 0)) for thread, frame in running}


def _drop_unfinished_imports() -> None:
    """Drop the modules that a thread of the parent was importing, and their locks, which nobody
    releases here: this child imports these modules again."""
    for name, lock in [*_import_locks.items()]:
        if getattr(lock(), "owner", None) not in (None, threading.get_ident()):
            _import_locks.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                del sys.modules[name]


def _is_imported_here(name: str) -> bool:
    package = name.partition(".")[0]
    return package.startswith("tokpar") or package in _PACKAGES


def _take_registry() -> None:
    """Take the lock of tiktoken's registry: another thread may be filling the registry, and a child
    would have half of it and wait for ever for the lock."""
    lock = getattr(sys.modules.get("tiktoken.registry"), "_lock", None)
    if lock is not None and lock.acquire(timeout=longest_wait):
        _taken[threading.get_ident()] = lock


def _give_registry() -> None:
    lock = _taken.pop(threading.get_ident(), None)
    if lock is not None:
        lock.release()


def _before_fork() -> None:
    _await_imports()
    _take_registry()


def _renew() -> None:
    global _is_child
    _is_child = True
    _drop_unfinished_imports()
    _give_registry()
    _taken.clear()
    for owner in _owners:
        owner.__dict__["_lock"] = threading.RLock()
    for action in _actions:
        action()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_give_registry, after_in_child=_renew)
