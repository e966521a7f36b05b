"""The tables of windows, and those that are stored for known families (Theorems 40 to 44)."""

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
"""Symbols of a text."""


@dataclass(frozen=True, eq=False)
class WindowTables:
    """The decision for all widths; `n` symbols.

    `left`     (left sets, n) int32: the set behind a symbol; set 0 is everything, 1 a text's start
    `cut`      (left sets, n) int32: the threats if the cut is here and the symbol follows
    `right`    (threat sets, n) int32: the threats behind one symbol more; set 0 is refuted
    `certain`  (threat sets,) bool: none of the threats can come true any more
    """

    left: TableArray
    cut: TableArray
    right: TableArray
    certain: npt.NDArray[np.bool_]

    def holds(self, left: Word, right: Word, start: int = 0) -> bool:
        """Whether the window certifies its cut; `start` 1 if it begins where the text, or a chunk
        behind a certified cut, begins (Theorem 44)."""
        here = start
        for c in left:
            here = int(self.left[here, c])
        threats = int(self.cut[here, right[0]])
        for d in right[1:]:
            threats = int(self.right[threats, d])
        return bool(self.certain[threats])


@dataclass(frozen=True, eq=False)
class Decided:
    """The windows of a pattern. `symbol_of` (0x110000,) uint8; the symbol `size` is a code point
    about which nothing is known. `proof`: where checkers find what proves them; the name of a
    family, or the sha256, in hex, of what was handed over (`Facts.proofs`). `unbroken`: sets of
    symbols of which every text that ends with one of the second is one pre-token."""

    symbol_of: SymbolArray
    size: int
    tables: WindowTables
    proof: tuple[str, str]
    unbroken: tuple[tuple[bytes, bytes], ...] = ()


@lru_cache(maxsize=16)
def stored_windows(family: str, engine: str, patterns: tuple[str, ...]) -> Decided | None:
    """The windows of a family as `engine` runs these patterns, of the frozen code points; None if
    it is not known so."""
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
    unbroken = tuple((bytes(chars), bytes(lasts)) for chars, lasts in entry["unbroken"])
    return Decided(symbol_of, entry["size"], tables, ("family", family), unbroken)
