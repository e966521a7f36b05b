"""Compare two tokenizers, or one with its baseline: are the ids the same for every text?

The answer is "equal" (proved), "different" (with a text that shows it, cut down until every
character is needed) or "undecided" (no difference in so many texts, and why there is no proof), for
ids with and without special tokens, offsets, and decoded text.

With --baseline FILE instead of a second tokenizer, the first run writes the ids, offsets and
decoded text of texts that the structure of the tokenizer suggests, and later runs compare.

Exit code 0: equal, or a baseline was written; 1: different; 3: undecided; 2: the arguments or files
cannot be used.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar.cli import options
from tokpar.cli.options import print_json
from tokpar.cli.progress import working
from tokpar.cli.screen import plural, visible
from tokpar.errors import OptionError
from tokpar_diff.differences import print_difference
from tokpar_diff.rows import ASPECTS

if TYPE_CHECKING:
    from tokpar_diff.baseline import BaselineResult
    from tokpar_diff.compare import TokenizerDiff
    from tokpar_diff.sides import Side

MOST_SHOWN = 3
CODES = {"equal": 0, "different": 1, "undecided": 3}


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "a tokenizer.json, a directory or repository (what transformers makes of it), a name"
    add("a", metavar="A", help=what)
    add("b", metavar="B", nargs="?", help="the other tokenizer")
    add("--baseline", type=Path, metavar="FILE", help="write FILE, or compare with it if it exists")
    add("--python", metavar="EXECUTABLE", help="open B in another Python, such as venv/bin/python")
    add("--corpus", metavar="FILE", help="try the texts of FILE too, if no other text differs")
    options.declare_field(parser)
    add("--accept", choices=["undecided"], help="exit code 0 for this answer, too")
    only = "only whether the tokens of both have the same ids, up to the smaller vocabulary"
    add("--vocabulary", action="store_true", help=only)
    add("--offline", action="store_true", help="download nothing (sets HF_HUB_OFFLINE=1)")
    options.declare_ranks(parser)
    options.declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    if (arguments.b is None) == (arguments.baseline is None):
        raise OptionError("diff takes two tokenizers, or one and --baseline FILE")
    if arguments.baseline is not None:
        return _baseline(arguments)
    if arguments.vocabulary:
        return _vocabulary(arguments)
    from tokpar.cli.text_files import read_sources
    from tokpar_diff.compare import compare_sides

    with working(arguments, "comparing"):
        corpus = read_sources(arguments.corpus, arguments.field) if arguments.corpus else ()
        sides = _open_both(arguments)
        result = compare_sides(*sides, (source.text for source in corpus))
    if arguments.json:
        print_json(asdict(result))
    else:
        _print_result(result)
    return 0 if result.answer == arguments.accept else CODES[result.answer]


def _open_both(arguments: argparse.Namespace) -> tuple[Side, Side]:
    from tokpar_diff.sides import open_elsewhere

    a = _open(arguments, arguments.a)
    if arguments.python is not None:
        return a, open_elsewhere(arguments.b, arguments.python)
    return a, _open(arguments, arguments.b)


def _open(arguments: argparse.Namespace, name: str) -> Side:
    from tokpar_diff.sides import open_side

    arguments.allowed_special = None
    return open_side(name, **options.tokenizer_settings(arguments))


def _vocabulary(arguments: argparse.Namespace) -> int:
    from tokpar_diff.vocabularies import compare_vocabularies

    with working(arguments, "comparing"):
        result = compare_vocabularies(*_open_both(arguments))
    if arguments.json:
        print_json({"same": result.is_same, **asdict(result)})
    else:
        print(visible(str(result)))
    return 0 if result.is_same else 1


def _print_result(result: TokenizerDiff) -> None:
    for name in "ab":
        print(f"{name}: {visible(getattr(result, name))}")
    for sentence in result.structure:
        print(visible(sentence))
    for answer in CODES:
        names = [ASPECTS[aspect] for aspect, own in result.aspects.items() if own == answer]
        if names:
            print(f"{answer}: {', '.join(names)}")
    for reason in result.reasons:
        print(f"because {visible(reason)}")
    print(f"{plural(result.texts_count, 'text')} compared")
    for difference in result.differences:
        print_difference(difference, "a", "b")


def _baseline(arguments: argparse.Namespace) -> int:
    from tokpar_diff.baseline import compare_baseline, write_baseline

    path = arguments.baseline
    if path.is_dir():
        raise OptionError(f"--baseline {path} is a directory: name a file")
    with working(arguments, "asking the tokenizer"):
        side = _open(arguments, arguments.a)
        if not path.exists():
            count = write_baseline(side, path)
            said = f"wrote {path}: {plural(count, 'text')} of {side.label}"
            if arguments.json:
                print_json({"answer": "written", "texts_count": count, "versions": side.versions})
            else:
                print(f"{visible(said)}; run again to compare, and keep the file")
            return 0
        result = compare_baseline(side, path)
    if arguments.json:
        answer = "different" if result.differences else "equal"
        print_json({"answer": answer, **asdict(result), "versions_now": side.versions})
    else:
        _print_baseline(side, result, path)
    return 1 if result.differences else 0


def _print_baseline(side: Side, result: BaselineResult, path: Path) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    print(f"{visible(str(path))}: {plural(result.texts_count, 'text')}, written with {versions}")
    print(f"now: {visible(side.label)}")
    if result.changes:
        print(f"spelled otherwise than in the baseline: {', '.join(result.changes)}")
    if not result.differences:
        names = ", ".join(ASPECTS[aspect] for aspect in result.aspects)
        print(f"equal in all texts: {names}")
        return
    print(f"different: {plural(len(result.differences), 'text')}, the shortest first")
    for difference in result.differences[:MOST_SHOWN]:
        print_difference(difference, "baseline", "now")
