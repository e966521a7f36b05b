"""The trainer of byte-level BPE vocabularies: ``tokpar.train`` and the command ``tokpar train``.

`corpus.py` divides files and texts at places where pre-tokens end. `merges.py` learns merges from
counts. `trainer.py` counts pre-tokens and combines these steps. `command.py` is the command.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

from tokpar.plugin import Command, hookimpl


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("train", partial(import_module, "tokpar_train.command"))]
