"""The plugin tokpar-pure: the engine pure, tokenizers in plain Python."""

from __future__ import annotations

from tokpar.plugin import ImportedLater, TokenizerSource, hookimpl


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """The engine pure. It is loaded by name only, because the other engines are faster."""
    load = ImportedLater("tokpar_pure.adapter", "load")
    return [TokenizerSource("pure", load, automatic=False)]
