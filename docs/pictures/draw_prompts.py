"""Draw docs/data/prompts.csv as an SVG: microseconds of a prompt over its length.

    python docs/pictures/draw_prompts.py

Both axes are logarithmic.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "prompts.csv"
PICTURE = Path(__file__).parent / "prompts.svg"
LINES = {"own call": "#666", "new": "#d08a00", "seen": "#b3261e"}
LOWER = {"own call": 4, "new": 0, "seen": 10}
"""How much lower than the end of its line a name stands, so that no two touch."""
WIDTH, HIGH, LEFT, RIGHT, TOP, BOTTOM = 480, 250, 60, 400, 34, 210
LEAST, MOST = 1.0, 2000.0

Points = Sequence[tuple[float, float]]
"""Characters and microseconds."""


def main() -> None:
    PICTURE.write_text(draw(times()), encoding="utf-8")


def times() -> dict[str, Points]:
    """The points of each line."""
    with DATA.open(encoding="utf-8", newline="") as stream:
        rows = [*csv.DictReader(stream)]
    return {line: [(float(row["characters"]), float(row[line])) for row in rows] for line in LINES}


def draw(lines: dict[str, Points]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HIGH}" width="{WIDTH}" '
        f'height="{HIGH}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        label(8, 18, "microseconds of one prompt by its characters; new and seen: tokpar"),
        *axes([at for at, _ in lines["own call"]]),
    ]
    for name, points in lines.items():
        places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        last = points[-1]
        parts.append(
            f'<polyline points="{places}" fill="none" stroke="{LINES[name]}" stroke-width="2"/>'
        )
        parts.append(label(across(last[0]) + 6, up(last[1]) + LOWER[name], name, LINES[name]))
    return "\n".join([*parts, "</svg>"]) + "\n"


def axes(sizes: Sequence[float]) -> Iterator[str]:
    for value in (1, 10, 100, 1000):
        y = up(value)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield label(8, y + 4, f"{value:,}")
    for size in sizes:
        yield label(across(size) - 12, BOTTOM + 20, f"{size:,.0f}")


def across(characters: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log(characters / 50) / math.log(80)


def up(microseconds: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * math.log(microseconds / LEAST) / math.log(MOST / LEAST)


def label(x: float, y: float, text: str, color: str = "#222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}">{text}</text>'


if __name__ == "__main__":
    main()
