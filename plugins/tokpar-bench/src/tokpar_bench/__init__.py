"""The laboratory of tokpar: the commands ``tokpar bench`` and ``tokpar tokentree``."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from tokpar.plugin import Command, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [
        Command("bench", partial(import_module, "tokpar_bench.command")),
        Command("tokentree", partial(import_module, "tokpar_bench.tokentree_command")),
    ]
