"""Reads shards of NumPy: `x.npy` or `x.ids.npy` has the ids of all documents, `x.offsets.npy` the
offset of each document, and the end.

Without offsets, each row of an array of two dimensions is a document, and an array of one dimension
is one document."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tokpar.errors import FileFormatError
from tokpar_corpus.shards import Problem, ShardSource, blocks_of


def open_shard(path: str) -> ShardSource:
    """Opens the shard in a `.npy`. See `tokpar_corpus.shards.open_shard`."""
    ids = _array(path)
    if ids.ndim not in (1, 2):
        raise FileFormatError(f"{path}: expected one or two dimensions, got shape {ids.shape}")
    if ids.dtype.kind not in "iu":
        raise FileFormatError(f"{path}: expected ids, which are integers, got {ids.dtype}")
    flat = np.asarray(ids).reshape(-1)
    beside = path.removesuffix(".npy").removesuffix(".ids") + ".offsets.npy"
    problems: list[Problem] = []
    notes: tuple[str, ...] = ()
    if os.path.exists(beside):
        offsets = _array(beside).astype(np.int64)
        if offsets.ndim != 1 or not len(offsets):
            raise FileFormatError(f"{beside}: expected one dimension, got shape {offsets.shape}")
        backward = np.flatnonzero(np.diff(offsets) < 0)
        if offsets[0] != 0 or len(backward):
            k = int(backward[0]) if len(backward) else 0
            problems.append(
                Problem(f"offsets {offsets[k : k + 2].tolist()}", "ascending from 0", k)
            )
            offsets = np.append(0, offsets[1 : k + 1])
        if offsets[-1] != len(flat):
            expected = f"{offsets[-1]:,}, the last of the offsets"
            problems.append(Problem(f"{len(flat):,} ids", expected))
            offsets = offsets[offsets <= len(flat)]
    else:
        rows = ids.shape[0] if ids.ndim == 2 else 1
        offsets = np.arange(rows + 1, dtype=np.int64) * (len(flat) // max(rows, 1))
        if ids.ndim == 1:
            notes = ("it has no offsets beside it: all ids were taken for one document",)
    return ShardSource(
        path,
        "numpy",
        ids.dtype,
        len(offsets) - 1,
        int(offsets[-1]),
        lambda: blocks_of(flat, offsets),
        tuple(problems),
        notes,
    )


def _array(path: str) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        found: np.ndarray[Any, np.dtype[Any]] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # numpy parses the header by the parser of Python
        raise FileFormatError(f"{path}: expected a .npy array ({error})") from error
    if not isinstance(found, np.ndarray):
        raise FileFormatError(f"{path}: expected a .npy array, got an archive of arrays")
    return found
