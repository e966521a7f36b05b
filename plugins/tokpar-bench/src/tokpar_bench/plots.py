"""Results as pictures, SVG and PNG. Each picture has one panel, so that it fits a narrow screen.

matplotlib is imported only when something is drawn."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import cycle
from typing import Any

from tokpar_bench.comparing import ANY
from tokpar_bench.paper_figures import LOPT, PublishedScaling, scaling_figures
from tokpar_bench.paper_tables import Nearest
from tokpar_bench.records import (
    BenchResults,
    MethodRow,
    ProjectionRow,
    ScalingRow,
    StageRow,
    SweepRow,
)
from tokpar_bench.stages import amdahl
from tokpar_bench.subjects import SERIAL
from tokpar_bench.tables import SWEPT, milliseconds, neighbours, share, stages_of, varying_columns

NOT_IN_XML = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
WIDTH, HEIGHT = 4.6, 3.4  # inches
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a37c00", "#3d9bd1")
"""Colours that colour-blind readers can distinguish, on white and on black (Okabe and Ito; two are
darkened)."""
PUBLISHED = f"published ({LOPT})"
LOOKS = tuple(zip(COLOURS, "osD^vP", strict=True))  # the colours and markers of methods, in order
HOLLOW = {"fillstyle": "none", "markersize": 4.5}  # markers of points that were not measured
INK = "#1f2328"
GREY = "#7d8590"
WRONG = "#d55e00"
STAGE_LOOKS = {
    "split": ("#b84f00", "////"),
    "tokenize": ("#0072b2", ""),
    "match": ("#856500", "xxxx"),
    "merge": ("#a8497f", "...."),
    "convert": ("#00785a", "\\\\\\\\"),
    "rest": ("#656d76", "----"),
}
"""Colour and hatch of each stage. White text is readable on each colour."""
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
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
}


@dataclass(frozen=True)
class Picture:
    """One picture. `name`: the name of its files. `part`: its experiment. `description`: what it
    shows, in words.

    `names`: the dataset, if the picture is about one, and the tokenizer. `inline`: the SVG for a
    page, with a transparent background and in the colour of the text around it."""

    name: str
    part: str
    description: str
    names: tuple[str, ...]
    svg: str
    png: bytes
    inline: str


def pictures(results: BenchResults) -> list[Picture]:
    """The pictures of a run. Published figures stand in them only with --paper."""
    compared = [row for row in results.methods if row.part == "methods"]
    lengths = [row for row in results.sweeps if row.sweep == "length"]
    by_engine = "tokenizer", "engine"
    is_paper = bool(results.settings.get("paper"))
    nearest = Nearest.of(results) if is_paper else Nearest({}, {})

    def draw_accuracy(axes: Any, rows: Sequence[MethodRow]) -> None:
        _draw_accuracy(axes, rows, nearest)

    def draw_scaling(axes: Any, rows: Sequence[ScalingRow]) -> None:
        _draw_scaling(axes, rows, scaling_figures() if is_paper else [])

    return [
        *(
            picture
            for rows in neighbours(compared, "dataset", "tokenizer")
            for picture in (
                _picture(
                    "methods", f"Latency of each method on {rows[0].dataset}", _draw_methods, rows
                ),
                _picture(
                    "methods", f"Accuracy on {rows[0].dataset}", draw_accuracy, rows, "accuracy"
                ),
            )
        ),
        *(
            _picture("stages", "Shares of the stages", _draw_stages, rows)
            for rows in neighbours(results.stages, *by_engine)
        ),
        *(
            _picture("projection", "Projected speed by number of workers", _draw_projection, rows)
            for rows in neighbours(results.projection, *by_engine)
        ),
        *(
            _picture("scaling", "Speed with one chunk per worker", draw_scaling, rows)
            for rows in neighbours(results.scaling, *by_engine)
        ),
        *(
            _picture("length", "Speed by text length", _draw_speed, rows, "speed")
            for rows in neighbours(lengths, *by_engine)
        ),
        *(
            _picture(rows[0].sweep, f"Latency by {SWEPT[rows[0].sweep][0]}", _draw_sweep, rows)
            for rows in neighbours(results.sweeps, "sweep", *by_engine)
        ),
    ]


def _picture(
    part: str, what: str, draw: Callable[[Any, Any], None], rows: Sequence[Any], kind: str = ""
) -> Picture:
    tokenizer = rows[0].tokenizer
    description = f"{what}, tokenizer {tokenizer}"
    names = (rows[0].dataset, tokenizer) if part == "methods" else (tokenizer, rows[0].engine)
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    slugs = (re.sub(r"\W+", "-", each).strip("-").lower() for each in names)
    name = "-".join([kind or part, *(slug or "x" for slug in slugs)])
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # the viewer of an SVG brings its own fonts; a PNG shows a box for the missing glyph
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = figures.Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(plain(description), fontsize=9.5, loc="left", wrap=True)
        draw(axes, rows)
        svg, png, bare = io.StringIO(), io.BytesIO(), io.StringIO()
        silent = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(svg, format="svg", facecolor="white", metadata=silent)
        figure.savefig(png, format="png", facecolor="white", dpi=160)
        figure.savefig(bare, format="svg", transparent=True, metadata=silent)
    drawn = svg.getvalue(), png.getvalue(), inline(bare.getvalue(), name)
    return Picture(name, part, description, names if part == "methods" else names[:1], *drawn)


def plain(text: str) -> str:
    """The text for matplotlib and SVG: "$" is escaped, so that matplotlib sees no formula, and
    characters that XML does not allow are replaced."""
    return in_xml(text).replace("$", r"\$")


def in_xml(text: str) -> str:
    """The text with U+FFFD for each character that XML does not allow."""
    return NOT_IN_XML.sub("\ufffd", text)


def inline(svg: str, name: str) -> str:
    """The SVG for a page: only its <svg> element, with ids that begin with `name`, in the text's
    colour."""
    element = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    element = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", element)
    return element.replace(INK, "currentColor").strip()


def _draw_methods(axes: Any, rows: Sequence[MethodRow]) -> None:
    labels = [plain(", ".join([row.method, *_more(row, rows)])) for row in rows]
    middles = [1000 * row.seconds.median for row in rows]
    colours = [
        WRONG if row.texts_equal < 1 else GREY if row.method == SERIAL.name else COLOURS[0]
        for row in rows
    ]
    hatches = ["//" if colour == WRONG else "" for colour in colours]
    axes.barh(labels, middles, 0.7, color=colours, hatch=hatches, edgecolor="#ffffff", linewidth=0)
    look = {"fmt": "none", "ecolor": GREY, "elinewidth": 1.2, "capsize": 2}
    axes.errorbar(middles, labels, xerr=_quartiles(rows), **look)
    ends = [1000 * row.seconds.upper for row in rows]
    for place, row in enumerate(rows):
        said = f"{milliseconds(row.seconds.median)} ms"
        if row.texts_equal < 1:
            said += f", {share(100 * row.texts_equal, 1)}% equal"
        beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(said, (ends[place], place), **beside, fontsize=8)
    axes.set_xlim(0, 1.7 * max(ends))
    _bars(axes, 1.2 + 0.26 * len(rows))
    axes.set_xlabel("milliseconds per text, median and quartiles")
    if WRONG in colours:
        corner = {"xycoords": "axes fraction", "ha": "right", "va": "bottom"}
        said = "hatched: ids of some texts are wrong"
        axes.annotate(said, (1, 0.02), **corner, fontsize=8)


def _draw_accuracy(axes: Any, rows: Sequence[MethodRow], nearest: Nearest) -> None:
    labels = [plain(", ".join([row.method, *_more(row, rows)])) for row in rows]
    ours = [100 * row.texts_equal for row in rows]
    axes.barh(labels, ours, 0.7, color=COLOURS[0], label="ours")
    for place, (row, width) in enumerate(zip(rows, ours, strict=True)):
        look = {"va": "center", "fontsize": 8, "color": "#fff" if width > 15 else INK}
        said = f"{share(100 * row.texts_equal, 1)}%"
        axes.annotate(said, (0, place), (4, 0), textcoords="offset points", **look)
    figures = [nearest.method(row, row.method) for row in rows]
    found = [
        (100 * figure.accuracy, label)
        for figure, label in zip(figures, labels, strict=True)
        if figure is not None and figure.accuracy is not None
    ]
    if found:
        axes.plot(*zip(*found, strict=True), "D", color=COLOURS[1], mec="#fff", label=PUBLISHED)
    axes.set_xlim(0, 102)
    _bars(axes, 1.5 + 0.26 * len(rows))
    axes.set_xlabel("per cent of the texts whose ids are all equal")
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.45, -0.2), fontsize=8)


def _draw_scaling(
    axes: Any, rows: Sequence[ScalingRow], theirs: Sequence[PublishedScaling]
) -> None:
    """Draw the measured speed-ups, Amdahl's law from the serial share on one worker, and the
    published speed-ups `theirs`."""
    places = [1, 2, 4, 8, 16, 32]
    for found, (colour, marker) in zip(neighbours(rows, "method"), cycle(LOOKS), strict=False):
        one = found[0]
        speeds = [one.seconds.median / row.seconds.median for row in found]
        workers = [row.workers for row in found]
        axes.plot(workers, speeds, marker=marker, color=colour, label=plain(one.method))
        parallel = one.stages.get("tokenize", 0.0) / sum(one.stages.values())
        law = [amdahl(parallel, each) for each in places]
        axes.plot(places, law, ":", marker=marker, **HOLLOW, color=colour)
    if theirs:
        workers, speeds = [each.workers for each in theirs], [each.speedup for each in theirs]
        axes.plot(workers, speeds, "--", marker="*", color=GREY, label=PUBLISHED)
    axes.set_xlabel("workers (dotted, hollow: Amdahl's law from the serial share)")
    axes.set_ylabel("times the speed of one worker")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    _places(axes, places)


def _draw_speed(axes: Any, rows: Sequence[SweepRow]) -> None:
    own = {row.x: row.seconds.median for row in rows if row.method == SERIAL.name}
    looks = cycle(LOOKS)
    for method in dict.fromkeys(row.method for row in rows):
        found = [row for row in rows if row.method == method and row.x in own]
        if method != SERIAL.name and found:
            colour, marker = next(looks)
            speeds = [own[row.x] / row.seconds.median for row in found]
            places = [row.x for row in found]
            axes.plot(places, speeds, marker=marker, color=colour, label=plain(method))
    axes.axhline(1, color=GREY, linestyle="--", linewidth=1, label="own call")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("text length, code points")
    axes.set_ylabel("times the own call's speed")
    _places(axes, sorted(own), fontsize=8)


def _more(row: MethodRow, rows: Iterable[MethodRow]) -> list[str]:
    """Engine and executor of a row, as far as other rows of the same method have different ones."""
    twins = [other for other in rows if other.method == row.method]
    return [cell(row) for _, cell in varying_columns(twins, "engine", "executor")]


def _draw_stages(axes: Any, rows: Sequence[StageRow]) -> None:
    labels = [plain(row.method) for row in rows]
    left = [0.0] * len(rows)
    shown = stages_of(rows)
    for stage in shown:
        shares = [100 * row.stages.get(stage, 0.0) / sum(row.stages.values()) for row in rows]
        colour, hatch = STAGE_LOOKS[stage]
        look = {"color": colour, "hatch": hatch, "edgecolor": "#fff", "linewidth": 0}
        axes.barh(labels, shares, 0.7, left=left, label=stage, **look)
        for place, (start, width) in enumerate(zip(left, shares, strict=True)):
            if width >= 12:
                ground = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                look = {"ha": "center", "va": "center", "color": "#fff", "fontsize": 8}
                axes.text(start + width / 2, place, f"{width:.1f}%", bbox=ground, **look)
        left = [start + width for start, width in zip(left, shares, strict=True)]
    axes.set_xlim(0, 100)
    _bars(axes, 1.9 + 0.26 * len(rows))
    axes.set_xlabel("per cent of the time of one encode, one worker")
    axes.legend(ncols=len(shown), loc="upper center", bbox_to_anchor=(0.45, -0.28), fontsize=8)


def _bars(axes: Any, height: float) -> None:
    """Order horizontal bars from the top down, and make the figure `height` inches high."""
    axes.figure.set_figheight(height)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def _draw_projection(axes: Any, rows: Sequence[ProjectionRow]) -> None:
    for found, (colour, marker) in zip(neighbours(rows, "method"), cycle(LOOKS), strict=False):
        own = found[0].speedup * found[0].projected
        speeds = [row.speedup for row in found]
        label = plain(found[0].method)
        look = {"marker": marker, "color": colour, **HOLLOW}
        axes.plot([row.workers for row in found], speeds, label=label, **look)
        real = [(row.workers, own / row.measured.least) for row in found if row.measured]
        if real:
            axes.plot(*zip(*real, strict=True), marker, color=colour, markersize=6)
    axes.axhline(1, color=GREY, linestyle="--", linewidth=1, label="own call")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("workers (lines, hollow: projected; filled: measured)")
    axes.set_ylabel("times the own call's speed")
    _places(axes, sorted({row.workers for row in rows}))


def _draw_sweep(axes: Any, rows: Sequence[SweepRow]) -> None:
    what, unit = SWEPT[rows[0].sweep]
    looks = cycle(LOOKS)
    for method in dict.fromkeys(row.method for row in rows):
        found = sorted((row for row in rows if row.method == method), key=lambda row: row.x)
        middles = [1000 * row.seconds.median for row in found]
        if found[0].x == ANY:
            axes.axhline(middles[0], color=GREY, linestyle="--", linewidth=1.2, label="own call")
            continue
        own = method == SERIAL.name
        colour, marker = (GREY, "x") if own else next(looks)
        axes.errorbar(
            [row.x for row in found],
            middles,
            yerr=_quartiles(found),
            color=colour,
            marker=marker,
            markersize=4,
            capsize=2,
            linestyle="--" if own else "-",
            label="own call" if own else plain(method),
        )
    _places(axes, sorted({row.x for row in rows} - {ANY}), fontsize=8)
    if rows[0].sweep == "length":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{what}, {unit}")
    axes.set_ylabel("milliseconds per text")


def _quartiles(rows: Sequence[MethodRow | SweepRow]) -> list[list[float]]:
    """The distances of the quartiles from the medians in milliseconds: the lower ones, then the
    upper ones."""
    below = [1000 * (row.seconds.median - row.seconds.lower) for row in rows]
    above = [1000 * (row.seconds.upper - row.seconds.median) for row in rows]
    return [below, above]


def _places(axes: Any, places: Sequence[int], **look: Any) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [f"{place:,}" for place in places], **look)
    axes.minorticks_off()
    axes.margins(x=0.07)
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.45, -0.2), fontsize=8)
