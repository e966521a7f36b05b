"""The three tables of the LoPT paper: our figures beside those it publishes."""

from __future__ import annotations

from collections.abc import Sequence

from tokpar.bench.paper import DATASET, NOT_READ, TITLE, published
from tokpar.bench.projection import WORKERS
from tokpar.bench.results import MethodRow, Results, StageRow
from tokpar.bench.tables import (
    STAGES,
    Table,
    about,
    against_own,
    by_dataset,
    grouped,
    milliseconds,
    projections,
    share,
    stage_share,
    sweep_tables,
    tables,
    times,
)

FIGURES = {"length": 3, "chunk": 4, "workers": 7, "batch": 8}
_OTHERS = f"Published: {TITLE}, on {DATASET}, with other chunks and on another machine."


def tables_of(results: Results) -> list[Table]:
    """The paper's tables for a run with --paper, else our own."""
    return paper_tables(results) if results.settings.get("paper") else tables(results)


def paper_tables(results: Results) -> list[Table]:
    """Tables 1 to 3, the projection between, and the figures as tables."""
    compared = [row for row in results.methods if row.part == "methods"]
    repeated = [row for row in results.methods if row.part == "retries"]
    return [
        *(_table_1(rows) for rows in grouped(compared, by_dataset)),
        *(_table_2(rows) for rows in grouped(results.stages, by_dataset)),
        *projections(results),
        *(_table_3(rows) for rows in grouped(repeated, by_dataset)),
        *(_figure(table) for table in sweep_tables(results)),
    ]


def _table_1(rows: Sequence[MethodRow]) -> Table:
    return Table(
        "methods",
        f"Table 1, accuracy and latency: {about(rows[0])}",
        ("method", "accuracy", "published", "ms per text", "published", "speed"),
        tuple(
            (
                row.method,
                share(row.texts_equal, 3),
                _figure_or_not(published(row.tokenizer, row.method).accuracy, ".3f"),
                milliseconds(row.seconds.median),
                _figure_or_not(published(row.tokenizer, row.method).milliseconds, ".1f"),
                against_own(rows, row),
            )
            for row in rows
        ),
        "Accuracy: share of the texts whose ids are all the tokenizer's own. Speed: the own call's "
        f"median over the method's. {_OTHERS}",
    )


def _table_2(rows: Sequence[StageRow]) -> Table:
    shown = [stage for stage in STAGES if any(stage in row.stages for row in rows)]
    cells = [(stage, *(stage_share(row, stage) for row in rows)) for stage in shown]
    cells += [
        (f"Amdahl, {n} workers", *(times(row.amdahl[str(n)]) for row in rows)) for n in WORKERS
    ]
    return Table(
        "stages",
        f"Table 2, shares of the stages and Amdahl's law: {rows[0].dataset}, one text of "
        f"{rows[0].code_points:,} code points, tokenizer {rows[0].tokenizer}",
        ("stage", *(_method_of(row, rows) for row in rows), "published"),
        tuple((*row, NOT_READ) for row in cells),
        f"One worker, chunk after chunk; matching is part of merge. {_OTHERS}",
    )


def _method_of(row: StageRow, rows: Sequence[StageRow]) -> str:
    engines = {other.engine for other in rows}
    return row.method if len(engines) == 1 else f"{row.method}, {row.engine}"


def _table_3(rows: Sequence[MethodRow]) -> Table:
    return Table(
        "retries",
        f"Table 3, repetitive texts: {about(rows[0])}",
        ("method", "retries", "published", "repairs", "accuracy", "ms per text", "speed"),
        tuple(
            (
                row.method,
                f"{row.retries:,}",
                NOT_READ,
                f"{row.repairs:,}",
                share(row.texts_equal, 3),
                milliseconds(row.seconds.median),
                against_own(rows, row),
            )
            for row in rows
        ),
        "Retries: how often everything was encoded again, chunks doubled; repairs: seams mended. "
        f"{_OTHERS}",
    )


def _figure(table: Table) -> Table:
    title = f"Figure {FIGURES[table.part]}, l{table.title[1:]}"
    return Table(table.part, title, table.header, table.rows, table.note)


def _figure_or_not(value: float | None, form: str) -> str:
    return NOT_READ if value is None else format(value, form)
