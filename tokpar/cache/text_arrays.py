"""Many texts as arrays: how long each is, and their bytes, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.cache import compiled
from tokpar.errors import OptionError

PAD = 16
"""Bytes behind the last row: words are read at once."""


def lengths_of(texts: Sequence[str], functions: Any = compiled.SEGMENTS) -> IntArray:
    """Code points of each text. OptionError for what is no str."""
    found = np.empty(len(texts), dtype=np.int64)
    if functions is not None:
        wrong = functions.lengths(texts if type(texts) is list else list(texts), found)
    else:
        wrong = next((k for k, text in enumerate(texts) if not isinstance(text, str)), -1)
        if wrong < 0:
            found[:] = [*map(len, texts)]
    if wrong >= 0:
        raise OptionError(f"text {wrong} must be a str, got {type(texts[wrong]).__name__}")
    return found


def utf8_rows(
    texts: Sequence[str], size: int, functions: Any
) -> tuple[NDArray[np.uint8], IntArray]:
    """All texts, one behind the other, 16 bytes behind them, and where each begins and the last one
    ends, bytes. `size`: their code points. UnicodeEncodeError for lone surrogates."""
    rows = np.empty(len(texts) + 1, dtype=np.int64)
    data = np.empty(size + size // 16 + PAD, dtype=np.uint8)
    total = functions.written(list(texts), rows, data)
    if total + PAD > len(data):
        data = np.empty(total + PAD, dtype=np.uint8)
        functions.written(list(texts), rows, data)
    data[total : total + PAD] = 0
    return data, rows
