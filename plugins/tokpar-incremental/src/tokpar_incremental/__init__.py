"""The plugin tokpar-incremental: the engine incremental."""

from __future__ import annotations

from typing import Any

from tokpar.plugin.tokenizer import TokenizerAdapter, TokenizerSource, hookimpl


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """The engine incremental. It is loaded by name only, because it is slow to load."""
    return [TokenizerSource("incremental", load_incremental, automatic=False)]


def load_incremental(source: object, **settings: Any) -> TokenizerAdapter | None:
    """Call `adapter.load`. Its module is imported only here, when the engine is used."""
    from tokpar_incremental.adapter import load

    return load(source, **settings)
