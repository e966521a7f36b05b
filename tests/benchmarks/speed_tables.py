"""Rows of `tests.benchmarks.speed`: in words, and as the tables of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Row:
    """Seconds of one subject on one text: medians, and ratios own / tokpar as median, least, most.

    `tokpar`: in the turns with each of the own calls. `first`: with an adapter that has seen no
    text. `later_ratio`: the second half of the text, with one that has seen the first half.
    `framework`: share outside the tokenizer."""

    subject: str
    kind: str
    size: str
    characters: int
    rounds: int
    own: dict[str, float]
    tokpar: dict[str, float]
    first: float
    ratios: dict[str, tuple[float, float, float]]
    first_ratio: float
    later_ratio: float | None
    framework: float
    executor: str
    chunks: int
    seams: int

    @property
    def fastest(self) -> str:
        """The own call that took the least time."""
        return min(self.own, key=lambda name: self.own[name])

    @property
    def added(self) -> float:
        """Microseconds over the fastest own call."""
        return (self.tokpar[self.fastest] - self.own[self.fastest]) * 1e6


def line(row: Row) -> str:
    """One row in words."""
    own = "  ".join(f"over {name} {_spread(row, name)}" for name in row.own)
    speed = row.characters / row.tokpar[row.fastest] / 1e6
    later = "" if row.later_ratio is None else f"  second half {row.later_ratio:.2f}"
    extra = f"  {row.added:+.0f} us" if row.characters <= 100_000 else ""
    return (
        f"{row.subject:26} {row.kind:>13} {row.size:>4} {speed:8.1f} M/s  {own}{extra}  "
        f"first {row.first_ratio:.2f}{later}  framework {row.framework:.1%}  "
        f"{row.executor} {row.seams}"
    )


def markdown(rows: Sequence[Row]) -> str:
    """All tables: English by size, each other size by kind of text, framework, microseconds."""
    english = [row for row in rows if row.kind == "English"]
    parts = ["English:", "", *_ratios(english, "size")]
    for size in dict.fromkeys(row.size for row in rows if row.kind != "English"):
        others = [row for row in rows if row.kind != "English" and row.size == size]
        parts += ["", f"Other kinds of text, {size}:", "", *_ratios(others, "kind")]
    parts += ["", "Share of the time outside the tokenizer's call, English:", ""]
    parts += _by_subject(english, lambda row: f"{row.framework:.1%}")
    parts += ["", "Microseconds over the fastest own call, English:", ""]
    short = [row for row in english if row.characters <= 100_000]
    parts += _by_subject(short, lambda row: f"{row.added:+.0f}")
    return "\n".join(parts) + "\n"


def _ratios(rows: Sequence[Row], column: str) -> Iterator[str]:
    """Ratio by subject and own call; below it what an adapter gives that has seen less."""
    columns = list(dict.fromkeys(getattr(row, column) for row in rows))
    yield from _head("engine and its own call", columns)
    for subject in dict.fromkeys(row.subject for row in rows):
        own = {getattr(row, column): row for row in rows if row.subject == subject}
        for call in next(iter(own.values())).own:
            yield _line(f"{subject}, `{call}`", columns, own, partial(_spread, call=call))
        if any(row.later_ratio is not None for row in own.values()):
            for name, figure in UNSEEN.items():
                yield _line(name, columns, own, figure)


UNSEEN: dict[str, Callable[[Row], str]] = {
    "its second half, by an adapter that has seen the first": lambda row: (
        "-" if row.later_ratio is None else f"{row.later_ratio:.2f}"
    ),
    "the whole, by an adapter that has seen no text": lambda row: f"{row.first_ratio:.2f}",
}


def _spread(row: Row, call: str) -> str:
    middle, least, most = row.ratios[call]
    return f"{middle:.2f} ({least:.2f}-{most:.2f})"


def _by_subject(rows: Sequence[Row], figure: Callable[[Row], str]) -> Iterator[str]:
    columns = list(dict.fromkeys(row.size for row in rows))
    yield from _head("engine", columns)
    for subject in dict.fromkeys(row.subject for row in rows):
        own = {row.size: row for row in rows if row.subject == subject}
        yield _line(subject, columns, own, figure)


def _head(first: str, columns: Sequence[str]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"


def _line(
    name: str, columns: Sequence[str], rows: dict[str, Row], figure: Callable[[Row], str]
) -> str:
    cells = [figure(rows[column]) if column in rows else "-" for column in columns]
    return f"| {name} | {' | '.join(cells)} |"
