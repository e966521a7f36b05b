"""The ids of documents by the tokenizer's own calls."""

from __future__ import annotations

import tokpar


def own_ids(texts: list[str] | tuple[str, ...], **settings: bool) -> list[list[int]]:
    tokenizer = tokpar.load("default", **settings)
    return [tokpar.encode(text, tokenizer, strategy="serial").ids.tolist() for text in texts]
