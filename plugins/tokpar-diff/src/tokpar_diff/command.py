"""Compare a tokenizer with its baseline: other ids under another version of a library are found.

With --baseline FILE: the first run writes the ids, offsets and decoded text of witness texts, later
runs compare. Exit code 0 if they are equal, 1 if not, 2 if the arguments or files cannot be used.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.cli import options
from tokpar.cli.options import print_json
from tokpar.cli.progress import working
from tokpar.cli.screen import plural, print_line, visible
from tokpar.errors import OptionError
from tokpar_diff.differences import print_difference

if TYPE_CHECKING:
    from tokpar_diff.baseline import BaselineResult
    from tokpar_diff.sides import Side

MOST_SHOWN = 3


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "a tokenizer.json, a directory or repository (what transformers makes of it), a name"
    add("tokenizer", metavar="TOKENIZER", help=what)
    add("--baseline", type=Path, metavar="FILE", help="write FILE, or compare with it if it exists")
    add("--offline", action="store_true", help="download nothing (sets HF_HUB_OFFLINE=1)")
    options.declare_ranks(parser)
    options.declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.baseline is None:
        raise OptionError("diff takes --baseline FILE")
    return _baseline(arguments)


def _open(arguments: argparse.Namespace, name: str) -> Side:
    from tokpar_diff.sides import open_side

    arguments.allowed_special = None
    return open_side(name, **options.tokenizer_settings(arguments))


def _baseline(arguments: argparse.Namespace) -> int:
    from tokpar_diff.baseline import compare_baseline, write_baseline

    path = arguments.baseline
    if path.is_dir():
        raise OptionError(f"--baseline {path} is a directory: name a file")
    with working(arguments, "asking the tokenizer"):
        side = _open(arguments, arguments.tokenizer)
        if not path.exists():
            count = write_baseline(side, path)
            said = f"wrote {path}: {plural(count, 'text')} of {side.label}"
            if arguments.json:
                print_json({"answer": "written", "texts": count, "versions": dict(side.versions)})
            else:
                print_line(f"{visible(said)}; run again to compare, and keep the file")
            return 0
        result = compare_baseline(side, path)
    if arguments.json:
        print_json(_baseline_json(side, result))
    else:
        _print_baseline(side, result, path)
    return 1 if result.differences else 0


def _baseline_json(side: Side, result: BaselineResult) -> dict[str, Any]:
    return {
        "answer": "different" if result.differences else "equal",
        "texts": result.texts_count,
        "versions": [dict(result.versions), dict(side.versions)],
        "structure_changes": list(result.changes),
        "differences": [difference.to_json() for difference in result.differences],
    }


def _print_baseline(side: Side, result: BaselineResult, path: Path) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    print_line(
        f"{visible(str(path))}: {plural(result.texts_count, 'text')}, written with {versions}"
    )
    print_line(f"now: {visible(side.label)}")
    if result.changes:
        print_line(f"spelled otherwise than in the baseline: {', '.join(result.changes)}")
    if not result.differences:
        print_line("equal: ids with and without special tokens, offsets and decode of all texts")
        return
    print_line(f"different: {plural(len(result.differences), 'text')}, the shortest first")
    for difference in result.differences[:MOST_SHOWN]:
        print_difference(difference, "baseline", "now")
