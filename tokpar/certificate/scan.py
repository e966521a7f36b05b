"""The pre-tokens of a text by the library `regex`, on characters that all engines read alike.

The engines are not asked: a scan that agrees with them where it must (correction 0'.1) can be made
of any part of a text, which is what rules inside a pre-token need.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tokpar.certificate.tables import load_pictographs, load_tables
from tokpar.kernels import IntArray
from tokpar.types import Facts


class Scanner:
    """Finds pre-tokens as one tokenizer does, whose scheme is "regex" (of a known family) or
    "whole". The texts must hold no added token."""

    def __init__(self, facts: Facts) -> None:
        self._whole = facts.scheme == "whole"
        self._sources = facts.patterns

    def edges(self, text: str) -> IntArray | None:
        """Where pre-tokens begin, and the end: "Hi you" -> [0, 2, 6]; int64, code points. None if
        engines may differ on a character."""
        if self._whole:
            return np.array([0, len(text)], dtype=np.int64)
        if not _agreed().fullmatch(text):
            return None
        edges = [0, len(text)]
        for pattern in _compiled(self._sources):
            edges = sorted({*edges, *_found(pattern, text, edges)})
        return np.array(edges, dtype=np.int64)

    def is_one(self, text: str) -> bool:
        """The text, alone, is one pre-token."""
        edges = self.edges(text)
        return edges is not None and len(edges) == 2


def _found(pattern: Any, text: str, edges: list[int]) -> Iterator[int]:
    """Both ends of each match inside the pieces so far; gaps between matches are pieces too."""
    for start, stop in pairwise(edges):
        for match in pattern.finditer(text, start, stop):
            yield from match.span()


@functools.lru_cache(maxsize=32)
def _compiled(sources: tuple[str, ...]) -> list[Any]:
    import regex

    # `$` is the very end in fancy-regex; here it is also the place before a last "\n"
    return [regex.compile(p.replace(r"\s++$", r"\s++\Z"), regex.VERSION0) for p in sources]


@functools.cache
def _agreed() -> re.Pattern[str]:
    tables = load_tables()
    ranges = [*zip(tables.lows, tables.highs, strict=True), *load_pictographs()]
    return re.compile("[" + "".join(f"\\U{lo:08x}-\\U{hi:08x}" for lo, hi in ranges) + "]*")
