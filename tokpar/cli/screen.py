"""What commands print: tables, counts, text without control characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = None
) -> None:
    """Print the header and the first `most` rows. Columns are as wide as their widest cell, and
    columns of numbers are aligned to the right."""
    every = list(rows)
    cells = [list(header), *([str(cell) for cell in row] for row in every[:most])]
    columns = [*zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    numeric = [
        len(column) > 1 and all(cell.replace(",", "").isdigit() for cell in column[1:])
        for column in columns
    ]
    for row in cells:
        shown = zip(row, widths, numeric, strict=True)
        line = (cell.rjust(size) if right else cell.ljust(size) for cell, size, right in shown)
        print("  ".join(line).rstrip())
    if len(cells) <= len(every):
        print(f"and {len(every) + 1 - len(cells):,} more (--all shows them)")


def plural(count: int, thing: str) -> str:
    """1, "seam" -> "1 seam"; 1200, "seam" -> "1,200 seams"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """`text` on one line: "a\\n\\u200b" has its newline and its zero width space escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
