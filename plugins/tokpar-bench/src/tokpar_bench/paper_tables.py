"""The three tables of the LoPT paper: our figures beside those it publishes, as far as they were
read. A figure that was not read says so, and is never a guess."""

from collections.abc import Sequence
from dataclasses import replace

from tokpar_bench import tables as own
from tokpar_bench.records import BenchResults, MethodRow, StageRow
from tokpar_bench.stages import WORKERS

NOT_READ = "not read"
PUBLISHED = {
    "delimiter-comma": 0.317,
    "delimiter-period": 0.564,
    "delimiter-space": 0.804,
    "overlap-longest": 0.801,
    "overlap-window": 0.998,
    "lopt-paper": 1.0,
}
"""Table 1, share of the texts that are equal, with DeepSeek's tokenizer. Chunks of the paper have
other sizes than ours, and its machine other cores; its milliseconds were not read."""

PAPER_METHODS = ("serial", *PUBLISHED, "lopt", "auto")  # those of table 1, and ours
FIGURES = {"length": 3, "chunk": 4, "workers": 7, "batch": 8}
_OTHERS = "Published: LoPT (arXiv 2511.04952), on L-Eval, with other chunks and on another machine."


def published(tokenizer: str, method: str) -> str:
    """The accuracy of a method with a tokenizer, by the name of its file: "0.317"."""
    figure = PUBLISHED.get(method) if "deepseek" in tokenizer.lower() else None
    return NOT_READ if figure is None else f"{figure:.3f}"


def tables_of(results: BenchResults) -> list[own.Table]:
    """The paper's tables for a run with --paper, else our own."""
    return paper_tables(results) if results.settings.get("paper") else own.tables(results)


def paper_tables(results: BenchResults) -> list[own.Table]:
    """Tables 1 to 3, the projection between, and the figures as tables."""
    return [
        replace(table, title=f"Figure {FIGURES[table.part]}, l{table.title[1:]}")
        if table.part in FIGURES
        else table
        for table in own.tables(results, _table_1, _table_2, _table_3)
    ]


def _table_1(rows: Sequence[MethodRow]) -> own.Table:
    return own.filled(
        "methods",
        f"Table 1, accuracy and latency: {own.about(rows[0])}",
        rows,
        [
            own.METHOD,
            ("accuracy", lambda row: own.share(row.texts_equal, 3)),
            ("published", lambda row: published(row.tokenizer, row.method)),
            ("ms per text", own.MEDIAN),
            ("published", lambda row: NOT_READ),
            own.speed(rows),
        ],
        "Accuracy: share of the texts whose ids are all the tokenizer's own. Speed: the own call's "
        f"median over the method's. {_OTHERS}",
    )


def _table_2(rows: Sequence[StageRow]) -> own.Table:
    cells = [
        (stage, *(own.stage_share(row, stage) for row in rows)) for stage in own.stages_of(rows)
    ]
    cells += [
        (f"Amdahl, {n} workers", *(own.times(row.amdahl[str(n)]) for row in rows)) for n in WORKERS
    ]
    several = len({row.engine for row in rows}) > 1
    methods = (f"{row.method}, {row.engine}" if several else row.method for row in rows)
    return own.Table(
        "stages",
        f"Table 2, shares of the stages and Amdahl's law: {own.about_stages(rows[0])}",
        ("stage", *methods, "published"),
        tuple((*row, NOT_READ) for row in cells),
        f"One worker, chunk after chunk; matching is part of merge. {_OTHERS}",
    )


def _table_3(rows: Sequence[MethodRow]) -> own.Table:
    return own.filled(
        "retries",
        f"Table 3, repetitive texts: {own.about(rows[0])}",
        rows,
        [
            own.METHOD,
            own.RETRIES,
            ("published", lambda row: NOT_READ),
            own.REPAIRS,
            ("accuracy", lambda row: own.share(row.texts_equal, 3)),
            ("ms per text", own.MEDIAN),
            own.speed(rows),
        ],
        "Retries: how often everything was encoded again, chunks doubled; repairs: seams mended. "
        f"{_OTHERS}",
    )
