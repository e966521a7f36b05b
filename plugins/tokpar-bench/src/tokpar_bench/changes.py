"""Compare two runs: `tokpar bench --compare A.json B.json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from tokpar_bench.records import BenchResults, MethodRow, ScalingRow, StageRow, SweepRow
from tokpar_bench.tables import Table, fill_table, milliseconds, share, times

NOISE = 0.1
"""A time that changes by less than this share is not counted as a change: two runs of the same
code differ by about a tenth."""
KEYS = ("part", "sweep", "x", "dataset", "tokenizer", "engine", "executor", "method", "condition")
SAME = ("processor", "python", "commit", "load")
Key = tuple[tuple[str, Any], ...]
TimedRow = MethodRow | StageRow | ScalingRow | SweepRow


def changes(old: BenchResults, new: BenchResults) -> list[Table]:
    """Two tables: the two runs themselves, and the rows that both runs have."""
    before, after = dict(timed_rows(old)), dict(timed_rows(new))
    both = [key for key in before if key in after]
    only = len(before) + len(after) - 2 * len(both)
    ratio = {key: before[key].seconds.median / after[key].seconds.median for key in both}
    faster = sum(each > 1 + NOISE for each in ratio.values())
    slower = sum(1 / each > 1 + NOISE for each in ratio.values())
    wrong = sum(equal_share(after[key]) < equal_share(before[key]) for key in both)
    rows = [
        ("what", lambda key: key_in_words(key)),
        ("ms before", lambda key: milliseconds(before[key].seconds.median)),
        ("ms after", lambda key: milliseconds(after[key].seconds.median)),
        ("speed", lambda key: times(ratio[key])),
        ("equal before", lambda key: share(equal_share(before[key]), 3)),
        ("equal after", lambda key: share(equal_share(after[key]), 3)),
    ]
    note = (
        f"{len(both):,} rows in both runs, {only:,} in one of them only. {faster:,} are faster and "
        f"{slower:,} slower by more than a tenth; {wrong:,} have fewer equal ids. Speed: time "
        "before over time after."
    )
    return [_runs(old, new), fill_table("changes", "What changed", both, rows, note)]


def timed_rows(results: BenchResults) -> Iterator[tuple[Key, TimedRow]]:
    """Every row that has a time, with a key that no other row of its run has."""
    for kind in ("methods", "stages", "scaling", "sweeps"):
        for row in getattr(results, kind):
            names = {each.name for each in fields(row)}
            key = [(name, getattr(row, name)) for name in KEYS if name in names]
            workers = [("workers", row.workers)] if isinstance(row, ScalingRow) else []
            yield (("table", kind), *key, *workers), row


def equal_share(row: TimedRow) -> float:
    """The share of the texts whose ids are all equal, 0 to 1."""
    return row.texts_equal if isinstance(row, MethodRow) else float(row.equal)


def key_in_words(key: Key) -> str:
    """A key in words, without engine, executor and table."""
    usual = {"engine", "executor", "table"}
    return ", ".join(str(value) for name, value in key if name not in usual)


def _runs(old: BenchResults, new: BenchResults) -> Table:
    names = ("date", *SAME)
    rows = [
        (name, str(old.provenance.get(name, "-")), str(new.provenance.get(name, "-")))
        for name in names
    ]
    digests = [
        {each["name"]: each.get("sha256") for each in run.provenance.get("texts", [])}
        for run in (old, new)
    ]
    same = "the same texts" if digests[0] == digests[1] else "other texts: times are not comparable"
    return Table("changes", "The two runs", ("", "before", "after"), tuple(rows), f"On {same}.")
