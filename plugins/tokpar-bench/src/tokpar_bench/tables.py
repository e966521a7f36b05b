"""Results as tables of text, at most 100 columns wide."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from tokpar_bench.comparing import ANY
from tokpar_bench.records import (
    CONDITIONS,
    BenchResults,
    MethodRow,
    ProjectionRow,
    ScalingRow,
    StageRow,
    SweepRow,
)
from tokpar_bench.stages import WORKERS
from tokpar_bench.subjects import SERIAL

WIDTH = 100
STAGES = ("split", "tokenize", "match", "merge", "convert", "rest")
SWEPT = {
    "length": ("text length", "code points"),
    "chunk": ("chunk length", "code points"),
    "workers": ("pool size", "workers"),
    "batch": ("batch size", "texts"),
}
Item = TypeVar("Item")
Column = tuple[str, Callable[[Any], str]]  # its header, and the cell of a row of results


@dataclass(frozen=True)
class Table:
    """Cells of text under a title. `note` says how to read the table.

    `part`: the name of the experiment, to find the table's pictures. `names`: the dataset and the
    tokenizer, to find the picture among these."""

    part: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    names: tuple[str, ...] = ()


def names_of(row: Any) -> tuple[str, ...]:
    """The dataset and the tokenizer of a row of results, as far as the row has them."""
    return tuple(getattr(row, name) for name in ("dataset", "tokenizer") if hasattr(row, name))


def fill_table(
    part: str,
    title: str,
    rows: Sequence[Any],
    columns: Sequence[Column],
    note: str,
    names: tuple[str, ...] | None = None,
) -> Table:
    """A table with a line for each row of results. Without `names`, its names are the names of the
    first row."""
    cells = tuple(tuple(cell(row) for _, cell in columns) for row in rows)
    header = tuple(name for name, _ in columns)
    return Table(part, title, header, cells, note, names or names_of(next(iter(rows), None)))


def text_of(table: Table) -> str:
    """The table as text: title, aligned columns (words to the left, figures to the right), note."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, width, words in zip(row, widths, of_words(table), strict=True)
        ).rstrip()
        for row in (table.header, *table.rows)
    ]
    rule = "-" * max(map(len, lines))
    note = textwrap.wrap(table.note, WIDTH)
    return "\n".join([*textwrap.wrap(table.title, WIDTH), rule, lines[0], rule, *lines[1:], *note])


def of_words(table: Table) -> list[bool]:
    """For each column, True if it is the first or has no digit."""
    columns = enumerate(zip(*table.rows, strict=True))
    return [not i or not any(map(str.isdigit, "".join(column))) for i, column in columns]


def neighbours(items: Iterable[Item], *names: str) -> list[list[Item]]:
    """Groups of neighbouring items whose attributes of these names are equal."""
    return [list(found) for _, found in groupby(items, attrgetter(*names))]


def milliseconds(seconds: float) -> str:
    """0.0123 -> "12.3", 0.0000123 -> "0.012", 1.23 -> "1,230"."""
    value = 1000 * seconds
    digits = next((n for n, least in enumerate((100, 10, 1)) if value >= least), 3)
    return f"{value:,.{digits}f}"


