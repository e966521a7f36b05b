"""Find seams that a window of the text certifies: rule K10, `window` (theorems 40 to 44).

A window is read in the normalized text of one segment between added tokens. A window of two
characters may lie across the edge of such a segment, because this edge is always a pre-token edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import NormalizerGuard, crossed_positions
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
from tokpar.patterns.stored_windows import DecidedWindows, stored_windows
from tokpar.types import Facts, Rule, Seam, Theorem, Witness

LEFT, RIGHT = 8, 8
"""Most characters that a window has on each side of its cut."""
NEAR, FAR = 1 << 10, 1 << 16
"""How far before a position its anchor may be, code points: in a short search, and in a long one.
"""
_FEW, _MOST = 1 << 6, 1 << 12

AnchoredSet = tuple[int, int]
"""(anchor, left set): where the finder begins to read, and the left set at a later position."""
Candidate = tuple[int, AnchoredSet | None]
"""A position that may be a seam, and the anchor that may certify it."""
SymbolRun = tuple[int, SymbolArray, SymbolArray]
"""The start of a known part in the text, its symbols, and the status of each pair of symbols."""


@dataclass(frozen=True, eq=False)
class WindowSeams:
    """Finds the K10 seams of one tokenizer.

    For a sequence of several Splits a window reads only one character after its cut. All cuts may
    then be made at once, from right to left (theorem 43)."""

    facts: Facts
    token_guard: AddedTokenGuard
    normalizer_guard: NormalizerGuard
    finder: WindowFinder
    proof: tuple[str, str]

    @cached_property
    def theorem(self) -> str:
        """The theorem that licenses windows without an anchor."""
        return Theorem.WINDOW if len(self.facts.patterns) == 1 else Theorem.WINDOW_OF_SPLITS

    @cached_property
    def lookahead(self) -> int:
        """The most code points after a position that a window reads."""
        return RIGHT if len(self.facts.patterns) == 1 else 1

    @cached_property
    def universal(self) -> Seam | None:
        """The seam that licenses each cut before an ASCII space after a character that is not white
        space, or None."""
        spaces = np.zeros(len(self.finder.symbol_of), np.bool_)
        for low, high in WHITESPACE:
            spaces[low : high + 1] = True
        others = np.unique(self.finder.symbol_of[~spaces])
        space = int(self.finder.symbol_of[ord(" ")])
        known = others[others < self.finder.size].astype(np.int64)
        if not (self.finder.pairs[known + 256 * space] == SURE).all():
            return None
        return self._seam(0, self.theorem, (("left", "non-space"), ("right", "space")))

    def find(
        self, text: str, start: int, stop: int, earlier_seam: Seam | None = None
    ) -> Seam | None:
        """One of the first seams in [start, stop), code points, or None.

        The new seam may use the anchor of `earlier_seam` at any distance."""
        known_anchor = None
        if earlier_seam is not None and earlier_seam.theorem == Theorem.ANCHORED_WINDOW:
            known_anchor = int(dict(earlier_seam.witness)["anchor"])
        begin, reached_over = start, self._crossed_positions(text, start, stop)

        def first_seam(candidates: Iterator[Candidate]) -> Seam | None:
            if reached_over is not None:
                candidates = (each for each in candidates if not reached_over[each[0] - begin])
            seams = (self.certify(text, p, anchored_set=found) for p, found in candidates)
            return next((seam for seam in seams if seam is not None), None)

        if stop - start <= _FEW and not self.facts.normalizers:
            return first_seam(self._near_candidates(text, start, stop, known_anchor))
        if known_anchor is not None and not self.facts.normalizers:  # probably more digits follow
            end = min(start + LEFT, stop)
            seam = first_seam(self._near_candidates(text, start, end, known_anchor))
            if seam is not None:
                return seam
        seam = first_seam((p, None) for p in self.pairs_in(text, start, min(start + _FEW, stop)))
        size = 4 * _FEW
        while seam is None and start < stop:
            end, size = min(start + size, stop), min(4 * size, _MOST)
            part = None if reached_over is None else reached_over[start - begin : end - begin]
            seam = first_seam(self._candidates(text, start, end, known_anchor, part))
            start = end
        return seam

    def _crossed_positions(self, text: str, start: int, stop: int) -> NDArray[np.bool_] | None:
        return crossed_positions(self.token_guard, self.normalizer_guard, text, start, stop)

    def likely(self, text: str, start: int, stop: int) -> set[int]:
        """The positions in [start, stop), 0 < start, that `certify` may certify.

        `certify` refuses some of them."""
        reached_over = self._crossed_positions(text, start, stop)
        return {p for p, _ in self._candidates(text, start, stop, None, reached_over)}

    def pairs_in(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Yield the positions in [start, stop), 0 < start, that a pair of unnormalized characters
        certifies. `certify` refuses some of them. For few positions this loop is faster than
        arrays."""
        pairs = self.finder.pair_bytes
        symbols = self.finder.each_symbol(text[start - 1 : stop])
        for p, (left, right) in enumerate(pairwise(symbols), start):
            if pairs[left + 256 * right] == SURE:
                yield p

    def sure_pairs(self, text: str, start: int, stop: int) -> IntArray | None:
        """The positions in (start, stop) where two characters license a cut, whatever stands around
        them; int64, ascending.

        None where a normalizer, a prefix or an added token near [start, stop) needs a look at each
        position."""
        changes = self.facts.normalizers or self.facts.prefix_space
        if changes or not self.token_guard.absent(text, start, stop):
            return None
        status = pair_status(self.finder.symbols(text[start:stop]), self.finder.pairs)
        return np.flatnonzero(status == SURE) + (start + 1)

    def possible(self, text: str, start: int, stop: int) -> list[int]:
        """The positions in [start, stop), 0 < start, that the pair of characters does not exclude,
        for a tokenizer without normalizers. `certify` refuses some of them."""
        pairs = self.finder.pair_bytes
        symbols = self.finder.each_symbol(text[start - 1 : stop])
        sides = enumerate(pairwise(symbols), start)
        return [p for p, (left, right) in sides if pairs[left + 256 * right] != NEVER]

    def _near_candidates(
        self, text: str, start: int, stop: int, known_anchor: int | None
    ) -> Iterator[Candidate]:
        """As `_candidates`, for a tokenizer without normalizers; faster for few positions."""
        yield from ((p, None) for p in self.pairs_in(text, start, stop))
        first = max(0, start - LEFT)
        symbols = bytes(self.finder.each_symbol(text[first : stop + self.lookahead]))
        pairs, rows = self.finder.pair_bytes, self.finder.left_rows
        sides = enumerate(pairwise(symbols[start - 1 - first : stop - first]), start)
        places = [p for p, (left, right) in sides if pairs[left + 256 * right] == OPEN]
        for at in (p - first for p in places):
            behind = symbols[at : at + self.lookahead]
            if self.finder.certifies(symbols[max(0, at - LEFT) : at], behind):
                yield first + at, None
        anchored_set = self._last_anchored_set(text, start, known_anchor) if places else None
        if anchored_set is None:
            return
        (place, left_set), still_open = anchored_set, set(places)
        for p in range(start, places[-1] + 1):
            at = p - first
            if p in still_open and self.finder.symbols_needed(
                left_set, symbols[at : at + self.lookahead]
            ):
                yield p, (place, left_set)
            left_set = rows[left_set][symbols[at]]

    def _candidates(
        self,
        text: str,
        start: int,
        stop: int,
        known_anchor: int | None,
        reached_over: NDArray[np.bool_] | None,
    ) -> Iterator[Candidate]:
        """Yield positions that a pair of characters certifies, then wider windows, then an anchor.

        Leaves out the positions of `reached_over` (see `_crossed_positions`); else added tokens are
        not checked. `known_anchor` is used if no nearer anchor is found."""
        runs = list(self._symbol_runs(text, start, stop))
        if reached_over is not None:
            for first, _, status in runs:
                low, high = max(start, first + 1), min(stop, first + 1 + len(status))
                part = status[low - first - 1 : high - first - 1]
                part[reached_over[low - start : high - start]] = NEVER
        for first, _, status in runs:
            for p in _places_in(np.flatnonzero(status == SURE) + 1 + first, start, stop):
                yield p, None
        for first, symbols, status in () if self.normalizer_guard.moves else runs:
            places = np.flatnonzero(status == OPEN) + 1
            places = places[slice(*np.searchsorted(places + first, (start, stop)))]
            if not len(places):
                continue
            left_sets = behind_window(self.finder, symbols, places, LEFT)
            sure = settle(self.finder, symbols, places, left_sets, self.lookahead)
            for p in (places[sure] + first).tolist():
                yield p, None
            begin = max(start, first + 1)
            anchored_set = self._last_anchored_set(text, begin, known_anchor)
            if anchored_set is not None:
                behind = behind_each(self.finder, anchored_set[1], symbols[begin - first :])
                left_sets = np.concatenate(([anchored_set[1]], behind))[places - (begin - first)]
                sure = settle(self.finder, symbols, places, left_sets, self.lookahead)
                behind = left_sets[sure].tolist()
                for p, own in zip((places[sure] + first).tolist(), behind, strict=True):
                    yield p, (anchored_set[0], own)

    def _symbol_runs(self, text: str, start: int, stop: int) -> Iterator[SymbolRun]:
        """Yield the parts with a known image that contain a position of [start, stop)."""
        if self.normalizer_guard.moves:
            for low, high in self.normalizer_guard.known_places(text, start, stop):
                symbols = self.finder.symbols(text[low - 1 : high])
                yield low - 1, symbols, pair_status(symbols, self.finder.pairs)
            return
        low = self.normalizer_guard.known_from(text, max(0, start - LEFT), start)
        high = min(len(text), stop + self.lookahead)
        for first, image in self.normalizer_guard.known_images(text, low, high):
            if len(image) > 1 and start < first + len(image) and first + 1 < stop:
                symbols = self.finder.symbols(image)
                yield first, symbols, pair_status(symbols, self.finder.pairs)

    def certify_far(self, text: str, p: int) -> Seam | None:
        """As `certify`, with an anchor up to `FAR` before `p`."""
        return self.certify(text, p, FAR)

    def certify(
        self, text: str, p: int, far: int = NEAR, anchored_set: AnchoredSet | None = None
    ) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), or None.

        The narrowest window certifies the seam, or an anchor: that of `anchored_set`, or one at
        most `far` before `p`. With `far` 0, only the two characters at `p` certify."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        sides = self.normalizer_guard.context(text, p)
        status = NEVER if sides is None else self.finder.pair(*sides)
        safe = (
            status != NEVER
            and self.token_guard.safe(text, p)
            and self.normalizer_guard.tokens_safe(text, p)
        )
        if not safe:
            return None
        if status == SURE:
            return self._seam(p, self.theorem, (("left", 1), ("right", 1)))
        if self.normalizer_guard.moves or not far:
            return None
        behind = min(len(text) - p, self.lookahead)
        image, cut_index = self.normalizer_guard.image_around(text, p, min(p, LEFT), behind)
        symbols = [*self.finder.each_symbol(image)]
        anchored_set = anchored_set or self._find_anchored_set(text, p, far)
        right = (
            0
            if anchored_set is None
            else self.finder.symbols_needed(anchored_set[1], symbols[cut_index:])
        )
        # A window that begins after the anchor proves no more than the anchor does.
        least = 1 if anchored_set is None or right else p - anchored_set[0] + 1
        seam = self._by_window(text, p, symbols, cut_index, least)
        if seam is not None or anchored_set is None or not right:
            return seam
        if not self._free_of_tokens(text, max(0, anchored_set[0] - 1), p + right):
            return None
        return self._seam(
            p, Theorem.ANCHORED_WINDOW, (("anchor", anchored_set[0]), ("right", right))
        )

    def _by_window(
        self, text: str, p: int, symbols: list[int], cut_index: int, least: int
    ) -> Seam | None:
        """The seam by the narrowest window with at least `least` characters on the left, or None.

        `symbols` are the symbols around `p`; `cut_index` is the index of `p` in `symbols`."""
        rows, found = self.finder.left_rows, []
        for left in range(least, cut_index + 1):
            if self.finder.size in symbols[cut_index - left : cut_index]:
                break
            left_set = EVERYWHERE
            for c in symbols[cut_index - left : cut_index]:
                left_set = rows[left_set][c]
            right = self.finder.symbols_needed(left_set, symbols[cut_index:])
            if right:
                found.append((left + right, left, right))
        for _, left, right in sorted(found):
            if self._free_of_tokens(text, p - left, p + right):
                return self._seam(p, self.theorem, (("left", left), ("right", right)))
        return None

    def _last_anchored_set(self, text: str, p: int, known_anchor: int | None) -> AnchoredSet | None:
        """The anchored set at `p`. The anchor is the last one before `p` if near, else
        `known_anchor`, or one within `FAR`."""
        near = self._find_anchored_set(text, p, NEAR if known_anchor is not None else FAR)
        if near is not None or known_anchor is None or self.facts.normalizers:
            return near
        left_set = self.finder.left_set_after(BEGIN, text[known_anchor:p])
        return None if left_set is None else (known_anchor, left_set)

    def _find_anchored_set(self, text: str, p: int, far: int) -> AnchoredSet | None:
        """The anchor of `p` and the left set at `p`, read from the anchor; None if not found.

        The anchor is the last cut before `p` that a pair certifies, at most `far` before `p`, or
        the beginning of the text."""
        reach = 2
        while reach < far:
            reach = min(8 * reach, far)
            image, at = self.normalizer_guard.image_around(text, p, min(p, reach), 0)
            start = self.finder.last_sure(image[:at])
            if not start and (at < p or self.facts.prefix_space):
                if at < min(p, reach):
                    return None
                continue
            left_set = self.finder.left_set_after(BEGIN, image[start:at])
            return None if left_set is None else (p - at + start, left_set)
        return None

    def _free_of_tokens(self, text: str, start: int, stop: int) -> bool:
        """True if no added token overlaps [start, stop).

        False for a tokenizer that searches added tokens in the normalized text: their occurrences
        there are unknown."""
        return not self.normalizer_guard.tokens and self.token_guard.free_of_tokens(
            text, start, stop
        )

    def _seam(self, p: int, theorem: str, witness: Witness) -> Seam:
        return Seam(p, Rule.WINDOW, theorem, (self.proof, *witness))


