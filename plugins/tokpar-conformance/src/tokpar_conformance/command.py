"""Check that a part keeps its contract: a tokenizer, splitter, merger, executor or strategy.

WHAT is a registered name (see `tokpar plugins`), of which everything that has it is checked; or a
plugin's name, for all that it provides; or a tokenizer: a path, "default". An engine is checked on
the bundled file or on --tokenizer, which other parts are checked with, too. CORPUS: files of texts
(.jsonl: a text per row; others: one text) that are encoded whole, too. The ids of an engine are
compared with those of --reference, another engine on the same file; for one other than huggingface
that is huggingface, if the file is a .json. Exit code 1 if a check fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from tokpar.cli.options import (
    declare_field,
    declare_output,
    declare_ranks,
    options_of,
    print_json,
    rank_settings,
)
from tokpar.cli.screen import plural
from tokpar.cli.text_files import read_sources
from tokpar.errors import OptionError, UnknownNameError
from tokpar.loading import load
from tokpar.registry.hooks import OFFERS
from tokpar.registry.tables import registry, require_options
from tokpar_conformance.adapter import check_tokenizer
from tokpar_conformance.checks import ConformanceError
from tokpar_conformance.executor import check_executor
from tokpar_conformance.merger import check_merger
from tokpar_conformance.splitter import check_splitter
from tokpar_conformance.strategy import check_strategy, small_options

KINDS = sorted({kind for _, kind in OFFERS.values()} - {"command"})
USUAL_REFERENCE = "huggingface"
WORKERS = 2


@dataclass(frozen=True)
class CheckedPart:
    """One thing to check. `reference`: the name of the tokenizer whose ids are the expected
    ones."""

    kind: str
    name: str
    check: Callable[..., None]
    reference: str | None = None

    @property
    def label(self) -> str:
        return self.name if self.kind == "tokenizer" else f"{self.kind} {self.name}"


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", metavar="WHAT", help="a registered part, a plugin, or a tokenizer: a path, a name")
    add("corpus", nargs="*", metavar="CORPUS", help="UTF-8 files: .jsonl with texts, or one text")
    declare_field(parser)
    kind = f"check only what is of this kind: {', '.join(KINDS)}"
    add("--kind", choices=KINDS, metavar="KIND", help=kind)
    add("--option", action="append", metavar="NAME=VALUE", help="an option of WHAT; repeatable")
    group = parser.add_argument_group("tokenizer")
    group.add_argument("--tokenizer", metavar="NAME|PATH", help="the file an engine is checked on")
    group.add_argument("--engine", metavar="NAME", help="the engine that must load WHAT")
    group.add_argument(
        "--reference", metavar="ENGINE", help='whose ids are right; "none" compares none'
    )
    declare_ranks(group)
    add("--examples", type=int, metavar="N", help="texts that are drawn (60)")
    add("--fail-fast", action="store_true", help="stop at the first check that fails")
    declare_output(parser)
    add("--progress", action="store_true", help="name each check even if stderr is no terminal")


def run(arguments: argparse.Namespace) -> int:
    parts = parts_of(arguments)
    examples = arguments.examples
    if examples is not None and examples < 0:
        raise OptionError(f"--examples must be at least 0, got {examples}")
    sources = chain.from_iterable(read_sources(n, arguments.field) for n in arguments.corpus)
    texts = [source.text for source in sources]
    options: dict[str, Any] = {} if examples is None else {"examples": examples}
    options |= {"texts": texts, "fail_fast": arguments.fail_fast}
    described = [_check_part(part, options, arguments) for part in parts]
    if arguments.json:
        print_json(described if len(described) > 1 else described[0])
    return 0 if all(part["conforms"] for part in described) else 1


def _check_part(
    part: CheckedPart, options: dict[str, Any], arguments: argparse.Namespace
) -> dict[str, Any]:
    failed: ConformanceError | None = None
    seen: list[str] = []
    shown = not arguments.quiet and (arguments.progress or sys.stderr.isatty())

    def watch(name: str) -> None:
        seen.append(name)
        if shown:
            print(f"check {len(seen)}: {name}", file=sys.stderr)

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


def parts_of(arguments: argparse.Namespace) -> list[CheckedPart]:
    """All parts that WHAT names, or with --kind only the parts of that kind.

    Raises OptionError, UnknownNameError."""
    what, kind = arguments.what, arguments.kind
    named = [(each, what) for each in registry().kinds_of(what) if each in KINDS]
    named = named or _parts_of_plugin(what)
    named = [(each, name) for each, name in named if kind in (None, each)]
    if not named and kind not in (None, "tokenizer"):
        raise OptionError(f"{what!r} is no {kind} and no plugin with one (see `tokpar plugins`)")
    if not named:  # WHAT is a path, or a name that `load` knows
        if arguments.tokenizer is None:
            try:
                return [_tokenizer_part(what, arguments.engine, arguments)]
            except UnknownNameError as error:
                said = "no part and no plugin has this name, either (see `tokpar plugins`)"
                raise OptionError(f"{error}; {said}{_similar(what)}") from error
        known = ", ".join(sorted(source.name for source in registry().tokenizer_sources()))
        said = f"--tokenizer goes with the name of a part, such as an engine ({known})"
        raise OptionError(f"{said}, got {what!r}")
    return [
        _engine(name, arguments) if each == "tokenizer" else _other(each, name, arguments)
        for each, name in named
    ]


def _similar(what: str) -> str:
    """Returns a question for the registered name that `what` may be a misspelling of, or ""."""
    from difflib import get_close_matches  # slow to import

    provided = [each for record in registry().plugins() for each in record.provides]
    parts = [each.partition(" ") for each in provided]
    names = [name for kind, _, name in parts if kind in KINDS]
    near = get_close_matches(what, names, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _parts_of_plugin(plugin: str) -> list[tuple[str, str]]:
    found = [record for record in registry().plugins() if record.name == plugin]
    provided = [each.partition(" ") for record in found for each in record.provides]
    return [(kind, name) for kind, _, name in provided if kind in KINDS]


def _engine(name: str, arguments: argparse.Namespace) -> CheckedPart:
    """The check of an engine: on the file of --tokenizer, else on the bundled file, else on the
    tokenizer that the engine's own name stands for."""
    if arguments.engine is not None:
        raise OptionError(f"{name!r} is an engine: give --tokenizer PATH instead of --engine")
    if arguments.tokenizer is not None:
        return _tokenizer_part(arguments.tokenizer, name, arguments)
    with suppress(UnknownNameError):  # the engine does not read this kind of file
        return _tokenizer_part("default", name, arguments)
    try:
        return _tokenizer_part(name, name, arguments)
    except (UnknownNameError, OSError) as error:
        raise OptionError(
            f"{name!r} does not read the bundled file: give --tokenizer PATH"
        ) from error


