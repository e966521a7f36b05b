"""A text on which two tokenizers differ, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tokpar.cli.screen import visible
from tokpar_diff.rows import ASPECTS, Row

MOST_IDS = 24


@dataclass(frozen=True)
class Difference:
    """A text whose rows differ. `aspects`: keys of `ASPECTS`, at least one. `subject`: the part of
    the structure that suggested the text, or where the text is from."""

    text: str
    subject: str
    aspects: tuple[str, ...]
    row_a: Row
    row_b: Row

    @property
    def rank(self) -> tuple[int, int]:
        """Differences are shown in this order: other ids first, then the shortest text."""
        return list(ASPECTS).index(self.aspects[0]), len(self.text)


def aspects_told(rows: Iterable[Row]) -> tuple[str, ...]:
    """Returns the aspects that all rows tell. A row of an error tells all of them."""
    every = list(rows)
    return tuple(
        aspect for aspect in ASPECTS if all(row.get(aspect, 0) is not None for row in every)
    )


def compare_rows(row_a: Row, row_b: Row) -> tuple[str, ...]:
    """Returns the aspects in which two rows differ. A value that one side does not tell is not
    compared; a text on which only one side fails has other ids."""
    if "error" in row_a or "error" in row_b:
        return () if "error" in row_a and "error" in row_b else ("ids",)
    return tuple(
        aspect
        for aspect in ASPECTS
        if None not in (row_a[aspect], row_b[aspect]) and row_a[aspect] != row_b[aspect]
    )


def print_difference(difference: Difference, name_a: str, name_b: str) -> None:
    """Print a text and both rows of the first aspect in which they differ."""
    aspects = ", ".join(ASPECTS[aspect] for aspect in difference.aspects)
    print()
    print(f"{difference.text!r} ({visible(difference.subject)}) differs in: {aspects}")
    width = max(len(name_a), len(name_b))
    for name, row in ((name_a, difference.row_a), (name_b, difference.row_b)):
        print(f"  {visible(name):{width}}  {_value_shown(row, difference.aspects[0])}")


def _value_shown(row: Row, aspect: str) -> str:
    if "error" in row:
        return visible(row["error"])
    value = row[aspect]
    if isinstance(value, str):
        return repr(value)
    more = f" ... {len(value):,} in all" if len(value) > MOST_IDS else ""
    return f"{value[:MOST_IDS]}{more}"
