"""Read SentencePiece's replacement table, as in the normalizer Precompiled.

The bytes are: the length of a double array (Darts, little-endian words of 32 bits), the array, and
the replacements. A zero byte ends each replacement."""

from __future__ import annotations

import base64
from functools import lru_cache

import numpy as np


class Charsmap:
    """A replacement table, for single characters. An unreadable table keeps no character."""

    def __init__(self, base64_text: str) -> None:
        self._units, self._replacements = _parts(base64_text)

    @property
    def parts(self) -> tuple[list[int], bytes]:
        """The words of the double array, and the replacements; nothing of an unreadable table."""
        return self._units, self._replacements

    def keeps(self, char: str) -> bool:
        """True if the table certainly leaves the character unchanged when the character is a
        grapheme cluster by itself."""
        return self.image(char) == char

    def image(self, char: str) -> str | None:
        """The replacement of a character that is a whole grapheme cluster; None if uncertain."""
        try:
            place = self._first(char.encode())
        except IndexError:
            return None
        if place is None:
            return char if self._units else None
        return self._replacements[place:].split(b"\0", 1)[0].decode(errors="replace")

    def may_delete(self, beginning: str) -> bool:
        """True if the table may delete a grapheme cluster that begins with `beginning`."""
        try:
            return self._deletes(beginning.encode("utf-8", "replace"))
        except IndexError:
            return True

    def _deletes(self, beginning: bytes) -> bool:
        """True if a key that may apply has an empty replacement.

        The table replaces the shortest key. This key is a prefix of `beginning`, or `beginning` is
        a prefix of the key."""
        units = self._units
        if not units:
            return True
        node = _offset(units[0])
        for byte in beginning:
            child = self._child(node, byte)
            if child is None:
                return False
            node, place = child
            if place is not None:
                return not self._replacement(place)
        open_nodes = [node]
        while open_nodes:
            node = open_nodes.pop()
            for node_behind, place in filter(None, (self._child(node, b) for b in range(1, 256))):
                if place is None:
                    open_nodes.append(node_behind)
                elif not self._replacement(place):
                    return True
        return False

    def _child(self, node: int, byte: int) -> tuple[int, int | None] | None:
        """(node after the byte, offset of its replacement if a key ends there), or None."""
        place = node ^ byte
        unit = self._units[place] if place < len(self._units) else 0
        if unit & 0x800000FF != byte:
            return None
        node = place ^ _offset(unit)
        return node, self._units[node] & 0x7FFFFFFF if unit >> 8 & 1 else None

    def _replacement(self, place: int) -> bytes:
        return self._replacements[place:].split(b"\0", 1)[0]

    def _first(self, key: bytes) -> int | None:
        """The offset of the replacement of the shortest key that is a prefix of `key`, or None."""
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
def _parts(base64_text: str) -> tuple[list[int], bytes]:
    try:
        blob = base64.b64decode(base64_text, validate=True)
    except ValueError:
        return [], b""
    size = int.from_bytes(blob[:4], "little")
    if size % 4 or len(blob) < 4 + size:
        return [], b""
    units: list[int] = np.frombuffer(blob, "<u4", size // 4, 4).tolist()
    return units, blob[4 + size :]
