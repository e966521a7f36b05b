"""The plugin tokpar-incremental: the engine incremental."""

from __future__ import annotations

from tokpar.plugin import ImportedLater, TokenizerSource, hookimpl


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """The engine incremental. It is loaded by name only, because it is slow to load."""
    load = ImportedLater("tokpar_incremental.adapter", "load")
    return [TokenizerSource("incremental", load, automatic=False)]
