"""The interface of a writer of shards, and the file that writers use."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol

from tokpar.types import Rows
from tokpar_corpus.durable_files import UNFINISHED, FileLayer
from tokpar_corpus.manifest import ShardFile


class ShardWriter(Protocol):
    """Writes the ids of documents in order into the files of one shard."""

    def add(self, rows: Rows, names: Sequence[str] | None) -> None:
        """Appends documents, one row each. `names`: the document ids, if the format stores them."""

    def finish(self) -> list[ShardFile]:
        """Syncs and renames all files. Returns the files. The caller has to sync the folder."""

    def abandon(self) -> None:
        """Closes and removes the unfinished files."""


class ShardOutput:
    """One file of a shard. It has a temporary name until it is complete, and digests all bytes that
    are written."""

    def __init__(self, layer: FileLayer, path: Path) -> None:
        self._layer = layer
        self._path = path
        # a lost worker of a cluster may still write the same shard, so the name is unique
        self._temporary_path = path.with_name(f"{UNFINISHED}{path.name}.{secrets.token_hex(4)}")
        self._file = layer.create(self._temporary_path)
        self._digest = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        """Appends bytes, and returns their number."""
        self._file.write(data)
        self._digest.update(data)
        self.size += len(data)
        return len(data)

    def overwrite_start(self, data: bytes) -> None:
        """Overwrites the first bytes, and digests the whole file again."""
        self._file.overwrite_start(data)
        self._file.sync()
        with self._temporary_path.open("rb") as written:
            self._digest = hashlib.file_digest(written, "sha256")

    def sync(self) -> None:
        """Syncs and closes the file. Returns when all bytes are on the disk."""
        self._file.sync()
        self._file.close()
        self.closed = True

    def rename(self) -> ShardFile:
        """Gives a synced file its final name. Returns its name, size and digest."""
        self._layer.rename(self._temporary_path, self._path)
        return ShardFile(self._path.name, self.size, self._digest.hexdigest())

    def abandon(self) -> None:
        """Closes and removes the unfinished file."""
        with suppress(OSError):  # such as a full disk
            self._file.close()
        self._layer.remove(self._temporary_path)

    # the other methods that pyarrow needs of a file
    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        """Does nothing: `sync` flushes the file."""

    def close(self) -> None:
        """Does nothing: `sync` closes the file."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def abandon_all(outputs: Sequence[ShardOutput | None]) -> None:
    """Abandons all files of a shard, even if this fails for one of them."""
    with ExitStack() as stack:
        for output in outputs:
            if output is not None:
                stack.callback(output.abandon)
