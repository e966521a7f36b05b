"""The tables of windows, made ready to read texts (Theorems 40 to 44)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokpar.facts.windows import Windows, WindowTables

BoolArray = npt.NDArray[np.bool_]
SymbolArray = npt.NDArray[np.uint8]

EVERYWHERE, BEGIN = 0, 1
"""Left sets: the text may be anything so far; it begins here."""
NEVER, OPEN, SURE = 0, 1, 2
"""What a few characters tell of a cut: no window certifies it, some do, they do themselves."""
_BLOCK = 1 << 17
_MOST_IN_QUADS = 32


@dataclass(frozen=True, eq=False)
class WindowFinder:
    """The tables of one row of Splits, made ready to read texts.

    `symbol_of` (0x110000,) uint8; `size` stands for a code point that is none.
    """

    symbol_of: SymbolArray
    size: int
    tables: WindowTables

    def symbols(self, text: str) -> SymbolArray:
        """The symbol of each character, shape (characters,)."""
        if text.isascii():
            return np.frombuffer(text.encode("ascii").translate(self._ascii), np.uint8)
        found = np.empty(len(text), np.uint8)
        for low in range(0, len(text), _BLOCK):
            block = text[low : low + _BLOCK].encode("utf-32-le", "surrogatepass")
            found[low : low + _BLOCK] = self.symbol_of[np.frombuffer(block, "<u4")]
        return found

    @cached_property
    def _ascii(self) -> bytes:
        return self.symbol_of[:256].tobytes()

    @cached_property
    def pairs(self) -> npt.NDArray[np.uint8]:
        """What a pair of symbols tells of the cut between them: never, open or sure; at the place
        of the first plus 256 times the second, shape (65536,)."""
        tables, n = self.tables, self.size
        found = np.zeros((256, 256), np.uint8)
        for c in range(n):
            behind = np.unique(tables.left[:, c])
            possible = self.possible[tables.cut[behind]].any(axis=0)
            sure = tables.certain[tables.cut[tables.left[EVERYWHERE, c]]]
            found[:n, c] = np.where(sure, SURE, np.where(possible, OPEN, NEVER))
        return found.ravel()

    @cached_property
    def quads(self) -> npt.NDArray[np.uint8] | None:
        """The same of a cut between two symbols and two, shape (size ** 4,), the first counting
        most; None for large alphabets."""
        n, tables = self.size, self.tables
        if n > _MOST_IN_QUADS:
            return None
        found = np.empty((n, n, n, n), np.uint8)
        for a in range(n):
            for b in range(n):
                behind = np.unique(tables.left[tables.left[:, a], b])
                sure = self._behind(tables.left[tables.left[:1, a], b], tables.certain)
                possible = self._behind(behind, self.possible)
                found[a, b] = np.where(sure, SURE, np.where(possible, OPEN, NEVER))
        return found.ravel()

    def _behind(self, sets: npt.NDArray[np.int32], what: BoolArray) -> BoolArray:
        """For each pair of symbols behind a cut: `what` holds of the threats of one of the left
        sets, shape (size, size)."""
        threats = self.tables.cut[sets]
        found = what[threats][..., None] | what[self.tables.right[threats]]
        return np.asarray(found.any(axis=0), np.bool_)

    @cached_property
    def possible(self) -> BoolArray:
        """Threat sets that some text on the right makes certain, shape (threat sets,)."""
        found: BoolArray = self.tables.certain.copy()
        count = -1
        while count != (count := int(found.sum())):
            found |= np.any(found[self.tables.right], axis=1)
        return found

    @cached_property
    def left_rows(self) -> list[list[int]]:
        """`left` as lists, for reading one character at a time."""
        rows: list[list[int]] = self.tables.left.tolist()
        return rows


def window_finder(windows: Windows) -> WindowFinder:
    """The finder for a row of Splits that was decided."""
    return WindowFinder(windows.alphabet.symbol_of, windows.alphabet.size, windows.tables)
