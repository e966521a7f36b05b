"""Results as tables of text, none wider than a terminal of 100 columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from tokpar.bench.methods import SERIAL_NAME
from tokpar.bench.projection import WORKERS
from tokpar.bench.results import MethodRow, ProjectionRow, Results, StageRow, SweepRow
from tokpar.bench.sweeps import ANY

WIDTH = 100
STAGES = ("split", "tokenize", "match", "merge", "convert", "rest")
SWEPT = {
    "length": ("text length", "code points"),
    "chunk": ("chunk length", "code points"),
    "workers": ("pool size", "workers"),
    "batch": ("batch size", "texts"),
}
Item = TypeVar("Item")


@dataclass(frozen=True)
class Table:
    """Cells of text under a title; `note` says how to read them. `part` is the experiment's name,
    which ties it to its pictures."""

    part: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def tables(results: Results) -> list[Table]:
    """One for each dataset, tokenizer and question."""
    compared = [row for row in results.methods if row.part == "methods"]
    repeated = [row for row in results.methods if row.part == "retries"]
    return [
        *(_methods(rows) for rows in grouped(compared, by_dataset)),
        *(_stages(rows) for rows in grouped(results.stages, by_dataset)),
        *projections(results),
        *(_retries(rows) for rows in grouped(repeated, by_dataset)),
        *sweep_tables(results),
    ]


def projections(results: Results) -> list[Table]:
    """One for each tokenizer in each engine."""
    groups = grouped(results.projection, lambda row: (row.tokenizer, row.engine))
    return [_projection(rows) for rows in groups]


def sweep_tables(results: Results) -> list[Table]:
    """One for each sweep of each tokenizer in each engine."""
    groups = grouped(results.sweeps, lambda row: (row.sweep, row.tokenizer, row.engine))
    return [_sweep(rows) for rows in groups]


def text_of(table: Table) -> str:
    """The title, the aligned columns (words to the left, figures to the right), the note."""
    lines = [
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, (width, words) in zip(row, _columns(table), strict=True)
        ).rstrip()
        for row in (table.header, *table.rows)
    ]
    rule = "-" * max(map(len, lines))
    note = textwrap.wrap(table.note, WIDTH)
    return "\n".join([*textwrap.wrap(table.title, WIDTH), rule, lines[0], rule, *lines[1:], *note])


def of_words(table: Table) -> list[bool]:
    """Of each column, whether it is the first or has no digit in it."""
    columns = enumerate(zip(*table.rows, strict=True))
    return [not i or not any(map(str.isdigit, "".join(column))) for i, column in columns]


def _columns(table: Table) -> list[tuple[int, bool]]:
    widths = (max(map(len, column)) for column in zip(table.header, *table.rows, strict=True))
    return list(zip(widths, of_words(table), strict=True))


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Neighbours of the same key together."""
    return [list(found) for _, found in groupby(items, key)]


def by_dataset(row: MethodRow | StageRow) -> tuple[str, str]:
    return row.dataset, row.tokenizer


def milliseconds(seconds: float) -> str:
    """0.0123 -> "12.3", 0.0000123 -> "0.012", 1.23 -> "1,230"."""
    value = 1000 * seconds
    digits = next((n for n, least in enumerate((100, 10, 1)) if value >= least), 3)
    return f"{value:,.{digits}f}"


def share(value: float, digits: int) -> str:
    """Rounded down, so that only what is equal throughout shows as 1."""
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def times(value: float) -> str:
    return f"{value:.2f}x"


def about(row: MethodRow) -> str:
    """The texts and the tokenizer of a group."""
    texts = f"{row.texts:,} text{'s' * (row.texts != 1)}, {row.code_points:,} code points"
    return f"{row.dataset} ({texts}), tokenizer {row.tokenizer}"


def own_seconds(rows: Sequence[MethodRow], engine: str) -> float | None:
    """Median of the tokenizer's own call in that engine."""
    found = (row for row in rows if row.method == SERIAL_NAME and row.engine == engine)
    return next((row.seconds.median for row in found), None)


def against_own(rows: Sequence[MethodRow], row: MethodRow) -> str:
    own = own_seconds(rows, row.engine)
    return "" if own is None else times(own / row.seconds.median)


