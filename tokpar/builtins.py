"""Registers tokpar's own engines, strategies and executors, by the same hooks that a plugin uses.

Engines and thread pools are imported when a caller first uses them. The keyword parameters of a
strategy's, splitter's or merger's builder are its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Literal

from tokpar.executors.serial_executor import SerialExecutor
from tokpar.hooks import Command, ExecutorKind, MergerKind, SplitterKind, hookimpl
from tokpar.interfaces import (
    EncodesMany,
    HasSegmentCache,
    HasSpec,
    Merger,
    Splitter,
    Strategy,
    TokenizerAdapter,
    TokenizerSource,
    traits_of,
)
from tokpar.limits import ON_FAILURE, require_choice, require_min_match
from tokpar.methods import blocks, lopt, recursive
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.methods.delimiter import ConcatenatingMerger, DelimiterSplitter
from tokpar.methods.overlap import OverlapSplitter
from tokpar.methods.serial import OneChunk
from tokpar.overlap.acceptance import by_cut, by_match, by_midpoint
from tokpar.overlap.common_runs import RunMerger
from tokpar.overlap.mergers import OverlapMerger

METHODS = ("auto", "blocks", "cut", "delimiter", "lopt", "overlap", "recursive", "serial")
COMMANDS = (
    *("check", "chunks", "conform", "corpus", "count", "decode", "encode", "explain", "plan"),
    *("plugins", "strategies", "stream", "try"),
)
# that of Hugging Face's asks which tokenizers is installed
ADAPTERS = {"huggingface": "hf_version"} | {n: n for n in ("incremental", "pure", "tiktoken")}
AUTOMATIC = ("huggingface", "tiktoken")
"""The adapters that need not be named; the others are slower."""
EXECUTORS: tuple[tuple[str, tuple[str, str], Callable[[TokenizerAdapter], bool]], ...] = (
    (
        "memo",
        ("native", "CachedExecutor"),
        lambda it: isinstance(it, HasSegmentCache) and it.has_segment_cache,
    ),
    ("native", ("native", "NativeExecutor"), lambda it: isinstance(it, EncodesMany)),
    ("processes", ("processes", "ProcessExecutor"), lambda it: isinstance(it, HasSpec)),
    ("threads", ("threads", "ThreadExecutor"), lambda it: traits_of(it).releases_gil),
)
"""Name, where its class is, and which tokenizers it suits; besides "serial", which suits all."""


def _lopt(*, chunk_chars: int | None = None, overlap_chars: int = lopt.OVERLAP_CHARS) -> Splitter:
    return lopt.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _blocks(*, chunk_chars: int = blocks.BLOCK_CHARS, overlap_chars: int | None = None) -> Splitter:
    return blocks.build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def _recursive(*, depth: int | None = None) -> Splitter:
    return recursive.build(depth=depth)[0]


SPLITTERS: Mapping[str, Callable[..., Splitter]] = {
    "auto": CutSplitter,
    "blocks": _blocks,
    "cut": CutSplitter,
    "delimiter": DelimiterSplitter,
    "lopt": _lopt,
    "overlap": OverlapSplitter,
    "recursive": _recursive,
    "serial": OneChunk,
}


def _build_certified(
    *, min_match: int | Literal["longest"] = 0, on_failure: Literal["repair", "restart"] = "repair"
) -> Merger:
    require_min_match(min_match, least=0)
    require_choice("on_failure", on_failure, ON_FAILURE)
    return OverlapMerger(partial(by_cut, least=min_match), restart=on_failure == "restart")


def _build_match(*, min_match: int | Literal["longest"] = 2) -> Merger:
    require_min_match(min_match)
    return OverlapMerger(partial(by_match, least=min_match))


MERGERS: Mapping[str, Callable[..., Merger]] = {
    "certified": _build_certified,
    "concatenate": ConcatenatingMerger,
    "cut": CutMerger,
    "match": _build_match,
    "midpoint": lambda: OverlapMerger(by_midpoint),
    "runs": RunMerger,
}


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [
        TokenizerSource(name, _import_later(f"tokpar.adapters.{module}", "load"), name in AUTOMATIC)
        for name, module in ADAPTERS.items()
    ]


@hookimpl
def tokpar_executors() -> list[ExecutorKind]:
    kinds = [
        ExecutorKind(name, _import_later(f"tokpar.executors.{module}", made), suits)
        for name, (module, made), suits in EXECUTORS
    ]
    return [*kinds, ExecutorKind("serial", lambda workers: SerialExecutor(), lambda it: True)]


@hookimpl
def tokpar_splitters() -> list[SplitterKind]:
    return [SplitterKind(name, build) for name, build in SPLITTERS.items()]


@hookimpl
def tokpar_mergers() -> list[MergerKind]:
    return [MergerKind(name, build) for name, build in MERGERS.items()]


@hookimpl
def tokpar_strategies() -> list[Strategy]:
    return [import_module(f"tokpar.methods.{name}").STRATEGY for name in METHODS]


@hookimpl
def tokpar_commands() -> list[Command]:
    other = {"chunks": "show_chunks", "plan": "show_plan", "try": "trial"}
    modules = {name: name for name in COMMANDS} | other
    return [
        Command(name, partial(import_module, f"tokpar.cli.{module}"))
        for name, module in modules.items()
    ]


def _import_later(module: str, name: str) -> Callable[..., Any]:
    """Returns a function that imports a module when it is called, and calls a function of it."""

    def call(*arguments: object, **settings: object) -> Any:
        return getattr(import_module(module), name)(*arguments, **settings)

    return call