def _places_in(places: IntArray, start: int, stop: int) -> list[int]:
    first, last = np.searchsorted(places, [start, stop])
    found: list[int] = places[first:last].tolist()
    return found


def window_seams(
    facts: Facts, token_guard: AddedTokenGuard, normalizer_guard: NormalizerGuard
) -> WindowSeams | str:
    """The finder of K10 seams for these facts, or the reason why there are no windows."""
    found = _load_windows(facts)
    if isinstance(found, str):
        return found
    return WindowSeams(facts, token_guard, normalizer_guard, window_finder(found), found.proof)


def _load_windows(facts: Facts) -> DecidedWindows | str:
    if facts.family is not None:
        found = stored_windows(facts.family, facts.engine, facts.patterns)
        return found or f"no windows of {facts.family!r} are known for its engine and patterns"
    from tokpar.patterns.window_cache import windows_of  # not needed for known families

    return windows_of(facts)


def doubt(facts: Facts, text: str, p: int) -> tuple[str, str] | None:
    """Texts (before, after) around the window at `p` that would make the cut at `p` wrong.

    The two texts explain why no window certifies the cut. None if a window certifies the cut, or
    if the windows of the patterns cannot be computed."""
    from tokpar.patterns.pattern_reader import UnsupportedPatternError
    from tokpar.patterns.splits import decide_windows
    from tokpar.patterns.window_cache import splits_of

    if facts.scheme != "regex" or not facts.patterns or not 0 < p < len(text):
        return None
    try:
        windows = decide_windows(splits_of(facts))
        return windows.witness(text[max(0, p - LEFT) : p], text[p : p + RIGHT])
    except UnsupportedPatternError:
        return None
