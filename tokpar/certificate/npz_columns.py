"""Columns of whole numbers in one npz file: a zip of `.npy` members, and a JSON header beside them.

Sizes are checked before anything is unpacked, so a file takes memory in proportion to its length.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.errors import FileFormatError

HEADER = "header.json"
MOST = 1 << 53  # no number of a certificate is above this, so that sums of differences are exact
_TYPES = ("|i1", "<i2", "<i4", "<i8")
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '(\|i1|<i[248]|<u4)', 'fortran_order': False, "
    rb"'shape': \(([0-9]{1,16}),\), \} *\n",
    re.DOTALL,
)
"""What numpy writes before a row of whole numbers."""
_END = b"PK\x05\x06"  # begins the last 22 bytes of a zip file without a comment
_SHRINKS = 128
_ALWAYS = 1 << 16
_DAMAGED = zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, LookupError, OSError, EOFError
"""What `zipfile` raises for a damaged file; RuntimeError for one that is encrypted."""


def expect(holds: object, message: str) -> None:
    """Raise FileFormatError unless `holds` is true."""
    if not holds:
        raise FileFormatError(message)


def most_unpacked(stored_bytes: int) -> int:
    """The most bytes that `stored_bytes` may unpack to. This bounds memory by the file's size."""
    return _SHRINKS * stored_bytes + _ALWAYS


def write_npz(header: Mapping[str, object], columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Returns the bytes of a file with a header and columns; the same bytes for the same content.

    uint32 columns are written as they are: ids hardly compress. Of int64 columns the differences
    are written, in the smallest type. Raises ValueError for numbers above 2**53."""
    written = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    members = {HEADER: written.encode("utf-8", "surrogatepass")}
    members |= {f"{name}.npy": _npy(name, values) for name, values in columns.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            plain = name.removesuffix(".npy") in columns and columns[name[:-4]].dtype == np.uint32
            method = zipfile.ZIP_STORED if plain or not _shrinks(data) else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def _npy(name: str, values: NDArray[Any]) -> bytes:
    if values.dtype != np.uint32:
        if len(values) and int(np.abs(values).max()) > MOST:
            raise ValueError(f"{name}: expected numbers up to 2**53")
        steps = np.diff(values, prepend=0)
        low, high = (int(steps.min()), int(steps.max())) if len(steps) else (0, 0)
        kept = (t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        values = steps.astype(next(kept))
    file = io.BytesIO()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    write: Any = np.lib.format.write_array  # some releases of numpy have no types for it
    write(file, little, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _shrinks(data: bytes) -> bool:
    """True if zlib makes the data shorter, and not so short that no reader unpacks it."""
    size = len(zlib.compress(data))
    return size < len(data) <= most_unpacked(size)


def read_npz(data: bytes) -> tuple[object, dict[str, NDArray[Any]]]:
    """Returns the header and the columns of a file; int64, or uint32 for those written as uint32.

    Raises FileFormatError, which names the member that is wrong."""
    expect(data[-22:-18] == _END, f"expected an npz, a whole zip file, got {data[:20]!r}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _members(archive, len(data))
    except _DAMAGED as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"expected an npz, a whole zip file: {error}") from error
    expect(HEADER in members, f"{HEADER}: missing")
    try:
        header = json.loads(members.pop(HEADER).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{HEADER}: expected JSON ({error})") from error
    return header, {name.removesuffix(".npy"): _column(name, d) for name, d in members.items()}


def _members(archive: zipfile.ZipFile, length: int) -> dict[str, bytes]:
    """Returns the content of each member. A member is unpacked up to the size that it tells."""
    listed, found = archive.infolist(), dict[str, bytes]()
    total = sum(member.file_size for member in listed)
    expect(total <= most_unpacked(length), f"{length} bytes never become {total}")
    for member in listed:
        name, method = member.filename, member.compress_type
        expect(name not in found, f"{name}: expected names that differ")
        known = method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        expect(known, f"{name}: expected a member that is stored or deflated")
        with archive.open(member) as stream:
            found[name] = stream.read(member.file_size)
        size = len(found[name])
        expect(size == member.file_size, f"{name}: expected {member.file_size} bytes, got {size}")
    return found


def _column(name: str, data: bytes) -> NDArray[Any]:
    found = _NPY.match(data)
    if found is None or not name.endswith(".npy"):
        raise FileFormatError(f"{name}: expected a row of whole numbers, as numpy writes it")
    values = np.frombuffer(data, dtype=np.uint8)[found.end() :]
    dtype, count = np.dtype(found[2].decode()), int(found[3])
    fits = int.from_bytes(found[1], "little") == found.end() - 10
    size = count * dtype.itemsize
    expect(fits and len(values) == size, f"{name}: expected {size} bytes, got {len(values)}")
    values = values.view(dtype)
    if dtype.kind == "u":
        return values.astype(np.uint32, copy=False)
    reached = np.cumsum(values.astype(np.float64))  # sums that do not wrap around
    expect((np.abs(reached) <= MOST).all(), f"{name}: expected numbers up to 2**53")
    return np.cumsum(values.astype(np.int64))
