"""Reads shards of Megatron: `x.bin` has the ids, `x.idx` the places of the sequences.

The index has, little-endian:
1. a header: `MMIDIDX` and two zero bytes, the version (uint64, 1), the code of the dtype (uint8),
   the number of sequences and the number of document edges (uint64 each);
2. the length in ids of each sequence (int32), then the byte at which each sequence begins (int64);
3. the document edges: the number of the first sequence of each document, and the end (int64);
4. for multimodal data only, a mode of each sequence (int8).

Source: `megatron.core.datasets.indexed_dataset` of megatron-core 0.16."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokpar.arrays import IntArray, offsets_of
from tokpar.errors import FileFormatError
from tokpar_corpus.megatron import MAGIC
from tokpar_corpus.shards import Problem, RawIds, ShardSource, blocks_of

HEADER = struct.Struct("<9sQBQQ")
DTYPES: dict[int, str] = {1: "u1", 2: "i1", 3: "i2", 4: "i4", 5: "i8", 6: "f8", 7: "f4", 8: "u2"}


@dataclass(frozen=True, slots=True, eq=False)
class MegatronIndex:
    """The content of an index file.

    `lengths`: the ids of each sequence, int64. `starts`: the byte in the data at which each
    sequence begins, int64. `edges`: the first sequence of each document, and the end, int64.
    `rest`: the number of bytes after the edges."""

    dtype: np.dtype[Any]
    lengths: IntArray
    starts: IntArray
    edges: IntArray
    rest: int


def open_shard(path: str) -> ShardSource:
    """Opens the shard in a `.bin` with its `.idx`. See `tokpar_corpus.shards.open_shard`."""
    index = read_index(path.removesuffix(".bin") + ".idx")
    size = os.path.getsize(path)
    problems = [*_of_index(index), *_of_data(index, size)]
    width = index.dtype.itemsize
    held = size // width
    ids = np.asarray(np.memmap(path, index.dtype, "r", shape=(held,))) if held else _none()
    offsets, note = _documents(index, _whole_sequences(index, size), bool(problems))
    return ShardSource(
        path,
        "megatron",
        index.dtype,
        len(offsets) - 1,
        int(offsets[-1]),
        lambda: blocks_of(ids, offsets),
        tuple(problems),
        (note,) if note else (),
    )


def _documents(index: MegatronIndex, whole: int, has_problems: bool) -> tuple[IntArray, str]:
    """Returns the offsets of the documents in ids, int64, shape (documents + 1,), and a note or "".

    A document without ids has no sequence. If some document has several sequences (sentences that
    were encoded one by one), every sequence counts as a document. The same holds if index and data
    have problems; then only the first `whole` sequences count."""
    offsets = offsets_of(index.lengths[:whole])
    if has_problems:
        return offsets, ""
    sequences = np.diff(index.edges)
    if (sequences <= 1).all():
        return offsets[index.edges], ""
    many = f"its {whole:,} sequences make up {len(sequences):,} documents"
    return offsets, f"{many}: each sequence was taken for a document"


def read_index(path: str) -> MegatronIndex:
    """Reads the index at `path`. Raises FileFormatError that says what is wrong with the file."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER.size:
        raise FileFormatError(f"{path}: expected a header of {HEADER.size} bytes, got {len(data)}")
    magic, version, code, sequences, edges = HEADER.unpack_from(data)
    if magic != MAGIC or version != 1:
        raise FileFormatError(
            f"{path}: expected an index of Megatron, version 1, got {magic!r}, version {version}"
        )
    if code not in DTYPES:
        raise FileFormatError(f"{path}: the dtype has code {code}, known are 1 to 8")
    need = HEADER.size + sequences * (4 + 8) + edges * 8
    if len(data) < need:
        raise FileFormatError(
            f"{path}: {sequences:,} sequences and {edges:,} edges of documents take {need:,} "
            f"bytes, the file has {len(data):,}"
        )
    lengths = np.frombuffer(data, "<i4", sequences, HEADER.size).astype(np.int64)
    starts = np.frombuffer(data, "<i8", sequences, HEADER.size + 4 * sequences)
    bounds = np.frombuffer(data, "<i8", edges, HEADER.size + 12 * sequences)
    dtype = np.dtype("<" + DTYPES[code])
    if dtype.kind == "f":
        raise FileFormatError(f"{path}: expected ids, which are integers, got {dtype.name}")
    return MegatronIndex(dtype, lengths, starts, bounds, len(data) - need)


def _of_index(index: MegatronIndex) -> list[Problem]:
    """Returns the places where the index contradicts itself."""
    problems, sequences, edges = [], len(index.lengths), index.edges
    if index.rest not in (0, sequences):
        problems.append(Problem(f"{index.rest:,} bytes after the index", "none, or one a sequence"))
    if (index.lengths < 0).any():
        first = int(np.argmax(index.lengths < 0))
        problems.append(Problem(f"a length of {index.lengths[first]}", "a length", first))
    starts = offsets_of(index.lengths)[:-1] * index.dtype.itemsize
    wrong = np.flatnonzero(starts != index.starts)
    if len(wrong):
        k = int(wrong[0])
        found = f"the sequence begins at byte {index.starts[k]:,}"
        problems.append(Problem(found, f"byte {starts[k]:,}, where the one before ends", k))
    if not len(edges) or edges[0] != 0 or edges[-1] != sequences or (np.diff(edges) < 0).any():
        found = f"edges of documents from {edges[:1].tolist()} to {edges[-1:].tolist()}"
        problems.append(Problem(found, f"ascending from 0 to the {sequences:,} sequences"))
    return problems


def _of_data(index: MegatronIndex, size: int) -> list[Problem]:
    """Returns a problem if the data is shorter or longer than the index says. `size`: its bytes."""
    need = int(np.maximum(index.lengths, 0).sum()) * index.dtype.itemsize
    if need == size:
        return []
    found, expected = f"{size:,} bytes of data", f"{need:,} bytes of {index.dtype.name}"
    return [Problem(found, f"{expected}, as the index says", None)]


def _whole_sequences(index: MegatronIndex, size: int) -> int:
    """Returns how many sequences, from the first on, lie completely in the data of `size` bytes."""
    ends = np.cumsum(index.lengths) * index.dtype.itemsize
    good = (ends <= size) & (index.lengths >= 0)
    return len(good) if good.all() else int(np.argmin(good))


def _none() -> RawIds:
    return np.empty(0, np.int32)
