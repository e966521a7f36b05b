"""What `tokpar conform` checks: the parts that a name stands for, each with its checks."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from tokpar import testing
from tokpar.cli.options import options_of, rank_settings
from tokpar.errors import OptionError, UnknownNameError
from tokpar.interfaces import Splitter, TokenizerAdapter
from tokpar.loading import load
from tokpar.registry import registry, require_options
from tokpar.testing.strategy import small_options

USUAL_REFERENCE = "huggingface"
WORKERS = 2


@dataclass(frozen=True)
class Part:
    """One thing to be checked. `reference`: the name of the tokenizer whose ids are right."""

    kind: str
    name: str
    check: Callable[..., None]
    reference: str | None = None

    @property
    def label(self) -> str:
        return self.name if self.kind == "tokenizer" else f"{self.kind} {self.name}"


def parts_of(arguments: argparse.Namespace) -> list[Part]:
    """All that WHAT names, of one kind if --kind says so. Raises OptionError, UnknownNameError."""
    what, kind = arguments.what, arguments.kind
    named = [(each, what) for each in registry().kinds_of(what)] or _provided(what)
    named = [(each, name) for each, name in named if kind in (None, each)]
    if not named and kind not in (None, "tokenizer"):
        raise OptionError(f"{what!r} is no {kind} and no plugin with one (see `tokpar plugins`)")
    if not named:  # WHAT is a path, or a name that `load` knows
        if arguments.tokenizer is None:
            return [_compared(what, arguments.engine, arguments)]
        known = ", ".join(sorted(source.name for source in registry().tokenizer_sources()))
        said = f"--tokenizer goes with the name of a part, such as an engine ({known})"
        raise OptionError(f"{said}, got {what!r}")
    return [
        _engine(name, arguments) if each == "tokenizer" else _other(each, name, arguments)
        for each, name in named
    ]


def _provided(plugin: str) -> list[tuple[str, str]]:
    """(kind, name) of what a plugin provides."""
    found = [record for record in registry().plugins() if record.name == plugin]
    provided = [each.partition(" ") for record in found for each in record.provides]
    return [(kind, name) for kind, _, name in provided]


def _engine(name: str, arguments: argparse.Namespace) -> Part:
    """On --tokenizer; else on the bundled file, or on whatever its own name stands for."""
    if arguments.engine is not None:
        raise OptionError(f"{name!r} is an engine: give --tokenizer PATH instead of --engine")
    if arguments.tokenizer is not None:
        return _compared(arguments.tokenizer, name, arguments)
    with suppress(UnknownNameError):  # not its kind of file
        return _compared("default", name, arguments)
    try:
        return _compared(name, name, arguments)
    except (UnknownNameError, OSError) as error:
        raise OptionError(
            f"{name!r} does not read the bundled file: give --tokenizer PATH"
        ) from error


def _compared(what: str, engine: str | None, arguments: argparse.Namespace) -> Part:
    settings = rank_settings(arguments)
    tokenizer = load(what, engine=engine, **settings)
    chosen = arguments.reference
    is_json = what == "default" or what.endswith(".json")
    if chosen is None and engine not in (None, USUAL_REFERENCE) and is_json:
        chosen = USUAL_REFERENCE
    reference = None if chosen in (None, "none") else load(what, engine=chosen, **settings)
    check = partial(
        testing.check_tokenizer, tokenizer, reference, all_unicode=arguments.all_unicode
    )
    return Part("tokenizer", tokenizer.name, check, None if reference is None else reference.name)


def _other(kind: str, name: str, arguments: argparse.Namespace) -> Part:
    tokenizer = load(arguments.tokenizer or "default", engine=arguments.engine)
    return Part(kind, name, _check(kind, name, tokenizer, options_of(arguments)))


def _check(
    kind: str, name: str, tokenizer: TokenizerAdapter, options: dict[str, Any]
) -> Callable[..., None]:
    """A splitter without options is checked with several sets of them that make chunks small."""
    known = registry()
    if kind == "executor":
        require_options(f"executor {name!r}", [], options)
        executor = known.executor_kind(name)
        if not executor.suits(tokenizer):
            raise OptionError(f"executor {name!r} does not suit {tokenizer.name}: give --tokenizer")
        return partial(testing.check_executor, executor.build(WORKERS), tokenizer)
    finds = {"merger": known.merger_kind, "splitter": known.splitter_kind}
    record: Any = finds.get(kind, known.strategy)(name)
    require_options(f"{kind} {name!r}", [record.build], options)
    if kind == "strategy":
        chosen = [options] if options else None
        return partial(testing.check_strategy, record, tokenizer, options=chosen)
    if kind == "merger":
        return partial(testing.check_merger, record.build(**options), tokenizer)
    several = [options] if options else small_options(record.build)
    return partial(_check_splitters, [record.build(**some) for some in several], tokenizer)


def _check_splitters(splitters: list[Splitter], tokenizer: TokenizerAdapter, **how: Any) -> None:
    for splitter in splitters:
        testing.check_splitter(splitter, tokenizer, **how)