def _tokenizer_part(what: str, engine: str | None, arguments: argparse.Namespace) -> CheckedPart:
    settings = rank_settings(arguments)
    tokenizer = load(what, engine=engine, **settings)
    chosen = arguments.reference
    is_json = what == "default" or what.endswith(".json")
    if chosen is None and engine not in (None, USUAL_REFERENCE) and is_json:
        chosen = USUAL_REFERENCE
    reference = None if chosen in (None, "none") else load(what, engine=chosen, **settings)
    check = partial(check_tokenizer, tokenizer, reference)
    return CheckedPart(
        "tokenizer", tokenizer.name, check, None if reference is None else reference.name
    )


def _other(kind: str, name: str, arguments: argparse.Namespace) -> CheckedPart:
    """The check of a splitter, merger, executor or strategy.

    Without options, a splitter is checked several times, with sets of options that make small
    chunks."""
    tokenizer = load(arguments.tokenizer or "default", engine=arguments.engine)
    options, known = options_of(arguments), registry()
    if kind == "executor":
        require_options(f"executor {name!r}", [], options)
        executor = known.executor_kind(name)
        if not executor.suits(tokenizer):
            raise OptionError(f"executor {name!r} does not suit {tokenizer.name}: give --tokenizer")
        return CheckedPart(kind, name, partial(check_executor, executor.build(WORKERS), tokenizer))
    finds = {"merger": known.merger_kind, "splitter": known.splitter_kind}
    record: Any = finds.get(kind, known.strategy)(name)
    require_options(f"{kind} {name!r}", [record.build], options)
    sets = [options] if options else None
    if kind == "strategy":
        return CheckedPart(kind, name, partial(check_strategy, record, tokenizer, options=sets))
    if kind == "merger":
        return CheckedPart(kind, name, partial(check_merger, record.build(**options), tokenizer))
    splitters = [record.build(**some) for some in sets or small_options(record.build)]

    def check(**how: Any) -> None:
        for splitter in splitters:
            check_splitter(splitter, tokenizer, **how)

    return CheckedPart(kind, name, check)
