"""Baselines: the rows of witness texts, written once and compared under any later version of any
library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from tokpar.errors import FileFormatError, OptionError
from tokpar_diff.differences import Difference, aspects_told, compare_rows
from tokpar_diff.rows import ASPECTS, Row
from tokpar_diff.sides import Side
from tokpar_diff.structure import parts_of
from tokpar_diff.witness_texts import tokens_by_id, vocabulary_of, witness_texts

FORMAT = "tokpar diff baseline 1"
SAMPLE = 64
"""Tokens of the model by which a baseline knows its tokenizer."""


@dataclass(frozen=True)
class BaselineResult:
    """The comparison of a tokenizer with its baseline: how many texts, which `aspects` both tell,
    and the texts that differ, the shortest first.

    `versions`: those with which the baseline was written. `changes`: the parts of the structure
    that are spelled otherwise than in the baseline, which alone is no difference."""

    texts_count: int
    aspects: tuple[str, ...]
    versions: Mapping[str, str]
    differences: tuple[Difference, ...]
    changes: tuple[str, ...]


def write_baseline(side: Side, path: Path) -> int:
    """Write the rows of the witness texts of a tokenizer. Returns how many texts there are."""
    witnesses = witness_texts(side.form)
    header = {
        "format": FORMAT,
        "tokenizer": side.name,
        "versions": dict(side.versions),
        "texts": len(witnesses),
        "parts": {name: digest_of(part) for name, part in parts_of(side).items()},
        "sample": _sample(side),
    }
    rows = side.rows_of([text for _, text in witnesses])
    lines = [_line(header)]
    for (about, text), row in zip(witnesses, rows, strict=True):
        lines.append(_line({"about": about, "of": text, **_pack_row(row, text)}))
    path.write_text("".join(lines), encoding="utf-8")
    return len(witnesses)


def compare_baseline(side: Side, path: Path) -> BaselineResult:
    """Compare a tokenizer with its baseline. Raises FileFormatError for a file that is none,
    OptionError for the baseline of another tokenizer."""
    header, lines = _read(path)
    _require_same_tokenizer(side, header, path)
    rows = side.rows_of([line["of"] for line in lines])
    rows_before = [_unpack_row(line) for line in lines]
    found = [
        Difference(line["of"], line["about"], aspects, old, new)
        for line, old, new in zip(lines, rows_before, rows, strict=True)
        if (aspects := compare_rows(old, new))
    ]
    found.sort(key=lambda each: each.rank)
    parts = {name: digest_of(part) for name, part in parts_of(side).items()}
    changes = [name for name, digest in header["parts"].items() if parts.get(name) != digest]
    told = aspects_told([*rows_before, *rows])
    return BaselineResult(len(lines), told, header["versions"], tuple(found), tuple(changes))


def digest_of(part: object) -> str:
    """Returns a digest of a part of the structure."""
    written = json.dumps(part, sort_keys=True, default=_plain)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n"


def _pack_row(row: Row, text: str) -> Row:
    """Returns a row without what the rest of it tells."""
    if "error" in row:
        return row
    packed = dict(row)
    if row["plain_ids"] == row["ids"]:
        del packed["plain_ids"]
    if row["plain_text"] == row["text"]:
        del packed["plain_text"]
    if row["text"] == text:
        del packed["text"]
    if row["offsets"] is not None:
        packed["offsets"] = [place for pair in row["offsets"] for place in pair]
    return packed


def _unpack_row(line: Row) -> Row:
    if "error" in line:
        return {"error": line["error"]}
    row = dict.fromkeys(ASPECTS)
    row["ids"] = line["ids"]
    row["plain_ids"] = line.get("plain_ids", line["ids"])
    places = line["offsets"]
    row["offsets"] = None if places is None else [list(p) for p in zip(places[::2], places[1::2])]  # noqa: B905
    row["text"] = line.get("text", line["of"])
    row["plain_text"] = line.get("plain_text", row["text"])
    return row


def _sample(side: Side) -> list[tuple[int, str]]:
    if side.form is None:
        return []
    vocabulary, tokens = vocabulary_of(side.form), tokens_by_id(side.form)
    return [(vocabulary[token], token) for token in tokens[:: 1 + len(tokens) // SAMPLE]]


def _require_same_tokenizer(side: Side, header: Mapping[str, Any], path: Path) -> None:
    if side.form is None or not header["sample"]:
        return
    vocabulary = vocabulary_of(side.form)
    same = sum(vocabulary.get(token) == id_ for id_, token in header["sample"])
    if 2 * same < len(header["sample"]):
        raise OptionError(
            f"{path} is the baseline of another tokenizer, {header['tokenizer']}: {same} of "
            f"{len(header['sample'])} sampled tokens have their ids in {side.name}; name that "
            "tokenizer, or another file"
        )


def _read(path: Path) -> tuple[dict[str, Any], list[Row]]:
    try:
        header, *lines = [json.loads(line) for line in _lines_of(path)]
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if len(lines) != header["texts"]:
            raise ValueError(f"it has {len(lines):,} of {header['texts']:,} texts")
        for line in lines:
            _unpack_row(line)
        _ = header["parts"], header["versions"], header["sample"], header["tokenizer"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(
            f"{path} is no whole baseline of `tokpar diff` ({type(error).__name__}: {error}): "
            "delete it to write it anew, or name another file"
        ) from None
    return header, lines


def _lines_of(path: Path) -> Iterator[str]:
    yield from path.read_text(encoding="utf-8").splitlines()
