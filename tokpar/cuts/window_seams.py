"""Seams that a window of the text certifies: rule K10 (theorems 40 to 44).

A window is read in the normalized text of one stretch between added tokens. That of a pair of
characters may lie over the edge of such a stretch, which is a piece's edge anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tokpar.cuts.added import AddedTokenGuard
from tokpar.cuts.normalized import NormalizerGuard
from tokpar.cuts.window_tables import (
    BEGIN,
    EVERYWHERE,
    SURE,
    SymbolArray,
    WindowFinder,
    window_finder,
)
from tokpar.cuts.windows import LEFT, RIGHT, IntArray, find_certified, open_behind_anchors
from tokpar.facts.decided import decided
from tokpar.facts.pattern import UnsupportedPatternError
from tokpar.facts.tables import WHITESPACE
from tokpar.types import Facts, Seam, Witness

FARTHEST = 1 << 14
"""How far back the anchor of a window may be, code points."""
_LEAST, _MOST = 1 << 9, 1 << 14


@dataclass(frozen=True, eq=False)
class WindowSeams:
    """The K10 seams of one tokenizer. Behind a row of Splits only one character is read on the left
    of a place, so that its window lies in its chunk whatever else is cut (theorem 43)."""

    facts: Facts
    added: AddedTokenGuard
    normalized: NormalizerGuard
    finder: WindowFinder
    proof: str
    ahead: int = RIGHT
    """How many code points behind a place are looked at, at most."""

    @cached_property
    def theorem(self) -> str:
        """Of windows without an anchor."""
        return "40" if self._alone else "42"

    @cached_property
    def _alone(self) -> bool:
        """There is one Split."""
        return len(self.facts.patterns) == 1

    @cached_property
    def universal(self) -> Seam | None:
        """What licenses a cut before an ASCII space behind anything but white space, or None."""
        spaces = np.zeros(len(self.finder.symbol_of), np.bool_)
        for low, high in WHITESPACE:
            spaces[low : high + 1] = True
        others = np.unique(self.finder.symbol_of[~spaces])
        space = int(self.finder.symbol_of[ord(" ")])
        held = others[others < self.finder.size].astype(np.int64)
        if not (self.finder.pairs[held + 256 * space] == SURE).all():
            return None
        return self._seam(0, self.theorem, (("left", "non-space"), ("right", "space")))

    def find(self, text: str, start: int, stop: int) -> Seam | None:
        """The first seam in [start, stop), code points."""
        size = _LEAST
        while start < stop:
            end = min(start + size, stop)
            for p in self._candidates(text, start, end):
                seam = self.at(text, p)
                if seam is not None:
                    return seam
            start, size = end, min(4 * size, _MOST)
        return None

    def _candidates(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Places that a window certifies, then those that an anchor does, added tokens apart."""
        left = LEFT if self._alone else 1
        for first, symbols in self._symbols(text, start, stop, left):
            widths = find_certified(self.finder, symbols, left, RIGHT, anchored=False)
            yield from _within(np.flatnonzero(widths) + first, start, stop)
        for first, symbols in self._symbols(text, start, stop, FARTHEST) if self._alone else ():
            begins = first == 0 and not self.facts.prefix_space
            places = open_behind_anchors(self.finder, symbols, start - first, begins, RIGHT)
            yield from _within(places + first, start, stop)

    def _symbols(
        self, text: str, start: int, stop: int, left: int
    ) -> Iterator[tuple[int, SymbolArray]]:
        """The known stretches with a place of [start, stop) inside: where each begins, and its
        symbols."""
        low = self.normalized.known_from(text, max(0, start - left), start)
        high = min(len(text), stop + RIGHT)
        for first, image in self.normalized.stretches(text, low, high):
            if len(image) > 1 and start < first + len(image) and first + 1 < stop:
                yield first, self.finder.symbols(image)

    def at(self, text: str, p: int, far: bool = True) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), by the narrowest window, or (`far`) by
        an anchor."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        safe = self.added.safe(text, p) and self.normalized.tokens_safe(text, p)
        if not safe:
            return None
        far = far and self._alone
        return self._by_window(text, p) or (self._by_anchor(text, p) if far else None)

    def _by_window(self, text: str, p: int) -> Seam | None:
        most = LEFT if self._alone else 1
        image, at = self.normalized.around(text, p, min(p, most), min(len(text) - p, RIGHT))
        symbols = self.finder.symbols(image).tolist()
        found = []
        for left in range(1, at + 1):
            right = self._right(self._behind(EVERYWHERE, symbols[at - left : at]), symbols[at:])
            if right is not None:
                found.append((left + right, left, right))
        for width, left, right in sorted(found):
            if width == 2 or self._apart(text, p - left, p + right):
                return self._seam(p, self.theorem, (("left", left), ("right", right)))
        return None

    def _by_anchor(self, text: str, p: int) -> Seam | None:
        """Theorem 44: all is read from a cut before `p` that a pair certifies, or the beginning."""
        image, at = self.normalized.around(text, p, min(p, FARTHEST), min(len(text) - p, RIGHT))
        symbols = self.finder.symbols(image)
        if at < 1 or at == len(symbols):
            return None
        first = p - at
        pairs = symbols[: at - 1] + 256 * symbols[1:at].astype(np.int64)
        sure = np.flatnonzero(self.finder.pairs[pairs] == SURE)
        if len(sure):
            anchor = first + int(sure[-1]) + 1
        elif first == 0 and not self.facts.prefix_space:
            anchor = 0
        else:
            return None
        held = self._behind(BEGIN, symbols[anchor - first : at].tolist())
        right = self._right(held, symbols[at:].tolist())
        if right is None or not self._apart(text, max(0, anchor - 1), p + right):
            return None
        return self._seam(p, "44", (("anchor", anchor), ("right", right)))

    def _behind(self, held: int, symbols: list[int]) -> int:
        """The left set behind these symbols."""
        for c in symbols:
            held = self.finder.left_rows[held][c]
        return held

    def _right(self, held: int, symbols: list[int]) -> int | None:
        """How many of these symbols behind a cut make it certain, from this left set on."""
        tables = self.finder.tables
        threats = int(tables.cut[held, symbols[0]]) if symbols else 0
        for k in range(1, len(symbols) + 1):
            if tables.certain[threats]:
                return k
            if k < len(symbols):
                threats = int(tables.right[threats, symbols[k]])
        return None

    def _apart(self, text: str, start: int, stop: int) -> bool:
        """No added token has a share in [start, stop), nor does one that is searched in the
        normalized text, where nothing is known of that."""
        return not self.normalized.tokens and self.added.apart(text, start, stop)

    def _seam(self, p: int, theorem: str, witness: Witness) -> Seam:
        return Seam(p, "K10", theorem, (("windows", self.proof), *witness))


def _within(places: IntArray, start: int, stop: int) -> list[int]:
    first, last = np.searchsorted(places, [start, stop])
    found: list[int] = places[first:last].tolist()
    return found


def window_seams(
    facts: Facts, added: AddedTokenGuard, normalized: NormalizerGuard
) -> WindowSeams | str:
    """The K10 seams of these facts, or why there are none."""
    if normalized.moves:
        return f"nothing is proved about windows behind its normalizer {normalized.moves}"
    found = decided(facts)
    if found.windows is None:
        return str(found.refusal)
    return WindowSeams(facts, added, normalized, window_finder(found.windows), found.proof)


def doubt(facts: Facts, text: str, p: int) -> tuple[str, str] | None:
    """Texts (before, behind) around the window at `p` with which the cut there would be wrong: why
    no window certifies it. None where one does, or no pattern was decided."""
    windows = decided(facts).windows if facts.scheme == "regex" else None
    if windows is None or not 0 < p < len(text):
        return None
    try:
        return windows.witness(text[max(0, p - LEFT) : p], text[p : p + RIGHT])
    except UnsupportedPatternError:
        return None
