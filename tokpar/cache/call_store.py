"""The tables of compiled calls on disk, by what they were made from.

A process maps the file, so loading costs no time and all processes share the memory.

Where files are kept: `tokpar.disk_cache`. A file is no authority: it counts only if it is whole,
and its ids of some drawn texts are compared with the engine's when it is read
(`compiled_build.py`)."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.disk_cache import directory
from tokpar.foreign_errors import ignored_os_errors, raise_foreign

KIND = "calls"
FORMAT = f"7 {sys.byteorder}"
_SUFFIX, _BLOCK = ".call", 64
_HEAD = 2 * _BLOCK  # bytes: key, length of the list of arrays, length of the file


def read_arrays(key: str | None) -> dict[str, NDArray[Any]] | None:
    """Returns the arrays of a key, mapped and read-only; None if they are missing or cut short."""
    folder = directory(KIND)
    if folder is None or key is None:
        return None
    try:
        content = np.asarray(np.memmap(folder / f"{key}{_SUFFIX}", mode="r", dtype=np.uint8))
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise_foreign(error)
        return None
    try:
        known, length, size = bytes(content[:_HEAD]).rstrip(b"\0").decode("ascii").split()
        if known != key or int(size) != len(content):
            return None
        rows = json.loads(bytes(content[_HEAD : _HEAD + int(length)]))
        return {name: content[start : start + size].view(kind) for name, kind, start, size in rows}
    except (ValueError, TypeError):  # damaged
        return None


def write_arrays(key: str | None, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store arrays: the whole file at once, or nothing. Ignores OSError."""
    folder = directory(KIND)
    if folder is None or key is None:
        return
    flat = {name: np.ascontiguousarray(array).reshape(-1) for name, array in arrays.items()}
    start = _HEAD + _blocks(len(json.dumps(_places(flat, 1 << 40))))
    rows = _places(flat, start)
    listed = json.dumps(rows).encode()
    size = start + sum(_blocks(array.nbytes) for array in flat.values())
    with ignored_os_errors():
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(f"{key} {len(listed)} {size}".encode().ljust(_HEAD, b"\0"))
                file.write(listed.ljust(start - _HEAD))
                for array in flat.values():
                    file.write(array.data)
                    file.write(bytes(_blocks(array.nbytes) - array.nbytes))
            os.replace(name, folder / f"{key}{_SUFFIX}")
        except BaseException:
            os.unlink(name)
            raise


def forget_arrays(key: str | None) -> None:
    """Delete the file of a key."""
    folder = directory(KIND)
    if folder is not None and key is not None:
        with ignored_os_errors():
            os.unlink(folder / f"{key}{_SUFFIX}")


def _places(arrays: Mapping[str, NDArray[Any]], start: int) -> list[tuple[str, str, int, int]]:
    """Returns (name, dtype, first byte, bytes) of each array, each from a new block on."""
    rows = []
    for name, array in arrays.items():
        rows.append((name, array.dtype.str, start, array.nbytes))
        start += _blocks(array.nbytes)
    return rows


def _blocks(size: int) -> int:
    """Returns `size` in bytes, rounded up to whole blocks."""
    return -(-size // _BLOCK) * _BLOCK
