"""Machines and merges on disk, by what they were made from, so that only the first process reads a
vocabulary and compares its pieces with the engine's.

A file is no authority: it counts only if it is whole, and has the arrays that it should have. Where
it is kept: `tokpar.disk_cache`."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokpar.disk_cache import digest, directory
from tokpar.foreign_errors import ignored_os_errors, raise_foreign
from tokpar.types import Facts

if TYPE_CHECKING:
    from tokpar.cache.machine_tables import Machine
    from tokpar.cache.merges import Merges, Source

KIND = "pieces"
_FORMAT = f"4 {sys.byteorder}"
_SUFFIX = ".tables"
_SEAL, _BLOCK = 32, 64  # bytes
LEAST_KEPT = 1 << 16
"""Tables of models with this many bytes or more are stored."""
_ARRAYS = {
    "symbol_of": np.uint8,
    "symbols": np.int64,
    "moves": np.uint32,
    "begins": np.int64,
    "idle": np.uint8,
    "table": np.uint64,
    "byte_ids": np.uint32,
    "data": np.uint8,
    "lengths": np.int64,
    "ids": np.uint32,
    "whole": np.bool_,
}
_HEAD = -(-(_SEAL + 8 * len(_ARRAYS)) // _BLOCK) * _BLOCK


def key_of(facts: Facts, source: Source, size: int, engine: str) -> str | None:
    """A digest of all that tables are made from; None for a model so small that they are made
    sooner than found. `size`: tokens; `engine`: name and version."""
    if source.length < LEAST_KEPT:
        return None
    added = [token.content for token in facts.added_tokens if token.normalized]
    kinds = facts.scheme, facts.byte_level, facts.prefix_space, size
    stages = repr((facts.engine, facts.patterns, facts.normalizers, added, kinds))
    return digest([_FORMAT, engine, stages, source.sha256])


def read(key: str | None) -> tuple[Machine, Merges] | None:
    """Returns the stored tables of a key, or None if they are missing or not intact.

    The file is read, not mapped, because another program may change or shorten the file."""
    folder = directory(KIND)
    if folder is None or key is None:
        return None
    try:
        content = np.fromfile(folder / f"{key}{_SUFFIX}", dtype=np.uint8)
    except OSError as error:
        raise_foreign(error)
        return None
    if len(content) < _HEAD or _seal(key, content[_SEAL:]) != content[:_SEAL].tobytes():
        return None
    counts = content[_SEAL : _SEAL + 8 * len(_ARRAYS)].view(np.int64).tolist()
    if min(counts) < 0 or _stops(counts)[-1] != len(content):
        return None
    places = zip(_ARRAYS.values(), counts, [_HEAD, *_stops(counts)], strict=False)
    found: list[Any] = [
        content[at : at + np.dtype(kind).itemsize * n].view(kind) for kind, n, at in places
    ]
    symbol_of, symbols, moves, begins, idle, *rest = found
    table, byte_ids, data, lengths, ids, whole = rest
    one_of_each = len(symbols) == 1 and len(symbol_of) == 0x110000 and len(byte_ids) == 256
    if not one_of_each or not len(lengths) == len(ids) == len(whole):
        return None
    from tokpar.cache.machine_tables import Machine  # the source of a model does without them
    from tokpar.cache.merges import Merges, Tokens

    machine = Machine(symbol_of, int(symbols[0]), moves, begins, idle)
    return machine, Merges(table, byte_ids, Tokens(data, lengths, ids), whole)


def write(key: str | None, machine: Machine, merges: Merges) -> None:
    """Store the tables: the whole file at once, or nothing.

    The file has a seal, the length of each array, and the arrays, each padded to whole blocks."""
    folder = directory(KIND)
    if folder is None or key is None:
        return
    tokens = merges.tokens
    rest = merges.table, merges.byte_ids, tokens.data, tokens.lengths, tokens.ids, merges.whole
    arrays: list[NDArray[Any]] = [
        np.atleast_1d(np.asarray(array, dtype=kind))
        for array, kind in zip((*machine.arrays, *rest), _ARRAYS.values(), strict=True)
    ]
    counts = [len(array) for array in arrays]
    content = np.zeros(_stops(counts)[-1], dtype=np.uint8)
    content[_SEAL : _SEAL + 8 * len(counts)] = np.array(counts, dtype=np.int64).view(np.uint8)
    for array, at in zip(arrays, [_HEAD, *_stops(counts)], strict=False):
        content[at : at + array.nbytes] = np.ascontiguousarray(array).view(np.uint8)
    content[:_SEAL] = np.frombuffer(_seal(key, content[_SEAL:]), dtype=np.uint8)
    with ignored_os_errors():
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.data)
            os.replace(name, folder / f"{key}{_SUFFIX}")
        except BaseException:
            os.unlink(name)
            raise


def _seal(key: str, content: NDArray[np.uint8]) -> bytes:
    found = hashlib.sha256(key.encode())
    found.update(content.data)
    return found.digest()


def _stops(counts: Iterable[int]) -> list[int]:
    """Where the blocks of each array end, of so many items each."""
    sizes = (np.dtype(kind).itemsize * n for kind, n in zip(_ARRAYS.values(), counts, strict=True))
    return list(accumulate((-(-size // _BLOCK) * _BLOCK for size in sizes), initial=_HEAD))[1:]


def forget(key: str | None) -> None:
    """Delete the stored tables of a key."""
    folder = directory(KIND)
    if folder is not None and key is not None:
        with ignored_os_errors():
            os.unlink(folder / f"{key}{_SUFFIX}")
