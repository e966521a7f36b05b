"""Finds shards of ids, recognises their format, and reads their documents. The shards may come from
any program.

Each format has its own module with a function `open_shard`. It raises `FileFormatError` for a shard
that cannot be read at all. If only index and data disagree, the shard has `problems`."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.errors import FileFormatError, OptionError
from tokpar_corpus.manifest import MANIFEST_NAME, Manifest

RawIds = NDArray[Any]
"""Ids as a shard stores them, shape (n,), any integer dtype. They are not converted, so that wrong
ids stay visible."""
BLOCK_IDS = 1 << 20
"""The most ids of a block. A longer document is a block of its own."""
READERS = {
    ".bin": "shard_megatron",
    ".idx": "shard_megatron",
    ".ds": "shard_datatrove",
    ".parquet": "shard_arrow",
    ".arrow": "shard_arrow",
    ".npy": "shard_numpy",
}
"""Suffix of a file -> the module that reads it."""
_OFFSETS = ".offsets.npy"
"""The end of the names of files with the offsets of the documents in a `.npy`."""


@dataclass(frozen=True, slots=True, eq=False)
class IdBlock:
    """Consecutive whole documents of a shard. Document number first + k has the ids
    ids[offsets[k] : offsets[k + 1]]. `offsets`: int64, shape (documents + 1,)."""

    first: int
    ids: RawIds
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> RawIds:
        return self.ids[self.offsets[k] : self.offsets[k + 1]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A place where the index and the data of a shard disagree. `document`: its number, or None if
    the problem is about the whole file."""

    found: str
    expected: str
    document: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ShardSource:
    """An opened shard.

    `format`: "megatron", "datatrove", "parquet", "arrow" or "numpy". `dtype`: the dtype of the
    stored ids. `documents`: the number of documents that lie completely in the data; `tokens`: the
    number of their ids. `problems`: where index and data disagree. `notes`: facts about the file
    for a report. `read`: yields the documents in order, in blocks."""

    name: str
    format: str
    dtype: np.dtype[Any]
    documents: int
    tokens: int
    read: Callable[[], Iterator[IdBlock]]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[IdBlock]:
        """Yields the documents in order, in blocks."""
        return self.read()


@dataclass(frozen=True, slots=True)
class UnreadableShard:
    """A shard that cannot be opened. `why`: names the file at fault, and what is wrong with it."""

    name: str
    why: str


def find_shards(names: Sequence[str]) -> list[str]:
    """Returns the data files of the shards for paths, folders and globs: each file once, in the
    order of `names`. The files of one folder or glob are sorted. A folder whose manifest has no
    document has no shard. Raises OptionError if another name has no shard, or is not there."""
    found: dict[str, str] = {}
    for name in names:
        if os.path.isdir(name):
            some = _in_folder(name)
            if not some and _has_no_document(name):
                continue
        elif os.path.exists(name):
            some = [name]
        elif not glob.has_magic(name):
            raise OptionError(f"{name}: there is no such file or folder")
        else:
            some = sorted(filter(_is_shard, glob.glob(name, recursive=True)))
        if not some:
            raise OptionError(f"{name}: no shard there; known are {', '.join(sorted(READERS))}")
        for path in map(_data_file, some):
            found.setdefault(os.path.realpath(path), path)
    if not names:
        raise OptionError("no shards: give at least one file, folder or glob")
    return list(found.values())


def open_shards(names: Sequence[str]) -> tuple[list[ShardSource], list[UnreadableShard]]:
    """Opens the shards of `find_shards`. Returns them, and the shards that are damaged, or lack
    their index or data.

    Raises OptionError for a name without a shard and for a missing package; FileFormatError for a
    file that is no shard by its name."""
    opened: list[ShardSource] = []
    unreadable: list[UnreadableShard] = []
    for path in find_shards(names):
        if not _is_shard(path):
            raise _not_a_shard(path)
        try:
            opened.append(open_shard(path))
        except FileFormatError as error:
            unreadable.append(UnreadableShard(path, str(error)))
        except OSError as error:
            why = f"{error.filename or path}: {error.strerror or error}"
            unreadable.append(UnreadableShard(path, why))
    return opened, unreadable


def _not_a_shard(path: str) -> FileFormatError:
    known = ", ".join(sorted(READERS))
    return FileFormatError(f"{path}: not a shard that tokpar reads; known are {known}")


def _in_folder(folder: str) -> list[str]:
    paths = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    return [path for path in paths if _is_shard(path) and not _is_hidden(path, folder)]


def _has_no_document(folder: str) -> bool:
    """True if a build of this folder was finished and had no document."""
    path = Path(folder) / MANIFEST_NAME
    return path.is_file() and not Manifest.from_json(path.read_text(encoding="utf-8")).documents


def _is_hidden(path: str, folder: str) -> bool:
    return any(part[0] in "._" for part in Path(path).relative_to(folder).parts)


def _is_shard(path: str) -> bool:
    return Path(path).suffix in READERS and not path.endswith(_OFFSETS)


def _data_file(path: str) -> str:
    """Returns the data file of a shard. `path`: its data file or its index: "a.idx" -> "a.bin"."""
    if path.endswith(".ds.index"):
        return path.removesuffix(".index")
    if path.endswith(".idx"):
        return path.removesuffix(".idx") + ".bin"
    return path


def open_shard(path: str) -> ShardSource:
    """Opens the shard at `path`. Raises FileFormatError if it cannot be read at all,
    FileNotFoundError, and OptionError if the package for the format is not installed."""
    suffix = Path(path).suffix
    if suffix not in READERS:
        raise _not_a_shard(path)
    module = import_module(f"tokpar_corpus.{READERS[suffix]}")
    opened: ShardSource = module.open_shard(path)
    return opened


def blocks_of(ids: RawIds, offsets: IntArray) -> Iterator[IdBlock]:
    """Yields the documents of a flat array of ids, in blocks of up to `BLOCK_IDS` ids or of one
    longer document.

    `offsets`: int64, shape (documents + 1,), ascending, within `ids`."""
    first, count = 0, len(offsets) - 1
    while first < count:
        most = offsets[first] + BLOCK_IDS
        stop = max(first + 1, int(np.searchsorted(offsets, most, side="right")) - 1)
        edges = offsets[first : stop + 1]
        yield IdBlock(first, ids[edges[0] : edges[-1]], edges - edges[0])
        first = stop


def in_documents(shard: ShardSource, last: int) -> ShardSource:
    """Returns the shard with other documents: its rows are joined, and a document ends after each
    id `last`. For shards of packed rows of equal length. The last document may lack the id."""

    def read() -> Iterator[IdBlock]:
        first, rest = 0, np.empty(0, shard.dtype)
        for block in shard.blocks():
            ids = np.concatenate([rest, block.ids])
            ends = np.flatnonzero(ids == last) + 1
            edges = np.append(0, ends).astype(np.int64)
            if len(ends):
                yield IdBlock(first, ids[: edges[-1]], edges)
            first, rest = first + len(ends), ids[edges[-1] :]
        if len(rest):
            yield IdBlock(first, rest, np.array([0, len(rest)]))

    said = f"its rows were joined, and a document ends after each id {last}"
    count = sum(len(block) for block in read())
    return replace(shard, documents=count, read=read, notes=(*shard.notes, said))
