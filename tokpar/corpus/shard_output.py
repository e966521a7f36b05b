"""What a writer of shards does, and the file that it writes to."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol

from tokpar.corpus.durable_files import UNFINISHED, FileLayer
from tokpar.corpus.manifest import ShardFile
from tokpar.types import Rows


class ShardWriter(Protocol):
    """Writes the ids of documents, in order, into the files of one shard."""

    def add(self, rows: Rows, names: Sequence[str] | None) -> None:
        """Appends documents. `names`: their ids, where the format stores them."""

    def finish(self) -> list[ShardFile]:
        """Syncs and renames all files; the folder is not synced yet. Returns what was written."""

    def abandon(self) -> None:
        """Closes and removes the unfinished files."""


class ShardOutput:
    """One file of a shard: has another name until it is complete, and digests what is written."""

    def __init__(self, layer: FileLayer, path: Path) -> None:
        self._layer = layer
        self._path = path
        # a worker of a cluster that was given up may still write the same shard
        self._temporary_path = path.with_name(f"{UNFINISHED}{path.name}.{secrets.token_hex(4)}")
        self._file = layer.create(self._temporary_path)
        self._digest = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        """Appends bytes; returns how many."""
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)
        return len(data)

    def overwrite_start(self, data: bytes) -> None:
        """Replaces the first bytes; the digest is made again of the whole file."""
        self._file.overwrite_start(data)
        self._file.sync()
        with self._temporary_path.open("rb") as written:
            self._digest = hashlib.file_digest(written, "sha256")

    def sync(self) -> None:
        """Returns when the disk has all bytes; closes the file."""
        self._file.sync()
        self._file.close()
        self.closed = True

    def rename(self) -> ShardFile:
        """Gives a synced file its name."""
        self._layer.rename(self._temporary_path, self._path)
        return ShardFile(self._path.name, self.size, self._digest.hexdigest())

    def abandon(self) -> None:
        """Closes and removes the file that is not complete."""
        with suppress(OSError):  # as of a full disk
            self._file.close()
        self._layer.remove(self._temporary_path)

    # what pyarrow asks of a file that it writes to
    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        """Nothing: `sync` does it."""

    def close(self) -> None:
        """Nothing: `sync` does it."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def abandon_all(outputs: Sequence[ShardOutput | None]) -> None:
    """Abandons the files of a shard, all of them whatever happens to one."""
    with ExitStack() as stack:
        for output in outputs:
            if output is not None:
                stack.callback(output.abandon)
