"""The plugin tokpar-pure: the engine pure, tokenizers in plain Python."""

from __future__ import annotations

from typing import Any

from tokpar.plugin.tokenizer import TokenizerAdapter, TokenizerSource, hookimpl


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    """The engine pure. It is loaded by name only, because the other engines are faster."""
    return [TokenizerSource("pure", load_pure, automatic=False)]


def load_pure(source: object, **settings: Any) -> TokenizerAdapter | None:
    """Call `adapter.load`. Its module is imported only here, when the engine is used."""
    from tokpar_pure.adapter import load

    return load(source, **settings)
