"""Shards of ids, whoever wrote them: find the files, recognise the format, read the documents.

Each format has a module of its own with one function `open_shard`; a shard that cannot be read at
all is a `FileFormatError`, one whose index and data disagree has `problems`."""

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

RawIds = NDArray[Any]
"""Ids as a shard stores them, shape (n,): any integer dtype, so that wrong ids stay visible."""
BLOCK_IDS = 1 << 20
"""Ids of a block. A longer document is a block of its own."""
READERS = {
    ".bin": "shard_megatron",
    ".idx": "shard_megatron",
    ".ds": "shard_datatrove",
    ".parquet": "shard_arrow",
    ".arrow": "shard_arrow",
    ".npy": "shard_numpy",
}
"""The module that reads files with this suffix."""
_OFFSETS = ".offsets.npy"
"""The end of the names of files that tell where the documents of a `.npy` begin."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some whole documents of a shard: document first + k has the ids
    ids[offsets[k] : offsets[k + 1]]. `offsets`: int64, (documents + 1,)."""

    first: int
    ids: RawIds
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> RawIds:
        return self.ids[self.offsets[k] : self.offsets[k + 1]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A place where the index of a shard and its data disagree. `document`: None for the file."""

    found: str
    expected: str
    document: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ShardSource:
    """A shard that was opened.

    `format`: "megatron", "datatrove", "parquet", "arrow" or "numpy". `dtype`: of the stored ids.
    `documents`, `tokens`: as many as the data holds whole. `problems`: where index and data
    disagree. `notes`: what a reader of the report should know of the file. `read`: yields the
    documents in order, in blocks."""

    name: str
    format: str
    dtype: np.dtype[Any]
    documents: int
    tokens: int
    read: Callable[[], Iterator[Block]]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[Block]:
        """The documents in order, a block at a time."""
        return self.read()


def find_shards(names: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The files of shards that paths, folders and globs name, each once, in the order given; those
    of a folder or a glob sorted. Raises FileNotFoundError, OptionError."""
    found: dict[str, None] = {}
    for name in [os.fspath(name) for name in names]:
        if os.path.isdir(name):
            some = _in_folder(name)
        elif os.path.exists(name) or not glob.has_magic(name):
            some = [name]
        else:
            some = sorted(filter(_is_shard, glob.glob(name, recursive=True)))
        if not some:
            raise OptionError(f"{name}: no shard there; known are {', '.join(sorted(READERS))}")
        found |= dict.fromkeys(map(_data_file, some))
    if not found:
        raise OptionError("no shards: give at least one file, folder or glob")
    return list(found)


def _in_folder(folder: str) -> list[str]:
    paths = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    return [path for path in paths if _is_shard(path) and not _is_hidden(path, folder)]


def _is_hidden(path: str, folder: str) -> bool:
    return any(part[0] in "._" for part in Path(path).relative_to(folder).parts)


def _is_shard(path: str) -> bool:
    return Path(path).suffix in READERS and not path.endswith(_OFFSETS)


def _data_file(path: str) -> str:
    """The data of a shard of which the index may have been named: "a.idx" -> "a.bin"."""
    if path.endswith(".ds.index"):
        return path.removesuffix(".index")
    if path.endswith(".idx"):
        return path.removesuffix(".idx") + ".bin"
    return path


def open_shard(path: str) -> ShardSource:
    """The shard at `path`. Raises FileFormatError if nothing of it can be read,
    FileNotFoundError, OptionError without the package that reads the format."""
    suffix = Path(path).suffix
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise FileFormatError(f"{path}: not a shard that tokpar reads; known are {known}")
    module = import_module(f"tokpar.corpus.{READERS[suffix]}")
    opened: ShardSource = module.open_shard(path)
    return opened


def blocks_of(ids: RawIds, offsets: IntArray) -> Iterator[Block]:
    """Documents of a flat array of ids, `BLOCK_IDS` or one document at a time.

    `offsets`: int64, (documents + 1,), ascending, within `ids`."""
    first, count = 0, len(offsets) - 1
    while first < count:
        most = offsets[first] + BLOCK_IDS
        stop = max(first + 1, int(np.searchsorted(offsets, most, side="right")) - 1)
        edges = offsets[first : stop + 1]
        yield Block(first, ids[edges[0] : edges[-1]], edges - edges[0])
        first = stop


def in_documents(shard: ShardSource, last: int) -> ShardSource:
    """The shard with a document ending after each id `last`, whatever its rows are: for packed
    rows of one length. The last document may lack the id."""

    def read() -> Iterator[Block]:
        first, rest = 0, np.empty(0, shard.dtype)
        for block in shard.blocks():
            ids = np.concatenate([rest, block.ids])
            ends = np.flatnonzero(ids == last) + 1
            edges = np.append(0, ends).astype(np.int64)
            if len(ends):
                yield Block(first, ids[: edges[-1]], edges)
            first, rest = first + len(ends), ids[edges[-1] :]
        if len(rest):
            yield Block(first, rest, np.array([0, len(rest)]))

    said = f"its rows were joined, and a document ends after each id {last}"
    count = sum(len(block) for block in read())
    return replace(shard, documents=count, read=read, notes=(*shard.notes, said))
