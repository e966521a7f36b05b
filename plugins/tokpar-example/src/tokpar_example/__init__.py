"""A tokenizer of one id per code point, for files that end in ``.letters``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tokpar.hooks import hookimpl
from tokpar.interfaces import TokenizerAdapter, TokenizerSource
from tokpar.kernels import IdArray, SpanArray, byte_starts


class Letters:
    """Ids are code points, from `first` on. It tells no facts, so it is never split."""

    name = "letters"

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def encode(self, text: str) -> IdArray:
        return np.array([self.first + ord(letter) for letter in text], dtype=np.uint32)

    def decode(self, ids: Any) -> str:
        return "".join(chr(int(id_) - self.first) for id_ in ids)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        starts = byte_starts(text)
        return np.stack([starts[:-1], starts[1:]], axis=1)

    def spec(self) -> tuple[type[Letters], dict[str, Any]]:
        return Letters, {"first": self.first}


def load(source: object, **settings: Any) -> TokenizerAdapter | None:
    """The tokenizer of a ``.letters`` file, which holds the first id; None for anything else."""
    if not isinstance(source, (str, Path)) or not str(source).endswith(".letters"):
        return None
    return Letters(int(Path(source).read_text(encoding="utf-8")))


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [TokenizerSource("letters", load)]
