"""Finds all cuts of a text that a window certifies, by tables (Theorems 40 to 44): linear time.

A pair of characters settles most places. Wider windows are read where it leaves something open,
and then the text behind each cut, which tells all that stands before a place (Theorem 44).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokpar.cuts.window_tables import (
    BEGIN,
    EVERYWHERE,
    OPEN,
    SURE,
    BoolArray,
    SymbolArray,
    WindowFinder,
)

IntArray = npt.NDArray[np.int64]
WidthArray = npt.NDArray[np.uint8]

LEFT, RIGHT = 8, 8
"""Characters of a window on either side of its cut, at most."""
_ANCHORED = 255
_BLOCK = 1 << 17
_LOCKSTEP = 48


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


def find_cuts(
    finder: WindowFinder, text: str, left: int = LEFT, right: int = RIGHT, anchored: bool = True
) -> Cuts:
    """All cuts of a text that windows of up to `left` (at most 254) and `right` characters certify,
    and if `anchored` those by the whole text behind an earlier cut. There are none if the text
    holds a surrogate."""
    symbols = finder.symbols(text)
    none = np.zeros(0, np.int64)
    if finder.size in symbols:
        return Cuts(none, none)
    widths = find_certified(finder, symbols, left, right, anchored)
    positions = np.flatnonzero(widths)
    used = widths[positions]
    reach = np.maximum(positions - used, 0)
    far = positions[used == _ANCHORED]
    reach[used == _ANCHORED] = np.maximum(_anchors_of(far, positions[used == 1]) - 1, 0)
    return Cuts(positions, reach)


def _anchors_of(places: IntArray, sure: IntArray) -> IntArray:
    """The nearest anchor before each place: a cut that a pair certifies, or the text's start."""
    anchors = np.concatenate(([0], sure))
    found: IntArray = anchors[np.searchsorted(anchors, places, side="right") - 1]
    return found


def find_certified(
    finder: WindowFinder,
    symbols: SymbolArray,
    left: int,
    right: int,
    anchored: bool,
) -> WidthArray:
    """For each place 0..n how many characters on its left a proof of its cut looks at, 255 for all
    from an anchor on, or 0 for no proof; shape (n + 1,)."""
    n = len(symbols)
    status = pair_status(finder, symbols)
    widths = np.zeros(n + 1, np.uint8)
    widths[1:n] = status == SURE
    if left + right > 2:
        for low in range(0, n - 1, _BLOCK):
            places = np.flatnonzero(status[low : low + _BLOCK] == OPEN) + (low + 1)
            if left > 1 and right > 1:
                places = settle_quads(finder, symbols, places, status, widths)
            held = behind_window(finder, symbols, places, left)
            certain = places[settle(finder, symbols, places, held, right)]
            # 1 is for pairs alone: an anchor's window must not reach far to the right
            widths[certain] = max(left, 2)
            status[certain - 1] = SURE
    if anchored:
        places = np.flatnonzero(status == OPEN) + 1
        behind_anchors(finder, symbols, places, right, widths)
    return widths


def settle_quads(
    finder: WindowFinder,
    symbols: SymbolArray,
    places: IntArray,
    status: npt.NDArray[np.uint8],
    widths: WidthArray,
) -> IntArray:
    """Settle places by two characters on either side; those that are left. Writes into `status` and
    `widths`."""
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
    widths[inner[found == SURE]] = 2
    left: IntArray = places[status[places - 1] == OPEN]
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
    held = np.full(len(places), EVERYWHERE, np.int32)
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


def open_behind_anchors(
    finder: WindowFinder, symbols: SymbolArray, start: int, begins: bool, right: int
) -> IntArray:
    """Places from `start` on that pairs leave open and an anchor certifies; ascending. `begins`: a
    text begins with these symbols, which is an anchor."""
    status = pair_status(finder, symbols)
    places = np.flatnonzero(status == OPEN) + 1
    places = places[np.searchsorted(places, start) :]
    sure = np.flatnonzero(status == SURE) + 1
    if not begins:
        places = places[np.searchsorted(places, sure[0]) :] if len(sure) else places[:0]
    widths = np.zeros(len(symbols) + 1, np.uint8)
    widths[sure] = 1
    behind_anchors(finder, symbols, places, right, widths)
    return np.flatnonzero(widths == _ANCHORED)


def behind_anchors(
    finder: WindowFinder,
    symbols: SymbolArray,
    places: IntArray,
    right: int,
    widths: WidthArray,
) -> None:
    """Settle the open places from the nearest anchor before them: the beginning of the text, or a
    cut that the characters at its two sides certify. Writes into `widths`."""
    if not len(places):
        return
    starts, firsts = np.unique(_anchors_of(places, np.flatnonzero(widths == 1)), return_index=True)
    stops = places[np.append(firsts[1:], len(places)) - 1]
    pending = np.zeros(len(symbols) + 1, np.bool_)
    pending[places] = True
    held = np.full(len(starts), BEGIN, np.int32)
    here = starts.copy()
    for _ in range(_LOCKSTEP):
        held = finder.tables.left[held, symbols[here]]
        here = here + 1
        asked = np.flatnonzero(pending[here])
        certain = asked[settle(finder, symbols, here[asked], held[asked], right)]
        widths[here[certain]] = _ANCHORED
        going = here < stops
        if not going.any():
            return
        starts, stops, held, here = starts[going], stops[going], held[going], here[going]
    for p, stop, state in zip(here.tolist(), stops.tolist(), held.tolist(), strict=True):
        _long_lane(finder, symbols, pending, (p, stop), state, right, widths)


def _long_lane(
    finder: WindowFinder,
    symbols: SymbolArray,
    pending: BoolArray,
    span: tuple[int, int],
    state: int,
    right: int,
    widths: WidthArray,
) -> None:
    """The rest of one long stretch, a character at a time."""
    here, stop = span
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
    widths[places[certain]] = _ANCHORED
