"""Pieces of a text by an engine's own pre-tokenizer."""

from __future__ import annotations

from tests.support.tokenizers_drawn import ByteLevelSpec, build


def engine_pieces(family: str, text: str) -> set[int]:
    """Pre-token boundaries by Oniguruma."""
    found = build(ByteLevelSpec(family)).pre_tokenizer.pre_tokenize_str(text)
    return {0, len(text), *(p for _, span in found for p in span)}
