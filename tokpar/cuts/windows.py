"""Finds all cuts of a text that a window certifies, by tables (Theorems 40 to 44): linear time.

A pair of characters settles most places. Wider windows are read where it leaves something open,
and then the text behind each cut, which tells all that stands before a place (Theorem 44).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokpar.facts.windows import Windows, WindowTables

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
SymbolArray = npt.NDArray[np.uint8]

LEFT, RIGHT = 8, 8
"""Characters of a window on either side of its cut, at most."""
_BLOCK = 1 << 17
_LOCKSTEP = 48
_MOST_IN_QUADS = 32
_EVERYWHERE, _BEGIN = 0, 1
_NEVER, _OPEN, _SURE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Cuts:
    """Places where a text may be cut, each by itself; code points, ascending, int64.

    `reach[i]` is the first character that the proof of `positions[i]` looks at. Behind one Split
    all cuts may be made at once (Theorem 43); behind a row, those of `spaced`.
    """

    positions: IntArray
    reach: IntArray

    def spaced(self) -> IntArray:
        """Cuts that may be made at once behind any row of Splits, from left to right: what the
        proof of each looks at lies behind the one before."""
        kept: list[int] = []
        last = 0
        for p, first in zip(self.positions.tolist(), self.reach.tolist(), strict=True):
            if first >= last:
                kept.append(p)
                last = p
        return np.array(kept, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class WindowFinder:
    """The tables of one row of Splits, made ready to read texts.

    `symbol_of` (0x110000,) uint8; `size` stands for a code point that is none.
    """

    symbol_of: SymbolArray
    size: int
    tables: WindowTables

    def find(self, text: str, left: int = LEFT, right: int = RIGHT, anchored: bool = True) -> Cuts:
        """All cuts of a text that windows of up to `left` and `right` characters certify, and if
        `anchored` those by the whole text behind an earlier cut. There are none if the text
        holds a surrogate."""
        symbols = self.symbols(text)
        if self.size in symbols:
            return Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64))
        reach = find_certified(self, symbols, left, right, anchored)
        positions = np.flatnonzero(reach >= 0)
        return Cuts(positions, reach[positions])

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
            sure = tables.certain[tables.cut[tables.left[_EVERYWHERE, c]]]
            found[:n, c] = np.where(sure, _SURE, np.where(possible, _OPEN, _NEVER))
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
                found[a, b] = np.where(sure, _SURE, np.where(possible, _OPEN, _NEVER))
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


def find_certified(
    finder: WindowFinder, symbols: SymbolArray, left: int, right: int, anchored: bool
) -> IntArray:
    """For each place 0..n the first character that a proof of its cut looks at, or -1; shape
    (n + 1,)."""
    n = len(symbols)
    reach = np.full(n + 1, -1, np.int64)
    status = pair_status(finder, symbols)
    sure = np.flatnonzero(status == _SURE) + 1
    reach[sure] = sure - 1
    if left + right > 2:
        for low in range(0, n - 1, _BLOCK):
            places = np.flatnonzero(status[low : low + _BLOCK] == _OPEN) + (low + 1)
            if left > 1 and right > 1:
                places = settle_quads(finder, symbols, places, status, reach)
            held = behind_window(finder, symbols, places, left)
            certain = places[settle(finder, symbols, places, held, right)]
            reach[certain] = np.maximum(certain - left, 0)
            status[certain - 1] = _SURE
    if anchored:
        places = np.flatnonzero(status == _OPEN) + 1
        behind_anchors(finder, symbols, np.concatenate(([0], sure)), places, right, reach)
    return reach


def settle_quads(
    finder: WindowFinder,
    symbols: SymbolArray,
    places: IntArray,
    status: npt.NDArray[np.uint8],
    reach: IntArray,
) -> IntArray:
    """Settle places by two characters on either side; those that are left. Writes into `status` and
    `reach`."""
    quads, n = finder.quads, len(symbols)
    if quads is None:
        return places
    inner = places[np.searchsorted(places, 2) : np.searchsorted(places, n - 1)]
    number = symbols[inner - 2].astype(np.int32)
    for k in (-1, 0, 1):
        number *= finder.size
        number += symbols[inner + k]
    found = quads[number]
    status[inner - 1] = found
    sure = inner[found == _SURE]
    reach[sure] = sure - 2
    left: IntArray = places[status[places - 1] == _OPEN]
    return left


def pair_status(finder: WindowFinder, symbols: SymbolArray) -> npt.NDArray[np.uint8]:
    """What each pair of neighbours tells, shape (n - 1,)."""
    n = len(symbols)
    found = np.zeros(max(0, n - 1), np.uint8)
    held = np.ascontiguousarray(symbols)
    for low in range(0, n - 1, _BLOCK):
        count = min(_BLOCK, n - 1 - low)
        # two neighbours are one number, the second the higher byte
        pairs = np.ndarray((count,), "<u2", held.data, low, (1,))
        np.take(finder.pairs, pairs, out=found[low : low + count], mode="clip")
    return found


def behind_window(
    finder: WindowFinder, symbols: SymbolArray, places: IntArray, left: int
) -> npt.NDArray[np.int32]:
    """The left set at each place, read from everything over up to `left` characters."""
    held = np.zeros(len(places), np.int32)
    for k in range(left, 0, -1):
        inside = places >= k
        moved = finder.tables.left[held, symbols[places - k * inside]]
        held = np.where(inside, moved, held)
    return held


def settle(
    finder: WindowFinder,
    symbols: SymbolArray,
    places: IntArray,
    held: npt.NDArray[np.int32],
    right: int,
) -> BoolArray:
    """Which cuts are certain, given the left sets, with up to `right` characters behind them."""
    tables = finder.tables
    certain = np.zeros(len(places), np.bool_)
    rest = np.arange(len(places))
    threats = tables.cut[held, symbols[places]]
    for k in range(1, right + 1):
        certain[rest[tables.certain[threats]]] = True
        going = (
            finder.possible[threats] & ~tables.certain[threats] & (places[rest] + k < len(symbols))
        )
        if k == right or not going.any():
            break
        rest = rest[going]
        threats = tables.right[threats[going], symbols[places[rest] + k]]
    return certain


def behind_anchors(
    finder: WindowFinder,
    symbols: SymbolArray,
    anchors: IntArray,
    places: IntArray,
    right: int,
    reach: IntArray,
) -> None:
    """Settle the open places from the nearest anchor before them: the beginning of the text, or a
    cut that the characters at its two sides certify. Writes into `reach`."""
    if not len(places):
        return
    own = np.searchsorted(anchors, places, side="right") - 1
    lanes, firsts = np.unique(own, return_index=True)
    starts = anchors[lanes]
    stops = places[np.append(firsts[1:], len(places)) - 1]
    pending = np.zeros(len(symbols) + 1, np.bool_)
    pending[places] = True
    held = np.full(len(starts), _BEGIN, np.int32)
    here = starts.copy()
    for _ in range(_LOCKSTEP):
        held = finder.tables.left[held, symbols[here]]
        here = here + 1
        asked = np.flatnonzero(pending[here])
        certain = asked[settle(finder, symbols, here[asked], held[asked], right)]
        reach[here[certain]] = np.maximum(starts[certain] - 1, 0)
        going = here < stops
        if not going.any():
            return
        starts, stops, held, here = starts[going], stops[going], held[going], here[going]
    for start, stop, state, p in zip(*map(list, (starts, stops, held, here)), strict=True):
        _long_lane(
            finder, symbols, pending, (int(start), int(p), int(stop)), int(state), right, reach
        )


def _long_lane(
    finder: WindowFinder,
    symbols: SymbolArray,
    pending: BoolArray,
    span: tuple[int, int, int],
    state: int,
    right: int,
    reach: IntArray,
) -> None:
    """The rest of one long stretch, a character at a time."""
    start, here, stop = span
    left = finder.left_rows
    asked: list[int] = []
    states: list[int] = []
    wanted = pending[here : stop + 1].tolist()
    for i, c in enumerate(symbols[here:stop].tolist(), 1):
        state = left[state][c]
        if wanted[i]:
            asked.append(here + i)
            states.append(state)
    places = np.array(asked, np.int64)
    certain = settle(finder, symbols, places, np.array(states, np.int32), right)
    reach[places[certain]] = max(start - 1, 0)
