"""Turns many texts into arrays: their lengths, and their bytes in one buffer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar import kernel_modules
from tokpar.arrays import IntArray, utf8_bytes
from tokpar.cache.utf8_texts import PAD, Utf8Texts
from tokpar.limits import require_text


def plain_texts(
    texts: Sequence[str], functions: Any = kernel_modules.SEGMENTS
) -> tuple[Sequence[str], IntArray]:
    """Returns the texts, those of a subclass of str as plain str, and the code points of each text.

    Raises OptionError for a text that is no str."""
    if isinstance(texts, Utf8Texts):
        return texts, texts.lengths
    found = np.empty(len(texts), dtype=np.int64)
    if functions is not None:
        other = functions.count_code_points(texts if type(texts) is list else list(texts), found)
    else:
        other = next((k for k, text in enumerate(texts) if type(text) is not str), -1)
        if other < 0:
            found[:] = [*map(len, texts)]
    if other >= 0:
        texts = [require_text(text, f"text {k}") for k, text in enumerate(texts)]
        return plain_texts(texts, functions)
    return texts, found


def lengths_of(texts: Sequence[str], functions: Any = kernel_modules.SEGMENTS) -> IntArray:
    """Returns the number of code points of each text. OptionError for a text that is no str."""
    return plain_texts(texts, functions)[1]


def utf8_rows(
    texts: Sequence[str], size: int, functions: Any
) -> tuple[NDArray[np.uint8], IntArray]:
    """Returns the UTF-8 bytes of all texts in one buffer, and where each text begins, and the end.

    At least 16 bytes follow the last text. Positions are bytes. `size`: code points of all texts.
    `Utf8Texts` are mostly not copied. Raises UnicodeEncodeError for lone surrogates."""
    if isinstance(texts, Utf8Texts):
        return texts.rows()
    rows = np.empty(len(texts) + 1, dtype=np.int64)
    data = np.empty(size + size // 16 + PAD, dtype=np.uint8)
    total = functions.write_utf8(list(texts), rows, data)
    if total + PAD > len(data):
        data = np.empty(total + PAD, dtype=np.uint8)
        functions.write_utf8(list(texts), rows, data)
    data[total : total + PAD] = 0
    return data, rows


def utf8_text(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Returns the UTF-8 bytes of a single text, not copied. UnicodeEncodeError as `utf8_rows`."""
    return texts.columns[0].own if isinstance(texts, Utf8Texts) else utf8_bytes(texts[0])


def select_texts(texts: Sequence[str], numbers: IntArray) -> Sequence[str]:
    """Returns the texts with these numbers, ascending."""
    if isinstance(texts, Utf8Texts):
        return texts.select(numbers)
    return [texts[k] for k in numbers.tolist()]


def to_check(
    texts: Sequence[str], forbidden: Collection[str], long: Sequence[int]
) -> Sequence[int]:
    """Returns the numbers of the texts that a tokenizer may refuse, ascending.

    `Utf8Texts` are valid, so a short one is refused only for a `forbidden` string."""
    if isinstance(texts, Utf8Texts):
        return sorted({*long, *texts.find_texts_with(forbidden)})
    return range(len(texts))
