"""Find the certified cuts near many places of a text at once, from pairs of characters.

Such a pair licenses its cut in every surrounding text, as long as no added token is near (theorems
40 and 42; theorem 4.8 for BERT). All positions are code points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokpar.cuts.finder import CutFinder
from tokpar.cuts.window_tables import NEVER, OPEN, SURE, SymbolArray
from tokpar.types import Facts

REACH = 40
"""How far before and behind a place a cut is looked for, code points."""


@dataclass(frozen=True, slots=True, eq=False)
class NearCuts:
    """The cuts near some places, one entry for each place.

    `before`, `after`: the nearest cut before and behind the place that a pair of characters
    licenses, -1 without one within `REACH`. `at`: the status of the place itself: `SURE` for a cut,
    `NEVER` for a place that is none, `OPEN` where the two characters do not decide."""

    before: list[int]
    at: list[int]
    after: list[int]


@dataclass(frozen=True, eq=False)
class PairTable:
    """The status of the cut between two characters, by their symbols.

    `symbol_of`: uint8, (0x110000,). `pairs`: uint8, (65536,); the index is the first symbol plus
    256 times the second."""

    finder: CutFinder
    symbol_of: SymbolArray
    pairs: npt.NDArray[np.uint8]

    def near(self, text: str, places: Sequence[int]) -> NearCuts:
        """The cuts near `places`, 0 < place < len(text), ascending."""
        side, width = REACH + 1, 2 * REACH + 2
        windows = [text[max(0, p - side) : p + side] for p in places]
        short = [k for k, window in enumerate(windows) if len(window) < width]
        for k in short:  # near the ends of the text
            p = places[k]
            windows[k] = windows[k].rjust(width - max(0, p + side - len(text))).ljust(width)
        status = self._status("".join(windows).encode("utf-32-le", "surrogatepass"), width)
        for k in short:
            positions = np.arange(places[k] - REACH, places[k] + REACH + 1)
            status[k, (positions <= 0) | (positions >= len(text))] = NEVER
        status[[k for k, p in enumerate(places) if not self._absent(text, p)]] = OPEN
        return _nearest(status, places)

    def _status(self, data: bytes, width: int) -> npt.NDArray[np.uint8]:
        """The status of the cuts between neighbours in each row of `width` characters."""
        symbols = self.symbol_of.take(np.frombuffer(data, "<u4"), mode="clip").reshape(-1, width)
        index = symbols[:, :-1] + (symbols[:, 1:].astype(np.uint16) << 8)
        found: npt.NDArray[np.uint8] = self.pairs.take(index)
        return found

    def _absent(self, text: str, p: int) -> bool:
        """True if no added token is near the cuts around `p`."""
        return self.finder.added.absent(text, max(0, p - REACH - 1), p + REACH + 1)


def _nearest(status: npt.NDArray[np.uint8], places: Sequence[int]) -> NearCuts:
    sure, given = status == SURE, np.array(places, np.int64)
    back, ahead = sure[:, REACH - 1 :: -1], sure[:, REACH + 1 :]
    before = np.where(back.any(axis=1), given - 1 - back.argmax(axis=1), -1)
    after = np.where(ahead.any(axis=1), given + 1 + ahead.argmax(axis=1), -1)
    return NearCuts(before.tolist(), status[:, REACH].tolist(), after.tolist())


def pair_table(finder: CutFinder) -> PairTable | None:
    """The `PairTable` of a tokenizer.

    None where a normalizer, a prefix or a stage that reads more than two characters decides."""
    made = finder.facts.derived(_Tables)
    return made.table(finder)


@dataclass(frozen=True, eq=False)
class _Tables:
    facts: Facts

    def table(self, finder: CutFinder) -> PairTable | None:
        if finder.refusal is not None or self.facts.prefix_space or finder.normalized.tokens:
            return None
        if finder.windows is not None and not self.facts.normalizers:
            return PairTable(finder, finder.windows.finder.symbol_of, self._by_windows(finder))
        if self.facts.scheme == "bert" and finder.family is not None:
            return PairTable(finder, *self._bert)
        return None

    @staticmethod
    def _by_windows(finder: CutFinder) -> npt.NDArray[np.uint8]:
        assert finder.windows is not None
        windows = finder.windows.finder
        pairs = windows.pairs.reshape(256, 256).copy()
        pairs[windows.size], pairs[:, windows.size] = OPEN, OPEN  # a space may be a cut beside it
        return pairs.ravel()

    @cached_property
    def _bert(self) -> tuple[SymbolArray, npt.NDArray[np.uint8]]:
        from tokpar.patterns.class_tables import family_named

        assert self.facts.family is not None
        family = family_named(self.facts.family)
        assert family is not None
        names = list(family.classes)
        symbol_of = np.full(0x110000, len(names), np.uint8)
        pairs = np.full((256, 256), OPEN, np.uint8)
        for k, name in enumerate(names):
            for low, high in family.ranges(name):
                symbol_of[low : high + 1] = k
            for j, other in enumerate(names):
                pairs[j, k] = NEVER if family.theorem(name, other) is None else SURE
        return symbol_of, pairs.ravel()
