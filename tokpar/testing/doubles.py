"""Tokenizers that the kit itself brings: one of which nothing is known, and one that fails or
waits. The second can be built again in another process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import IdArray, SpanArray, byte_starts
from tokpar.types import Piece, Rows

FAILS = "\x07"


@dataclass(frozen=True)
class Unknown:
    """Ids that depend on the whole text: "ab" -> [97 + 2, 98 + 2]. It tells no facts, so it may
    never be split."""

    name: str = "unknown"

    def encode(self, text: str) -> IdArray:
        return np.array([ord(character) + len(text) for character in text], dtype=np.uint32)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        return Rows.of(map(self.encode, texts))


@dataclass(frozen=True)
class Letters:
    """One id per code point, and a ValueError for a text with FAILS that shows the text. `seconds`
    of sleep before each text let other threads in."""

    seconds: float = 0.0
    name: str = "letters"

    def encode(self, text: str) -> IdArray:
        if self.seconds:
            time.sleep(self.seconds)
        if FAILS in text:
            raise ValueError(f"cannot encode {text!r}")
        return np.array([ord(character) for character in text], dtype=np.uint32)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        starts = byte_starts(text)
        return np.stack([starts[:-1], starts[1:]], axis=1)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        found = [self.encode(text) for text in texts]
        return Rows.of_pieces(
            [
                Piece(ids, self.locate(ids, text) if spans else None)
                for ids, text in zip(found, texts, strict=True)
            ]
        )

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], dict[str, Any]]:
        return Letters, {"seconds": self.seconds}
