"""The conformance kit: an author's whole test is ``check_tokenizer(MyTokenizer())``.

Each `check_*` runs all checks of a contract on hostile and drawn texts and raises one
ConformanceError that names each failed check with the smallest text that shows it. The command is
`tokpar conform`.

`api.py` lists what is public. It is imported when a program asks for one of its names, not when
tokpar looks for the commands of its plugins.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tokpar.plugin import Command, hookimpl

if TYPE_CHECKING:
    from tokpar_conformance.api import *  # noqa: F403


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("conform", _command)]


def _command() -> Any:
    """Returns the module of the command. Raises OptionError if hypothesis is missing."""
    from tokpar.process.optional_packages import (
        optional_package,  # the kit itself asks for no command
    )

    optional_package("hypothesis", "tokpar conform")
    return import_module("tokpar_conformance.command")


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("tokpar_conformance.api"), name)
