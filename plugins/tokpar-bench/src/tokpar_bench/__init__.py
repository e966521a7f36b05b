"""The plugin tokpar-bench: the commands ``tokpar bench`` and ``tokpar tokentree``, and the engine
tokentree."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from tokpar.plugin import Command
from tokpar.plugin.tokenizer import TokenizerAdapter, TokenizerSource, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [
        Command("bench", partial(import_module, "tokpar_bench.command")),
        Command("tokentree", partial(import_module, "tokpar_bench.tokentree_command")),
    ]


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """The engine tokentree. It is loaded by name only, because its ids approximate the ids of the
    file."""
    return [TokenizerSource("tokentree", load_tokentree, automatic=False)]


def load_tokentree(source: object, **settings: Any) -> TokenizerAdapter | None:
    """Call `tokentree_engine.load`. Its module is imported only here, when the engine is used."""
    from tokpar_bench.tokentree_engine import load

    return load(source, **settings)
