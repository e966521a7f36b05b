"""Write and read certificate files: one npz, with a JSON header.

A checker needs only the file and the text, not the run that made the file. Reading a file executes
no code and takes memory in proportion to the file.

    header.json   format, format_version, tokenizer, text, untrusted, control, report, licences,
                  everywhere, proofs
    ids.npy       the ids, uint32
    positions.npy, tokens.npy, codes.npy   the planned seams, `Columns`; differences
    regions.npy   start, stop, start, stop, ... of the regions of `everywhere`, code points;
                  differences

`untrusted`: [start, stop) of the spans of the text that spell no control token, code points;
`control`: the contents of the control tokens. null where no spans were given. For a region that is
cut at every position of one licence, the file has only the region's ends and the licence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, frozen_ids
from tokpar.certificate.npz_columns import MOST, expect, read_npz, write_npz
from tokpar.errors import FileFormatError
from tokpar.results.seams import Columns, Everywhere, Licence, Seams
from tokpar.types import Report, Rule, Seam, Trust

FORMAT = "tokpar certificate"
FORMAT_VERSION = 4


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
    trust: Trust | None = None


def text_digest(text: str) -> str:
    """Hex sha256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def to_bytes(
    encoding: Storable, text: str, tokenizer_name: str, *, tokpar_version: str = ""
) -> bytes:
    """Serialize an encoding to the bytes of a certificate file, for `from_bytes`.

    Raises ValueError for numbers above 2**53."""
    planned, everywhere = encoding.seams.planned, encoding.seams.everywhere
    trust = encoding.report.trust
    header: dict[str, object] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tokpar_version": tokpar_version,
        "tokenizer": tokenizer_name,
        "text": {"sha256": text_digest(text), "code_points": len(text)},
        "untrusted": None if trust is None else [[*span] for span in trust.untrusted],
        "control": None if trust is None else [*trust.control],
        "report": {
            "strategy": encoding.report.strategy,
            "plan": encoding.report.plan,
            "chunks": encoding.report.chunks,
        },
        "licences": list(map(_describe, planned.licences)),
        "everywhere": None,
        "proofs": dict(encoding.seams.proofs),
    }
    columns: dict[str, NDArray[Any]] = {
        "ids": encoding.ids,
        "positions": planned.positions,
        "tokens": planned.tokens,
        "codes": planned.codes,
    }
    if everywhere is not None:
        licence = everywhere.licence
        header["everywhere"] = _describe((licence.rule, licence.theorem, licence.witness))
        columns["regions"] = everywhere.regions.reshape(-1)
    return write_npz(header, columns)


def from_bytes(data: bytes) -> StoredCertificate:
    """Read the bytes that `to_bytes` wrote.

    Raises FileFormatError, which names the missing or wrong field."""
    header, columns = read_npz(data)
    _require_format(header)
    assert isinstance(header, Mapping)
    text, report = _field(header, "text", dict), _field(header, "report", dict)
    length = _field(text, "code_points", int, "text.")
    expect(0 <= length <= MOST, f"text.code_points: expected a length, got {length}")
    ids = _take(columns, "ids", "uint32")
    seams = _seams(header, columns)
    expect(not columns, f"nothing is known of {min(columns, default='')!r}")
    return StoredCertificate(
        ids=frozen_ids(ids),
        seams=seams,
        tokenizer=_field(header, "tokenizer", str),
        strategy=_field(report, "strategy", str, "report."),
        plan=_field(report, "plan", str, "report."),
        chunks=_field(report, "chunks", int, "report."),
        text_sha256=_field(text, "sha256", str, "text."),
        text_length=length,
        tokpar_version=_field(header, "tokpar_version", str),
        trust=_trust(header, length),
    )


