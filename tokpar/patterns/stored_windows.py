"""The pairs of characters that certify a cut, and the stored pairs of known families (theorems 40
to 43)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import load_atoms, load_windows

CODE_POINTS = 0x110000

SymbolArray = npt.NDArray[np.uint8]
PairArray = npt.NDArray[np.bool_]
Word = tuple[int, ...]
"""The symbols of a text."""


@dataclass(frozen=True, eq=False)
class DecidedWindows:
    """The pairs of a pattern.

    `symbol_of`: uint8, (0x110000,); the symbol `size` stands for all unknown code points. `pairs`:
    bool, (size, size): the cut between the two symbols is certified in every text. `proof`: where a
    checker finds the proof of the pairs: the name of a family, or the sha256, in hex, of the proof
    in `Facts.proofs`."""

    symbol_of: SymbolArray
    size: int
    pairs: PairArray
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
    pairs = np.array(entry["pairs"], np.bool_)
    return DecidedWindows(symbol_of, entry["size"], pairs, ("family", family))
