"""Results as pictures, SVG and PNG, one panel each, so that a narrow screen can show them.

matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tokpar.bench.methods import SERIAL_NAME
from tokpar.bench.results import MethodRow, ProjectionRow, Results, StageRow, SweepRow
from tokpar.bench.sweeps import ANY
from tokpar.bench.tables import STAGES, SWEPT, by_dataset, grouped, milliseconds, share

NOT_IN_XML = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
WIDTH, HEIGHT = 5.2, 3.6  # inches
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a37c00", "#3d9bd1")
"""Told apart by the colour-blind (Okabe and Ito, two of them darkened), on white and on black."""
MARKERS = "osD^vP"
INK = "#1f2328"
GREY = "#7d8590"
WRONG = "#d55e00"
STAGE_COLOURS = dict(
    zip(STAGES, ("#d55e00", "#0072b2", "#a37c00", "#cc79a7", "#009e73", GREY), strict=True)
)
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#7d859055",
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "tokpar",
    "legend.frameon": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Picture:
    """One figure: `name` is that of its files, `part` the experiment it belongs to, `about` what it
    shows, in words. `inline` is the SVG without a ground, in the colour of the text around it."""

    name: str
    part: str
    about: str
    svg: str
    png: bytes
    inline: str


def pictures(results: Results) -> list[Picture]:
    """A picture for each table that is better seen."""
    compared = [row for row in results.methods if row.part == "methods"]
    drawn: list[Picture] = []
    for rows in grouped(compared, by_dataset):
        names = rows[0].dataset, rows[0].tokenizer
        about = f"Latency of each method on {names[0]}, tokenizer {names[1]}"
        drawn.append(_picture("methods", names, about, _draw_methods, rows, _bars(rows)))
    for staged in grouped(results.stages, lambda row: (row.tokenizer, row.engine)):
        names = staged[0].tokenizer, staged[0].engine
        about = f"Shares of the stages, tokenizer {names[0]}"
        drawn.append(_picture("stages", names, about, _draw_stages, staged, _bars(staged) + 0.7))
    for curve in grouped(results.projection, lambda row: (row.tokenizer, row.engine)):
        names = curve[0].tokenizer, curve[0].engine
        about = f"Projected speed by number of workers, tokenizer {names[0]}"
        drawn.append(_picture("projection", names, about, _draw_projection, curve, HEIGHT))
    for swept in grouped(results.sweeps, lambda row: (row.sweep, row.tokenizer, row.engine)):
        names = swept[0].tokenizer, swept[0].engine
        about = f"Latency by {SWEPT[swept[0].sweep][0]}, tokenizer {names[0]}"
        drawn.append(_picture(swept[0].sweep, names, about, _draw_sweep, swept, HEIGHT))
    return drawn


def _bars(rows: Sequence[object]) -> float:
    """Height of a figure of so many horizontal bars, inches."""
    return 1.2 + 0.26 * len(rows)


def _picture(
    part: str,
    names: Sequence[str],
    about: str,
    draw: Callable[[Any, Any], None],
    rows: Sequence[Any],
    height: float,
) -> Picture:
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    name = "-".join(slug(each) for each in (part, *names))
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # the SVG's reader has fonts of its own; a PNG shows a box
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = figures.Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(plain(about), fontsize=9.5, loc="left", wrap=True)
        draw(axes, rows)
        svg, png, bare = io.StringIO(), io.BytesIO(), io.StringIO()
        silent = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(svg, format="svg", facecolor="white", metadata=silent)
        figure.savefig(png, format="png", facecolor="white", dpi=160)
        figure.savefig(bare, format="svg", transparent=True, metadata=silent)
    return Picture(name, part, about, svg.getvalue(), png.getvalue(), inline(bare.getvalue(), name))


def slug(name: str) -> str:
    """A part of a file's name: "leval.jsonl" -> "leval-jsonl"."""
    return re.sub(r"\W+", "-", name).strip("-").lower() or "x"


def plain(text: str) -> str:
    """Text in which matplotlib sees no formula, and that an SVG can hold."""
    return in_xml(text).replace("$", r"\$")


def in_xml(text: str) -> str:
    """U+FFFD for characters that XML does not have."""
    return NOT_IN_XML.sub("\ufffd", text)


