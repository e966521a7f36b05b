"""Write and read certificate files: a JSON header, then columns of numbers.

A checker needs only the file and the text, not the run that made the file. Reading a file executes
no code and takes memory in proportion to the file.

    tokpar certificate\\n
    length of the header, 8 bytes, little-endian
    header: format_version, text, untrusted, report, licences, everywhere, columns
    the columns, in the header's order

`untrusted`: [start, stop) of the spans of the text in which no added token may be matched, code
points. This version writes and reads an empty list.

For a region that is cut at every position of one licence, the file has only the region's ends and
the licence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tokpar.arrays import IdArray, frozen_ids
from tokpar.certificate.packing import MOST, check_entries, expect, pack_ids, unpack
from tokpar.certificate.packing_seams import pack_seams, unpack_seams
from tokpar.errors import FileFormatError
from tokpar.seams import Seams
from tokpar.types import Report

FORMAT = "tokpar certificate"
FORMAT_VERSION = 3
MAGIC = f"{FORMAT}\n".encode()
_LENGTH_BYTES = 8


class Storable(Protocol):
    """An `Encoding`."""

    @property
    def ids(self) -> IdArray: ...

    @property
    def seams(self) -> Seams: ...

    @property
    def report(self) -> Report: ...


@dataclass(frozen=True, eq=False)
class StoredCertificate:
    """The content of a certificate file; `check` accepts it instead of an `Encoding`.

    `text_length`: code points. `text_sha256`: digest of the UTF-8 bytes; lone surrogates are passed
    through."""

    ids: IdArray
    seams: Seams
    tokenizer: str
    strategy: str
    plan: str
    chunks: int
    text_sha256: str
    text_length: int
    tokpar_version: str


def text_digest(text: str) -> str:
    """Hex sha256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def to_bytes(
    encoding: Storable, text: str, tokenizer_name: str, *, tokpar_version: str = ""
) -> bytes:
    """Serialize an encoding to the bytes of a certificate file, for `from_bytes`.

    Raises ValueError for numbers above 2**53."""
    seams, packed = pack_seams(encoding.seams, len(text))
    packed.append(pack_ids(encoding.ids))
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tokpar_version": tokpar_version,
        "tokenizer": tokenizer_name,
        "text": {"sha256": text_digest(text), "code_points": len(text)},
        "untrusted": [],
        "report": {
            "strategy": encoding.report.strategy,
            "plan": encoding.report.plan,
            "chunks": encoding.report.chunks,
        },
        **seams,
        "columns": [column.entry for column in packed],
    }
    written = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    described = written.encode("utf-8", "surrogatepass")
    length = len(described).to_bytes(_LENGTH_BYTES, "little")
    return b"".join([MAGIC, length, described, *(column.data for column in packed)])


def from_bytes(data: bytes) -> StoredCertificate:
    """Read the bytes that `to_bytes` wrote.

    Raises FileFormatError, which names the missing or wrong field."""
    header, rest = _header(data)
    text, report = _field(header, "text", dict), _field(header, "report", dict)
    length = _field(text, "code_points", int, "text.")
    expect(0 <= length <= MOST, f"text.code_points: expected a length, got {length}")
    spans = _field(header, "untrusted", list)
    expect(not spans, f"untrusted: expected no spans, got {len(spans)} of a newer tokpar")
    entries = check_entries(_field(header, "columns", list), len(data) - rest)
    columns = {}
    for entry in entries:
        columns[entry["name"]] = (entry, data[rest : rest + entry["bytes"]])
        rest += entry["bytes"]
    expect("ids" in columns, "ids: missing")
    entry, ids = columns.pop("ids")
    plain = entry["dtype"] == "<u4" and entry["coding"] == "plain"
    expect(plain, "ids: expected plain numbers of type <u4")
    return StoredCertificate(
        ids=frozen_ids(unpack(entry, ids)),
        seams=unpack_seams(header, columns, length),
        tokenizer=_field(header, "tokenizer", str),
        strategy=_field(report, "strategy", str, "report."),
        plan=_field(report, "plan", str, "report."),
        chunks=_field(report, "chunks", int, "report."),
        text_sha256=_field(text, "sha256", str, "text."),
        text_length=length,
        tokpar_version=_field(header, "tokpar_version", str),
    )


def _header(data: bytes) -> tuple[Mapping[str, Any], int]:
    own = data.startswith(MAGIC)
    expect(own, f"expected a file that begins with {MAGIC!r}, got {data[:20]!r}")
    first = len(MAGIC) + _LENGTH_BYTES
    stop = first + int.from_bytes(data[len(MAGIC) : first], "little")
    whole = len(data) >= max(first, stop)
    expect(whole, f"truncated: expected a header up to byte {stop}, got {len(data)}")
    try:
        header = json.loads(data[first:stop].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"header: expected JSON ({error})") from error
    if not isinstance(header, Mapping):
        raise FileFormatError(f"header: expected an object, got {type(header).__name__}")
    named, version = header.get("format"), header.get("format_version")
    expect(named == FORMAT, f"format: expected {FORMAT!r}, got {named!r}")
    if type(version) is int and version > FORMAT_VERSION:
        raise FileFormatError(
            f"format_version: {version} is of a newer tokpar, this one reads {FORMAT_VERSION}"
        )
    known = type(version) is int and version == FORMAT_VERSION
    expect(known, f"format_version: expected {FORMAT_VERSION}, got {version!r}")
    return header, stop


def _field(data: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    expect(name in data, f"{where}{name}: missing")
    got = type(data[name])
    expect(got is kind, f"{where}{name}: expected {kind.__name__}, got {got.__name__}")
    return data[name]
