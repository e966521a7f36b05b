"""The rows of programs as a file of CSV: docs/data/programs.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

COLUMNS = ("program", "call", "texts", "characters", "own new", "tokpar new", "own seen")
COLUMNS += ("tokpar seen", "new", "seen", "answers", "versions", "load", "date")
"""Seconds of processor time of all texts (of the clock for vLLM), own / tokpar, whether the answers
are equal, and the load of the machine."""


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes the rows of a run to a file, in place of the rows that it has of the same programs."""
    new = [*map(_cells_of, rows)]
    programs = {cells["program"] for cells in new}
    kept = [cells for cells in read_rows(path) if cells["program"] not in programs]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted([*kept, *new], key=lambda cells: cells["program"]))


def read_rows(path: Path) -> list[dict[str, str]]:
    """Returns the rows of a file, a string for each of `COLUMNS`; none if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return [*csv.DictReader(stream)]


def _cells_of(row: Mapping[str, Any]) -> dict[str, str]:
    new, seen = ratios_of(row)
    seconds = {
        f"{side} {texts}": f"{row[f'{texts}_{key}']:.4g}"
        for side, key in (("own", "own"), ("tokpar", "ours"))
        for texts in ("new", "seen")
    }
    others = {name: str(row[name]) for name in ("program", "call", "texts", "characters")}
    versions = " ".join(f"{name}=={version}" for name, version in row["versions"].items())
    others |= {"versions": versions, "load": str(row["load"]), "date": row["date"]}
    answers = "differ" if row["difference"] else "equal"
    return {**others, **seconds, "new": f"{new:.2f}", "seen": f"{seen:.2f}", "answers": answers}


def ratios_of(row: Mapping[str, Any]) -> tuple[float, float]:
    """Returns own / ours for new and for seen texts."""
    return row["new_own"] / row["new_ours"], row["seen_own"] / row["seen_ours"]
