"""Fit printed text to the width of the terminal: help, tables, long lines."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TextIO

LEAST_WIDTH, MOST_WIDTH = 50, 120
GAP = 2
LEAST_COLUMN = 8
_CHARACTER = re.compile(r"\x1b\[[\d;]*m|.", re.DOTALL)
"""A character, or an escape sequence that changes the colour."""


class HelpFormatter(argparse.HelpFormatter):
    """Fill the paragraphs of a description. Indented lines stay lines of their own."""

    def __init__(self, prog: str, **settings: int) -> None:
        super().__init__(prog, **{"width": width(), **settings})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled = []
        for paragraph in text.strip().split("\n\n"):
            if paragraph.startswith(" "):
                filled += [_fill_indented(line, width) for line in paragraph.splitlines()]
            else:
                filled.append(textwrap.fill(paragraph, width))
            filled.append("")
        return "\n".join(filled[:-1])


def _fill_indented(line: str, width: int) -> str:
    """An indented line. Text that does not fit continues on the next line, with twice the
    indent."""
    lead = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line.strip(), width, initial_indent=lead, subsequent_indent=lead * 2)


def width() -> int:
    """The width to print in, in columns: the width of the terminal, but at least 50 and at most
    120."""
    return min(MOST_WIDTH, max(LEAST_WIDTH, shutil.get_terminal_size().columns))


def is_screen(stream: TextIO) -> bool:
    """True for a terminal, or if the variable COLUMNS is set."""
    return stream.isatty() or "COLUMNS" in os.environ


def fill_lines(text: str, indent: str = "  ") -> str:
    """`text` in lines that fit the terminal. Every line after the first one is indented by `indent`
    more than the first."""
    first = fold_line(text, width())[0]
    rest = text[len(first) :].lstrip(" ")
    if not rest:
        return text
    indent += text[: len(text) - len(text.lstrip(" "))]
    return "\n".join([first, *(indent + line for line in fold_line(rest, width() - len(indent)))])


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print a line on standard output or `stream`. On a screen, a line that is too long continues
    on the next line, indented."""
    stream = stream or sys.stdout
    print(fill_lines(text) if is_screen(stream) else text, file=stream)


def columns(text: str) -> int:
    """The columns of a terminal that a line of text takes: two for a wide character, none for a
    change of colour."""
    return sum(map(_columns_of, _CHARACTER.findall(text)))


def _columns_of(character: str) -> int:
    if len(character) > 1:
        return 0
    return 1 + (unicodedata.east_asian_width(character) in "WF")


def fold_line(text: str, most: int) -> list[str]:
    """`text` in lines of at most `most` columns. A line ends after a space if it has one."""
    lines = []
    while columns(text) > most:
        stop = _end(text, most)
        stop = text.rfind(" ", 0, stop + 1) + 1 or stop
        lines.append(text[:stop].rstrip(" "))
        text = text[stop:]
    return [*lines, text]


def _end(text: str, most: int) -> int:
    """The number of characters of `text` that fit, at least one."""
    taken = 0
    for part in _CHARACTER.finditer(text):
        taken += _columns_of(part[0])
        if taken > most:
            return max(1, part.start())
    return len(text)


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = None
) -> None:
    """Print the header and the first `most` rows. Columns are as wide as their widest cell, if the
    terminal has room. Columns of numbers are aligned to the right."""
    every = list(rows)
    cells = [list(header), *([str(cell) for cell in row] for row in every[:most])]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    if is_screen(sys.stdout):
        widths = _fit_widths(widths)
    numeric = [
        len(cells) > 1 and all(cell.replace(",", "").isdigit() for cell in column[1:])
        for column in zip(*cells, strict=True)
    ]
    for row in cells:
        for line in _lines_of(row, widths, numeric):
            print(line)
    if len(cells) <= len(every):
        print(f"and {len(every) + 1 - len(cells):,} more (--all shows them)")


def _fit_widths(widths: list[int]) -> list[int]:
    """The widths of the columns. If their sum exceeds the terminal, the widest columns become
    narrower."""
    too_much = sum(widths) + GAP * (len(widths) - 1) - width()
    while too_much > 0 and max(widths) > LEAST_COLUMN:
        widest = widths.index(max(widths))
        widths[widest] -= 1
        too_much -= 1
    return widths


def _lines_of(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> Iterator[str]:
    parts = [fold_line(cell, most) for cell, most in zip(row, widths, strict=True)]
    for line in zip_longest(*parts, fillvalue=""):
        padded = (
            " " * (most - columns(cell)) * right + cell + " " * (most - columns(cell)) * (not right)
            for cell, most, right in zip(line, widths, numeric, strict=True)
        )
        yield (" " * GAP).join(padded).rstrip()


def plural(count: int, thing: str) -> str:
    """1, "seam" -> "1 seam"; 1200, "seam" -> "1,200 seams"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """`text` on one line: "a\\n\\u200b" has its newline and its zero width space escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
