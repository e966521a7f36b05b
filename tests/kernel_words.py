"""What `words.h` has, in Python: `p` is a memoryview of bytes, `found` and `words` of uint64."""

from __future__ import annotations

from collections.abc import Sequence


def word_at(p: bytes, i: int) -> int:
    return int.from_bytes(p[i : i + 8], "little")


def fetch(words: Sequence[int], i: int) -> None:
    """What the processor may know beforehand."""


def spaces_at(p: bytes, lo: int, hi: int, found: list[int], wide: list[int]) -> int:
    count = 0
    for i in range(lo, hi):
        if p[i] == 32 and p[i - 1] != 32 and not 9 <= p[i - 1] <= 13:
            found[count] = i
            count += 1
            wide[0] |= p[i - 1] >> 7
    return count


def utf8_of(text: str, size: list[int]) -> bytes:
    data = text.encode()
    size[0] = len(data)
    return data
