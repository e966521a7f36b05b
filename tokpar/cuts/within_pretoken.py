"""Find places to divide pre-tokens: rules K4 (lemma 24), K5 (overlaps) and K6 (runs).

A region lies between two K1 cuts, or ends of the text. All positions are code points of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokpar.arrays import IntArray
from tokpar.cuts.finder import CutFinder, at_pair, finder_for
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.cuts.pretokens import Periodic, Scanner, periodic_at, run_of, scanner_for
from tokpar.facts.token_lengths import Vocabulary, vocabulary_of
from tokpar.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.types import CERTIFIED_CUTS, Facts, Seam, Theorem

# How far after a target to search for a position that no token crosses.
FORCED_REACH = 256
LEAST_OVERLAP = 32
_MOST_MISSES = 2
_NEARBY = 32
_ROUNDS = 3
_LEAST_SCANNED = 1 << 10
_MOST_SCANNED = 1 << 18
_MOST_TRIED = 256


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The part [start, stop) of a text, with its pre-tokens.

    `edges`: the edges of the pre-tokens, including `start` and `stop`; int64. By theorem 14 they
    are also pre-tokens of the whole text."""

    start: int
    stop: int
    edges: IntArray

    @property
    def witness(self) -> tuple[tuple[str, int], ...]:
        return ("start", self.start), ("stop", self.stop)

    def piece(self, position: int) -> tuple[int, int]:
        """[start, stop) of the pre-token that contains, or begins at, the position."""
        place = int(np.searchsorted(self.edges, position, side="right"))
        return int(self.edges[place - 1]), int(self.edges[place])


@dataclass(frozen=True, slots=True)
class Place:
    """A seam, and the overlap of the two chunks next to it.

    The right chunk begins at `start`, the left chunk ends at `stop`. A seam with the rule None is
    proposed, not proved. `run`: (id, count) of the ids of the chunk that ends here, if it is a run.
    """

    seam: Seam
    start: int
    stop: int
    run: tuple[int, int] | None = None

    @property
    def divides_pretoken(self) -> bool:
        """True if the seam divides a pre-token."""
        return self.seam.rule not in CERTIFIED_CUTS


def place_at(seam: Seam, run: tuple[int, int] | None = None) -> Place:
    """The `Place` of a seam without an overlap."""
    return Place(seam, seam.position, seam.position, run)


