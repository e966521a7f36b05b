"""Pack seams into columns of a file. Equal licences are stored once; numbers are packed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tokpar.arrays import IntArray
from tokpar.certificate.packing import PackedColumn, expect, pack, unpack
from tokpar.errors import FileFormatError
from tokpar.seams import Columns, Everywhere, Licence, Seams
from tokpar.types import Rule, Seam

Unread = dict[str, tuple[Mapping[str, Any], bytes]]


def pack_seams(seams: Seams, length: int) -> tuple[dict[str, Any], list[PackedColumn]]:
    """(header entry, packed columns) of the seams of a text of `length` code points."""
    planned = seams.planned
    packed = [
        pack("positions", planned.positions),
        pack("tokens", planned.tokens, planned.positions),
        pack("codes", planned.codes),
    ]
    licences = list(map(_describe, planned.licences))
    described: dict[str, Any] = {"licences": licences, "everywhere": None}
    if seams.everywhere is not None:
        own, columns = _pack_everywhere(seams.everywhere, planned.positions, length)
        described["everywhere"] = own
        packed += columns
    if seams.proofs:
        described["proofs"] = dict(seams.proofs)
    return described, packed


def unpack_seams(header: Mapping[str, Any], columns: Unread, length: int) -> Seams:
    """Read the seams of a header and its columns. Raises FileFormatError."""
    entries = _list(header, "licences")
    licences = tuple(_licence(entry, f"licences[{k}]") for k, entry in enumerate(entries))
    positions = _take(columns, "positions")
    tokens, codes = _take(columns, "tokens", positions), _take(columns, "codes", positions)
    counts = f"{len(positions)} positions, {len(tokens)} tokens and {len(codes)} codes"
    expect(len(positions) == len(tokens) == len(codes), f"seams: {counts}")
    ascending = (np.diff(positions, prepend=-1) >= 1).all()
    expect(ascending, "positions: expected numbers from 0 on, each above the one before")
    expect((tokens >= -1).all(), "tokens: expected numbers from -1 on")
    known = ((codes >= 0) & (codes < len(licences))).all()
    expect(known, f"codes: expected numbers of the {len(licences)} licences")
    planned = Columns(positions, tokens, codes, licences)
    everywhere = _unpack_everywhere(header.get("everywhere"), positions, length, columns)
    expect(not columns, f"columns: nothing is known of {min(columns, default='')!r}")
    proofs = header.get("proofs", {})
    written = isinstance(proofs, dict) and all(isinstance(text, str) for text in proofs.values())
    expect(written, "proofs: expected an object of strings")
    return Seams(planned, everywhere, proofs=proofs)


def _pack_everywhere(
    everywhere: Everywhere, positions: IntArray, length: int
) -> tuple[dict[str, Any], list[PackedColumn]]:
    """Pack the ends of regions as seam numbers; 0 stands for the start of the text."""
    regions, licence = everywhere.regions.reshape(-1, 2), everywhere.licence
    edges = np.concatenate(([0], positions, [length]))
    places = np.searchsorted(edges, regions)
    at_edges = bool((edges[np.minimum(places, len(edges) - 1)] == regions).all())
    starts, stops = (places if at_edges else regions).T
    described = _describe((licence.rule, licence.theorem, licence.witness))
    described["ends"] = "seams" if at_edges else "code points"
    return described, [pack("region starts", starts), pack("region stops", stops, starts)]


def _unpack_everywhere(
    entry: object, positions: IntArray, length: int, columns: Unread
) -> Everywhere | None:
    if entry is None:
        return None
    licence = _licence(entry, "everywhere")
    assert isinstance(entry, Mapping)
    ends = entry.get("ends")
    known = ends in ("seams", "code points")
    expect(known, f"everywhere.ends: expected seams or code points, got {ends!r}")
    starts = _take(columns, "region starts")
    stops = _take(columns, "region stops", starts)
    alike = len(starts) == len(stops)
    expect(alike, f"regions: {len(starts)} starts, but {len(stops)} stops")
    regions = np.stack([starts, stops], axis=1)
    if ends == "seams":
        edges = np.concatenate(([0], positions, [length]))
        inside = ((regions >= 0) & (regions < len(edges))).all()
        expect(inside, f"regions: expected numbers of the {len(edges)} edges")
        regions = edges[regions]
    return Everywhere(Seam(0, *licence), regions)


def _take(columns: Unread, name: str, positions: IntArray | None = None) -> IntArray:
    expect(name in columns, f"{name}: missing")
    entry, data = columns.pop(name)
    expect(entry["dtype"] != "<u4", f"{name}: expected a signed type, got <u4")
    return unpack(entry, data, positions)


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
    witness = tuple(_pair(pair, where) for pair in _list(data, "witness", f"{where}."))
    return rules[rules.index(rule)], theorem, witness


def _pair(data: object, where: str) -> tuple[str, str]:
    match data:
        case [str(name), str(value)]:
            return name, value
    raise FileFormatError(f"{where}.witness: expected [name, value] pairs, got {data!r}")


def _list(data: Mapping[str, Any], name: str, where: str = "") -> list[Any]:
    found = data.get(name)
    if not isinstance(found, list):
        raise FileFormatError(f"{where}{name}: expected a list, got {found!r}")
    return found
