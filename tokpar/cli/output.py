"""How results are printed: tables, JSON, counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tokpar.seams import Seams


def print_json(value: Any) -> None:
    """`value` as one line of JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = None
) -> None:
    """Columns as wide as their widest cell, numbers to the right; the first `most` rows."""
    every = list(rows)
    cells = [[str(cell) for cell in row] for row in every[:most]]
    columns = list(zip(header, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numeric = [
        bool(cells) and all(cell.replace(",", "").isdigit() for cell in column[1:])
        for column in columns
    ]
    for row in [list(header), *cells]:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip())
    if len(cells) < len(every):
        print(f"and {len(every) - len(cells):,} more (--all shows them)")


def rule_counts(seams: Seams) -> dict[str, int]:
    """How many seams rest on each rule: {"K1": 7}; "none" are uncertified."""
    rules = [rule or "none" for rule, _, _ in seams.planned.licences]
    counts: Counter[str] = Counter()
    for code, count in enumerate(np.bincount(seams.planned.codes, minlength=len(rules)).tolist()):
        counts[rules[code]] += count
    if seams.everywhere is not None:
        counts[seams.everywhere.licence.rule or "none"] += len(seams) - len(seams.planned)
    return dict(sorted(counts.items()))


def plural(count: int, thing: str) -> str:
    """1, "seam" -> "1 seam"; 1200, "seam" -> "1,200 seams"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """`text` on one line: "a\\n\\u200b" has its newline and its zero width space escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
