"""Seams that a window of the text certifies: rule K10 (theorems 40 to 44).

A window is read in the normalized text of one stretch between added tokens. That of a pair of
characters may lie over the edge of such a stretch, which is a piece's edge anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.cuts.window_tables import (
    BEGIN,
    EVERYWHERE,
    NEVER,
    OPEN,
    SURE,
    IntArray,
    SymbolArray,
    WindowFinder,
    behind_each,
    behind_window,
    pair_status,
    settle,
    window_finder,
)
from tokpar.patterns.class_tables import WHITESPACE
from tokpar.patterns.stored_windows import Decided, stored_windows
from tokpar.types import Facts, Seam, Witness

LEFT, RIGHT = 8, 8
"""Characters of a window on either side of its cut, at most."""
NEAR, FAR = 1 << 10, 1 << 16
"""How far back the anchor of a window may be, code points: where little is to be read, and else."""
_FEW, _MOST = 1 << 6, 1 << 12

Anchored = tuple[int, int]
"""Where what is known of the text before a place is read from, and the left set there."""
Candidate = tuple[int, Anchored | None]
"""A place that may be a seam, and the anchor before it that may tell."""
Stretch = tuple[int, SymbolArray, SymbolArray]
"""Where it begins in the text, its symbols, and what the pairs of them tell."""


@dataclass(frozen=True, eq=False)
class WindowSeams:
    """The K10 seams of one tokenizer. Behind a row of Splits only one character is read on the
    right of a place: so all cuts may be made at once, from right to left (theorem 43)."""

    facts: Facts
    added: AddedTokenGuard
    normalized: NormalizerGuard
    finder: WindowFinder
    proof: tuple[str, str]

    @cached_property
    def theorem(self) -> str:
        """Of windows without an anchor."""
        return "40" if len(self.facts.patterns) == 1 else "42"

    @cached_property
    def ahead(self) -> int:
        """How many code points behind a place are looked at, at most."""
        return RIGHT if len(self.facts.patterns) == 1 else 1

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

    def find(self, text: str, start: int, stop: int, after: Seam | None = None) -> Seam | None:
        """A seam in [start, stop), code points, one of the first. `after`: an earlier seam, whose
        anchor may be that of this one, too, however far it is."""
        known = None
        if after is not None and after.theorem == "44":
            known = int(dict(after.witness)["anchor"])
        if stop - start <= _FEW and not self.facts.normalizers:
            return self._first(text, self._near_candidates(text, start, stop, known))
        if known is not None and not self.facts.normalizers:  # most likely digits go on
            near = self._near_candidates(text, start, min(start + LEFT, stop), known)
            if (seam := self._first(text, near)) is not None:
                return seam
        for p in self._next_pairs(text, start, min(start + _FEW, stop)):
            seam = self.at(text, p)
            if seam is not None:
                return seam
        size = 4 * _FEW
        while start < stop:
            end, size = min(start + size, stop), min(4 * size, _MOST)
            seam = self._first(text, self._candidates(text, start, end, known))
            if seam is not None:
                return seam
            start = end
        return None

    def _first(self, text: str, candidates: Iterator[Candidate]) -> Seam | None:
        seams = (self.at(text, p, anchored=anchored) for p, anchored in candidates)
        return next((seam for seam in seams if seam is not None), None)

    def find_pair(self, text: str, start: int, stop: int) -> Seam | None:
        """The first seam in [start, stop), code points, that two characters license."""
        for first, _, status in self._stretches(text, start, stop):
            for p in _within(np.flatnonzero(status == SURE) + 1 + first, start, stop):
                seam = self.at(text, p)
                if seam is not None:
                    return seam
        return None

    def likely(self, text: str, start: int, stop: int) -> set[int]:
        """The places of [start, stop), 0 < start, that `at` may certify; not all of them do."""
        return {p for p, _ in self._candidates(text, start, stop, None)}

    def _next_pairs(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Places of [start, stop) that a pair of characters most likely certifies: what normalizers
        make of them is not asked. For a few places this is quicker than by arrays."""
        pairs = self.finder.pair_bytes
        symbols = self.finder.each_symbol(text[start - 1 : stop])
        for p, (left, right) in enumerate(pairwise(symbols), start):
            if pairs[left + 256 * right] == SURE:
                yield p

    def _near_candidates(
        self, text: str, start: int, stop: int, known: int | None
    ) -> Iterator[Candidate]:
        """The same as `_candidates` without normalizers; for a few places it is quicker."""
        yield from ((p, None) for p in self._next_pairs(text, start, stop))
        first = max(0, start - LEFT)
        symbols = bytes(self.finder.each_symbol(text[first : stop + self.ahead]))
        pairs, rows = self.finder.pair_bytes, self.finder.left_rows
        sides = enumerate(pairwise(symbols[start - 1 - first : stop - first]), start)
        places = [p for p, (left, right) in sides if pairs[left + 256 * right] == OPEN]
        for at in (p - first for p in places):
            behind = symbols[at : at + self.ahead]
            if self.finder.settled(symbols[max(0, at - LEFT) : at], behind):
                yield first + at, None
        anchored = self._anchored_from(text, start, known) if places else None
        if anchored is None:
            return
        (place, held), still_open = anchored, set(places)
        for p in range(start, places[-1] + 1):
            at = p - first
            if p in still_open and self.finder.needed(held, symbols[at : at + self.ahead]):
                yield p, (place, held)
            held = rows[held][symbols[at]]

    def _candidates(
        self, text: str, start: int, stop: int, known: int | None
    ) -> Iterator[Candidate]:
        """Places that a pair of characters certifies, then wider windows, then an anchor, added
        tokens apart; `known`: an anchor, if there is none nearer."""
        stretches = list(self._stretches(text, start, stop))
        for first, _, status in stretches:
            for p in _within(np.flatnonzero(status == SURE) + 1 + first, start, stop):
                yield p, None
        for first, symbols, status in () if self.normalized.moves else stretches:
            places = np.flatnonzero(status == OPEN) + 1
            places = places[slice(*np.searchsorted(places + first, (start, stop)))]
            if not len(places):
                continue
            held = behind_window(self.finder, symbols, places, LEFT)
            sure = settle(self.finder, symbols, places, held, self.ahead)
            for p in (places[sure] + first).tolist():
                yield p, None
            begin = max(start, first + 1)
            anchored = self._anchored_from(text, begin, known)
            if anchored is not None:
                behind = behind_each(self.finder, anchored[1], symbols[begin - first :])
                held = np.concatenate(([anchored[1]], behind))[places - (begin - first)]
                sure = settle(self.finder, symbols, places, held, self.ahead)
                behind = held[sure].tolist()
                for p, own in zip((places[sure] + first).tolist(), behind, strict=True):
                    yield p, (anchored[0], own)

    def _stretches(self, text: str, start: int, stop: int) -> Iterator[Stretch]:
        """The known stretches with a place of [start, stop) inside."""
        if self.normalized.moves:
            for low, high in self.normalized.known_places(text, start, stop):
                symbols = self.finder.symbols(text[low - 1 : high])
                yield low - 1, symbols, pair_status(symbols, self.finder.pairs)
            return
        low = self.normalized.known_from(text, max(0, start - LEFT), start)
        high = min(len(text), stop + self.ahead)
        for first, image in self.normalized.stretches(text, low, high):
            if len(image) > 1 and start < first + len(image) and first + 1 < stop:
                symbols = self.finder.symbols(image)
                yield first, symbols, pair_status(symbols, self.finder.pairs)

    def far(self, text: str, p: int) -> Seam | None:
        """As `at`, by an anchor wherever it is."""
        return self.at(text, p, FAR)

    def at(
        self, text: str, p: int, far: int = NEAR, anchored: Anchored | None = None
    ) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), by the narrowest window, or by an
        anchor, `anchored` or at most `far` before it; with `far` 0 by its two characters alone."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        sides = self.normalized.context(text, p)
        known = NEVER if sides is None else self.finder.pair(*sides)
        safe = known != NEVER and self.added.safe(text, p) and self.normalized.tokens_safe(text, p)
        if not safe:
            return None
        if known == SURE:
            return self._seam(p, self.theorem, (("left", 1), ("right", 1)))
        if self.normalized.moves or not far:
            return None
        behind = min(len(text) - p, self.ahead)
        image, at = self.normalized.around(text, p, min(p, LEFT), behind)
        symbols = [*self.finder.each_symbol(image)]
        anchored = anchored or self._anchored(text, p, far)
        right = 0 if anchored is None else self.finder.needed(anchored[1], symbols[at:])
        # what begins behind an anchor tells no more than the anchor
        least = 1 if anchored is None or right else p - anchored[0] + 1
        seam = self._by_window(text, p, symbols, at, least)
        if seam is not None or anchored is None or not right:
            return seam
        if not self._apart(text, max(0, anchored[0] - 1), p + right):
            return None
        return self._seam(p, "44", (("anchor", anchored[0]), ("right", right)))

    def _by_window(self, text: str, p: int, symbols: list[int], at: int, least: int) -> Seam | None:
        """The narrowest window with `least` characters or more on the left; `p` lies at `at` of the
        symbols around it."""
        rows, found = self.finder.left_rows, []
        for left in range(least, at + 1):
            if self.finder.size in symbols[at - left : at]:
                break
            held = EVERYWHERE
            for c in symbols[at - left : at]:
                held = rows[held][c]
            right = self.finder.needed(held, symbols[at:])
            if right:
                found.append((left + right, left, right))
        for _, left, right in sorted(found):
            if self._apart(text, p - left, p + right):
                return self._seam(p, self.theorem, (("left", left), ("right", right)))
        return None

    def _anchored_from(self, text: str, p: int, known: int | None) -> Anchored | None:
        """The last anchor before `p`, if it is near; else the one that is known, or any."""
        near = self._anchored(text, p, NEAR if known is not None else FAR)
        if near is not None or known is None or self.facts.normalizers:
            return near
        held = self.finder.behind(BEGIN, text[known:p])
        return None if held is None else (known, held)

    def _anchored(self, text: str, p: int, far: int) -> Anchored | None:
        """The last cut before `p`, no more than `far`, that a pair certifies, or the beginning of
        the text, and the left set that is read from there."""
        reach = 2
        while reach < far:
            reach = min(8 * reach, far)
            image, at = self.normalized.around(text, p, min(p, reach), 0)
            start = self.finder.last_sure(image[:at])
            if not start and (at < p or self.facts.prefix_space):
                if at < min(p, reach):
                    return None
                continue
            held = self.finder.behind(BEGIN, image[start:at])
            return None if held is None else (p - at + start, held)
        return None

    def _apart(self, text: str, start: int, stop: int) -> bool:
        """No added token has a share in [start, stop), nor does one that is searched in the
        normalized text, where nothing is known of that."""
        return not self.normalized.tokens and self.added.apart(text, start, stop)

    def _seam(self, p: int, theorem: str, witness: Witness) -> Seam:
        return Seam(p, "K10", theorem, (self.proof, *witness))


