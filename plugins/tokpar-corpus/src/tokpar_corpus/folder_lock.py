"""Lets only one build at a time write into a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tokpar.errors import OptionError

LOCK_NAME = ".lock"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder for the `with` block. The operating system releases it when the
    process ends.

    Raises OptionError if another build holds the lock."""
    with (folder / LOCK_NAME).open("ab") as file:
        try:
            _lock(file)
        except OSError:
            raise OptionError(
                f"{folder}: another build is writing into this folder; wait for its end, or give "
                "another --out"
            ) from None
        yield


def _lock(file: BinaryIO) -> None:
    """Locks the file. Raises OSError if another process holds the lock."""
    try:
        fcntl: Any = import_module("fcntl")
    except ImportError:  # Windows
        msvcrt: Any = import_module("msvcrt")
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