def _trust(header: Mapping[str, Any], length: int) -> Trust | None:
    """Reads the untrusted spans of a text of `length` code points, and the control tokens."""
    expect("untrusted" in header, "untrusted: missing")
    if header["untrusted"] is None:
        return None
    spans, end = list[tuple[int, int]](), 0
    for span in _field(header, "untrusted", list):
        pair = [n for n in span if type(n) is int] if isinstance(span, list) else []
        start, stop = pair if len(pair) == 2 else (-1, -1)
        ascends = end <= start < stop <= length
        expect(ascends, f"untrusted: expected ascending [start, stop] in the text, got {span!r}")
        spans.append((start, stop))
        end = stop
    control = _field(header, "control", list)
    known = all(isinstance(each, str) for each in control)
    expect(known, "control: expected a list of strings")
    return Trust(tuple(spans), tuple(control))


def _require_format(header: object) -> None:
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


def _seams(header: Mapping[str, Any], columns: dict[str, NDArray[Any]]) -> Seams:
    entries = _field(header, "licences", list)
    licences = tuple(_licence(entry, f"licences[{k}]") for k, entry in enumerate(entries))
    positions, tokens, codes = (_take(columns, n) for n in ("positions", "tokens", "codes"))
    counts = f"{len(positions)} positions, {len(tokens)} tokens and {len(codes)} codes"
    expect(len(positions) == len(tokens) == len(codes), f"seams: {counts}")
    ascending = (np.diff(positions, prepend=-1) >= 1).all()
    expect(ascending, "positions: expected numbers from 0 on, each above the one before")
    expect((tokens >= -1).all(), "tokens: expected numbers from -1 on")
    known = ((codes >= 0) & (codes < len(licences))).all()
    expect(known, f"codes: expected numbers of the {len(licences)} licences")
    everywhere = None
    if header.get("everywhere") is not None:
        licence = Seam(0, *_licence(header["everywhere"], "everywhere"))
        ends = _take(columns, "regions")
        expect(len(ends) % 2 == 0, f"regions: expected starts and stops, got {len(ends)} numbers")
        everywhere = Everywhere(licence, ends.reshape(-1, 2))
    proofs = _field(header, "proofs", dict)
    written = all(isinstance(text, str) for text in proofs.values())
    expect(written, "proofs: expected an object of strings")
    return Seams(Columns(positions, tokens, codes, licences), everywhere, proofs=proofs)


def _take(columns: dict[str, NDArray[Any]], name: str, dtype: str = "int64") -> NDArray[Any]:
    expect(name in columns, f"{name}: missing")
    found = columns.pop(name)
    expect(found.dtype == dtype, f"{name}: expected numbers of type {dtype}, got {found.dtype}")
    return found


def _describe(licence: Licence) -> dict[str, Any]:
    rule, theorem, witness = licence
    return {"rule": rule, "theorem": theorem, "witness": [list(pair) for pair in witness]}


def _licence(data: object, where: str) -> Licence:
    """Read a licence from a header."""
    if not isinstance(data, Mapping):
        raise FileFormatError(f"{where}: expected an object, got {data!r}")
    rule, theorem = data.get("rule", ""), data.get("theorem")
    rules = (None, *Rule)
    known = f"expected null or one of {', '.join(Rule)}, got {rule!r}"
    expect(rule in rules, f"{where}.rule: {known}")
    if not isinstance(theorem, str):
        raise FileFormatError(f"{where}.theorem: expected str, got {theorem!r}")
    pairs = _field(data, "witness", list, f"{where}.")
    return rules[rules.index(rule)], theorem, tuple(_pair(pair, where) for pair in pairs)


def _pair(data: object, where: str) -> tuple[str, str]:
    match data:
        case [str(name), str(value)]:
            return name, value
    raise FileFormatError(f"{where}.witness: expected [name, value] pairs, got {data!r}")


def _field(data: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    expect(name in data, f"{where}{name}: missing")
    got = type(data[name])
    expect(got is kind, f"{where}{name}: expected {kind.__name__}, got {got.__name__}")
    return data[name]
