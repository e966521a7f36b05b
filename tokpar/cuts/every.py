"""Every cut of a text that windows certify, by arrays (Theorems 40 to 44): of what a pair leaves
open, the text behind the last cut of a pair tells the rest."""

from __future__ import annotations

import numpy as np

from tokpar.cuts.windows import (
    BEGIN,
    OPEN,
    SURE,
    BoolArray,
    IntArray,
    StateArray,
    SymbolArray,
    WindowFinder,
    behind_each,
    pair_status,
    settle,
)

_NEAR = 64
"""Characters behind an anchor that are read side by side for all of them; others one by one."""


def every_window(finder: WindowFinder, text: str, ahead: int) -> IntArray:
    """All places, code points, ascending, of a text without added tokens that no stage changes,
    with up to `ahead` characters behind each: all lossless cuts there are behind one Split."""
    symbols = finder.symbols(text)
    told = pair_status(symbols, finder.pairs_and_threes)
    certain = np.append(False, told & 3 == SURE)
    unsure = told & 3 == OPEN
    unsure[1:] &= told[:-1] > 3  # what three characters never certify is left out
    still = np.flatnonzero(unsure) + 1
    anchors = _last_before(still, np.flatnonzero(certain))
    sure = settle(finder, symbols, still, _behind(finder, symbols, anchors, still), ahead)
    certain[still[sure]] = True
    found: IntArray = np.flatnonzero(certain)
    return found


def _last_before(places: IntArray, cuts: IntArray) -> IntArray:
    """The last of ascending cuts before each place, else 0."""
    return np.append(0, cuts)[np.searchsorted(cuts, places)]


def _behind(
    finder: WindowFinder, symbols: SymbolArray, anchors: IntArray, places: IntArray
) -> StateArray:
    """The left set at each place, read from the cut or beginning that is its anchor."""
    held = np.full(len(places), BEGIN, np.int32)
    near: BoolArray = places - anchors <= _NEAR
    rest = np.flatnonzero(near)
    for k in range(_NEAR):
        rest = rest[anchors[rest] + k < places[rest]]
        if not len(rest):
            break
        held[rest] = finder.tables.left[held[rest], symbols[anchors[rest] + k]]
    far = np.flatnonzero(~near)
    starts, firsts = np.unique(anchors[far], return_index=True)
    stops = np.append(firsts, len(far))[1:]
    for start, first, stop in zip(starts, firsts, stops, strict=True):
        own = far[first:stop]
        states = behind_each(finder, BEGIN, symbols[start : places[own[-1]]])
        held[own] = states[places[own] - start - 1]
    return held
