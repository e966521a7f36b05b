"""One operation on the files of a folder fails: a shim between Python and the operating system.

Each call of `os` and each read and write of an open file counts as an operation. The one with the
chosen number raises an OSError, or reads or writes half of what it was asked to."""

from __future__ import annotations

import builtins
import errno
import io
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

SHORT = 0
"""Stands for an error: the operation does half of its work."""
ERRORS = {
    "no room": errno.ENOSPC,
    "disk fails": errno.EIO,
    "interrupted": errno.EINTR,
    "refused": errno.EACCES,
    "no memory": errno.ENOMEM,
    "half": SHORT,
}
BY_PATH = (
    *("open", "stat", "lstat", "mkdir", "chmod", "replace", "rename", "unlink", "scandir"),
    *("listdir", "rmdir", "truncate"),
)
BY_DESCRIPTOR = ("fstat", "fsync", "ftruncate")
OF_FILES = ("interrupted", "half")
"""What reaches a program only at a read or write: Python repeats the other calls by itself."""


class FailingFiles:
    """Counts the operations on files in `folder`; number `failing` fails, from 0 on."""

    def __init__(self, folder: Path, failing: int, error: str) -> None:
        self.folder, self.failing, self.error = os.fspath(folder), failing, error
        self.count, self.failed = 0, ""
        self.raised: Exception | None = None
        self.descriptors = dict[int, str]()

    def has_path(self, path: object) -> bool:
        if isinstance(path, int):
            return path in self.descriptors
        return isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(self.folder)

    def step(self, name: str) -> bool:
        """Counts an operation. Raises OSError for the one that fails; True if it does half."""
        self.count += 1
        if self.count != self.failing + 1:
            return False
        is_of_file = name in ("read", "write")
        if self.error in OF_FILES and not is_of_file:
            return False
        self.failed = name
        code = ERRORS[self.error]
        if code == SHORT:
            return True
        raise OSError(code, os.strerror(code))


class FailingRaw(io.FileIO):
    """An open file whose reads and writes count."""

    files: FailingFiles

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        is_half = self.files.step("read") and len(view) > 1
        found = super().readinto(view[: len(view) // 2] if is_half else view)
        return found or 0

    def readall(self) -> bytes:
        self.files.step("read")
        return super().readall()

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        is_half = self.files.step("write") and len(view) > 1
        return super().write(view[: len(view) // 2] if is_half else view) or 0

    def close(self) -> None:
        if not self.closed:
            self.files.descriptors.pop(self.fileno(), None)
        super().close()


@contextmanager
def failing_files(folder: Path, failing: int, error: str) -> Iterator[FailingFiles]:
    """Operation number `failing` on files in `folder` fails within the block; none for -1."""
    files = FailingFiles(folder, failing, error)
    with ExitStack() as stack:
        for name in (*BY_PATH, *BY_DESCRIPTOR):
            stack.enter_context(mock.patch.object(os, name, _counted(files, name)))
        opened = _opening(files)
        for module, name in ((builtins, "open"), (io, "open"), (os, "fdopen")):
            stack.enter_context(mock.patch.object(module, name, opened))
        real_map = mmap.mmap

        class CountedMap(real_map):  # type: ignore[valid-type,misc]
            def __new__(cls, descriptor: int, *args: Any, **named: Any) -> Any:
                if files.has_path(descriptor):
                    files.step("mmap")
                return real_map.__new__(cls, descriptor, *args, **named)

        stack.enter_context(mock.patch.object(mmap, "mmap", CountedMap))
        yield files


def _counted(files: FailingFiles, name: str) -> Callable[..., Any]:
    real = getattr(os, name)

    def call(path: Any = ".", *args: Any, **named: Any) -> Any:
        if files.has_path(path):
            files.step(name)
        found = real(path, *args, **named)
        if name == "open" and files.has_path(path):
            files.descriptors[found] = os.fspath(path)
        return found

    return call


def _opening(files: FailingFiles) -> Callable[..., Any]:
    real = io.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **named: Any) -> Any:
        if not files.has_path(file) or buffering == 0:
            return real(file, mode, buffering, *args, **named)
        if not isinstance(file, int):
            files.step("open")
        raw = FailingRaw(file, mode.replace("b", "").replace("t", ""))
        raw.files = files
        files.descriptors[raw.fileno()] = str(file)
        kinds = {"r": io.BufferedReader, "w": io.BufferedWriter, "a": io.BufferedWriter}
        found: Any = io.BufferedRandom(raw) if "+" in mode else kinds[mode[0]](raw)
        return found if "b" in mode else io.TextIOWrapper(found, *args, **named)

    return opened


def each_failure(
    folder: Path, work: Callable[[], object], step: int = 1, errors: Iterable[str] = tuple(ERRORS)
) -> Iterator[FailingFiles]:
    """Does `work` once for every `step`-th operation on files in `folder` and each error, and
    yields after each. `raised`: the error of `work`, or None."""
    for error in errors:
        for failing in range(0, 1 << 20, step):
            with failing_files(folder, failing, error) as files:
                try:
                    work()
                except Exception as raised:
                    files.raised = raised
            yield files
            if files.count <= failing:
                break
