"""What every plugin needs: the hooks, and the registry. Three doors have the rest.

``tokpar.plugin.split`` is for splitters, ``tokpar.plugin.merge`` for mergers, and
``tokpar.plugin.tokenizer`` for tokenizers and executors. Errors, `Rows` and `Seam` are in
``tokpar``. A plugin needs nothing else of tokpar. No door imports an engine."""

from __future__ import annotations

from tokpar.hooks import Command, Strategy, hookimpl
from tokpar.registry import registry

__all__ = ["Command", "Strategy", "hookimpl", "registry"]
