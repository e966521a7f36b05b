"""Show each seam: the tokens of both chunks, the ids that were kept, the rule, and serial regions.

The text is encoded in chunks and serially. Seams where the ids differ come first, then those that
no rule licenses. White space is shown as ␣, what cannot be printed is escaped. --html writes a page
with all of them. Exit code 1 if a seam is not certified or the ids are not the serial ones.

With --edited, show what a session does when its text becomes that of another file: what is kept,
what is encoded again, and which ids change.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.cli import options
from tokpar.cli.cuts import Cuts, foreseen, rule_counts
from tokpar.cli.encodings import blamed_on, inputs, one_source
from tokpar.cli.files import write_text
from tokpar.cli.options import print_json
from tokpar.cli.progress import working
from tokpar.cli.screen import plural, print_line, visible
from tokpar.cli.texts import Source, read_source
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.explain import Trace
    from tokpar.interfaces import TokenizerAdapter

SHOWN = 3
AROUND = 40
COLORS = ("auto", "always", "never")


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_row(parser)
    options.declare_tokenizer(parser)
    options.declare_strategy(parser)
    options.declare_output(parser)
    add = parser.add_argument
    edited = "show the edit of a session from the text to that of FILE"
    add("--edited", metavar="FILE", help=edited)
    add("--seam", type=int, metavar="N", help="show this one only: 0, 1, ...")
    add("--all", action="store_true", help=f"show all seams, not the first {SHOWN}")
    add("--around", type=int, default=AROUND, metavar="CHARS", help=f"to each side ({AROUND})")
    add("--html", type=Path, metavar="FILE", help="write a page with all seams")
    add("--proofs", default="proofs", metavar="URL", help="where the page finds proofs/")
    color = "auto (in a terminal, without NO_COLOR), always or never"
    add("--color", choices=COLORS, default="auto", metavar="WHEN", help=color)


def run(arguments: argparse.Namespace) -> int:
    from tokpar.explain import trace

    if arguments.around < 1:
        raise OptionError(f"--around must be at least 1, got {arguments.around}")
    names = inputs(arguments)
    if len(names) > 1:
        raise OptionError(f"explain takes one text, got {len(names)} files")
    source = one_source(arguments, names[0])
    tokenizer = options.tokenizer_of(arguments)
    if arguments.edited is not None:
        return _edited(arguments, source, read_source(arguments.edited), tokenizer)
    with blamed_on(source), working(arguments, "encoding, in chunks and serially"):
        traced = trace(
            source.text,
            tokenizer,
            strategy=arguments.strategy,
            allow_approximate=arguments.allow_approximate,
            **options.strategy_options(arguments),
        )
    chosen = _chosen(traced, arguments)
    if arguments.html is not None:
        from tokpar.explain.page import page

        shown = page(traced, source.name, arguments.around, arguments.proofs)
        write_text(arguments.html, shown)
    if arguments.json:
        print_json(describe(traced, source, chosen, arguments.around))
    else:
        _print(traced, source, chosen, arguments)
    return 0 if traced.ok else 1


def _edited(
    arguments: argparse.Namespace, source: Source, after: Source, tokenizer: TokenizerAdapter
) -> int:
    """Show one edit of a session. Returns the exit code."""
    from tokpar.explain.edit import edited, lines

    with blamed_on(after), working(arguments, "encoding both texts"):
        edit = edited(source.text, after.text, tokenizer)
    named = {"file": source.name, "edited": after.name, "tokenizer": tokenizer.name}
    if arguments.json:
        numbers = ("start", "stop", "encoded", "first", "last", "removed", "equal", "why")
        print_json(named | {name: getattr(edit, name) for name in numbers})
        return 0 if edit.equal else 1
    verdict = "are the serial ones" if edit.equal else "are NOT the serial ones"
    again = f"{edit.encoded:,} of {plural(len(after.text), 'code point')} encoded again"
    files = f"{visible(source.name)}, then {visible(after.name)}: tokenizer {tokenizer.name}"
    print_line(f"{files}; {again}; the {len(edit.new):,} ids {verdict}")
    for line in lines(edit):
        print(line)
    return 0 if edit.equal else 1


def _chosen(traced: Trace, arguments: argparse.Namespace) -> Sequence[int]:
    """The seams to show: the seam of --seam, all seams, or the first few in order of importance."""
    count = len(traced.seams)
    if arguments.seam is not None:
        if not 0 <= arguments.seam < count:
            numbered = f", numbered 0 to {count - 1}" if count else ""
            raise OptionError(
                f"--seam {arguments.seam}: there are {plural(count, 'seam')}{numbered}"
            )
        return [arguments.seam]
    everything = arguments.all or arguments.json
    return traced.ordered()[: count if everything else 0 if arguments.html else SHOWN]


def describe(traced: Trace, source: Source, chosen: Sequence[int], around: int) -> dict[str, Any]:
    """The JSON object of `explain`: the chosen seams, and the result for the whole text."""
    from tokpar.explain import explain_seam

    explained = (explain_seam(traced, n, around) for n in sorted(chosen))
    return {
        "file": source.name,
        "tokenizer": traced.tokenizer.name,
        "strategy": traced.strategy,
        "options": dict(traced.options),
        "code_points": len(source.text),
        "ids_count": len(traced.encoding.ids),
        "serial_ids_count": len(traced.serial),
        "equal": traced.equal,
        "lossless": traced.encoding.lossless,
        "seams_count": len(traced.seams),
        "seams_by_rule": rule_counts(traced.encoding.seams, traced.text),
        "differing": sorted(traced.differing),
        "report": asdict(traced.encoding.report),
        "seams": [asdict(seam) | {"witness": dict(seam.witness)} for seam in explained],
    }


def _print(
    traced: Trace, source: Source, chosen: Sequence[int], arguments: argparse.Namespace
) -> None:
    from tokpar.explain import explain_seam
    from tokpar.explain.terminal import LEGEND, Paint, lines

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"  # see no-color.org
    automatic = arguments.color == "auto" and sys.stdout.isatty() and not plain
    paint = Paint(automatic or arguments.color == "always")
    print_line(summary(traced, source, _cuts(traced, arguments)))
    if chosen:
        print_line(LEGEND)
        print()
    for n in chosen:
        for line in lines(explain_seam(traced, n, arguments.around), paint):
            print_line(line)
        print()
    more = len(traced.seams) - len(chosen)
    if arguments.html is not None:
        print_line(f"all seams: {arguments.html}")
    elif arguments.seam is None and more:
        print_line(f"and {more:,} more (--all shows them, --seam N one, --html FILE writes a page)")


def _cuts(traced: Trace, arguments: argparse.Namespace) -> Cuts:
    """Where `encode` cuts the text: between the chunks of the trace, or at every certified
    space."""
    from tokpar.combining import build_parts

    options_given = options.strategy_options(arguments)
    strategy = build_parts(arguments.strategy, options_given, arguments.allow_approximate)
    found = foreseen(traced.text, traced.tokenizer, strategy)[1]
    if found.at_spaces:
        return found
    return Cuts(rule_counts(traced.encoding.seams, traced.text), len(traced.chunks))


def summary(traced: Trace, source: Source, cuts: Cuts) -> str:
    """The result in one line. The traced seams are the seams between chunks."""
    chunks = f"{plural(len(traced.seams), 'seam')} between {plural(len(traced.chunks), 'chunk')}"
    seams = f"{cuts}, shown: {chunks}" if traced.seams else f"not cut: {traced.encoding.report.why}"
    ids = f"{len(traced.encoding.ids):,}"
    if traced.equal:
        verdict = f"the {ids} ids are the serial ones"
    else:
        verdict = f"the {ids} ids are NOT the {len(traced.serial):,} serial ones"
        verdict += f", {plural(len(traced.differences), 'difference')}"
    parts = [f"strategy {traced.strategy}, tokenizer {traced.tokenizer.name}", seams, verdict]
    return f"{visible(source.name)}: " + "; ".join(parts)
