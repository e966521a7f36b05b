"""Pack columns of whole numbers: differences, in the smallest integer type, compressed by zlib.

The header's entry of a column is checked before any byte of the column is unpacked."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.errors import FileFormatError

TYPES = ("<i1", "<i2", "<i4", "<i8", "<u4")
CODINGS = ("plain", "steps", "behind")
""""plain": the values. "steps": each value minus the previous one. "behind": each value minus the
seam's position."""
COMPRESSIONS = ("none", "zlib")
MOST_COLUMNS = 64
MOST = 1 << 53  # no number of a certificate is above this, so that sums of differences are exact
_SHRINKS = 128
_ALWAYS = 1 << 16


def expect(holds: object, message: str) -> None:
    """Raise FileFormatError unless `holds` is true."""
    if not holds:
        raise FileFormatError(message)


def most_unpacked(stored_bytes: int) -> int:
    """The most bytes that `stored_bytes` may unpack to. This bounds memory by the file's
    size."""
    return _SHRINKS * stored_bytes + _ALWAYS


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """One packed column: its entry in the header, and its bytes."""

    entry: dict[str, Any]
    data: bytes


def pack_ids(ids: NDArray[np.uint32]) -> PackedColumn:
    """Pack the ids without coding: ids hardly compress, and plain ids are fast to read."""
    data = ids.astype("<u4", copy=False).tobytes()
    return _column("ids", "<u4", "plain", "none", len(ids), data)


def pack(name: str, values: IntArray, positions: IntArray | None = None) -> PackedColumn:
    """Pack a column with the coding that gives the fewest bytes.

    `positions`: the positions of the seams of this column."""
    if len(values) and int(np.abs(values).max()) > MOST:
        raise ValueError(f"{name}: expected numbers up to 2**53")
    ways = {"steps": np.diff(values, prepend=0)}
    if positions is not None:
        ways["behind"] = values - positions
    packed = [_pack(name, coding, way) for coding, way in ways.items()]
    return min(packed, key=lambda each: len(each.data))


def unpack(
    entry: Mapping[str, Any], data: bytes, positions: IntArray | None = None
) -> NDArray[Any]:
    """Unpack a column whose entry passed `check_entries`; int64, or uint32 for ids."""
    name, dtype = entry["name"], np.dtype(entry["dtype"])
    size = entry["count"] * dtype.itemsize
    if entry["compression"] == "zlib":
        data = _inflate(name, data, size)
    expect(len(data) == size, f"{name}: expected {size} bytes, got {len(data)}")
    values = np.frombuffer(data, dtype=dtype)
    if entry["dtype"] == "<u4":
        return values.astype(np.uint32, copy=False)
    values = values.astype(np.int64)
    reached = values.astype(np.float64)  # sums that do not wrap around
    if entry["coding"] == "steps":
        reached, values = np.cumsum(reached), np.cumsum(values)
    expect((np.abs(reached) <= MOST).all(), f"{name}: expected numbers up to 2**53")
    if entry["coding"] == "behind":
        if positions is None or len(positions) != len(values):
            raise FileFormatError(f"{name}: there are no positions that it could be behind")
        values = values + positions
    return values


def check_entries(entries: object, stored_bytes: int) -> list[Mapping[str, Any]]:
    """Check the header's column entries against `stored_bytes`, the size of all columns; return
    them."""
    if not isinstance(entries, list) or len(entries) > MOST_COLUMNS:
        raise FileFormatError(f"columns: expected a list of at most {MOST_COLUMNS}")
    for k, entry in enumerate(entries):
        _require_entry(entry, f"columns[{k}]")
    names, total = {entry["name"] for entry in entries}, sum(entry["bytes"] for entry in entries)
    expect(len(names) == len(entries), "columns: expected names that differ")
    expect(
        total == stored_bytes,
        f"columns: expected {total} bytes behind the header, got {stored_bytes}",
    )
    return entries


def _require_entry(entry: object, where: str) -> None:
    if not isinstance(entry, Mapping) or type(entry.get("name")) is not str:
        raise FileFormatError(f"{where}: expected an object with a name, got {entry!r}")
    where = f"{where} ({entry['name']})"
    known = (("dtype", TYPES), ("coding", CODINGS), ("compression", COMPRESSIONS))
    for name, values in known:
        got = entry.get(name)
        expect(got in values, f"{where}.{name}: expected one of {', '.join(values)}, got {got!r}")
    for name in ("count", "bytes"):
        got = entry.get(name)
        sized = type(got) is int and 0 <= got <= MOST
        expect(sized, f"{where}.{name}: expected a size, got {got!r}")
    count, stored = entry["count"], entry["bytes"]
    size = count * np.dtype(entry["dtype"]).itemsize
    plain = entry["compression"] == "none"
    expect(not plain or size == stored, f"{where}: {count} numbers take {size} bytes, not {stored}")
    expect(size <= most_unpacked(stored), f"{where}: {stored} bytes never become {size}")


def _pack(name: str, coding: str, values: IntArray) -> PackedColumn:
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    dtype = next(t for t in TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    data = values.astype(dtype).tobytes()
    smaller = zlib.compress(data, 6)
    if len(smaller) < len(data) <= most_unpacked(len(smaller)):
        return _column(name, dtype, coding, "zlib", len(values), smaller)
    return _column(name, dtype, coding, "none", len(values), data)


def _column(
    name: str, dtype: str, coding: str, compression: str, count: int, data: bytes
) -> PackedColumn:
    names = ("name", "dtype", "coding", "compression", "count", "bytes")
    values = (name, dtype, coding, compression, count, len(data))
    return PackedColumn(dict(zip(names, values, strict=True)), data)


def _inflate(name: str, data: bytes, size: int) -> bytes:
    """Decompress exactly `size` bytes, and never more."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, size + 1)
    except zlib.error as error:
        raise FileFormatError(f"{name}: {error}") from error
    whole = len(found) == size and stream.eof and not stream.unused_data
    expect(whole, f"{name}: expected zlib data of {size} bytes")
    return found
