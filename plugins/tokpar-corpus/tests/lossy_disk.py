"""A disk that loses power at a step, and one that is full at a byte."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from tokpar_corpus.durable_files import Disk, NewFile


class PowerCutError(Exception):
    """Nothing is done after this."""


class Contents:
    """What was written into one file, and how much of that was synced."""

    def __init__(self, data: bytes = b"") -> None:
        self.written = bytearray(data)
        self.synced = bytes(data)


class LossyDisk:
    """Loses power at step `last`, of which a write does its first half.

    `cut` leaves in the folder what the disk has then: names as of the last sync of the folder, or
    all of them (`keeps_names`); bytes as of the last sync of each file, or all (`keeps_data`)."""

    def __init__(self, folder: Path, last: int) -> None:
        self.folder = folder
        self.steps_left = last
        self.steps = 0
        files = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
        self.names = {path.name: Contents(path.read_bytes()) for path in files}
        self.synced_names = dict(self.names)

    def step(self) -> bool:
        """Counts a step; False for the one at which the power goes."""
        self.steps += 1
        if self.steps > self.steps_left + 1:
            raise PowerCutError
        return self.steps <= self.steps_left

    def take(self) -> None:
        if not self.step():
            raise PowerCutError

    def create(self, path: Path) -> NewFile:
        self.take()
        self.names[path.name] = Contents()
        return LossyFile(self, self.names[path.name], Disk().create(path))

    def open_end(self, path: Path) -> NewFile:
        self.take()
        contents = self.names.setdefault(path.name, Contents())
        return LossyFile(self, contents, Disk().open_end(path))

    def rename(self, old: Path, new: Path) -> None:
        self.take()
        self.names[new.name] = self.names.pop(old.name)
        Disk().rename(old, new)

    def sync_folder(self, folder: Path) -> None:
        self.take()
        self.synced_names = dict(self.names)

    def truncate(self, path: Path, size: int) -> None:
        self.take()
        contents = self.names[path.name]
        del contents.written[size:]
        contents.synced = bytes(contents.written)
        Disk().truncate(path, size)

    def remove(self, path: Path) -> None:
        self.take()
        self.names.pop(path.name, None)
        Disk().remove(path)

    def cut(self, keeps_names: bool, keeps_data: bool) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        for name, contents in (self.names if keeps_names else self.synced_names).items():
            data = contents.written if keeps_data else contents.synced
            (self.folder / name).write_bytes(data)


class LossyFile:
    def __init__(self, disk: LossyDisk, contents: Contents, file: NewFile) -> None:
        self.disk, self.contents, self.file = disk, contents, file

    def write(self, data: bytes | memoryview) -> None:
        if not self.disk.step():
            self.contents.written += bytes(data[: len(data) // 2])
            raise PowerCutError
        self.contents.written += bytes(data)
        self.file.write(data)

    def overwrite_start(self, data: bytes) -> None:
        self.disk.take()
        self.contents.written[: len(data)] = data
        self.file.overwrite_start(data)

    def sync(self) -> None:
        self.disk.take()
        self.file.sync()
        self.contents.synced = bytes(self.contents.written)

    def close(self) -> None:
        self.file.close()


class FullDisk:
    """A disk with room for `room` bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.written = 0
        disk = Disk()
        self.rename, self.sync_folder = disk.rename, disk.sync_folder
        self.truncate, self.remove = disk.truncate, disk.remove

    def create(self, path: Path) -> NewFile:
        return FullFile(self, Disk().create(path))

    def open_end(self, path: Path) -> NewFile:
        return FullFile(self, Disk().open_end(path))


class FullFile:
    def __init__(self, disk: FullDisk, file: NewFile) -> None:
        self.disk, self.file = disk, file
        self.overwrite_start, self.sync, self.close = file.overwrite_start, file.sync, file.close

    def write(self, data: bytes | memoryview) -> None:
        self.disk.written += len(data)
        if self.disk.written > self.disk.room:
            self.file.write(data[: max(0, len(data) - (self.disk.written - self.disk.room))])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.file.write(data)