@dataclass(frozen=True, eq=False)
class PretokenPlanner:
    """Finds places that divide the pre-tokens of one tokenizer. Build it with
    `pretoken_planner`."""

    tokenizer: TokenizerAdapter
    facts: Facts
    finder: CutFinder
    scanner: Scanner

    @property
    def refusal(self) -> str | None:
        """Why this tokenizer's pre-tokens cannot be divided, or None."""
        facts = self.facts
        tiled = facts.tiles or facts.sizes is not None
        if facts.pretoken_cuts_refused is not None or not tiled or facts.longest_token < 1:
            return facts.pretoken_cuts_refused or "its tokens are not known to make up the text"
        if facts.model.casefold() != "bpe" or facts.scheme not in ("regex", "whole"):
            return "pre-tokens are divided for BPE behind a regex, or behind nothing"
        return self.scanner.refusal

    def next_cut(
        self, text: str, start: int, stop: int, window: int, earlier_seam: Seam | None = None
    ) -> Seam | None:
        """The certified cut in [start, stop) that `CutFinder.find` would find, or None.

        A scan skips long pre-tokens: their only certified cuts are edges of added tokens."""
        if self.finder.refusal is not None:  # only K9 edges; search them in one window
            window = max(window, stop - start)
        while start < stop:
            reached = min(stop, start + window)
            seam = self.finder.find(text, start, reached, window, earlier_seam)
            if seam is not None:
                return seam
            if self.refusal is not None:
                start = reached
                continue
            start = self.passed_over(text, reached, stop)
            seam = self.finder.edges.find(text, reached, start)
            if seam is not None:
                return seam
        return None

    def passed_over(self, text: str, start: int, stop: int) -> int:
        """The first pre-token boundary in [start, stop) that a scan shows, or `stop`; `start` > 0.

        No K1 cut lies before the returned position. A K1 cut is a boundary in every text around
        its two characters, so a scan of any part shows it. The scan stops where engines may differ
        on a character."""
        size = _LEAST_SCANNED
        while start < stop:
            edges = self.scanner.edges(text[start - 1 : min(start + size, stop)])
            if edges is None:
                return start
            if len(edges) > 2:
                return start - 1 + int(edges[1])
            start, size = start + size, min(2 * size, _MOST_SCANNED)
        return stop

    def last_cut(self, text: str, start: int, stop: int) -> int | None:
        """One of the last K1 cuts in [start, stop); None if a short search finds none."""
        start += self.scanner.sure_from(text[start:stop])
        edges = self.scanner.edges(text[start:stop])
        places: list[int] = [] if edges is None else (edges[-2::-1] + start).tolist()
        seams = (self.finder.certify(text, place) for place in places[:_MOST_TRIED])
        return next((seam.position for seam in seams if seam is not None and at_pair(seam)), None)

    def region(self, text: str, start: int, stop: int) -> Region | None:
        """The `Region` [start, stop), whose ends must be K1 cuts or ends of the text.

        None if an added token occurs in it, or engines may differ on a character."""
        if not inert_for(self.facts).clear(text, start, stop):
            return None
        edges = self.scanner.edges(text[start:stop])
        return None if edges is None else Region(start, stop, edges + start)

    def is_closed(self, text: str, region: Region, start: int, stop: int) -> bool:
        """True if the part of the region in [start, stop) has the same pre-tokens by itself as in
        the text (split-closed)."""
        start, stop = max(start, region.start), min(stop, region.stop)
        alone = self.scanner.edges(text[start:stop])
        low, high = np.searchsorted(region.edges, (start + 1, stop))
        expected = np.concatenate(([start], region.edges[low:high], [stop]))
        return alone is not None and np.array_equal(alone + start, expected)

    def is_closed_nearby(self, text: str, piece: tuple[int, int], place: int) -> bool:
        """True if the text next to the position is one pre-token on the left and one on the right.

        If so, `is_closed` probably holds for the whole parts, too."""
        left = text[max(piece[0], place - _NEARBY) : place]
        right = text[place : min(piece[1], place + _NEARBY)]
        return self.scanner.is_one(left) and self.scanner.is_one(right)

    def places(
        self, text: str, region: Region, first: int, size: int, wide: int | None = None
    ) -> list[Place]:
        """Places that divide long pre-tokens of the region.

        Two places are `size` or more apart; the first is that far from `first`, the last seam
        before the region. Overlaps cost more than cuts and are `wide` apart. Every chunk between
        two places has the same pre-tokens as in the text. With a normalizer, the first chunk begins
        with the region: the normalizer may change text outside the region."""
        found: list[Place] = []
        last = first
        least = 2 * (self.facts.longest_token + 1)
        for k in np.flatnonzero(np.diff(region.edges) >= least):
            piece = int(region.edges[k]), int(region.edges[k + 1])
            found += self._in_piece(text, region, piece, last, size, wide or size)
            if found:
                last = found[-1].seam.position
        found = self._keep_closed(text, region, found)
        if not found or not self.facts.normalizers or region.start <= first:
            return found
        cut = self.finder.certify(text, region.start)
        if cut is None or found[0].seam.position == region.start:
            return found if cut is not None else []
        return [place_at(cut), *found]

    def _in_piece(
        self, text: str, region: Region, piece: tuple[int, int], last: int, size: int, wide: int
    ) -> Iterator[Place]:
        run = self._run(text, region, piece, last, size)
        if run:
            yield from run
            return
        # Both parts of a divided pre-token have more bytes than any token: gate 0'.7 (a).
        least = self.facts.longest_token + 1
        tokens = vocabulary_of(self.facts, piece[1] - piece[0])
        low, misses = piece[0], 0
        target = max(last + size, piece[0] + least)
        periodic: Periodic | None = None
        while True:
            # periodic text is cheaper
            near = last + wide * (2 if periodic and periodic.cycle else 1)
            if tokens is None or misses >= _MOST_MISSES:
                target = max(target, near)
            if target > piece[1] - least:
                return
            if periodic is None or not periodic.start <= target < periodic.stop:
                periodic = periodic_at(text, piece, target, self.scanner, self.tokenizer)
                if periodic and periodic.cycle:
                    continue
            place = None
            if (
                tokens
                and misses < _MOST_MISSES
                and not (periodic and _every_pair_is_token(periodic, tokens))
            ):
                place = self._find_uncrossed_place(text, region, piece, target, tokens)
            if place is None:
                misses += 1
                if target < near:  # a cut may be nearer than an overlap
                    target = min(target + size, near)
                    continue
                place = self._window(text, region, piece, low, target, periodic)
            if place is None:
                return
            yield place
            low, last = place.stop, place.seam.position
            target = max(last + size, low + least)

    def _find_uncrossed_place(
        self, text: str, region: Region, piece: tuple[int, int], target: int, tokens: Vocabulary
    ) -> Place | None:
        """A place at, or shortly after, the target that no token crosses (lemma 24), or None."""
        stop = min(target + FORCED_REACH, piece[1] - self.facts.longest_token)
        place = tokens.find_uncrossed(text, piece, target, stop)
        if place is None or not self.is_closed_nearby(text, piece, place):
            return None
        return place_at(Seam.licensed_by(Theorem.NO_TOKEN_ACROSS, place, region.witness))

    def _window(
        self,
        text: str,
        region: Region,
        piece: tuple[int, int],
        low: int,
        target: int,
        periodic: Periodic | None,
    ) -> Place | None:
        """A proposed seam in the middle of an overlap around the target.

        In periodic text the overlap lies after the target, and begins where a token probably
        begins. None if too little of the pre-token is left."""
        if not isinstance(self.tokenizer, Locates):
            return None
        least = self.facts.longest_token + 1
        width = max(LEAST_OVERLAP, 2 * least)
        start = max(low, target - width // 2)
        if periodic is None or not periodic.cycle:
            start = self._find_divisible(text, piece, start)
        else:
            start = periodic.edge_from(start)
            width = max(width, 3 * periodic.cycle + least)
        if start + 2 > piece[1] - least:
            return None
        stop = self._find_divisible(text, piece, min(piece[1], max(start + width, target + 2)))
        middle = min(max(target, (start + stop) // 2), piece[1] - least)
        return Place(Seam(middle, None, Theorem.COMMON_BOUNDARIES, region.witness), start, stop)

    def _find_divisible(self, text: str, piece: tuple[int, int], place: int) -> int:
        """The first position from `place` on where the pre-token can be divided.

        Returns `place` if there is no such position nearby."""
        near = range(place, min(place + _NEARBY, piece[1] + 1))
        ends = (p for p in near if p in piece or self.is_closed_nearby(text, piece, p))
        return next(ends, place)

    def _run(
        self, text: str, region: Region, piece: tuple[int, int], last: int, size: int
    ) -> list[Place]:
        """The K1 cut before a pre-token of one character, and the seam after its repeated tokens.

        Theorem 11 gives the repeated tokens. Empty if the theorem does not apply, or if the run is
        too short to pay."""
        start, stop = piece
        char = text[start]
        if not char.isascii() or stop - start < 2 * size or text[stop - 1] != char:
            return []
        if text[start:stop] != char * (stop - start):
            return []
        cut = None if start == 0 else self.finder.certify(text, start)
        if start and (cut is None or not at_pair(cut)):
            return []
        run = run_of(self.scanner, self.tokenizer, char)
        times = 0 if run is None else run.times(stop - start)
        if run is None or times * run.length < max(size, run.least):
            return []
        witness = (
            ("start", start),
            ("stop", region.stop),
            ("piece_stop", stop),
            ("token", run.token),
            ("length", run.length),
            ("least", run.least),
        )
        seam = Seam.licensed_by(Theorem.CONSTANT_RUN, start + times * run.length, witness)
        before = [place_at(cut)] if cut is not None and start != last else []
        return [*before, place_at(seam, (run.token, times))]

    def _keep_closed(self, text: str, region: Region, places: list[Place]) -> list[Place]:
        """The places that remain when every chunk between them has the same pre-tokens as in the
        text.

        Each round removes the places next to chunks that do not. Empty if `_ROUNDS` rounds are not
        enough."""
        for _ in range(_ROUNDS):
            loose = set(self._loose(text, region, places))
            if not loose:
                return places
            places = [place for place in places if place not in loose]
        return []

    def _loose(self, text: str, region: Region, places: Sequence[Place]) -> Iterator[Place]:
        """Yield the places next to chunks whose pre-tokens are not those of the text."""
        for left, right in zip([None, *places], [*places, None], strict=True):
            divided = [side for side in (left, right) if side is not None and side.divides_pretoken]
            if not divided or (right is not None and right.run is not None):
                continue
            start = region.start if left is None else left.start
            stop = region.stop if right is None else right.stop
            if not self.is_closed(text, region, start, stop):
                yield from divided


def pretoken_planner(tokenizer: TokenizerAdapter) -> PretokenPlanner:
    """Build the `PretokenPlanner` of this tokenizer."""
    facts = facts_of(tokenizer)
    return PretokenPlanner(tokenizer, facts, finder_for(facts), scanner_for(facts))


def _every_pair_is_token(periodic: Periodic, tokens: Vocabulary) -> bool:
    """True if every two neighbours in the periodic part are a token, which crosses every place."""
    pairs = {(a + b).encode() for a, b in pairwise(periodic.word + periodic.word[:1])}
    return all(tokens.longest_at(pair) == len(pair) for pair in pairs)
