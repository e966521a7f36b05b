"""What tokpar itself offers, through the same hooks as any plugin; imports it when it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tokpar.hooks import ExecutorKind, MergerKind, SplitterKind, hookimpl
from tokpar.interfaces import (
    EncodesMany,
    Executor,
    HasSpec,
    Remembers,
    Strategy,
    TokenizerAdapter,
    TokenizerSource,
    facts_of,
)

METHODS = ("auto", "blocks", "cut", "delimiter", "lopt", "overlap", "recursive", "serial")
ADAPTERS = ("huggingface", "incremental", "pure", "tiktoken", "tokentree")
AUTOMATIC = ("huggingface", "tiktoken")
"""The adapters that need not be named; the others are slower, or approximate."""


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [
        TokenizerSource(name, _loader(_module(name)), automatic=name in AUTOMATIC)
        for name in ADAPTERS
    ]


@hookimpl
def tokpar_executors() -> list[ExecutorKind]:
    return [
        ExecutorKind("memo", _memo, _remembers),
        ExecutorKind("native", _native, lambda tokenizer: isinstance(tokenizer, EncodesMany)),
        ExecutorKind("processes", _processes, lambda tokenizer: isinstance(tokenizer, HasSpec)),
        ExecutorKind("serial", _serial, lambda tokenizer: True),
        ExecutorKind("threads", _threads, lambda tokenizer: facts_of(tokenizer).releases_gil),
    ]


@hookimpl
def tokpar_splitters() -> list[SplitterKind]:
    splitters = import_module("tokpar.methods.parts").SPLITTERS
    return [SplitterKind(name, build) for name, build in splitters.items()]


@hookimpl
def tokpar_mergers() -> list[MergerKind]:
    mergers = import_module("tokpar.methods.parts").MERGERS
    return [MergerKind(name, build) for name, build in mergers.items()]


@hookimpl
def tokpar_strategies() -> list[Strategy]:
    return [import_module(f"tokpar.methods.{name}").STRATEGY for name in METHODS]


def _module(name: str) -> str:
    """Where a source's `load` is; that of Hugging Face's asks which tokenizers is installed."""
    return f"tokpar.adapters.{'hf_lines' if name == 'huggingface' else name}"


def _loader(module: str) -> Callable[..., TokenizerAdapter | None]:
    def load(source: object, **settings: Any) -> TokenizerAdapter | None:
        adapter: TokenizerAdapter | None = import_module(module).load(source, **settings)
        return adapter

    return load


def _memo(workers: int | None) -> Executor:
    from tokpar.executors.native import MemoExecutor

    return MemoExecutor(workers)


def _remembers(tokenizer: TokenizerAdapter) -> bool:
    return isinstance(tokenizer, Remembers) and tokenizer.remembers


def _native(workers: int | None) -> Executor:
    from tokpar.executors.native import NativeExecutor

    return NativeExecutor(workers)


def _processes(workers: int | None) -> Executor:
    from tokpar.executors.processes import ProcessExecutor

    return ProcessExecutor(workers)


def _serial(workers: int | None) -> Executor:
    from tokpar.executors.serial import SerialExecutor

    return SerialExecutor()


def _threads(workers: int | None) -> Executor:
    from tokpar.executors.threads import ThreadExecutor

    return ThreadExecutor(workers)