def _within(places: IntArray, start: int, stop: int) -> list[int]:
    first, last = np.searchsorted(places, [start, stop])
    found: list[int] = places[first:last].tolist()
    return found


def window_seams(
    facts: Facts, added: AddedTokenGuard, normalized: NormalizerGuard
) -> WindowSeams | str:
    """The K10 seams of these facts, or why there are none."""
    found = _decided(facts)
    if isinstance(found, str):
        return found
    return WindowSeams(facts, added, normalized, window_finder(found), found.proof)


def _decided(facts: Facts) -> Decided | str:
    if facts.family is not None:
        found = stored_windows(facts.family, facts.engine, facts.patterns)
        return found or f"no windows of {facts.family!r} are known for its engine and patterns"
    from tokpar.patterns.window_cache import decided  # known families do without

    return decided(facts)


def doubt(facts: Facts, text: str, p: int) -> tuple[str, str] | None:
    """Texts (before, behind) around the window at `p` with which the cut there would be wrong: why
    no window certifies it. None where one does, or no pattern was decided."""
    from tokpar.patterns.expression import UnsupportedPatternError
    from tokpar.patterns.splits import decide_windows
    from tokpar.patterns.window_cache import splits_of

    if facts.scheme != "regex" or not facts.patterns or not 0 < p < len(text):
        return None
    try:
        windows = decide_windows(splits_of(facts))
        return windows.witness(text[max(0, p - LEFT) : p], text[p : p + RIGHT])
    except UnsupportedPatternError:
        return None
