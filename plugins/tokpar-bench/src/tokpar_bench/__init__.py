"""The laboratory of tokpar: the command ``tokpar bench``."""

from __future__ import annotations

from importlib import import_module

from tokpar.plugin import Command, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("bench", lambda: import_module("tokpar_bench.command"))]
