"""Markdown tables of the rows that `tests.benchmarks.kinds` measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.benchmarks.kinds_rows import FIRST, HALF, OURS, OWN, SEEN, Row
from tests.benchmarks.turns import spread

OUR_COLUMNS = ((OWN, SEEN), (OURS, FIRST), (OURS, HALF), (OURS, SEEN))
RATIOS = (
    ("first / fastokens first", FIRST, ("fastokens", FIRST)),
    ("seen / fastokens seen", SEEN, ("fastokens", SEEN)),
    ("first / own", FIRST, (OWN, SEEN)),
    ("second half / own", HALF, (OWN, SEEN)),
    ("seen / own", SEEN, (OWN, SEEN)),
)


def markdown(
    rows: Sequence[Row], others: Sequence[Row], engines: Sequence[str], about: Mapping[str, Any]
) -> str:
    """All tables. `others`: the rows of mixed traffic and of loading."""
    tables = (_speeds(rows, engines), _ratios(rows), _others(others, engines))
    parts = ["\n".join(table) for table in (*tables, _notes([*rows, *others]))]
    return "\n\n".join(part for part in (_about(about), *parts) if part) + "\n"


def _speeds(rows: Sequence[Row], engines: Sequence[str]) -> Iterator[str]:
    """MB/s."""
    if not rows:
        return
    columns = [*OUR_COLUMNS, *((engine, state) for engine in engines for state in (FIRST, SEEN))]
    names = ["own call" if engine == OWN else f"{engine} {state}" for engine, state in columns]
    yield from _head("tokenizer", "text", "MB", *names)
    for row in rows:
        cells = (_cell(row, column, ".1f") for column in columns)
        yield _line(row.subject, row.text, f"{row.bytes / 1e6:.2f}", *cells)


def line(row: Row) -> str:
    """One row in words, for the log."""
    cells = (
        f"{engine} {state} {_cell(row, (engine, state), '.2f')}" for engine, state in row.values
    )
    return f"{row.subject}, {row.text}: {', '.join(cells)}"


def _about(about: Mapping[str, Any]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    return f"{about['processor']}, {about['cores']['usable']} cores, {about['python']}; {packages}."


def _ratios(rows: Sequence[Row]) -> Iterator[str]:
    """tokpar's speed over the others'."""
    if not rows:
        return
    yield from _head("tokenizer", "text", *(name for name, _, _ in RATIOS))
    for row in rows:
        cells = (_spread(row.ratios(state, other), ".2f") for _, state, other in RATIOS)
        yield _line(row.subject, row.text, *cells)


def _others(rows: Sequence[Row], engines: Sequence[str]) -> Iterator[str]:
    if not rows:
        return
    yield from _head("tokenizer", "", OWN, OURS, *engines)
    for row in rows:
        state = FIRST if row.text == "loading" else SEEN
        name = "loading, s" if row.text == "loading" else f"mixed traffic, {row.text}, ratio"
        cells = (_cell(row, (engine, state), ".2f") for engine in (OWN, OURS, *engines))
        yield _line(row.subject, name, *cells)


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """Why a row has no figures of an engine."""
    for row in rows:
        for engine, why in row.left_out.items():
            yield f"- {row.subject}, {row.text}: {engine} fails: {why.replace('|', '/')}"


def _cell(row: Row, column: tuple[str, str], form: str) -> str:
    found = _spread(row.values.get(column, ()), form)
    return f"{found}, other ids" if column[0] in row.different and found != "-" else found


def _spread(values: Sequence[float], form: str) -> str:
    """Median, least and most: "2.0 (1.5-2.5)"; "-" without values."""
    if not values:
        return "-"
    middle, least, most = (format(value, form) for value in spread(values))
    return f"{middle} ({least}-{most})"


def _head(*columns: str) -> Iterator[str]:
    yield _line(*columns)
    yield "|---" * len(columns) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
