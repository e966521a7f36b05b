"""Find every cut of a text that windows certify, with arrays (theorems 40 to 44).

Pairs of characters settle most positions. For an open position, the finder reads the text from the
last cut that a pair certified."""

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
"""Characters per block, so that the arrays of one block fit in the processor's cache."""
_NEAR, _FEW = 64, 8
"""Arrays read the first `_NEAR` characters after all anchors, and go on while more than `_FEW`
anchors are left. Then a loop reads the anchors one by one."""


def every_window(finder: WindowFinder, text: str, lookahead: int) -> IntArray:
    """All positions that windows certify, code points, ascending, int64.

    The text has no added token and no stage changes it. A window reads up to `lookahead` characters
    after a position. For a single Split these positions are all the lossless cuts there are."""
    symbols, statuses = _statuses(finder, text)
    certain = statuses >= SURE
    still = np.flatnonzero(statuses == OPEN)
    anchors = _last_before(still, np.flatnonzero(statuses == SURE_BY_TWO))
    sure = settle(
        finder, symbols, still, _read_left_sets(finder, symbols, anchors, still), lookahead
    )
    certain[still[sure]] = True
    found: IntArray = np.flatnonzero(certain)
    return found


def _statuses(finder: WindowFinder, text: str) -> tuple[SymbolArray, SymbolArray]:
    """The symbol of each character, and the status of the cut before it; both uint8, (characters,).

    The status follows from the character and the two characters before it. The status of the
    second character follows from the first two characters."""
    symbols, statuses = np.zeros(len(text), np.uint8), np.zeros(len(text), np.uint8)
    second = pair_status(finder.symbols(text[:2]), finder.pairs)
    statuses[1:2] = np.where(second == SURE, SURE_BY_TWO, second)
    kinds, answers = finder.threes
    pairs = np.empty((_BLOCK, 2), np.uint8)
    for start in range(0, len(text), _BLOCK):
        stop = min(start + _BLOCK, len(text))
        symbols[start:stop] = finder.symbols(text[start:stop])
        first = min(max(start, 2), stop)
        pairs[: stop - first, 0] = pair_status(symbols[first - 2 : stop - 1], kinds)
        pairs[: stop - first, 1] = symbols[first:stop]
        answers.take(pairs.view("<u2")[: stop - first, 0], mode="clip", out=statuses[first:stop])
    return symbols, statuses


def _last_before(places: IntArray, cuts: IntArray) -> IntArray:
    """For each position, the last of the ascending cuts up to it, or 0."""
    return np.append(0, cuts)[np.searchsorted(cuts, places)]


def _read_left_sets(
    finder: WindowFinder, symbols: SymbolArray, anchors: IntArray, places: IntArray
) -> StateArray:
    """The left set at each position, read from the position's anchor; int32, (positions,).

    An anchor is a cut or the beginning of the text. The array loop reads all runs from an anchor
    to its last position in parallel, long runs first. The second loop reads the last few runs one
    by one."""
    firsts = np.flatnonzero(np.diff(anchors, prepend=-1))
    starts, sizes = anchors[firsts], np.diff(firsts, append=len(places))
    lengths = places[firsts + sizes - 1] - starts
    order = np.argsort(-lengths)
    starts, lengths = starts[order], lengths[order]
    offsets = np.cumsum(lengths) - lengths
    read, left_sets = np.empty(lengths.sum(), np.int32), np.full(len(starts), BEGIN, np.int32)
    k, count = 0, len(starts)
    while count and (k < _NEAR or count > _FEW):
        left_sets = finder.tables.left[left_sets[:count], symbols[starts[:count] + k]]
        read[offsets[:count] + k] = left_sets
        k += 1
        count = int(np.searchsorted(-lengths[:count], -k))
    for i in range(count):
        rest = symbols[starts[i] + k : starts[i] + lengths[i]]
        read[offsets[i] + k : offsets[i] + lengths[i]] = behind_each(
            finder, int(left_sets[i]), rest
        )
    offset_of = np.empty_like(offsets)
    offset_of[order] = offsets
    found: StateArray = read[np.repeat(offset_of, sizes) + places - anchors - 1]
    return found
