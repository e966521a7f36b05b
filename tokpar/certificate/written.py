"""A text as UTF-8, in which rows of places are looked at together."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.certificate.tables import SPACES
from tokpar.kernels import NO_INTS, IntArray

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
_ENCODED = [char.encode() for char in SPACES]
_WIDE_SPACES = {
    size: np.array([int.from_bytes(code, "big") for code in _ENCODED if len(code) == size])
    for size in (2, 3)
}
_ENDS_SPACE = np.zeros(256, dtype=np.bool_)
"""By its last byte: perhaps white space, and surely if that is ASCII."""
_ENDS_SPACE[[code[-1] for code in _ENCODED]] = True


class Written:
    """One text; its bytes only if it has no lone surrogate."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def broken(self) -> bool:
        """It cannot be written as UTF-8: it has a lone surrogate."""
        try:
            return not isinstance(self.utf8, bytes)
        except UnicodeEncodeError:
            return True

    @cached_property
    def utf8(self) -> bytes:
        """The text's bytes."""
        return self.text.encode()

    @cached_property
    def codes(self) -> Bytes:
        """The same as an array."""
        return np.frombuffer(self.utf8, dtype=np.uint8)

    def at(self, positions: IntArray) -> IntArray:
        """Byte offsets of code points, int64; ascending, none outside the text."""
        if self.text.isascii() or not len(positions):
            return positions
        edges = [0, *positions.tolist()]
        steps = [len(self.text[start:stop].encode()) for start, stop in pairwise(edges)]
        offsets: IntArray = np.cumsum(np.array(steps, dtype=np.int64))
        return offsets

    def position(self, byte: int) -> int:
        """The code point that begins at, or holds, a byte."""
        return len(self.utf8[:byte].decode(errors="ignore"))

    @cached_property
    def spaces(self) -> IntArray:
        """Byte offset of each ASCII space behind a character that is none of the 25 for white
        space."""
        places = np.flatnonzero(self.codes[1:] == ord(" ")) + 1
        return places[~self._behind_space(places)]

    def spaces_inside(self, regions: IntArray) -> IntArray:
        """Those strictly inside one of the regions; (n, 2), bytes, ascending, without overlap."""
        if not len(regions):
            return NO_INTS
        first = np.searchsorted(self.spaces, regions[:, 0], side="right")
        last = np.maximum(first, np.searchsorted(self.spaces, regions[:, 1]))
        if np.array_equal(first[1:], last[:-1]):
            return self.spaces[first[0] : last[-1]]
        return np.concatenate([self.spaces[a:b] for a, b in zip(first, last, strict=True)])

    def _behind_space(self, places: IntArray) -> Mask:
        last = self.codes[places - 1]
        found: Mask = _ENDS_SPACE[last]
        wide = np.flatnonzero(found & (last >= 0x80))
        if len(wide):
            low, middle, high = (
                self.codes[np.maximum(places[wide] - n, 0)].astype(np.int64) for n in (1, 2, 3)
            )
            two, three = (middle << 8) | low, (high << 16) | (middle << 8) | low
            found[wide] = np.isin(two, _WIDE_SPACES[2]) | np.isin(three, _WIDE_SPACES[3])
        return found
