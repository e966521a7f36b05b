"""Writes shards as NumPy arrays: all ids in one .npy, the offsets of the documents in another.

`numpy.load(path, mmap_mode="r")` reads both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import offsets_of
from tokpar.types import Rows
from tokpar_corpus.durable_files import FileLayer
from tokpar_corpus.manifest import ShardFile
from tokpar_corpus.shard_output import ShardOutput, abandon_all

_HEADER_BYTES = 128


class NumpyWriter:
    """A `ShardWriter` of two files: `stem`.ids.npy, shape (ids,), and `stem`.offsets.npy, int64,
    shape (documents + 1,). The ids of document k are ids[offsets[k] : offsets[k + 1]]."""

    def __init__(self, layer: FileLayer, folder: Path, stem: str, dtype: str) -> None:
        self._layer = layer
        self._offsets_path = folder / f"{stem}.offsets.npy"
        self._dtype = np.dtype(dtype)
        self._ids = ShardOutput(layer, folder / f"{stem}.ids.npy")
        self._offsets: ShardOutput | None = None
        self._lengths: list[NDArray[np.int64]] = []

    def add(self, rows: Rows, names: Sequence[str] | None) -> None:
        if not self._ids.size:
            self._ids.write(npy_header(self._dtype, 0))
        self._ids.write(rows.ids.astype(self._dtype).view(np.uint8).data)
        self._lengths.append(np.diff(rows.offsets))

    def finish(self) -> list[ShardFile]:
        self._offsets = output = ShardOutput(self._layer, self._offsets_path)
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int64)
        offsets = offsets_of(lengths)
        self._ids.overwrite_start(npy_header(self._dtype, int(offsets[-1])))
        output.write(npy_header(offsets.dtype, len(offsets)) + offsets.tobytes())
        for each in (self._ids, output):
            each.sync()
        return [each.rename() for each in (self._ids, output)]

    def abandon(self) -> None:
        abandon_all([self._ids, self._offsets])


def npy_header(dtype: np.dtype[np.generic], count: int) -> bytes:
    """Returns the header of a .npy of version 1.0, 128 bytes, for an array of shape (count,)."""
    said = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({count},), }}"
    magic = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
    return magic + said.ljust(_HEADER_BYTES - 11).encode() + b"\n"
