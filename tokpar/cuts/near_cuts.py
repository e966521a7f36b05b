"""Find the certified cuts near many places of a text at once, from pairs of characters.

Such a pair licenses its cut in every surrounding text, as long as no added token is near (theorems
40 and 42; theorem 4.8 for BERT). All positions are code points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IntArray
from tokpar.cuts.finder import CutFinder
from tokpar.patterns.known_pattern import NEVER, OPEN, SURE, PairTable, SymbolArray

REACH = 40
"""How far before and behind a place a cut is looked for, code points."""


@dataclass(frozen=True, slots=True, eq=False)
class NearCuts:
    """The cuts near some places, one entry for each place.

    `cuts_before`, `cuts_after`: the nearest cut before and after the place that a pair of
    characters licenses, -1 without one within `REACH`. `statuses`: the status of the place itself:
    `SURE` for a cut, `NEVER` for another place, `OPEN` where something else must decide."""

    cuts_before: list[int]
    statuses: list[int]
    cuts_after: list[int]


@dataclass(frozen=True, eq=False)
class NearCutFinder:
    """Finds the cuts near many places of a text by the pairs in `table`."""

    finder: CutFinder
    table: PairTable

    def find_near(self, text: str, places: Sequence[int]) -> NearCuts:
        """The cuts near `places`, 0 < place < len(text), ascending."""
        side, width = REACH + 1, 2 * REACH + 2
        windows = [text[max(0, p - side) : p + side] for p in places]
        short = [k for k, window in enumerate(windows) if len(window) < width]
        for k in short:  # near the ends of the text
            behind = width - max(0, places[k] + side - len(text))
            windows[k] = windows[k].rjust(behind).ljust(width)
        data = "".join(windows).encode("utf-32-le")
        symbols = self.table.symbol_of.take(np.frombuffer(data, "<u4"), mode="clip").reshape(
            -1, width
        )
        status = self.table.statuses.take(symbols[:, :-1] + (symbols[:, 1:].astype(np.uint16) << 8))
        for k in short:
            around = np.arange(places[k] - REACH, places[k] + REACH + 1)
            status[k, (around <= 0) | (around >= len(text))] = NEVER
        status[self._beside_tokens(text, places)] = OPEN
        return _nearest(status, np.array(places, np.int64))

    def _beside_tokens(self, text: str, places: Sequence[int]) -> list[int]:
        """Which places have an added token near the cuts around them."""
        absent, side = self.finder.token_guard.absent, REACH + 1
        if not places or absent(text, max(0, places[0] - side), places[-1] + side):
            return []
        return [k for k, p in enumerate(places) if not absent(text, max(0, p - side), p + side)]


def _nearest(status: SymbolArray, places: IntArray) -> NearCuts:
    sure = status == SURE
    back, ahead = sure[:, REACH - 1 :: -1], sure[:, REACH + 1 :]
    before = np.where(back.any(axis=1), places - 1 - back.argmax(axis=1), -1)
    after = np.where(ahead.any(axis=1), places + 1 + ahead.argmax(axis=1), -1)
    return NearCuts(before.tolist(), status[:, REACH].tolist(), after.tolist())


def near_cut_finder(finder: CutFinder) -> NearCutFinder | None:
    """The `NearCutFinder` of a tokenizer.

    None where a normalizer, a prefix or a stage that reads more than two characters decides."""
    pairs = finder.pairs
    return NearCutFinder(finder, pairs.table) if pairs is not None and pairs.by_arrays else None
