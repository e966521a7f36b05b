"""Reads shards of datatrove: `x.ds` has the ids, `x.ds.index` the end of each document.

The ids are uint16 or uint32, little-endian, without a header. The index has one uint64 for each
document: its end, in ids from the start of the file. The first line of the optional
`x.ds.metadata` ends with the number of bytes of an id: "gpt2|2". Source:
`datatrove.pipeline.tokens.tokenizer` 0.10."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from tokpar.arrays import IntArray
from tokpar.errors import FileFormatError
from tokpar_corpus.shards import Problem, ShardSource, blocks_of


def open_shard(path: str) -> ShardSource:
    """Opens the shard in a `.ds` with its `.ds.index`. See `tokpar_corpus.shards.open_shard`."""
    size, ends = os.path.getsize(path), read_index(f"{path}.index")
    wrong = np.flatnonzero(np.diff(ends, prepend=0) < 0)
    problems = []
    if len(wrong):
        k = int(wrong[0])
        problems.append(
            Problem(f"the document ends at id {ends[k]:,}", "an end after its start", k)
        )
        ends = ends[:k]
    total = int(ends[-1]) if len(ends) else 0
    dtype, said = _dtype(path, size, total)
    if size != total * dtype.itemsize:
        expected = f"{total * dtype.itemsize:,} bytes, as the index says of {dtype.name} ids"
        problems.append(Problem(f"{size:,} bytes of data", expected))
    held = size // dtype.itemsize
    whole = int(np.searchsorted(ends, held, side="right"))
    offsets = np.append(0, ends[:whole])
    ids = np.empty(0, dtype)
    if held:
        ids = np.asarray(np.memmap(path, dtype, "r", shape=(held,)))
    return ShardSource(
        path,
        "datatrove",
        dtype,
        whole,
        int(offsets[-1]),
        lambda: blocks_of(ids, offsets),
        tuple(problems),
        (said,) if said else (),
    )


def read_index(path: str) -> IntArray:
    """Returns the end of each document in ids, int64, shape (documents,). Raises
    FileFormatError."""
    if not os.path.exists(path):
        raise FileFormatError(f"{path}: not there; datatrove writes it with save_index=True")
    size = os.path.getsize(path)
    if size % 8:
        raise FileFormatError(f"{path}: expected 8 bytes for each document, got {size:,} bytes")
    return np.fromfile(path, "<u8").astype(np.int64)


def _dtype(path: str, size: int, total: int) -> tuple[np.dtype[Any], str]:
    """Returns the dtype of the ids, and a note if the dtype is a guess, else "". `size`: bytes of
    the data. `total`: ids that the index counts."""
    metadata = Path(f"{path}.metadata")
    if metadata.exists():
        first = metadata.read_text(encoding="utf-8").partition("\n")[0]
        width = first.rpartition("|")[2]
        if width in ("2", "4"):
            return np.dtype(f"<u{width}"), ""
        raise FileFormatError(f"{metadata}: expected |2 or |4 at the end of line 1, got {first!r}")
    width = "4" if total and size / total > 3 else "2"
    said = "" if size == total * int(width) else f"read as uint{8 * int(width)}, a guess"
    return np.dtype(f"<u{width}"), said
