"""Texts that the compiled call encodes, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tokpar

ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog over the fox. " * 90
DIVIDED = "divided at every space"


def encoded(texts: Sequence[str], adapter: Any) -> Any:
    """As an Encoder does; twice, so that the second time the call knows the texts."""
    encoder = tokpar.Encoder(adapter, workers=2)
    encoder.prepare()
    first, second = (encoder.encode_batch([*texts]) for _ in "12")
    for one, two in zip(first, second, strict=True):
        assert one.ids.tolist() == two.ids.tolist()
    return second
