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
from tokpar.cli.cuts import Cuts, foresee_cuts, rule_counts
from tokpar.cli.encodings import blamed_on, inputs, one_source
from tokpar.cli.files import write_text
from tokpar.cli.options import print_json
from tokpar.cli.progress import working
from tokpar.cli.screen import plural, visible
from tokpar.cli.text_files import TextSource, read_source
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter
    from tokpar_explain.trace import Trace

MOST_SHOWN = 3
CHARS_AROUND = 40
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
    add("--all", action="store_true", help=f"show all seams, not the first {MOST_SHOWN}")
    add(
        "--around",
        type=int,
        default=CHARS_AROUND,
        metavar="CHARS",
        help=f"to each side ({CHARS_AROUND})",
    )
    add("--html", type=Path, metavar="FILE", help="write a page with all seams")
    add("--proofs", default="proofs", metavar="URL", help="where the page finds proofs/")
    color = "auto (in a terminal, without NO_COLOR), always or never"
    add("--color", choices=COLORS, default="auto", metavar="WHEN", help=color)


def run(arguments: argparse.Namespace) -> int:
    from tokpar_explain.trace import trace

    if arguments.around < 1:
        raise OptionError(f"--around must be at least 1, got {arguments.around}")
    names = inputs(arguments)
    if len(names) > 1:
        raise OptionError(f"explain takes one text, got {len(names)} files")
    source = one_source(arguments, names[0])
    tokenizer = options.tokenizer_of(arguments)
    if arguments.edited is not None:
        return _show_edit(arguments, source, read_source(arguments.edited), tokenizer)
    with blamed_on(source), working(arguments, "encoding, in chunks and serially"):
        seam_trace = trace(
            source.text,
            tokenizer,
            strategy=arguments.strategy,
            allow_approximate=arguments.allow_approximate,
            **options.strategy_options(arguments),
        )
    seam_numbers = _choose_seams(seam_trace, arguments)
    if arguments.html is not None:
        from tokpar_explain.page import page

        shown = page(seam_trace, source.name, arguments.around, arguments.proofs)
        write_text(arguments.html, shown)
    if arguments.json:
        print_json(describe(seam_trace, source, seam_numbers, arguments.around))
    else:
        _print(seam_trace, source, seam_numbers, arguments)
    return 0 if seam_trace.ok else 1


def _show_edit(
    arguments: argparse.Namespace,
    source: TextSource,
    new_source: TextSource,
    tokenizer: TokenizerAdapter,
) -> int:
    """Show one edit of a session. Returns the exit code."""
    from tokpar_explain.edit import lines, make_edit

    with blamed_on(new_source), working(arguments, "encoding both texts"):
        edit = make_edit(source.text, new_source.text, tokenizer)
    named = {"file": source.name, "edited": new_source.name, "tokenizer": tokenizer.name}
    if arguments.json:
        numbers = ("start", "stop", "encoded", "first", "last", "removed", "equal", "why")
        print_json(named | {name: getattr(edit, name) for name in numbers})
        return 0 if edit.equal else 1
    verdict = "are the serial ones" if edit.equal else "are NOT the serial ones"
    again = f"{edit.encoded:,} of {plural(len(new_source.text), 'code point')} encoded again"
    files = f"{visible(source.name)}, then {visible(new_source.name)}: tokenizer {tokenizer.name}"
    print(f"{files}; {again}; the {len(edit.new):,} ids {verdict}")
    for line in lines(edit):
        print(line)
    return 0 if edit.equal else 1


def _choose_seams(seam_trace: Trace, arguments: argparse.Namespace) -> Sequence[int]:
    """The seams to show: the seam of --seam, all seams, or the first few in order of importance."""
    count = len(seam_trace.seams)
    if arguments.seam is not None:
        if not 0 <= arguments.seam < count:
            numbered = f", numbered 0 to {count - 1}" if count else ""
            raise OptionError(
                f"--seam {arguments.seam}: there are {plural(count, 'seam')}{numbered}"
            )
        return [arguments.seam]
    everything = arguments.all or arguments.json
    return seam_trace.ordered()[: count if everything else 0 if arguments.html else MOST_SHOWN]


