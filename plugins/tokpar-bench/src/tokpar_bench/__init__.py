"""The plugin tokpar-bench: the commands ``tokpar bench`` and ``tokpar tokentree``, and the engine
tokentree."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from tokpar.plugin import Command, ImportedLater, TokenizerSource, hookimpl


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
    load = ImportedLater("tokpar_bench.tokentree_engine", "load")
    return [TokenizerSource("tokentree", load, automatic=False)]
