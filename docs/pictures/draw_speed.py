"""Draw the speeds of the first table of docs/benchmarks.md as an SVG.

    python docs/pictures/draw_speed.py

For each kind of text a line per engine: the hollow dot is the first call (cold), the full one the
same text again (seen). The axis is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks.md"
PICTURE = Path(__file__).parent / "speed.svg"
TOKENIZER = "llama3"
TEXTS = ("English", "Python code", "Chinese")
ENGINES = ("own", "tokpar", "fastokens", "gigatoken")
COLORS = {"own": "#666", "tokpar": "#b3261e", "fastokens": "#1b5fa8", "gigatoken": "#2b7a3a"}
COLD, SEEN = "first", "seen"
WIDTH, LEFT, RIGHT, ROW, HEAD = 480, 84, 440, 22, 24
LEAST, MOST = 0.5, 1500.0

Speeds = Mapping[str, tuple[float, ...]]
"""MB/s by engine: of the own call one figure, of the others cold and seen."""


def main() -> None:
    PICTURE.write_text(draw(speeds(BENCHMARKS.read_text(encoding="utf-8"))), encoding="utf-8")


def speeds(page: str) -> dict[str, Speeds]:
    """The figures of the page's first table, by the kind of text."""
    found: dict[str, Speeds] = {}
    for row in rows(page):
        if row["tokenizer"] == TOKENIZER and row["text"] in TEXTS:
            found[row["text"]] = {engine: of_engine(row, engine) for engine in ENGINES}
    return {text: found[text] for text in TEXTS}


def rows(page: str) -> Iterator[dict[str, str]]:
    """The rows of the first table: what stands in each column."""
    table = page[page.index("| tokenizer | text |") :].partition("\n\n")[0].splitlines()
    names, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    for cells in lines:
        yield dict(zip(names, cells, strict=True))


def of_engine(row: Mapping[str, str], engine: str) -> tuple[float, ...]:
    columns = [engine] if engine == "own" else [f"{engine} {COLD}", f"{engine} {SEEN}"]
    return tuple(float(row[column].partition(" ")[0]) for column in columns)


def draw(known: Mapping[str, Speeds]) -> str:
    high = HEAD + len(known) * (HEAD + len(ENGINES) * ROW) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" '
        f'height="{high}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        label(8, 18, "MB/s, Llama 3, one core:", "#222"),
        dot(222, 14, "#222", full=False),
        label(232, 18, "cold", "#222"),
        dot(282, 14, "#222", full=True),
        label(292, 18, "seen before", "#222"),
    ]
    parts += axis(HEAD + 10, high - 28)
    for k, (text, of_text) in enumerate(known.items()):
        parts += panel(text, of_text, HEAD + k * (HEAD + len(ENGINES) * ROW))
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(text: str, known: Speeds, y: int) -> Iterator[str]:
    yield f'<text x="8" y="{y + 20}" fill="#222" font-weight="bold">{text}</text>'
    for k, (engine, figures) in enumerate(known.items()):
        yield from line(engine, figures, y + HEAD + k * ROW + ROW // 2)


def line(engine: str, figures: tuple[float, ...], y: int) -> Iterator[str]:
    color, first, last = COLORS[engine], place(figures[0]), place(figures[-1])
    yield label(8, y + 4, engine, color)
    if len(figures) > 1:
        yield f'<path d="M{first + 4} {y}H{last}" stroke="{color}" stroke-width="2"/>'
        yield dot(last, y, color, full=True)
        yield label(last + 8, y + 4, shown(figures[-1]), color)
    yield dot(first, y, color, full=False)
    side = "end" if len(figures) > 1 and first > LEFT + 40 else "start"
    x, above = (first - 8, 4) if side == "end" else (first + 8, 4 if len(figures) == 1 else -4)
    yield label(x, y + above, shown(figures[0]), color, side)


def axis(top: int, bottom: int) -> Iterator[str]:
    for value in (1, 10, 100):
        x = place(value)
        yield f'<path d="M{x} {top}V{bottom}" stroke="#ddd" stroke-width="1"/>'
        yield label(x, bottom + 16, f"{value} MB/s", "#555", "middle")


def place(value: float) -> float:
    """Where a speed stands on the axis."""
    share = math.log(value / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + share * (RIGHT - LEFT), 1)


def shown(value: float) -> str:
    """ "0.7", "12", "338"."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def dot(x: float, y: float, color: str, full: bool) -> str:
    fill = color if full else "white"
    return f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" stroke="{color}" stroke-width="2"/>'


def label(x: float, y: float, text: str, color: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}">{text}</text>'


if __name__ == "__main__":
    main()
