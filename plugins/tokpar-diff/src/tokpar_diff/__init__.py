"""The plugin tokpar-diff: the command ``tokpar diff``, and the functions `diff` and
`same_vocabulary`.

`rows.py` asks a tokenizer of this or another Python, `sides.py` opens a tokenizer for a comparison,
`witness_texts.py` makes texts of its structure. `baseline.py` writes the rows of these texts and
compares them later. `command.py` is the command."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from tokpar.plugin import Command, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("diff", partial(import_module, "tokpar_diff.command"))]
