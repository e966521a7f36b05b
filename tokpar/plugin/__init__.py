"""What every plugin needs: the hooks, the records that they return, and the registry.

A plugin's own module, which each process imports, imports this door only, so that it costs nothing
until a part of it is used: `ImportedLater` is a function that imports its module when it is called.
Four doors have what those parts need: ``tokpar.plugin.split`` splitters, ``tokpar.plugin.merge``
mergers, ``tokpar.plugin.overlap`` strategies whose chunks overlap, and ``tokpar.plugin.tokenizer``
tokenizers and executors. Errors, `Rows` and `Seam` are in ``tokpar``. A plugin needs nothing else
of tokpar. No door imports an engine.

Imported by: no room; plugins import it.
Read first: `split.py`.
"""

from __future__ import annotations

from tokpar.registry.hooks import (
    Command,
    ExecutorKind,
    ImportedLater,
    MergerKind,
    SplitterKind,
    Strategy,
    TokenizerSource,
    hookimpl,
)
from tokpar.registry.tables import registry

__all__ = [
    "Command",
    "ExecutorKind",
    "ImportedLater",
    "MergerKind",
    "SplitterKind",
    "Strategy",
    "TokenizerSource",
    "hookimpl",
    "registry",
]
