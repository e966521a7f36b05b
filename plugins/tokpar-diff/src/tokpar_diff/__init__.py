"""Compare tokenizers: the command ``tokpar diff``, `diff` and `same_vocabulary`.

`rows.py` asks a tokenizer of this or another Python, `sides.py` opens it and reads its canonical
form. `structure.py` names its parts. `equality.py` argues that a differing part changes nothing,
with `equal_patterns.py` for patterns. `witness_texts.py` makes texts of a structure, `search.py`
compares them and cuts a text down. `compare.py` gives the answer, `baseline.py` keeps rows in a
file."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tokpar.plugin import Command, hookimpl

if TYPE_CHECKING:
    from tokpar_diff.compare import diff as diff
    from tokpar_diff.vocabularies import same_vocabulary as same_vocabulary

_FUNCTIONS = {"diff": "tokpar_diff.compare", "same_vocabulary": "tokpar_diff.vocabularies"}


def __getattr__(name: str) -> Any:
    """Import `diff` and `same_vocabulary` when they are first used: the registry imports this
    module for every plugin command."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'tokpar_diff' has no attribute {name!r}")
    return getattr(import_module(_FUNCTIONS[name]), name)


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("diff", partial(import_module, "tokpar_diff.command"))]
