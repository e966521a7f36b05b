"""A certificate as JSON: ids, seams and the text's digest, checkable without the program's run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tokpar.errors import FileFormatError
from tokpar.kernels import IdArray, IntArray, frozen_ids
from tokpar.types import Cuts, Report, Seam, SeamRow

FORMAT = "tokpar certificate"
FORMAT_VERSION = 1
BELOW = 2**40
"""All numbers of seams: far more than a text has characters, and sums of them fit 64 bits."""


class Storable(Protocol):
    """An `Encoding`."""

    @property
    def ids(self) -> IdArray: ...

    @property
    def seams(self) -> Sequence[Seam]: ...

    @property
    def report(self) -> Report: ...


@dataclass(frozen=True, eq=False)
class StoredCertificate:
    """What a file says of an encoding; `check` takes it in the place of the encoding.

    `text_length`: code points. `text_sha256`: of the UTF-8 bytes, lone surrogates passed through.
    """

    ids: IdArray
    seams: Sequence[Seam]
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


def to_json(
    encoding: Storable, text: str, tokenizer_name: str, *, tokpar_version: str = ""
) -> dict[str, Any]:
    """A dict that ``json.dump`` takes; `from_json` reads it back."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tokpar_version": tokpar_version,
        "tokenizer": tokenizer_name,
        "text": {"sha256": text_digest(text), "code_points": len(text)},
        "report": {
            "strategy": encoding.report.strategy,
            "plan": encoding.report.plan,
            "chunks": encoding.report.chunks,
        },
        **_seams_to_json(encoding.seams),
        "ids": encoding.ids.tolist(),
    }


def from_json(data: Mapping[str, Any]) -> StoredCertificate:
    """Read what `to_json` wrote. Raises FileFormatError that names what is missing or wrong."""
    if not isinstance(data, Mapping):
        raise FileFormatError(f"certificate: expected an object, got {type(data).__name__}")
    if data.get("format") != FORMAT:
        raise FileFormatError(f"format: expected {FORMAT!r}, got {data.get('format')!r}")
    if data.get("format_version") != FORMAT_VERSION:
        got = data.get("format_version")
        raise FileFormatError(f"format_version: expected {FORMAT_VERSION}, got {got!r}")
    text, report = _field(data, "text", dict), _field(data, "report", dict)
    seams = _field(data, "seams", list)
    planned = tuple(_seam_from_json(seam, f"seams[{k}]") for k, seam in enumerate(seams))
    return StoredCertificate(
        ids=_ids(_field(data, "ids", list)),
        seams=SeamRow(planned, _cuts_from_json(data["cuts"])) if "cuts" in data else planned,
        tokenizer=_field(data, "tokenizer", str),
        strategy=_field(report, "strategy", str, "report."),
        plan=_field(report, "plan", str, "report."),
        chunks=_field(report, "chunks", int, "report."),
        text_sha256=_field(text, "sha256", str, "text."),
        text_length=_field(text, "code_points", int, "text."),
        tokpar_version=_field(data, "tokpar_version", str),
    )


def _seams_to_json(seams: Sequence[Seam]) -> dict[str, Any]:
    """Seams one by one; cuts that share a rule and a witness as steps from one to the next."""
    if not isinstance(seams, SeamRow):
        return {"seams": [_seam_to_json(seam) for seam in seams]}
    like = _seam_to_json(seams.cuts.seam)
    steps = {"position": seams.cuts.positions, "token": seams.cuts.tokens}
    return {
        "seams": [_seam_to_json(seam) for seam in seams.planned],
        "cuts": like | {name: np.diff(row, prepend=0).tolist() for name, row in steps.items()},
    }


def _cuts_from_json(data: object) -> Cuts:
    if not isinstance(data, Mapping):
        raise FileFormatError(f"cuts: expected an object, got {data!r}")
    like = _seam_from_json({**data, "position": 0, "token": 0}, "cuts")
    positions, tokens = (_steps(data, name) for name in ("position", "token"))
    if len(positions) != len(tokens):
        raise FileFormatError(f"cuts: {len(positions)} positions, but {len(tokens)} tokens")
    return Cuts(like, positions, tokens)


def _steps(data: Mapping[str, Any], name: str) -> IntArray:
    steps = _field(data, name, list, "cuts.")
    for step in steps:
        if type(step) is not int or not 0 <= step < BELOW:
            raise FileFormatError(f"cuts.{name}: expected whole numbers below 2**40, got {step!r}")
    total = sum(steps)
    if total >= BELOW:
        raise FileFormatError(f"cuts.{name}: expected a sum below 2**40, got {total}")
    row: IntArray = np.cumsum(np.array(steps, dtype=np.int64))
    return row


def _seam_to_json(seam: Seam) -> dict[str, Any]:
    return {
        "position": seam.position,
        "rule": seam.rule,
        "theorem": seam.theorem,
        "witness": [list(pair) for pair in seam.witness],
        "token": seam.token,
    }


def _seam_from_json(data: object, where: str) -> Seam:
    if not isinstance(data, Mapping):
        raise FileFormatError(f"{where}: expected an object, got {data!r}")
    rule = data.get("rule", "")
    if rule not in (None, "K1", "K2", "K3", "K4", "K5", "K6", "K8"):
        raise FileFormatError(f"{where}.rule: expected a rule or null, got {rule!r}")
    return Seam(
        position=_number(data, "position", f"{where}."),
        rule=rule,
        theorem=_field(data, "theorem", str, f"{where}."),
        witness=tuple(_pair(pair, where) for pair in _field(data, "witness", list, f"{where}.")),
        token=_number(data, "token", f"{where}."),
    )


def _pair(data: object, where: str) -> tuple[str, int | str]:
    match data:
        case [str(name), str(value)]:
            return name, value
        case [str(name), int(value)] if type(value) is int:
            return name, _small(value, f"{where}.witness.{name}")
    raise FileFormatError(f"{where}.witness: expected [name, value] pairs, got {data!r}")


def _number(data: Mapping[str, Any], name: str, where: str) -> int:
    return _small(_field(data, name, int, where), where + name)


def _small(number: int, where: str) -> int:
    if not -BELOW < number < BELOW:
        raise FileFormatError(f"{where}: expected a whole number below 2**40, got {number}")
    return number


def _ids(values: list[Any]) -> IdArray:
    for value in values:
        if type(value) is not int or not 0 <= value < 2**32:
            raise FileFormatError(f"ids: expected whole numbers below 2**32, got {value!r}")
    return frozen_ids(np.array(values, dtype=np.uint32))


def _field(data: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    """One field of a JSON object, of one JSON type."""
    if name not in data:
        raise FileFormatError(f"{where}{name}: missing")
    if type(data[name]) is not kind:
        got = type(data[name]).__name__
        raise FileFormatError(f"{where}{name}: expected {kind.__name__}, got {got}")
    return data[name]
