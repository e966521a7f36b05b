"""Writes shards as Megatron's `IndexedDataset`: the ids in a .bin, their places in an .idx.

The .idx has, little-endian:
1. a header: `MMIDIDX\\0\\0`, the version 1 (8 bytes), the code of the dtype (1 byte), the number of
   sequences (8 bytes), the number of documents plus one (8 bytes);
2. the length in ids of each sequence (int32), then the byte at which each sequence begins (int64);
3. the number of the first sequence of each document, then the number of sequences (int64).

A document is one sequence. A document without ids has no sequence."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import offsets_of
from tokpar.types import Rows
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.manifest import ShardFile
from tokpar_corpus.shard_output import ShardOutput, abandon_all

MAGIC = b"MMIDIDX\x00\x00"
DTYPE_CODES = {"uint16": 8, "int32": 4}
MOST_UINT16 = 65500
"""Megatron writes uint16 for vocabularies below this size."""


class MegatronWriter:
    """A `ShardWriter` of the files `stem`.bin and `stem`.idx in `folder`."""

    def __init__(self, layer: FileLayer, folder: Path, stem: str, dtype: str) -> None:
        self._dtype = np.dtype(dtype)
        self._layer = layer
        self._index_path = folder / f"{stem}.idx"
        self._ids = ShardOutput(layer, folder / f"{stem}.bin")
        self._index: ShardOutput | None = None
        self._lengths: list[NDArray[np.int32]] = []

    def add(self, rows: Rows, names: Sequence[str] | None) -> None:
        self._ids.write(rows.ids.astype(self._dtype).view(np.uint8).data)
        self._lengths.append(np.diff(rows.offsets).astype(np.int32))

    def finish(self) -> list[ShardFile]:
        self._index = index = ShardOutput(self._layer, self._index_path)
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int32)
        own = lengths[lengths > 0]
        ends = offsets_of((lengths > 0).astype(np.int64))
        index.write(MAGIC + struct.pack("<QB", 1, DTYPE_CODES[self._dtype.name]))
        index.write(struct.pack("<QQ", len(own), len(ends)))
        index.write(own.tobytes())
        index.write((offsets_of(own.astype(np.int64))[:-1] * self._dtype.itemsize).tobytes())
        index.write(ends.tobytes())
        for output in (self._ids, index):
            output.sync()
        return [output.rename() for output in (self._ids, index)]

    def abandon(self) -> None:
        abandon_all([self._ids, self._index])
