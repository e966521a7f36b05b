"""Every cut of a text that windows certify, by arrays (Theorems 40 to 44): of what a pair leaves
open, the text behind the last cut of a pair tells the rest."""

from __future__ import annotations

import numpy as np

from tokpar.cuts.window_tables import (
    BEGIN,
    OPEN,
    SURE,
    SURE_BY_TWO,
    IntArray,
    StateArray,
    SymbolArray,
    WindowFinder,
    behind_each,
    pair_status,
    settle,
)

_BLOCK = 1 << 15
"""Characters of a text that are read at a time, so that what is read stays in the cache."""
_NEAR, _FEW = 64, 8
"""Characters behind anchors that are read side by side, farther on only where not few are left."""


def every_window(finder: WindowFinder, text: str, ahead: int) -> IntArray:
    """All places, code points, ascending, of a text without added tokens that no stage changes,
    with up to `ahead` characters behind each: all lossless cuts there are behind one Split."""
    symbols, told = _told(finder, text)
    certain = told >= SURE
    still = np.flatnonzero(told == OPEN)
    anchors = _last_before(still, np.flatnonzero(told == SURE_BY_TWO))
    sure = settle(finder, symbols, still, _behind(finder, symbols, anchors, still), ahead)
    certain[still[sure]] = True
    found: IntArray = np.flatnonzero(certain)
    return found


def _told(finder: WindowFinder, text: str) -> tuple[SymbolArray, SymbolArray]:
    """The symbols, and what each makes of the cut before it with the two that stand there, the
    second with the one."""
    symbols, told = np.zeros(len(text), np.uint8), np.zeros(len(text), np.uint8)
    second = pair_status(finder.symbols(text[:2]), finder.pairs)
    told[1:2] = np.where(second == SURE, SURE_BY_TWO, second)
    kinds, answers = finder.threes
    pairs = np.empty((_BLOCK, 2), np.uint8)
    for start in range(0, len(text), _BLOCK):
        stop = min(start + _BLOCK, len(text))
        symbols[start:stop] = finder.symbols(text[start:stop])
        first = min(max(start, 2), stop)
        pairs[: stop - first, 0] = pair_status(symbols[first - 2 : stop - 1], kinds)
        pairs[: stop - first, 1] = symbols[first:stop]
        answers.take(pairs.view("<u2")[: stop - first, 0], mode="clip", out=told[first:stop])
    return symbols, told


def _last_before(places: IntArray, cuts: IntArray) -> IntArray:
    """The last of ascending cuts before each place, else 0."""
    return np.append(0, cuts)[np.searchsorted(cuts, places)]


def _behind(
    finder: WindowFinder, symbols: SymbolArray, anchors: IntArray, places: IntArray
) -> StateArray:
    """The left set at each place, read from the cut or beginning that is its anchor. Stretches from
    an anchor to its last place are read side by side, long ones first; the last few one by one."""
    firsts = np.flatnonzero(np.diff(anchors, prepend=-1))
    starts, sizes = anchors[firsts], np.diff(firsts, append=len(places))
    lengths = places[firsts + sizes - 1] - starts
    order = np.argsort(-lengths)
    starts, lengths = starts[order], lengths[order]
    offsets = np.cumsum(lengths) - lengths
    read, held = np.empty(lengths.sum(), np.int32), np.full(len(starts), BEGIN, np.int32)
    k, count = 0, len(starts)
    while count and (k < _NEAR or count > _FEW):
        held = finder.tables.left[held[:count], symbols[starts[:count] + k]]
        read[offsets[:count] + k] = held
        k += 1
        count = int(np.searchsorted(-lengths[:count], -k))
    for i in range(count):
        rest = symbols[starts[i] + k : starts[i] + lengths[i]]
        read[offsets[i] + k : offsets[i] + lengths[i]] = behind_each(finder, int(held[i]), rest)
    offset_of = np.empty_like(offsets)
    offset_of[order] = offsets
    found: StateArray = read[np.repeat(offset_of, sizes) + places - anchors - 1]
    return found