def inline(svg: str, name: str) -> str:
    """An SVG to stand in a page: only its <svg> element, ids of its own, the ink as around it."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", element)
    return element.replace(INK, "currentColor").strip()


def _draw_methods(axes: Any, rows: Sequence[MethodRow]) -> None:
    labels = [plain(_label(row, rows)) for row in rows]
    middles = [1000 * row.seconds.median for row in rows]
    reach = [
        [1000 * (row.seconds.median - row.seconds.lower) for row in rows],
        [1000 * (row.seconds.upper - row.seconds.median) for row in rows],
    ]
    colours = [_colour(row) for row in rows]
    hatches = ["//" if row.texts_equal < 1 else "" for row in rows]
    axes.barh(labels, middles, 0.7, color=colours, hatch=hatches, edgecolor="#ffffff", linewidth=0)
    axes.errorbar(middles, labels, xerr=reach, fmt="none", ecolor=GREY, elinewidth=1.2, capsize=2)
    for place, row in enumerate(rows):
        said = f"{milliseconds(row.seconds.median)} ms"
        if row.texts_equal < 1:
            said += f", {share(100 * row.texts_equal, 1)}% equal"
        axes.annotate(
            said,
            (1000 * row.seconds.upper, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_xlim(0, 1.5 * max(1000 * row.seconds.upper for row in rows))
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("milliseconds per text, median and quartiles")
    if any(row.texts_equal < 1 for row in rows):
        axes.annotate(
            "hatched: ids of some texts are wrong",
            (1, 0.01),
            xycoords="axes fraction",
            ha="right",
            va="bottom",
            fontsize=8,
        )


def _label(row: MethodRow, rows: Iterable[MethodRow]) -> str:
    """The method, and what else tells it from another row."""
    twins = [other for other in rows if other.method == row.method]
    more = [
        getattr(row, name)
        for name in ("engine", "executor")
        if len({getattr(twin, name) for twin in twins}) > 1
    ]
    return ", ".join([row.method, *more])


def _colour(row: MethodRow) -> str:
    if row.texts_equal < 1:
        return WRONG
    return GREY if row.method == SERIAL_NAME else COLOURS[0]


def _draw_stages(axes: Any, rows: Sequence[StageRow]) -> None:
    labels = [plain(row.method) for row in rows]
    left = [0.0] * len(rows)
    shown = [stage for stage in STAGES if any(stage in row.stages for row in rows)]
    for stage in shown:
        colour = STAGE_COLOURS[stage]
        shares = [100 * row.stages.get(stage, 0.0) / sum(row.stages.values()) for row in rows]
        axes.barh(labels, shares, 0.7, left=left, color=colour, label=stage)
        for place, (start, width) in enumerate(zip(left, shares, strict=True)):
            if width >= 9:
                middle = start + width / 2
                said = f"{width:.1f}%"
                axes.text(middle, place, said, ha="center", va="center", color="#fff", fontsize=8)
        left = [start + width for start, width in zip(left, shares, strict=True)]
    axes.set_xlim(0, 100)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("per cent of the time of one encode, one worker")
    axes.legend(ncols=len(shown), loc="upper center", bbox_to_anchor=(0.45, -0.28), fontsize=8)


def _draw_projection(axes: Any, rows: Sequence[ProjectionRow]) -> None:
    looks = iter(zip(COLOURS * 3, MARKERS * 3, strict=True))
    for found in grouped(rows, lambda row: row.method):
        colour, marker = next(looks)
        own = found[0].speedup * found[0].projected
        places = [row.workers for row in found]
        axes.plot(
            places, [row.speedup for row in found], color=colour, label=plain(found[0].method)
        )
        real = [(row.workers, own / row.measured.median) for row in found if row.measured]
        if real:
            axes.plot(*zip(*real, strict=True), marker, color=colour, markersize=6)
    workers = sorted({row.workers for row in rows})
    axes.axhline(1, color=GREY, linestyle="--", linewidth=1, label="own call")
    axes.set_xscale("log", base=2)
    axes.set_xticks(workers, [str(count) for count in workers])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("workers (lines: projected, marks: measured)")
    axes.set_ylabel("times the own call's speed")
    _legend_below(axes)


def _draw_sweep(axes: Any, rows: Sequence[SweepRow]) -> None:
    what, unit = SWEPT[rows[0].sweep]
    methods = list(dict.fromkeys(row.method for row in rows))
    places = sorted({row.x for row in rows} - {ANY})
    looks = iter(zip(COLOURS * 3, MARKERS * 3, strict=True))
    for method in methods:
        found = sorted((row for row in rows if row.method == method), key=lambda row: row.x)
        if found[0].x == ANY:
            level = 1000 * found[0].seconds.median
            axes.axhline(level, color=GREY, linestyle="--", linewidth=1.2, label="own call")
            continue
        own = method == SERIAL_NAME
        colour, marker = (GREY, "x") if own else next(looks)
        middles = [1000 * row.seconds.median for row in found]
        reach = [
            [1000 * (row.seconds.median - row.seconds.lower) for row in found],
            [1000 * (row.seconds.upper - row.seconds.median) for row in found],
        ]
        axes.errorbar(
            [row.x for row in found],
            middles,
            yerr=reach,
            color=colour,
            marker=marker,
            markersize=4,
            capsize=2,
            linestyle="--" if own else "-",
            label="own call" if own else plain(method),
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [f"{place:,}" for place in places], fontsize=8)
    axes.minorticks_off()
    if rows[0].sweep == "length":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{what}, {unit}")
    axes.set_ylabel("milliseconds per text")
    _legend_below(axes)


def _legend_below(axes: Any) -> None:
    """Where it hides nothing."""
    axes.margins(x=0.07)
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.45, -0.2), fontsize=8)
