"""All cuts of a text that its windows certify: what the tables say in full."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tokpar.cuts.window_tables import (
    BEGIN,
    NEVER,
    SURE,
    IntArray,
    WindowFinder,
    behind_each,
    behind_window,
    pair_status,
    settle,
)

LEFT, RIGHT = 8, 8


def window_cuts(finder: WindowFinder, text: str, left: int = LEFT, right: int = RIGHT) -> IntArray:
    """By windows of up to `left` and `right` characters; code points, ascending."""
    symbols = finder.symbols(text)
    places = np.flatnonzero(pair_status(symbols, finder.pairs) != NEVER) + 1
    sure = np.zeros(len(places), np.bool_)
    for width in range(1, left + 1):
        reached = places >= width
        held = behind_window(finder, symbols, places, width)
        sure |= reached & settle(finder, symbols, places, held, right)
    found: IntArray = places[sure]
    return found


def anchored_cuts(finder: WindowFinder, text: str, right: int = RIGHT) -> IntArray:
    """By all that stands behind the last cut of a pair before them, or the beginning."""
    symbols = finder.symbols(text)
    status = pair_status(symbols, finder.pairs)
    anchors = [0, *(np.flatnonzero(status == SURE) + 1).tolist(), len(symbols)]
    found: list[int] = []
    for start, stop in pairwise(anchors):
        held = behind_each(finder, BEGIN, symbols[start:stop])
        places = np.arange(start + 1, stop)[status[start : stop - 1] != NEVER]
        found += places[settle(finder, symbols, places, held[places - start - 1], right)].tolist()
    return np.array(found, np.int64)


def all_cuts(finder: WindowFinder, text: str, left: int = LEFT, right: int = RIGHT) -> IntArray:
    """By either."""
    windows, anchored = window_cuts(finder, text, left, right), anchored_cuts(finder, text, right)
    return np.union1d(windows, anchored)
