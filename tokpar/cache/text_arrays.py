"""Turns many texts into arrays: their lengths, and their bytes in one buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.cache import compiled
from tokpar.errors import OptionError

PAD = 16
"""Bytes after the last row, because the kernel reads several bytes at once."""


def lengths_of(texts: Sequence[str], functions: Any = compiled.SEGMENTS) -> IntArray:
    """Returns the number of code points of each text. OptionError for a text that is no str."""
    found = np.empty(len(texts), dtype=np.int64)
    if functions is not None:
        wrong = functions.count_code_points(texts if type(texts) is list else list(texts), found)
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
    """Returns the UTF-8 bytes of all texts in one buffer, and where each text begins, and the end.

    16 zero bytes follow the last text. Positions are bytes. `size`: code points of all texts.
    Raises UnicodeEncodeError for lone surrogates."""
    rows = np.empty(len(texts) + 1, dtype=np.int64)
    data = np.empty(size + size // 16 + PAD, dtype=np.uint8)
    total = functions.write_utf8(list(texts), rows, data)
    if total + PAD > len(data):
        data = np.empty(total + PAD, dtype=np.uint8)
        functions.write_utf8(list(texts), rows, data)
    data[total : total + PAD] = 0
    return data, rows
