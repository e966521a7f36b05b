"""Draw speeds of docs/data/engines.csv as an SVG, and write the table of docs/benchmarks.md.

    python docs/pictures/draw_speed.py

For each kind of text a line per engine: the hollow dot is the first call (cold), the full one the
same text again (seen). The axis is logarithmic.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "engines.csv"
PAGE = Path(__file__).parents[1] / "benchmarks.md"
PICTURE = Path(__file__).parent / "speed.svg"
TOKENIZER = "llama3"
TEXTS = ("English", "Python code", "Chinese")
ENGINES = ("own", "tokpar", "fastokens", "gigatoken")
COLORS = {"own": "#666", "tokpar": "#b3261e", "fastokens": "#1b5fa8", "gigatoken": "#2b7a3a"}
COLD, SEEN = "first", "seen"
WIDTH, LEFT, RIGHT, ROW, HEAD = 480, 84, 440, 22, 24
LEAST, MOST = 0.5, 1500.0

OTHERS = ("fastokens", "gigatoken", "snaptokens")
HEADING = (
    "| text | own call | tokpar, new | tokpar, seen | fastest other, new | fastest other, seen |"
)

Speeds = Mapping[str, tuple[float, ...]]
"""MB/s by engine: of the own call one figure, of the others cold and seen."""


def main() -> None:
    PICTURE.write_text(draw(speeds()), encoding="utf-8")
    page = re.sub(
        r"^\| text (?:.*\n)+?(?=\n)", table(), PAGE.read_text("utf-8"), flags=re.MULTILINE
    )
    PAGE.write_text(page, encoding="utf-8")


def rows() -> list[dict[str, str]]:
    """What was measured on one core."""
    with DATA.open(encoding="utf-8", newline="") as stream:
        every = csv.DictReader(stream)
        return [row for row in every if (row["cores"], row["tokenizer"]) == ("1", TOKENIZER)]


def speeds() -> dict[str, Speeds]:
    """The figures of the picture, by the kind of text."""
    by_text = {row["text"]: row for row in rows()}
    return {
        text: {engine: of_engine(by_text[text], engine) for engine in ENGINES} for text in TEXTS
    }


def table() -> str:
    """MB/s of each kind of text, as the page has them."""
    lines = [HEADING, "|---" * HEADING.count(" | ") + "|---|"]
    for row in rows():
        best = [fastest(row, state) for state in (COLD, SEEN)]
        cells = (row["text"], row["own"], row[f"tokpar {COLD}"], row[f"tokpar {SEEN}"], *best)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def fastest(row: Mapping[str, str], state: str) -> str:
    """The fastest of the other engines that read the file and give its ids."""
    known = {engine: row[f"{engine} {state}"] for engine in OTHERS}
    best = max((float(cell), engine) for engine, cell in known.items() if cell.isdigit())
    return f"{best[0]:.0f} ({best[1]})"


def of_engine(row: Mapping[str, str], engine: str) -> tuple[float, ...]:
    columns = [engine] if engine == "own" else [f"{engine} {COLD}", f"{engine} {SEEN}"]
    return tuple(float(row[column]) for column in columns)


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
