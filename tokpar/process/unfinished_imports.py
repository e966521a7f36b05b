"""What a fork does about modules that other threads are importing: it waits for them, and the child
imports again what was not finished."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, MutableMapping

_import_locks: MutableMapping[str, Callable[[], object]]
_import_locks = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})
"""A weak reference to the lock of each module that is being imported, by the module's name."""
_PACKAGES = sys.stdlib_module_names | {"numpy", "pluggy", "regex", "tiktoken", "tokenizers"}
_PACKAGES |= {"huggingface_hub", "requests", "transformers"}

longest_wait = 20.0
"""Seconds that a fork waits for the imports of other threads."""
longest_stall = 2.0
"""Seconds without one step of these threads after which a fork waits for no import any more."""


def await_imports() -> None:
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


def drop_unfinished_imports() -> None:
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
