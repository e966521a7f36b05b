"""Writes files that survive a power cut: syncs the file, renames it, and syncs the folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO, Protocol

try:
    from fcntl import F_FULLFSYNC, fcntl  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # Windows has no fcntl, and Linux no F_FULLFSYNC
    F_FULLFSYNC = None

UNFINISHED = ".unfinished-"
"""The prefix of the names of unfinished files."""
_UNKNOWN_REQUEST = (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY)


def sync_to_disk(descriptor: int) -> None:
    """Returns when all bytes of an open file or folder are on the disk.

    On macOS `fsync` returns when the bytes are in the cache of the disk, which a power cut empties:
    F_FULLFSYNC asks the disk to empty its cache first (fsync(2) of macOS). A file system that does
    not know F_FULLFSYNC is asked by `fsync`."""
    if F_FULLFSYNC is not None:
        try:
            fcntl(descriptor, F_FULLFSYNC)
            return
        except OSError as error:
            if error.errno not in _UNKNOWN_REQUEST:
                raise
    os.fsync(descriptor)


class NewFile(Protocol):
    """A new file, written from its first byte on."""

    def write(self, data: bytes | memoryview) -> None:
        """Appends `data`. Raises OSError, as for a full disk."""

    def overwrite_start(self, data: bytes) -> None:
        """Overwrites the first bytes with `data`. The next `write` appends again."""

    def sync(self) -> None:
        """Returns when all bytes are on the disk."""

    def close(self) -> None: ...


class FileLayer(Protocol):
    """All operations of a build that change the disk. Tests replace it by a layer that simulates a
    power cut or a full disk."""

    def create(self, path: Path) -> NewFile:
        """Opens a new, empty file. Replaces an existing file of this name."""

    def open_end(self, path: Path) -> NewFile:
        """Opens a file for appending. Creates it if it does not exist."""

    def rename(self, old: Path, new: Path) -> None: ...

    def sync_folder(self, folder: Path) -> None:
        """Returns when the names of the files in `folder` are on the disk."""

    def truncate(self, path: Path, size: int) -> None:
        """Truncates a file to `size` bytes, and syncs it."""

    def remove(self, path: Path) -> None: ...


class DiskFile:
    """A `NewFile` of the operating system."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)

    def overwrite_start(self, data: bytes) -> None:
        self._file.seek(0)
        self._file.write(data)
        self._file.seek(0, os.SEEK_END)

    def sync(self) -> None:
        self._file.flush()
        sync_to_disk(self._file.fileno())

    def close(self) -> None:
        self._file.close()


class Disk:
    """The `FileLayer` of the operating system."""

    def create(self, path: Path) -> NewFile:
        return DiskFile(path.open("wb"))

    def open_end(self, path: Path) -> NewFile:
        return DiskFile(path.open("ab"))

    def rename(self, old: Path, new: Path) -> None:
        old.replace(new)

    def sync_folder(self, folder: Path) -> None:
        if os.name == "nt":  # Windows cannot open folders, and syncs names with the file
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            sync_to_disk(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, path: Path, size: int) -> None:
        with path.open("r+b") as file:
            file.truncate(size)
            sync_to_disk(file.fileno())

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)


def write_whole(layer: FileLayer, path: Path, data: bytes) -> None:
    """Writes a file. After a power cut at any time, the file is complete, or is as it was before
    the call."""
    unfinished = path.with_name(UNFINISHED + path.name)
    file = layer.create(unfinished)
    try:
        file.write(data)
        file.sync()
    finally:
        file.close()
    layer.rename(unfinished, path)
    layer.sync_folder(path.parent)
