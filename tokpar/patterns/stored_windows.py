"""Window tables, and the stored window tables of known families (theorems 40 to 44)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import load_atoms, load_windows

CODE_POINTS = 0x110000

SymbolArray = npt.NDArray[np.uint8]
TableArray = npt.NDArray[np.int32]
Word = tuple[int, ...]
"""The symbols of a text."""


@dataclass(frozen=True, eq=False)
class WindowTables:
    """Tables that decide windows of every width; `n` symbols.

    `left`     (left sets, n) int32: the left set after a symbol; 0: any text, 1: start of a text
    `cut`      (left sets, n) int32: the threat set if the cut is here and the symbol follows
    `right`    (threat sets, n) int32: the threat set after one more symbol; 0: refuted
    `certain`  (threat sets,) bool: no threat of the set can come true any more
    """

    left: TableArray
    cut: TableArray
    right: TableArray
    certain: npt.NDArray[np.bool_]

    def holds(self, left: Word, right: Word, start: int = 0) -> bool:
        """True if the window (left | right) certifies its cut.

        `start` 1: the window begins at the beginning of the text, or at a certified cut
        (theorem 44). `start` 0: any text may stand before the window."""
        here = start
        for c in left:
            here = int(self.left[here, c])
        threats = int(self.cut[here, right[0]])
        for d in right[1:]:
            threats = int(self.right[threats, d])
        return bool(self.certain[threats])


@dataclass(frozen=True, eq=False)
class DecidedWindows:
    """The windows of a pattern.

    `symbol_of`: uint8, (0x110000,); the symbol `size` stands for all unknown code points. `proof`:
    where a checker finds the proof of the windows: the name of a family, or the sha256, in hex, of
    the proof in `Facts.proofs`."""

    symbol_of: SymbolArray
    size: int
    tables: WindowTables
    proof: tuple[str, str]


@lru_cache(maxsize=16)
def stored_windows(family: str, engine: str, patterns: tuple[str, ...]) -> DecidedWindows | None:
    """The stored windows of a family for this engine and these patterns, or None.

    They cover the frozen code points."""
    for entry in load_windows(family):
        if {"engine": engine, "patterns": [*patterns]} in entry["sources"]:
            break
    else:
        return None
    symbol_of = np.full(CODE_POINTS, entry["size"], np.uint8)
    for name, symbol in entry["symbols"].items():
        for low, high in load_atoms()[name]:
            symbol_of[low : high + 1] = symbol
    for char, symbol in entry["apart"].items():
        symbol_of[ord(char)] = symbol
    left, cut, right = (np.array(entry[name], np.int32) for name in ("left", "cut", "right"))
    tables = WindowTables(left, cut, right, np.array(entry["certain"], np.bool_))
    return DecidedWindows(symbol_of, entry["size"], tables, ("family", family))
