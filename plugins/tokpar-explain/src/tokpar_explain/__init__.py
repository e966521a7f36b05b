"""The plugin tokpar-explain: the command ``tokpar explain``.

`trace.py` encodes a text and keeps the chunks and pieces of the merger. `seam.py` describes one
seam, of the parts in `rows.py`. `terminal.py` and `page.py` show the description. `edit.py` shows
one edit of a session. `command.py` is the command."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from tokpar.plugin import Command, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("explain", partial(import_module, "tokpar_explain.command"))]
