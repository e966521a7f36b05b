"""What tokpar itself offers, through the same hooks as any plugin; imports it when it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tokpar.executors.serial import SerialExecutor
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
EXECUTORS: tuple[tuple[str, tuple[str, str], Callable[[TokenizerAdapter], bool]], ...] = (
    ("memo", ("native", "MemoExecutor"), lambda it: isinstance(it, Remembers) and it.remembers),
    ("native", ("native", "NativeExecutor"), lambda it: isinstance(it, EncodesMany)),
    ("processes", ("processes", "ProcessExecutor"), lambda it: isinstance(it, HasSpec)),
    ("threads", ("threads", "ThreadExecutor"), lambda it: facts_of(it).releases_gil),
)
"""Name, where its class is, and which tokenizers it suits; besides "serial", which suits all."""


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [TokenizerSource(name, _loader(name), automatic=name in AUTOMATIC) for name in ADAPTERS]


@hookimpl
def tokpar_executors() -> list[ExecutorKind]:
    kinds = [ExecutorKind(name, _executor(*where), suits) for name, where, suits in EXECUTORS]
    return [*kinds, ExecutorKind("serial", lambda workers: SerialExecutor(), lambda it: True)]


@hookimpl
def tokpar_splitters() -> list[SplitterKind]:
    splitters = import_module("tokpar.builtin_parts").SPLITTERS
    return [SplitterKind(name, build) for name, build in splitters.items()]


@hookimpl
def tokpar_mergers() -> list[MergerKind]:
    mergers = import_module("tokpar.builtin_parts").MERGERS
    return [MergerKind(name, build) for name, build in mergers.items()]


@hookimpl
def tokpar_strategies() -> list[Strategy]:
    return [import_module(f"tokpar.methods.{name}").STRATEGY for name in METHODS]


def _loader(name: str) -> Callable[..., TokenizerAdapter | None]:
    # that of Hugging Face's asks which tokenizers is installed
    module = f"tokpar.adapters.{'hf_lines' if name == 'huggingface' else name}"

    def load(source: object, **settings: Any) -> TokenizerAdapter | None:
        adapter: TokenizerAdapter | None = import_module(module).load(source, **settings)
        return adapter

    return load


def _executor(module: str, name: str) -> Callable[[int | None], Executor]:
    def build(workers: int | None) -> Executor:
        executor: Executor = getattr(import_module(f"tokpar.executors.{module}"), name)(workers)
        return executor

    return build
