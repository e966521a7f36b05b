"""Registers tokpar's own engines, strategies and executors, by the same hooks that a plugin uses.

Engines and thread pools are imported when a caller first uses them. The keyword parameters of a
strategy's, splitter's or merger's builder are its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from tokpar.contract.adapter import later_call_of, traits_of
from tokpar.contract.interfaces import (
    EncodesMany,
    HasSpec,
    Merger,
    Splitter,
    TokenizerAdapter,
)
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.registry.hooks import (
    Command,
    ExecutorKind,
    ImportedLater,
    MergerKind,
    SplitterKind,
    Strategy,
    TokenizerSource,
    hookimpl,
)

COMMANDS = (
    *("check", "chunks", "count", "decode", "encode"),
    *("plan", "plugins", "strategies", "stream", "try"),
)
# that of Hugging Face's asks which tokenizers is installed
ADAPTERS = {"huggingface": "hf_version", "tiktoken": "tiktoken"}
EXECUTORS: tuple[tuple[str, tuple[str, str], Callable[[TokenizerAdapter], bool]], ...] = (
    (
        "memo",
        ("native", "CachedExecutor"),
        lambda it: later_call_of(it) is not None,
    ),
    ("native", ("native", "NativeExecutor"), lambda it: isinstance(it, EncodesMany)),
    ("processes", ("processes", "ProcessExecutor"), lambda it: isinstance(it, HasSpec)),
    ("threads", ("threads", "ThreadExecutor"), lambda it: traits_of(it).releases_gil),
)
"""Name, where its class is, and which tokenizers it suits; besides "serial", which suits all."""


def _method(module: str, name: str = "build") -> ImportedLater:
    return ImportedLater(f"tokpar.methods.{module}", name)


def _merger(name: str) -> ImportedLater:
    return ImportedLater("tokpar.methods.mergers", name)


_PAPER = (("acceptance", "paper"),)
STRATEGIES = (
    Strategy(
        "auto",
        True,
        "tokpar",
        "none: what cannot be proved is encoded serially, and the report says why",
        _method("cut"),
    ),
    Strategy(
        "cut",
        True,
        "theorems 14, 20, 29 and 40-43 (proofs/), pair-local rules 4.8, absorb rule 6.4",
        "a known pre-tokenizer (GPT-2, cl100k, o200k, Qwen2, Llama-3, DeepSeek-V3, Tekken, "
        "BERT, Metaspace, Llama-style SentencePiece-BPE), a pattern whose pairs can be decided "
        "(PAIR), or added tokens in the text (EDGE); anything else is encoded serially",
        _method("cut"),
    ),
    Strategy(
        "lopt",
        True,
        "LoPT: Lossless Parallel Tokenization (arXiv 2511.04952), its acceptance replaced",
        "as for auto; acceptance='paper' is the published test, which is approximate",
        _method("lopt"),
        _PAPER,
    ),
    Strategy(
        "serial", True, "the tokenizer itself", "none: the text is not cut", _method("serial")
    ),
)
SPLITTERS: Mapping[str, Callable[..., Splitter]] = {
    "auto": _method("cut", "CutSplitter"),
    "cut": _method("cut", "CutSplitter"),
    "lopt": _method("lopt", "build_splitter"),
    "serial": _method("serial", "OneChunk"),
}
MERGERS: Mapping[str, Callable[..., Merger]] = {
    "certified": _merger("build_certified"),
    "cut": _method("cut", "CutMerger"),
    "match": _merger("build_match"),
}


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [
        TokenizerSource(name, ImportedLater(f"tokpar.adapters.{module}", "load"))
        for name, module in ADAPTERS.items()
    ]


@hookimpl
def tokpar_executors() -> list[ExecutorKind]:
    kinds = [
        ExecutorKind(name, ImportedLater(f"tokpar.executors.{module}", made), suits)
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
    return list(STRATEGIES)


@hookimpl
def tokpar_commands() -> list[Command]:
    other = {"chunks": "show_chunks", "plan": "show_plan", "try": "trial"}
    modules = {name: name for name in COMMANDS} | other
    return [
        Command(name, partial(import_module, f"tokpar.cli.{module}"))
        for name, module in modules.items()
    ]
