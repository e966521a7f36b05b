"""Tables of the published methods: our figures next to the figures of `paper_figures`.

"-" stands for a figure that the source does not have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokpar_bench import paper_figures
from tokpar_bench import tables as own
from tokpar_bench.records import BenchResults, FigureRow, MethodRow, ScalingRow
from tokpar_bench.stages import amdahl
from tokpar_bench.subjects import SERIAL

MISSING = "-"
PAPER_METHODS = (*paper_figures.METHODS, "lopt", "auto")  # the methods of table 1, and ours
FIGURES = {"length": 3, "chunk": 4, "workers": 7, "batch": 8}
RESTARTED = "lopt-paper-restart"  # as published: a failure encodes all again, in doubled chunks
PUBLISHED_STAGES = ("split", "tokenize", "match", "merge", "convert")


@dataclass(frozen=True)
class Nearest:
    """The published row and column to compare with, for each tokenizer and dataset of a run."""

    tokenizers: Mapping[str, str | None]
    corpora: Mapping[str, str]

    @classmethod
    def of(cls, results: BenchResults) -> "Nearest":
        """The names that the run wrote into its provenance."""
        about = results.provenance
        return cls(
            {each["name"]: each.get("published_tokenizer") for each in about.get("tokenizers", [])},
            {each["name"]: each.get("published_corpus", "") for each in about.get("texts", [])},
        )

    def method(self, row: MethodRow, method: str) -> paper_figures.PublishedMethod | None:
        """The figures of table 1 for a row of ours."""
        tokenizer, corpus = self.tokenizers.get(row.tokenizer), self.corpora.get(row.dataset)
        return (
            paper_figures.method_figures(tokenizer, corpus, method)
            if tokenizer and corpus
            else None
        )

    def retries(self, row: MethodRow) -> paper_figures.PublishedRetries | None:
        """The row of table 3 for a row of ours."""
        tokenizer = self.tokenizers.get(row.tokenizer)
        repetitive = row.dataset not in self.corpora
        return paper_figures.retry_figures(tokenizer, repetitive) if tokenizer else None

    def describe(self, tokenizer: str, dataset: str) -> str:
        """A sentence that names the published row and corpus."""
        row, corpus = self.tokenizers.get(tokenizer), self.corpora.get(dataset, "")
        if row is None or corpus not in paper_figures.CORPORA:
            return "No published row is near this tokenizer."
        on = f"{row} on {paper_figures.CORPORA[corpus]}, 112 cores, 32 processes"
        return f"Published ({paper_figures.LOPT}): {on}."


def tables_of(results: BenchResults) -> list[own.Table]:
    """The tables with the published figures for a run with --paper, else our own tables."""
    return paper_tables(results) if results.settings.get("paper") else own.tables(results)


def paper_tables(results: BenchResults) -> list[own.Table]:
    """Tables 1 to 3 of the paper, with conditions and projection between them; then the paper's
    figures as tables; then the figures of the other methods."""
    nearest = Nearest.of(results)

    def table_1(rows: Sequence[MethodRow]) -> own.Table:
        return _table_1(rows, nearest)

    def table_3(rows: Sequence[MethodRow]) -> own.Table:
        return _table_3(rows, nearest)

    made = [
        replace(table, title=f"Figure {FIGURES[table.part]}, l{table.title[1:]}")
        if table.part in FIGURES
        else table
        for table in own.tables(results, table_1, table_3, _table_2)
    ]
    return made + [_others(rows) for rows in own.neighbours(results.figures, "source", "tokenizer")]


def _cell(figure: object, text: Callable[[Any], str]) -> str:
    return MISSING if figure is None else text(figure)


def _table_1(rows: Sequence[MethodRow], nearest: Nearest) -> own.Table:
    def accuracy(row: MethodRow) -> str:
        found = nearest.method(row, row.method)
        return MISSING if found is None or found.accuracy is None else f"{found.accuracy:.3f}"

    def milliseconds(row: MethodRow) -> str:
        return _cell(nearest.method(row, row.method), lambda found: own.milliseconds(found.seconds))

    def speed(row: MethodRow) -> str:
        serial, found = (nearest.method(row, name) for name in (SERIAL.name, row.method))
        if serial is None or found is None:
            return MISSING
        return own.times(serial.seconds / found.seconds)

    return own.fill_table(
        "methods",
        f"Table 1, accuracy and latency, {rows[0].condition}: {own.describe_group(rows[0])}",
        rows,
        [
            own.METHOD,
            *own.varying_columns(rows[1:], "engine", "executor"),
            ("accuracy", lambda row: own.share(row.texts_equal, 3)),
            ("published", accuracy),
            own.speed(rows),
            ("published", speed),
            ("ms per text", own.MEDIAN),
            ("published", milliseconds),
        ],
        "Accuracy: share of the texts whose ids are all the tokenizer's own. Speed: the own call's "
        f"median over the method's. {nearest.describe(rows[0].tokenizer, rows[0].dataset)}",
    )


def _table_2(rows: Sequence[ScalingRow]) -> own.Table:
    """The table of one method: our rows for the cores of this machine, the published rows for all
    worker numbers of the paper."""
    ours = {row.workers: row for row in rows}
    theirs = {row.workers: row for row in paper_figures.scaling_figures()}
    one = ours[min(ours)]
    parallel = one.stages.get("tokenize", 0.0) / sum(one.stages.values())

    def line(workers: int) -> tuple[str, ...]:
        row, figures = ours.get(workers), theirs.get(workers)
        shares = [_shares(row, figures, stage) for stage in PUBLISHED_STAGES]
        return (
            str(workers),
            *shares,
            _cell(row, lambda found: own.times(one.seconds.median / found.seconds.median)),
            _cell(figures, lambda found: own.times(found.speedup)),
            own.times(amdahl(parallel, workers)),
            _cell(figures, lambda found: own.times(found.amdahl)),
            _cell(row, lambda found: own.times(found.own.median / found.seconds.median)),
        )

    speeds = ("speed", "published", "Amdahl", "published", "own call")
    return own.Table(
        "scaling",
        f"Table 2, {one.method}, one chunk per worker, {one.condition}: {own.about_stages(one)}, "
        f"executor {one.executor}",
        ("workers", *PUBLISHED_STAGES, *speeds),
        tuple(map(line, sorted({*ours, *theirs}))),
        "Stages: per cent of the time, ours/published; our matching is part of merge. Speed: "
        "over one worker. Amdahl: the law with the share that is not tokenize on one worker "
        f"({100 * (1 - parallel):.3f} per cent, published 0.0935). Own call: its time over the "
        f"method's. Published ({paper_figures.LOPT}): DeepSeek-V3 on LongBench v2.",
        own.names_of(one),
    )


def _shares(
    row: ScalingRow | None, figures: paper_figures.PublishedScaling | None, stage: str
) -> str:
    """The per cent of the time of one stage, ours and published: "97.2/98.1"."""
    ours = MISSING if row is None or stage not in row.stages else own.stage_share(row, stage)[:-1]
    return f"{ours}/{_cell(figures, lambda found: f'{100 * found.stages[stage]:.1f}')}"


def _table_3(rows: Sequence[MethodRow], nearest: Nearest) -> own.Table:
    def figure_cell(name: str, text: Callable[[float], str]) -> Callable[[MethodRow], str]:
        def cell(row: MethodRow) -> str:
            found = nearest.retries(row) if row.method == RESTARTED else None
            return MISSING if found is None else text(getattr(found, name))

        return cell

    first = rows[0]
    kind = "repetitive texts" if first.dataset not in nearest.corpora else "real texts"
    row = nearest.tokenizers.get(first.tokenizer)
    return own.fill_table(
        "retries",
        f"Table 3, {kind}, {first.condition}: {own.describe_group(first)}",
        rows,
        [
            own.METHOD,
            ("accuracy", lambda row: own.share(row.texts_equal, 3)),
            ("retries", lambda row: f"{row.retries / row.texts:.3f}"),
            ("published", figure_cell("retries", "{:g}".format)),
            ("repairs", lambda row: f"{row.repairs / row.texts:.1f}"),
            own.speed(rows),
            ("published", figure_cell("speedup", own.times)),
            ("ms per text", own.MEDIAN),
            ("published", figure_cell("seconds", own.milliseconds)),
        ],
        "Retries: how often a text was encoded again in chunks twice as long, on average; repairs: "
        "seams mended, on average. Speed: the own call's median over the method's. "
        f"Published ({paper_figures.LOPT}): "
        f"{row or 'no near row'}, LongBench v2.",
    )


def _others(rows: Sequence[FigureRow]) -> own.Table:
    return own.fill_table(
        "others",
        f"{rows[0].source}: tokenizer {rows[0].tokenizer}",
        rows,
        [
            ("what", lambda row: row.what),
            ("setting", lambda row: row.setting),
            ("ours", lambda row: " / ".join(map(own.three_digits, row.values)) or MISSING),
            ("published", lambda row: paper_figures.other_figure(row.what, row.setting) or MISSING),
        ],
        " ".join(dict.fromkeys(row.detail for row in rows)),
    )
