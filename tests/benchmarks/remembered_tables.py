"""Figures of `tests.benchmarks.remembered`: in words, and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

from tests.benchmarks.remembered_bytes import Held
from tests.benchmarks.remembered_rows import OURS, Quartiles, Row, Threads
from tests.benchmarks.remembered_sides import STATES

Found = Row | Threads | Held
Kind = TypeVar("Kind")


def line(found: Found) -> str:
    """One result in words."""
    if isinstance(found, Held):
        return f"table {found.table / 1e6:.1f} MB, beside it {_each(found.cold, found)} B/B"
    if isinstance(found, Threads):
        return f"two threads {_ratio(found.ratio)} times one"
    sides = (
        f"{name} {found.rate(name):.1f} ({_ratio(found.ratio(name))})" for name in _names(found)
    )
    return f"tokpar {found.rate(OURS):.1f} MB/s, {', '.join(sides)}"


def markdown(found: Sequence[Found], about: Mapping[str, Any]) -> str:
    """A table for what was measured of each kind, below what it was measured with."""
    rows = _of(found, Row)
    tables = (
        _ratios(rows),
        _speeds(rows),
        _threads(_of(found, Threads)),
        _held(_of(found, Held)),
    )
    parts = ["\n".join(table) for table in (_versions(about), *tables)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _versions(about: Mapping[str, Any]) -> Iterator[str]:
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    yield f"{about['processor']}, {about['cores']['usable']} cores, {about['python']}; {packages}."


def _ratios(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield "Ratio to the own call, median (quartiles):\n"
    yield from _head("tokenizer", "text", "own call", *STATES)
    for group in _by_text(rows):
        for call in group[0].own:
            cells = {row.state: _ratio(row.ratio(call)) for row in group}
            states = (cells.get(state, "") for state in STATES)
            yield _line(group[0].subject, group[0].kind, f"`{call}`", *states)


def _speeds(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield "MB/s of each call, in brackets tokpar's over it (quartiles):\n"
    yield from _head("tokenizer", "text", "state", OURS, "own calls", "beside them", "left out")
    for row in rows:
        own = "; ".join(f"`{name}` {row.rate(name):.1f}" for name in row.own)
        others = (name for name in _names(row) if name not in row.own)
        beside = "; ".join(
            f"{name} {row.rate(name):.1f}: {_ratio(row.ratio(name))}" for name in others
        )
        out = "; ".join(f"{name}: {_short(why)}" for name, why in row.left_out.items())
        yield _line(row.subject, row.kind, row.state, f"{row.rate(OURS):.1f}", own, beside, out)


def _threads(rows: Sequence[Threads]) -> Iterator[str]:
    if not rows:
        return
    yield "Threads, on a text that was seen:\n"
    yield from _head("tokenizer", "text", "one, MB/s", "two, MB/s", "ratio")
    for row in rows:
        rates = (f"{row.bytes / median(row.seconds[count]) / 1e6:.1f}" for count in ("1", "2"))
        yield _line(row.subject, row.kind, *rates, _ratio(row.ratio))


def _held(rows: Sequence[Held]) -> Iterator[str]:
    if not rows:
        return
    yield "Bytes for each byte of the text:\n"
    yield from _head(
        "tokenizer", "text", "table, MB", "table", "beside it, cold", "beside it, seen"
    )
    for row in rows:
        each = (_each(size, row) for size in (row.table, row.cold, row.seen))
        yield _line(row.subject, row.kind, f"{row.table / 1e6:.1f}", *each)


def _by_text(rows: Sequence[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.subject, row.kind), []).append(row)
    return list(groups.values())


def _names(row: Row) -> list[str]:
    return [name for name in row.seconds if name != OURS]


def _of(found: Sequence[Found], kind: type[Kind]) -> list[Kind]:
    return [each for each in found if isinstance(each, kind)]


def _head(*columns: str) -> Iterator[str]:
    yield _line(*columns)
    yield "|---" * len(columns) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _ratio(values: Quartiles) -> str:
    return "{:.2f} ({:.2f}-{:.2f})".format(*values)


def _each(size: int, row: Held) -> str:
    return f"{size / row.bytes:.2f}"


def _short(why: str) -> str:
    """As a cell has room for."""
    return " ".join(why.replace("|", "/").split())[:60]
