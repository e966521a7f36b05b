"""Writes files that survive a power cut: synced, renamed, and the folder synced."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Protocol

UNFINISHED = ".unfinished-"
"""How the names of files begin that are still being written."""


class NewFile(Protocol):
    """A file that is being written from its first byte on."""

    def write(self, data: bytes | memoryview) -> None:
        """Appends `data`. Raises OSError, as for a full disk."""

    def overwrite_start(self, data: bytes) -> None:
        """Writes `data` over the first bytes; the next `write` appends again."""

    def sync(self) -> None:
        """Returns when the disk has all bytes."""

    def close(self) -> None: ...


class FileLayer(Protocol):
    """All that a build changes on disk. Tests replace it by one that loses power or is full."""

    def create(self, path: Path) -> NewFile:
        """Opens a new, empty file; one of that name is replaced."""

    def open_end(self, path: Path) -> NewFile:
        """Opens a file to append to it; creates it if there is none."""

    def rename(self, old: Path, new: Path) -> None: ...

    def sync_folder(self, folder: Path) -> None:
        """Returns when the disk has the names of the files in `folder`."""

    def truncate(self, path: Path, size: int) -> None:
        """Cuts a file to `size` bytes, synced."""

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
        os.fsync(self._file.fileno())

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
        if os.name == "nt":  # folders cannot be opened there, and names are synced with the file
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def truncate(self, path: Path, size: int) -> None:
        with path.open("r+b") as file:
            file.truncate(size)
            os.fsync(file.fileno())

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)


def write_whole(layer: FileLayer, path: Path, data: bytes) -> None:
    """Writes a file that is complete or not there, whenever the power goes."""
    unfinished = path.with_name(UNFINISHED + path.name)
    file = layer.create(unfinished)
    try:
        file.write(data)
        file.sync()
    finally:
        file.close()
    layer.rename(unfinished, path)
    layer.sync_folder(path.parent)
