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
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from _thread import RLock

_owners: WeakSet[object] = WeakSet()
_actions: list[Callable[[], None]] = []
_is_child = False
longest_wait = 20.0
"""Seconds that a fork waits for tiktoken's registry."""
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
    from tokpar.process import unfinished_imports  # a process that never forks does without it

    unfinished_imports.await_imports()
    _take_registry()


def _renew() -> None:
    global _is_child
    _is_child = True
    imports = sys.modules.get("tokpar.process.unfinished_imports")
    if imports is not None:
        imports.drop_unfinished_imports()
    _give_registry()
    _taken.clear()
    for owner in _owners:
        owner.__dict__["_lock"] = threading.RLock()
    for action in _actions:
        action()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_give_registry, after_in_child=_renew)
