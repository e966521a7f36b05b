"""Texts that arrive in chunks, and which ids have come after each chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import tokpar


def flat(arrays: Iterable[np.ndarray]) -> list[int]:
    """All ids, and a check of the arrays themselves."""
    ids: list[int] = []
    for array in arrays:
        assert array.dtype == np.uint32
        assert array.shape != (0,)
        ids += array.tolist()
    return ids


def cut(text: str, sizes: Iterable[int]) -> list[str]:
    """`text` in chunks of these sizes, the last as long as it takes."""
    chunks, place = [], 0
    for size in sizes:
        chunks.append(text[place : place + size])
        place += size
    return [*chunks, text[place:]]


SIZES = st.lists(st.sampled_from((0, 1, 1, 1, 2, 3, 7, 20, 100)), max_size=80)


def chunks_of(data: st.DataObject, text: str) -> list[str]:
    if data.draw(st.booleans(), label="one by one"):
        return list(text)
    return cut(text, data.draw(SIZES, label="sizes"))


def recorded(chunks: Iterable[str], taken: list[str]) -> Iterator[str]:
    for chunk in chunks:
        taken.append(chunk)
        yield chunk


def arrivals(chunks: Sequence[str], tokenizer: Any) -> list[int]:
    """How many ids are out after each chunk; they are those of the serial encode's beginning."""
    expected = tokpar.load(tokenizer).encode("".join(chunks)).tolist()
    after = [0] * len(chunks)
    taken: list[str] = []
    ids: list[int] = []
    for array in tokpar.stream(recorded(chunks, taken), tokenizer):
        ids += array.tolist()
        assert ids == expected[: len(ids)]
        for chunk in range(len(taken) - 1, len(chunks)):
            after[chunk] = len(ids)
    assert ids == expected
    return after