def _methods(rows: Sequence[MethodRow]) -> Table:
    methods = [row for row in rows if row.method != SERIAL_NAME]
    varied = [
        name for name in ("engine", "executor") if len({getattr(row, name) for row in methods}) > 1
    ]
    five = ("min", "q1", "median", "q3", "max")
    return Table(
        "methods",
        f"Accuracy and latency: {about(rows[0])}",
        ("method", *varied, "texts equal", "ids equal", *five, "speed"),
        tuple(
            (
                row.method,
                *(getattr(row, name) for name in varied),
                share(row.texts_equal, 3),
                share(row.ids_equal, 6),
                *map(milliseconds, _five(row)),
                against_own(rows, row),
            )
            for row in rows
        ),
        f"Milliseconds per text over {rows[0].seconds.count} rounds. Equal: the share whose ids "
        "are the tokenizer's own. Speed: the own call's median over the method's.",
    )


def _five(row: MethodRow) -> tuple[float, ...]:
    spread = row.seconds
    return spread.least, spread.lower, spread.median, spread.upper, spread.most


def _stages(rows: Sequence[StageRow]) -> Table:
    shown = [stage for stage in STAGES if any(stage in row.stages for row in rows)]
    varied = ["engine"] if len({row.engine for row in rows}) > 1 else []
    return Table(
        "stages",
        f"Stages of one encode: {rows[0].dataset}, one text of {rows[0].code_points:,} code "
        f"points, tokenizer {rows[0].tokenizer}",
        ("method", *varied, "chunks", *shown, "ms", *(f"A({n})" for n in WORKERS), "A(all)"),
        tuple(
            (
                row.method,
                *(getattr(row, name) for name in varied),
                f"{row.chunks:,}",
                *(stage_share(row, stage) for stage in shown),
                milliseconds(row.seconds.median),
                *(times(row.amdahl[str(n)]) for n in WORKERS),
                times(row.amdahl["all"]) if "all" in row.amdahl else "-",
            )
            for row in rows
        ),
        "One worker, chunk after chunk. Matching is part of merge. A(n): speed-up on n workers by "
        "Amdahl's law if only tokenize is spread.",
    )


def stage_share(row: StageRow, stage: str) -> str:
    """Of the whole encode: "97.2%"."""
    return f"{100 * row.stages.get(stage, 0.0) / sum(row.stages.values()):.1f}%"


def _projection(rows: Sequence[ProjectionRow]) -> Table:
    return Table(
        "projection",
        f"Projection from measured chunk times: tokenizer {rows[0].tokenizer}, engine "
        f"{rows[0].engine}, executor {rows[0].executor}",
        ("method", "workers", "in order", "longest first", "bound", "speed", "measured", "error"),
        tuple(
            (
                row.method,
                str(row.workers),
                milliseconds(row.projected),
                milliseconds(row.longest_first),
                milliseconds(row.bound),
                times(row.speedup),
                "-" if row.measured is None else milliseconds(row.measured.median),
                "-" if row.error is None else f"{row.error:+.1f}%",
            )
            for row in rows
        ),
        "Milliseconds: serial stages plus the chunks dealt out in order, or the longest first; no "
        "order beats the bound. Speed: over the own call. Error: of the projection in order.",
    )


def _retries(rows: Sequence[MethodRow]) -> Table:
    return Table(
        "retries",
        f"Repetitive texts: {about(rows[0])}",
        ("method", "texts equal", "retries", "repairs", "redundant", "ms", "speed"),
        tuple(
            (
                row.method,
                share(row.texts_equal, 3),
                f"{row.retries:,}",
                f"{row.repairs:,}",
                times(row.redundant / row.code_points),
                milliseconds(row.seconds.median),
                against_own(rows, row),
            )
            for row in rows
        ),
        "Retries: how often everything was encoded again; repairs: seams mended; redundant: code "
        "points tokenized more than once, over the text's.",
    )


def _sweep(rows: Sequence[SweepRow]) -> Table:
    first = rows[0]
    what, unit = SWEPT[first.sweep]
    methods = list(dict.fromkeys(row.method for row in rows))
    found = {(row.method, row.x): row.seconds.median for row in rows}
    whole = f"{first.code_points:,} code points"
    return Table(
        first.sweep,
        f"Latency by {what}: {first.dataset}, {whole}, tokenizer {first.tokenizer}, engine "
        f"{first.engine}",
        (unit, *methods),
        tuple(
            (
                f"{x:,}",
                *(
                    "-" if seconds is None else milliseconds(seconds)
                    for method in methods
                    for seconds in [found.get((method, x), found.get((method, ANY)))]
                ),
            )
            for x in sorted({row.x for row in rows} - {ANY})
        ),
        "Median milliseconds per text.",
    )
