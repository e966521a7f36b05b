"""Check that a tokenizer engine keeps its contract: ids, facts, and what is proved from them.

WHAT is an engine's name (see `tokpar plugins`), which is then checked on the bundled tokenizer file
or on --tokenizer; or it is a tokenizer: a path, "default". CORPUS: files of texts (.jsonl: one
"text" per row; others: one text) that are encoded whole, too. The ids are compared with those of
--reference, another engine on the same file; for an engine other than huggingface that is
huggingface, if the file is a .json. Exit code 1 if a check fails. Needs hypothesis.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tokpar.cli.options import declare_output, declare_ranks, rank_settings
from tokpar.cli.output import plural, print_json
from tokpar.cli.source import read_source
from tokpar.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from tokpar.interfaces import TokenizerAdapter
    from tokpar.testing import Watch

USUAL_REFERENCE = "huggingface"


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", metavar="WHAT", help="an engine, or a tokenizer: a path or a registered name")
    add("corpus", nargs="*", metavar="CORPUS", help="UTF-8 files: .jsonl with texts, or one text")
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
    check_tokenizer = _kit()
    from tokpar.errors import ConformanceError

    examples = arguments.examples
    if examples is not None and examples < 0:
        raise OptionError(f"--examples must be at least 0, got {examples}")
    tokenizer, reference = tokenizers_of(arguments)
    texts = [text for name in arguments.corpus for text in corpus(name)]
    options: dict[str, Any] = {} if examples is None else {"examples": examples}
    failed: ConformanceError | None = None
    watch, seen = _progress(arguments)
    try:
        check_tokenizer(
            tokenizer,
            reference,
            texts=texts,
            all_unicode=arguments.all_unicode,
            fail_fast=arguments.fail_fast,
            watch=watch,
            **options,
        )
    except ConformanceError as error:
        failed = error
    if arguments.json:
        print_json(describe(tokenizer, reference, seen, len(texts), failed))
    elif failed is not None:
        print(failed)
    else:
        compared = "" if reference is None else f", ids compared with {reference.name}"
        passed = f"{tokenizer.name} conforms: {plural(len(seen), 'check')} passed"
        own = f", {plural(len(texts), 'text')} of the corpus" if texts else ""
        print(f"{passed}{own}{compared}")
    return 0 if failed is None else 1


def tokenizers_of(
    arguments: argparse.Namespace,
) -> tuple[TokenizerAdapter, TokenizerAdapter | None]:
    """The tokenizer to check and the reference, or None."""
    from tokpar.loading import load
    from tokpar.registry import registry

    engines = [source.name for source in registry().tokenizer_sources()]
    what, engine = arguments.what, arguments.engine
    if what in engines:
        if engine is not None:
            raise OptionError(f"{what!r} is an engine: give --tokenizer PATH instead of --engine")
        what, engine = arguments.tokenizer or "default", what
    elif arguments.tokenizer is not None:
        known = ", ".join(sorted(engines))
        raise OptionError(f"--tokenizer goes with the name of an engine ({known}), got {what!r}")
    settings = rank_settings(arguments)
    tokenizer = load(what, engine=engine, **settings)
    chosen = arguments.reference
    if chosen is None and engine not in (None, USUAL_REFERENCE) and _is_json(what):
        chosen = USUAL_REFERENCE
    if chosen is None or chosen == "none":
        return tokenizer, None
    return tokenizer, load(what, engine=chosen, **settings)


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


def describe(
    tokenizer: TokenizerAdapter,
    reference: TokenizerAdapter | None,
    checks: Sequence[str],
    texts: int,
    failed: Any,
) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "tokenizer": tokenizer.name,
        "reference": None if reference is None else reference.name,
        "conforms": failed is None,
        "checks": list(checks),
        "corpus_texts": texts,
        "failed": [] if failed is None else list(failed.checks),
        "report": None if failed is None else str(failed),
    }


def _is_json(what: str) -> bool:
    return what == "default" or what.endswith(".json")


def _kit() -> Any:
    try:
        from tokpar.testing import check_tokenizer
    except ImportError as error:
        raise OptionError(str(error)) from error
    return check_tokenizer


def _progress(arguments: argparse.Namespace) -> tuple[Watch, list[str]]:
    """What to call with each check's name, and the list that it fills."""
    seen: list[str] = []
    shown = not arguments.quiet and (arguments.progress or sys.stderr.isatty())

    def watch(name: str) -> None:
        seen.append(name)
        if shown:
            print(f"check {len(seen)}: {name}", file=sys.stderr)

    return watch, seen
