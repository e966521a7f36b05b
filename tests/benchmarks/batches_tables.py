"""Figures of `tests.benchmarks.batches`: in words, and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.benchmarks.turns import Spread

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Row:
    """One engine at one work: seconds, and ratios own / tokpar, as median, least, most; `added`: to
    the own call. `unseen`: the ratio of the first calls of new objects."""

    subject: str
    part: str
    work: str
    bytes: int
    call: str
    rounds: int
    own: Spread
    tokpar: Spread
    ratio: Spread
    added: Spread
    unseen: float


@dataclass(frozen=True)
class Checked:
    """Seconds of the check of a text's certificate; `encoded`: of its encode, the least."""

    subject: str
    work: str
    bytes: int
    seconds: Spread
    encoded: float


@dataclass(frozen=True)
class Imported:
    """Seconds of `import tokpar` where numpy is imported already."""

    seconds: Spread


Result = Row | Checked | Imported


def line(found: Result) -> str:
    """One result in words."""
    if isinstance(found, Imported):
        return f"`import tokpar` after `import numpy`: {_milliseconds(found.seconds)} ms"
    if isinstance(found, Checked):
        return f"{_rate(found.bytes, found.seconds)} MB/s"
    return (
        f"{found.call} {_rate(found.bytes, found.own)} MB/s, "
        f"tokpar {_rate(found.bytes, found.tokpar)} MB/s, ratio {_ratio(found.ratio)}, "
        f"{_microseconds(found.added)} us"
    )


def markdown(found: Sequence[Result]) -> str:
    """A table for what was measured of each kind."""
    rows, checks = _of(found, Row), _of(found, Checked)
    tables = [
        _throughput("Many texts", [row for row in rows if row.part == "batch"]),
        _throughput("One long text", [row for row in rows if row.part == "long"]),
        _short([row for row in rows if row.part == "short"]),
        _checks(checks),
        (line(each) for each in _of(found, Imported)),
    ]
    parts = ["\n".join(table) for table in tables]
    return "\n\n".join(part for part in parts if part) + "\n"


def _of(found: Sequence[Result], kind: type[Kind]) -> list[Kind]:
    return [each for each in found if isinstance(each, kind)]


def _throughput(title: str, rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield f"{title}:\n"
        yield from _head("engine", "texts", "own call", "own MB/s", "MB/s", "ratio", "unseen")
    for row in rows:
        own, ours = _rate(row.bytes, row.own), _rate(row.bytes, row.tokpar)
        unseen = f"{row.unseen:.2f}"
        yield _line(row.subject, row.work, f"`{row.call}`", own, ours, _ratio(row.ratio), unseen)


def _short(rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield "One short text:\n"
        head = ("engine", "text", "own call", "own MB/s", "MB/s", "ratio")
        yield from _head(*head, "microseconds over the own call")
    for row in rows:
        own, ours = _rate(row.bytes, row.own), _rate(row.bytes, row.tokpar)
        ratio, added = _ratio(row.ratio), _microseconds(row.added)
        yield _line(row.subject, row.work, f"`{row.call}`", own, ours, ratio, added)


def _checks(rows: Sequence[Checked]) -> Iterator[str]:
    if rows:
        yield "Check of a certificate:\n"
        yield from _head("engine", "text", "MB/s", "of encoding it")
    for row in rows:
        rate, share = _rate(row.bytes, row.seconds), row.seconds[0] / row.encoded
        yield _line(row.subject, row.work, rate, f"{share:.2f} times")


def _head(*columns: str) -> Iterator[str]:
    yield _line(*columns)
    yield "|---" * len(columns) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rate(size: int, seconds: Spread) -> str:
    """MB/s; the least time is the most of it."""
    middle, least, most = (size / each / 1e6 for each in (seconds[0], seconds[2], seconds[1]))
    return f"{middle:.1f} ({least:.1f}-{most:.1f})"


def _ratio(values: Spread) -> str:
    return "{:.2f} ({:.2f}-{:.2f})".format(*values)


def _microseconds(values: Spread) -> str:
    return "{:+.0f} ({:+.0f} to {:+.0f})".format(*(1e6 * each for each in values))


def _milliseconds(values: Spread) -> str:
    return "{:.0f} ({:.0f}-{:.0f})".format(*(1e3 * each for each in values))
