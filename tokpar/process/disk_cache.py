"""A cache of arrays on disk: one file for each result, in a directory of the user.

TOKPAR_CACHE       the directory; empty: no cache
TOKPAR_CACHE_MAP   0: files are read into the memory of each process
XDG_CACHE_HOME     without TOKPAR_CACHE, the directory is `tokpar` in here; without both, it is
                   ~/.cache/tokpar

A process maps a file, so reading costs no memory and all processes share it. A file ends with the
SHA-256 of all that stands before, which a process compares at its first read of the file. What is
missing, damaged, or refused (`cache_files`) is a miss; a directory that cannot be written is no
error. A file is no authority: who reads it compares it with what it was made from."""

import errno
import hashlib
import json
import mmap
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.process import cache_files
from tokpar.process.interrupts import ignored_os_errors, raise_foreign

FORMAT = f"14 {sys.byteorder}"
_SUFFIX, _BLOCK = ".arrays", 64
_HEAD = 2 * _BLOCK  # bytes: key, length of the list of arrays, length of the file
_SEAL = 64  # bytes at the end: the SHA-256 as hexadecimal digits
_COPIED = 1 << 16
"""Arrays of at most so many bytes are copied: no change of the file reaches them."""
_RECENT = 3 * 10**9
"""Nanoseconds within which a file may change twice at one time, by the clock of a file system."""
_checked: set[tuple[int, ...]] = set()
"""The files whose SHA-256 was compared: device, number, size, and when they changed."""


def digest(parts: Iterable[bytes | str]) -> str:
    """Returns a hash of the parts. Each part is hashed alone first, so that two different lists of
    parts with the same concatenation have different hashes."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def home() -> Path | None:
    """Returns the directory of the cache, or None without a cache."""
    chosen = os.environ.get("TOKPAR_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tokpar"
    try:
        return Path.home() / ".cache" / "tokpar"
    except RuntimeError:  # the user has no home directory
        return None


def directory(kind: str) -> Path | None:
    """Returns the directory for the results of one kind, or None without a cache."""
    folder = home()
    return None if folder is None else folder / kind


def read(kind: str, key: str) -> dict[str, NDArray[Any]] | None:
    """Returns the arrays of a key, of one dimension and read-only; None if they are missing,
    damaged or refused. Raises MemoryError."""
    folder = directory(kind)
    if folder is None:
        return None
    try:
        file = cache_files.open_to_read(folder / f"{key}{_SUFFIX}")
        if file is None:
            return None
        with file:
            content = _content(file)
    except OSError as error:
        raise_foreign(error)
        if error.errno == errno.ENOMEM:
            raise MemoryError(str(error)) from error
        return None
    return None if content is None else _arrays_in(content, key)


def _content(file: BufferedReader) -> NDArray[np.uint8] | None:
    """Returns the bytes of a file before its seal; None if the seal is not theirs."""
    status = os.fstat(file.fileno())
    if status.st_size < _HEAD + _SEAL:
        return None
    content = _mapped(file, status.st_size)
    if content is None:
        content = np.empty(status.st_size, np.uint8)
        if file.readinto(content.data) < len(content):
            return None
        content.flags.writeable = False
    sealed, seal = content[:-_SEAL], content[-_SEAL:]
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    known = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if known not in _checked:
        if hashlib.sha256(sealed.data).hexdigest().encode() != seal.tobytes():
            return None
        if changed < time.time_ns() - _RECENT:
            _checked.add(known)
    return sealed


def _mapped(file: BufferedReader, size: int) -> NDArray[np.uint8] | None:
    """Returns the mapped file; None if it is to be read instead. Raises OSError without memory."""
    if os.environ.get("TOKPAR_CACHE_MAP") == "0":
        return None
    try:
        return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        raise_foreign(error)
        if error.errno == errno.ENOMEM:
            raise
        return None  # this file system maps no files


def _arrays_in(content: NDArray[np.uint8], key: str) -> dict[str, NDArray[Any]] | None:
    """Returns the arrays that a file lists; None if it is for another key."""
    found = {}
    try:
        known, length, size = bytes(content[:_HEAD]).rstrip(b"\0").decode("ascii").split()
        if known != key or int(size) != len(content):
            return None
        for name, kind, start, count in json.loads(bytes(content[_HEAD : _HEAD + int(length)])):
            array = content[start : start + count].view(kind)
            found[name] = array.copy() if count <= _COPIED else array
            found[name].flags.writeable = False
    except (ValueError, TypeError, RecursionError):  # no file of this version
        return None
    return found


def write(kind: str, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes the file of a key: the whole file at once, or nothing. Ignores OSError."""
    folder = directory(kind)
    if folder is None:
        return
    flat = {name: np.ascontiguousarray(array).reshape(-1) for name, array in arrays.items()}
    start = _HEAD + _blocks(len(json.dumps(_places(flat, 1 << 40))))
    listed = json.dumps(_places(flat, start)).encode()
    size = start + sum(_blocks(array.nbytes) for array in flat.values())
    head = f"{key} {len(listed)} {size}".encode().ljust(_HEAD, b"\0")
    with ignored_os_errors():
        if not cache_files.make_folder(folder):
            return
        cache_files.sweep(folder)
        with cache_files.new_file(folder / f"{key}{_SUFFIX}") as file:
            seal = hashlib.sha256()
            for part in (head, listed.ljust(start - _HEAD), *_padded(flat.values())):
                file.write(part)
                seal.update(part)
            file.write(seal.hexdigest().encode())


def _padded(arrays: Iterable[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Returns the bytes of each array, filled to whole blocks."""
    for array in arrays:
        yield array.data.cast("B") if array.nbytes else b""
        yield bytes(_blocks(array.nbytes) - array.nbytes)


def is_kept(kind: str, key: str) -> bool:
    """True if the file of a key is there."""
    folder = directory(kind)
    return folder is not None and (folder / f"{key}{_SUFFIX}").is_file()


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


def state() -> str:
    """Returns where the cache is and what a process would read of it, for `tokpar --version`."""
    folder = home()
    if folder is None:
        return "none (TOKPAR_CACHE is empty, or there is no home directory)"
    count, why = 0, None
    with ignored_os_errors():  # what cannot be looked at is not read
        for file in folder.glob(f"*/*{_SUFFIX}"):
            found = [cache_files.why_refused(path, path.stat()) for path in (file.parent, file)]
            why = why or found[0] or found[1]
            count += found == [None, None]
    return f"{folder} ({count} files are read{f'; {why}' if why else ''})"
