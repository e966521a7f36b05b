"""Why our figures differ from the published ones: the paragraphs of `differences.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tokpar_bench.paper_figures import FOLDER
from tokpar_bench.tables import Table


@dataclass(frozen=True)
class DifferenceNote:
    """A paragraph about tables of the experiment `part`.

    The paragraph is about a table if `beside` occurs in the title, the note or a cell of the
    table."""

    part: str
    beside: str
    title: str
    text: str

    def is_about(self, table: Table) -> bool:
        words = table.title, table.note, *(cell for row in table.rows for cell in row)
        return table.part == self.part and any(self.beside in each for each in words)


@cache
def differences() -> tuple[DifferenceNote, ...]:
    """The paragraphs, each on one line."""
    content = (files("tokpar_bench") / FOLDER / "differences.toml").read_text(encoding="utf-8")
    return tuple(
        DifferenceNote(**{name: " ".join(value.split()) for name, value in each.items()})
        for each in tomllib.loads(content)["difference"]
    )


def placed_differences(tables: Iterable[Table]) -> dict[Table, list[DifferenceNote]]:
    """The paragraphs of each table. A paragraph stands under the first table that it is about."""
    placed: dict[Table, list[DifferenceNote]] = {}
    found = list(tables)
    for difference in differences():
        table = next(filter(difference.is_about, found), None)
        if table is not None:
            placed.setdefault(table, []).append(difference)
    return placed
