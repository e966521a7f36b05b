"""The laboratory of tokpar: the commands ``tokpar bench`` and ``tokpar tokentree``, and the engine
tokentree."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from tokpar.plugin import Command, TokenizerAdapter, TokenizerSource, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [
        Command("bench", partial(import_module, "tokpar_bench.command")),
        Command("tokentree", partial(import_module, "tokpar_bench.tokentree_command")),
    ]


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """Asked for by name only: its ids approximate those of the file."""
    return [TokenizerSource("tokentree", load_tokentree, automatic=False)]


def load_tokentree(source: object, **settings: Any) -> TokenizerAdapter | None:
    """`tokentree_engine.load`; that module is imported when the engine is asked for."""
    from tokpar_bench.tokentree_engine import load

    return load(source, **settings)