def share(value: float, digits: int) -> str:
    """The value rounded down, so that only a share of exactly 1 is shown as 1."""
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def three_digits(value: float) -> str:
    """0.012345 -> "0.0123", 1.2345 -> "1.23", 123.45 -> "123"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def times(value: float) -> str:
    return f"{value:.2f}x"


def stage_share(row: StageRow | ScalingRow, stage: str) -> str:
    """The share of a stage in the whole encode: "97.2%"."""
    return f"{100 * row.stages.get(stage, 0.0) / sum(row.stages.values()):.1f}%"


def stages_of(rows: Sequence[StageRow | ScalingRow]) -> list[str]:
    """The stages that at least one row has."""
    return [stage for stage in STAGES if any(stage in row.stages for row in rows)]


def describe_group(row: MethodRow) -> str:
    """The texts and the tokenizer of a group, in words."""
    texts = f"{row.texts:,} text{'s' * (row.texts != 1)}, {row.code_points:,} code points"
    return f"{row.dataset} ({texts}), tokenizer {row.tokenizer}"


def about_stages(row: StageRow | ScalingRow) -> str:
    """The text and the tokenizer of a row of stages, in words."""
    return f"{row.dataset}, one text of {row.code_points:,} code points, tokenizer {row.tokenizer}"


METHOD: Column = ("method", attrgetter("method"))
TEXTS_EQUAL: Column = ("texts equal", lambda row: share(row.texts_equal, 3))
RETRIES: Column = ("retries", lambda row: f"{row.retries:,}")
REPAIRS: Column = ("repairs", lambda row: f"{row.repairs:,}")


def milliseconds_of(name: str) -> Callable[[Any], str]:
    """A function that shows an attribute in seconds, such as "seconds.median", as milliseconds."""
    return lambda row: milliseconds(attrgetter(name)(row))


MEDIAN = milliseconds_of("seconds.median")


def speed(rows: Sequence[MethodRow]) -> Column:
    """The column "speed": the own call's median in the row's engine, divided by the row's
    median."""
    own = {row.engine: row.seconds.median for row in rows if row.method == SERIAL.name}

    def against_own(row: MethodRow) -> str:
        return times(own[row.engine] / row.seconds.median) if row.engine in own else ""

    return "speed", against_own


def varying_columns(rows: Iterable[Any], *names: str) -> list[Column]:
    """A column for each of the attributes that differ between the rows."""
    kinds = {name: {getattr(row, name) for row in rows} for name in names}
    return [(name, attrgetter(name)) for name in names if len(kinds[name]) > 1]


def _methods(rows: Sequence[MethodRow]) -> Table:
    methods = [row for row in rows if row.method != SERIAL.name]
    five = {"min": "least", "q1": "lower", "median": "median", "q3": "upper", "max": "most"}
    return fill_table(
        "methods",
        f"Accuracy and latency, {rows[0].condition}: {describe_group(rows[0])}",
        rows,
        [
            METHOD,
            *varying_columns(methods, "engine", "executor"),
            TEXTS_EQUAL,
            ("ids equal", lambda row: share(row.ids_equal, 6)),
            *((short, milliseconds_of(f"seconds.{name}")) for short, name in five.items()),
            speed(rows),
        ],
        f"Milliseconds per text over {rows[0].seconds.count} rounds. Equal: the share whose ids "
        "are the tokenizer's own. Speed: the own call's median over the method's.",
    )


def _conditions(rows: Sequence[MethodRow]) -> Table:
    """A table with a line for each method and a pair of columns for each condition."""
    found = {(row.method, row.condition): row for row in rows}

    def cells(method: str, condition: str) -> tuple[str, str]:
        row, own = found.get((method, condition)), found.get((SERIAL.name, condition))
        if row is None or own is None:
            return "-", "-"
        return milliseconds(row.seconds.median), times(own.seconds.median / row.seconds.median)

    methods = dict.fromkeys(row.method for row in rows)
    return Table(
        "conditions",
        f"One text under four conditions: {describe_group(rows[0])}, engine {rows[0].engine}",
        ("method", *(name for each in CONDITIONS for name in (f"{each}, ms", "speed"))),
        tuple(
            (method, *(cell for each in CONDITIONS for cell in cells(method, each)))
            for method in methods
        ),
        "Median milliseconds; speed: the own call's median over the method's under the same "
        "condition. Cache off: cache_bytes=0. Cold: first call on a fresh object. Warm: a fresh "
        "object that has seen other text of the kind. Seen: it has seen this text. A "
        "method that never consults the cache has the column cache off alone; published methods "
        "are compared there.",
        names_of(rows[0]),
    )


def _scaling(rows: Sequence[ScalingRow]) -> Table:
    one = rows[0]
    return fill_table(
        "scaling",
        f"One chunk per worker, {one.method}, {one.condition}: {about_stages(one)}, executor "
        f"{one.executor}",
        rows,
        [
            ("workers", lambda row: str(row.workers)),
            *((stage, partial(stage_share, stage=stage)) for stage in stages_of(rows)),
            ("ms", MEDIAN),
            ("over one worker", lambda row: times(one.seconds.median / row.seconds.median)),
            ("over own call", lambda row: times(row.own.median / row.seconds.median)),
        ],
        "Median milliseconds of one text, and the shares of the stages.",
    )


def _stages(rows: Sequence[StageRow]) -> Table:
    return fill_table(
        "stages",
        f"Stages of one encode, {rows[0].condition}: {about_stages(rows[0])}",
        rows,
        [
            METHOD,
            *varying_columns(rows, "engine"),
            ("chunks", lambda row: f"{row.chunks:,}"),
            *((stage, partial(stage_share, stage=stage)) for stage in stages_of(rows)),
            ("ms", MEDIAN),
            *((f"A({n})", partial(_amdahl, workers=str(n))) for n in (*WORKERS, "all")),
        ],
        "One worker, chunk after chunk. Matching is part of merge. A(n): speed-up on n workers by "
        "Amdahl's law if only tokenize is spread.",
    )


def _amdahl(row: StageRow, workers: str) -> str:
    return times(row.amdahl[workers]) if workers in row.amdahl else "-"


def _projection(rows: Sequence[ProjectionRow]) -> Table:
    return fill_table(
        "projection",
        f"Projection from measured chunk times: tokenizer {rows[0].tokenizer}, engine "
        f"{rows[0].engine}, executor {rows[0].executor}",
        rows,
        [
            METHOD,
            ("workers", lambda row: str(row.workers)),
            ("in order", milliseconds_of("projected")),
            ("longest first", milliseconds_of("longest_first")),
            ("bound", milliseconds_of("bound")),
            ("speed", lambda row: times(row.speedup)),
            ("measured", lambda row: milliseconds(row.measured.least) if row.measured else "-"),
            ("error", lambda row: "-" if row.error is None else f"{row.error:+.1f}%"),
        ],
        "Milliseconds: serial stages plus the chunks dealt out in order, or the longest first; no "
        "order beats the bound. Speed: over the own call. Error: of the projection in order. All "
        "times are the least of the rounds: what a run takes that nothing disturbs.",
    )


def _retries(rows: Sequence[MethodRow]) -> Table:
    return fill_table(
        "retries",
        f"Repetitive texts, {rows[0].condition}: {describe_group(rows[0])}",
        rows,
        [
            METHOD,
            TEXTS_EQUAL,
            RETRIES,
            REPAIRS,
            ("redundant", lambda row: times(row.redundant / row.code_points)),
            ("ms", MEDIAN),
            speed(rows),
        ],
        "Retries: how often everything was encoded again; repairs: seams mended; redundant: code "
        "points tokenized more than once, over the text's.",
    )


def _sweep(rows: Sequence[SweepRow]) -> Table:
    first = rows[0]
    what, unit = SWEPT[first.sweep]
    methods = list(dict.fromkeys(row.method for row in rows))
    found = {(row.method, row.x): milliseconds(row.seconds.median) for row in rows}

    def cell(x: int, method: str) -> str:
        return found.get((method, x)) or found.get((method, ANY), "-")

    return fill_table(
        first.sweep,
        f"Latency by {what}, {first.condition}: {first.dataset}, {first.code_points:,} "
        f"code points, tokenizer {first.tokenizer}, engine {first.engine}",
        sorted({row.x for row in rows} - {ANY}),
        [(unit, "{:,}".format), *((method, partial(cell, method=method)) for method in methods)],
        "Median milliseconds per text.",
        names_of(first),
    )


def tables(
    results: BenchResults,
    methods: Callable[[Sequence[MethodRow]], Table] = _methods,
    retries: Callable[[Sequence[MethodRow]], Table] = _retries,
    scaling: Callable[[Sequence[ScalingRow]], Table] = _scaling,
) -> list[Table]:
    """One table for each dataset, tokenizer and question. Projections and sweeps have one for each
    tokenizer in each engine.

    `methods`, `retries`, `scaling`: functions that make a table of one group of rows."""
    compared = [row for row in results.methods if row.part == "methods"]
    conditions = [row for row in results.methods if row.part == "conditions"]
    repeated = [row for row in results.methods if row.part == "retries"]
    return [
        *map(methods, neighbours(compared, "dataset", "tokenizer")),
        *map(_conditions, neighbours(conditions, "dataset", "tokenizer", "engine")),
        *map(_stages, neighbours(results.stages, "dataset", "tokenizer")),
        *map(_projection, neighbours(results.projection, "tokenizer", "engine")),
        *map(scaling, neighbours(results.scaling, "dataset", "tokenizer", "engine", "method")),
        *map(retries, neighbours(repeated, "dataset", "tokenizer")),
        *map(_sweep, neighbours(results.sweeps, "sweep", "tokenizer", "engine")),
    ]