def describe(
    seam_trace: Trace, source: TextSource, seam_numbers: Sequence[int], chars_around: int
) -> dict[str, Any]:
    """The JSON object of `explain`: the chosen seams, and the result for the whole text."""
    from tokpar_explain.seam import explain_seam

    explained = (explain_seam(seam_trace, n, chars_around) for n in sorted(seam_numbers))
    return {
        "file": source.name,
        "tokenizer": seam_trace.tokenizer.name,
        "strategy": seam_trace.strategy,
        "options": dict(seam_trace.options),
        "code_points": len(source.text),
        "ids_count": len(seam_trace.encoding.ids),
        "serial_ids_count": len(seam_trace.serial),
        "equal": seam_trace.equal,
        "lossless": seam_trace.encoding.lossless,
        "seams_count": len(seam_trace.seams),
        "seams_by_rule": rule_counts(seam_trace.encoding.seams, seam_trace.text),
        "differing": sorted(seam_trace.differing),
        "report": asdict(seam_trace.encoding.report),
        "seams": [asdict(seam) | {"witness": dict(seam.witness)} for seam in explained],
    }


def _print(
    seam_trace: Trace,
    source: TextSource,
    seam_numbers: Sequence[int],
    arguments: argparse.Namespace,
) -> None:
    from tokpar_explain.seam import explain_seam
    from tokpar_explain.terminal import LEGEND, Paint, lines

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"  # see no-color.org
    automatic = arguments.color == "auto" and sys.stdout.isatty() and not plain
    paint = Paint(automatic or arguments.color == "always")
    print(summary(seam_trace, source, _cuts(seam_trace, arguments)))
    if seam_numbers:
        print(LEGEND)
        print()
    for n in seam_numbers:
        for line in lines(explain_seam(seam_trace, n, arguments.around), paint):
            print(line)
        print()
    more = len(seam_trace.seams) - len(seam_numbers)
    if arguments.html is not None:
        print(f"all seams: {arguments.html}")
    elif arguments.seam is None and more:
        print(f"and {more:,} more (--all shows them, --seam N one, --html FILE writes a page)")


def _cuts(seam_trace: Trace, arguments: argparse.Namespace) -> Cuts:
    """Where `encode` cuts the text: between the chunks of the trace, or at every certified
    space."""
    from tokpar.registry.combining import build_parts

    options_given = options.strategy_options(arguments)
    strategy = build_parts(arguments.strategy, options_given, arguments.allow_approximate)
    found = foresee_cuts(seam_trace.text, seam_trace.tokenizer, strategy)[1]
    if found.at_spaces:
        return found
    return Cuts(rule_counts(seam_trace.encoding.seams, seam_trace.text), len(seam_trace.chunks))


def summary(seam_trace: Trace, source: TextSource, cuts: Cuts) -> str:
    """The result in one line. The traced seams are the seams between chunks."""
    chunks = plural(len(seam_trace.chunks), "chunk")
    chunks = f"{plural(len(seam_trace.seams), 'seam')} between {chunks}"
    seams = f"not cut: {seam_trace.encoding.report.why}"
    if seam_trace.seams:
        seams = f"{cuts}, shown: {chunks}"
    ids = f"{len(seam_trace.encoding.ids):,}"
    if seam_trace.equal:
        verdict = f"the {ids} ids are the serial ones"
    else:
        verdict = f"the {ids} ids are NOT the {len(seam_trace.serial):,} serial ones"
        verdict += f", {plural(len(seam_trace.differences), 'difference')}"
    names = f"strategy {seam_trace.strategy}, tokenizer {seam_trace.tokenizer.name}"
    parts = [names, seams, verdict]
    return f"{visible(source.name)}: " + "; ".join(parts)
