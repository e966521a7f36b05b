"""SentencePiece's table of replacements, as the normalizer Precompiled has it.

Bytes: the length of a double array (Darts, little-endian words of 32 bits), the array, and the
replacements, each ended by a zero byte."""

from __future__ import annotations

import base64
from functools import lru_cache

import numpy as np


class Charsmap:
    """What such a table makes of single characters; one that cannot be read keeps none."""

    def __init__(self, encoded: str) -> None:
        self._units, self._replacements = _parts(encoded)

    def keeps(self, char: str) -> bool:
        """Whether it certainly leaves a character that stands for itself as it is."""
        return self.image(char) == char

    def image(self, char: str) -> str | None:
        """What it makes of such a character, or None if that is not certain."""
        try:
            place = self._first(char.encode())
        except IndexError:
            return None
        if place is None:
            return char if self._units else None
        return self._replacements[place:].split(b"\0", 1)[0].decode(errors="replace")

    def _first(self, key: bytes) -> int | None:
        """Where the replacement of the shortest key that these bytes begin with is."""
        units = self._units
        if not units:
            return None
        node = _offset(units[0])
        for byte in key:
            node ^= byte
            unit = units[node]
            if unit & 0x800000FF != byte:
                return None
            node ^= _offset(unit)
            if unit >> 8 & 1:
                return units[node] & 0x7FFFFFFF
        return None


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


@lru_cache(maxsize=8)
def _parts(encoded: str) -> tuple[list[int], bytes]:
    try:
        blob = base64.b64decode(encoded, validate=True)
    except ValueError:
        return [], b""
    size = int.from_bytes(blob[:4], "little")
    if size % 4 or len(blob) < 4 + size:
        return [], b""
    units: list[int] = np.frombuffer(blob, "<u4", size // 4, 4).tolist()
    return units, blob[4 + size :]
