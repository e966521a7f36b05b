"""A cache of arrays on disk: one file for each result, in a directory of the user.

TOKPAR_CACHE       the directory; empty: no cache
XDG_CACHE_HOME     without TOKPAR_CACHE, the directory is `tokpar` in here; without both, it is
                   ~/.cache/tokpar

A process maps a file, so reading costs no time and all processes share the memory. A directory that
cannot be written is no error, nor is a file that is cut short: both count as a miss. A file is no
authority: who reads it compares it with what it was made from."""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.foreign_errors import ignored_os_errors, raise_foreign

VARIABLE = "TOKPAR_CACHE"
FORMAT = f"6 {sys.byteorder}"
_SUFFIX, _BLOCK = ".arrays", 64
_HEAD = 2 * _BLOCK  # bytes: key, length of the list of arrays, length of the file


def digest(parts: Iterable[bytes | str]) -> str:
    """Returns a hash of the parts. Each part is hashed alone first, so that two different lists of
    parts with the same concatenation have different hashes."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def directory(kind: str) -> Path | None:
    """Returns the directory for the results of one kind, or None without a cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) / kind if chosen else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tokpar" / kind
    try:
        return Path.home() / ".cache" / "tokpar" / kind
    except RuntimeError:  # the user has no home directory
        return None


def read(kind: str, key: str) -> dict[str, NDArray[Any]] | None:
    """Returns the arrays of a key, of one dimension, mapped and read-only; None if they are missing
    or cut short."""
    folder = directory(kind)
    if folder is None:
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
    except (ValueError, TypeError, RecursionError):  # damaged
        return None


def write(kind: str, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes the file of a key: the whole file at once, or nothing. Ignores OSError."""
    folder = directory(kind)
    if folder is None:
        return
    flat = {name: np.ascontiguousarray(array).reshape(-1) for name, array in arrays.items()}
    start = _HEAD + _blocks(len(json.dumps(_places(flat, 1 << 40))))
    listed = json.dumps(_places(flat, start)).encode()
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


def forget(kind: str, key: str) -> None:
    """Deletes the file of a key."""
    folder = directory(kind)
    if folder is not None:
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
