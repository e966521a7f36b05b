"""The locks of this package, which are free in a forked child.

A child process has only the thread that forked. A lock that another thread held at that moment is
never released there. So each lock of a module or of an object is made by `own_lock`, and one hook
gives each owner a new lock in the child. `in_child` adds what else a child has to forget.

A lock that is replaced protects nothing that is half done: what its holder changes must be whole
after each line. One assignment commits a change of several values."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from _thread import RLock

_owners: WeakSet[object] = WeakSet()
_actions: list[Callable[[], None]] = []


def own_lock(owner: object) -> RLock:
    """Returns a new lock for the attribute `_lock` of `owner`, an object or a module."""
    _owners.add(owner)
    return threading.RLock()


def in_child(action: Callable[[], None]) -> None:
    """Call `action` in each child that is forked later, when its locks are new."""
    _actions.append(action)


def _renew() -> None:
    for owner in _owners:
        owner.__dict__["_lock"] = threading.RLock()
    for action in _actions:
        action()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew)
