"""Check that a part keeps its contract: a tokenizer, splitter, merger, executor or strategy.

WHAT is a registered name (see `tokpar plugins`), of which everything that has it is checked; or a
plugin's name, for all that it provides; or a tokenizer: a path, "default". An engine is checked on
the bundled file or on --tokenizer, which other parts are checked with, too. CORPUS: files of texts
(.jsonl: one "text" per row; others: one text) that are encoded whole, too. The ids of an engine are
compared with those of --reference, another engine on the same file; for one other than huggingface
that is huggingface, if the file is a .json. Exit code 1 if a check fails. Needs hypothesis.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tokpar.cli.options import declare_output, declare_ranks
from tokpar.cli.output import plural, print_json
from tokpar.cli.source import read_source
from tokpar.errors import ConformanceError, FileFormatError, OptionError
from tokpar.hooks import OFFERS

if TYPE_CHECKING:
    from tokpar.cli.conform_parts import Part
    from tokpar.testing import Watch

KINDS = sorted(kind for _, kind in OFFERS.values())


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", metavar="WHAT", help="a registered part, a plugin, or a tokenizer: a path, a name")
    add("corpus", nargs="*", metavar="CORPUS", help="UTF-8 files: .jsonl with texts, or one text")
    add("--kind", choices=KINDS, help="check only what is of this kind")
    add("--option", action="append", metavar="NAME=VALUE", help="an option of WHAT; repeatable")
    group = parser.add_argument_group("tokenizer")
    group.add_argument("--tokenizer", metavar="NAME|PATH", help="the file an engine is checked on")
    group.add_argument("--engine", metavar="NAME", help="the engine that must load WHAT")
    group.add_argument(
        "--reference", metavar="ENGINE", help='whose ids are right; "none" compares none'
    )
    declare_ranks(group)
    add("--examples", type=int, metavar="N", help="texts that are drawn (60)")
    add("--all-unicode", action="store_true", help="compare where engines differ on Unicode, too")
    add("--fail-fast", action="store_true", help="stop at the first check that fails")
    declare_output(parser)
    add("--progress", action="store_true", help="name each check even if stderr is no terminal")


def run(arguments: argparse.Namespace) -> int:
    try:
        from tokpar.cli.conform_parts import parts_of
    except ImportError as error:
        raise OptionError(str(error)) from error
    parts = parts_of(arguments)
    examples = arguments.examples
    if examples is not None and examples < 0:
        raise OptionError(f"--examples must be at least 0, got {examples}")
    texts = [text for name in arguments.corpus for text in corpus(name)]
    options: dict[str, Any] = {} if examples is None else {"examples": examples}
    options |= {"texts": texts, "fail_fast": arguments.fail_fast}
    described = [_checked(part, options, arguments) for part in parts]
    if arguments.json:
        print_json(described if len(described) > 1 else described[0])
    return 0 if all(part["conforms"] for part in described) else 1


def _checked(part: Part, options: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all checks of a part, and say how it went; the same as JSON."""
    failed: ConformanceError | None = None
    watch, seen = _progress(arguments)
    try:
        part.check(watch=watch, **options)
    except ConformanceError as error:
        failed = error
    texts = len(options["texts"])
    if failed is not None and not arguments.json:
        print(failed)
    elif not arguments.json:
        compared = "" if part.reference is None else f", ids compared with {part.reference}"
        own = f", {plural(texts, 'text')} of the corpus" if texts else ""
        print(f"{part.label} conforms: {plural(len(seen), 'check')} passed{own}{compared}")
    return {
        "kind": part.kind,
        part.kind: part.name,
        "reference": part.reference,
        "conforms": failed is None,
        "checks": seen,
        "corpus_texts": texts,
        "failed": [] if failed is None else list(failed.checks),
        "report": None if failed is None else str(failed),
    }


def corpus(name: str) -> Iterator[str]:
    """The texts of a file. Raises OSError, FileFormatError."""
    source = read_source(name)
    if not name.endswith(".jsonl"):
        yield source.text
        return
    for number, row in enumerate(source.text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            text = json.loads(row)["text"]
        except (ValueError, KeyError, TypeError):
            text = None
        if not isinstance(text, str):
            raise FileFormatError(f'{name}:{number}: expected a JSON object with a str as "text"')
        yield text


def _progress(arguments: argparse.Namespace) -> tuple[Watch, list[str]]:
    """What to call with each check's name, and the list that it fills."""
    seen: list[str] = []
    shown = not arguments.quiet and (arguments.progress or sys.stderr.isatty())

    def watch(name: str) -> None:
        seen.append(name)
        if shown:
            print(f"check {len(seen)}: {name}", file=sys.stderr)

    return watch, seen
