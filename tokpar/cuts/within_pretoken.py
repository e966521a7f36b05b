"""Where to divide pre-tokens: rules K4 (lemma 24), K5 (windows for two boundaries), K6 (runs). A
region lies between two K1 cuts, or ends of the text. All positions are code points of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokpar.arrays import IntArray
from tokpar.cuts.finder import CutFinder, at_pair, finder_for
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.cuts.pretokens import Periodic, Scanner, run_of, scanner_for, stretch_at
from tokpar.facts.token_lengths import Vocabulary, vocabulary_of
from tokpar.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.types import CERTIFIED_CUTS, Facts, Seam

# How far behind a target a place is looked for that no token reaches across.
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
    """[start, stop); `edges` of its pre-tokens, both ends included. By theorem 14 they are
    pre-tokens of the whole text."""

    start: int
    stop: int
    edges: IntArray

    @property
    def witness(self) -> tuple[tuple[str, int], ...]:
        return ("start", self.start), ("stop", self.stop)

    def piece(self, position: int) -> tuple[int, int]:
        """The pre-token that a place of the region lies in, or begins."""
        place = int(np.searchsorted(self.edges, position, side="right"))
        return int(self.edges[place - 1]), int(self.edges[place])


@dataclass(frozen=True, slots=True)
class Place:
    """A seam, proved or (rule None) proposed, and what the chunks on its sides share: the right one
    begins at `start`, the left one ends at `stop`. `run`: the ids of the chunk that ends here."""

    seam: Seam
    start: int
    stop: int
    run: tuple[int, int] | None = None

    @property
    def inside(self) -> bool:
        """It divides a pre-token."""
        return self.seam.rule not in CERTIFIED_CUTS


def at(seam: Seam, run: tuple[int, int] | None = None) -> Place:
    """The place of a seam where nothing overlaps."""
    return Place(seam, seam.position, seam.position, run)


@dataclass(frozen=True, eq=False)
class Inside:
    """What is known of the pre-tokens of one tokenizer; build it with `inside_of`."""

    tokenizer: TokenizerAdapter
    facts: Facts
    finder: CutFinder
    scanner: Scanner

    @property
    def refusal(self) -> str | None:
        """Why no pre-token of this tokenizer can be divided, or None."""
        facts = self.facts
        tiled = facts.tiles or facts.sizes is not None
        if facts.pretoken_cuts_refused is not None or not tiled or facts.longest_token < 1:
            return facts.pretoken_cuts_refused or "its tokens are not known to make up the text"
        if facts.model.casefold() != "bpe" or facts.scheme not in ("regex", "whole"):
            return "pre-tokens are divided for BPE behind a regex, or behind nothing"
        return self.scanner.refusal

    def next_cut(
        self, text: str, start: int, stop: int, window: int, after: Seam | None = None
    ) -> Seam | None:
        """The certified cut in [start, stop) that `CutFinder.find` would find; long pre-tokens on
        the way, which hold none but at added tokens, are passed over by scanning them."""
        if self.finder.refusal is not None:  # only edges of added tokens, which no window parts
            window = max(window, stop - start)
        while start < stop:
            reached = min(stop, start + window)
            seam = self.finder.find(text, start, reached, window, after)
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
        """The first pre-token boundary in [start, stop) that a scan shows, or `stop`: no K1 cut is
        before; `start` > 0. K1 cuts are boundaries in every text around their two characters, so a
        scan of any part shows them. It stops where engines may differ on a character."""
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
        """A K1 cut in [start, stop), one of the last; None if none was found soon."""
        start += self.scanner.sure_from(text[start:stop])
        edges = self.scanner.edges(text[start:stop])
        places: list[int] = [] if edges is None else (edges[-2::-1] + start).tolist()
        seams = (self.finder.certify(text, place) for place in places[:_MOST_TRIED])
        return next((seam.position for seam in seams if seam is not None and at_pair(seam)), None)

    def region(self, text: str, start: int, stop: int) -> Region | None:
        """The region, whose ends must be K1 cuts or ends of the text; None where an added token
        occurs in it, or engines may differ on a character."""
        if not inert_for(self.facts).clear(text, start, stop):
            return None
        edges = self.scanner.edges(text[start:stop])
        return None if edges is None else Region(start, stop, edges + start)

    def closed(self, text: str, region: Region, start: int, stop: int) -> bool:
        """What [start, stop) has of the region scans, alone, as in the text (split-closed)."""
        start, stop = max(start, region.start), min(stop, region.stop)
        alone = self.scanner.edges(text[start:stop])
        low, high = np.searchsorted(region.edges, (start + 1, stop))
        expected = np.concatenate(([start], region.edges[low:high], [stop]))
        return alone is not None and np.array_equal(alone + start, expected)

    def apart(self, text: str, piece: tuple[int, int], place: int) -> bool:
        """The characters around a place of a pre-token scan as two pieces when parted there; what
        `closed` asks of whole parts most likely holds then."""
        left = text[max(piece[0], place - _NEARBY) : place]
        right = text[place : min(piece[1], place + _NEARBY)]
        return self.scanner.is_one(left) and self.scanner.is_one(right)

    def places(
        self, text: str, region: Region, first: int, size: int, wide: int | None = None
    ) -> list[Place]:
        """Places to divide long pre-tokens of the region, `size` or more apart (windows, which cost
        more than a cut: `wide`) and from `first`, which is the last seam before it. Every chunk
        between them scans as the text does; behind a normalizer the first begins with the region,
        for text outside it may change."""
        found: list[Place] = []
        last = first
        least = 2 * (self.facts.longest_token + 1)
        for k in np.flatnonzero(np.diff(region.edges) >= least):
            piece = int(region.edges[k]), int(region.edges[k + 1])
            found += self._in_piece(text, region, piece, last, size, wide or size)
            if found:
                last = found[-1].seam.position
        found = self._all_closed(text, region, found)
        if not found or not self.facts.normalizers or region.start <= first:
            return found
        cut = self.finder.certify(text, region.start)
        if cut is None or found[0].seam.position == region.start:
            return found if cut is not None else []
        return [at(cut), *found]

    def _in_piece(
        self, text: str, region: Region, piece: tuple[int, int], last: int, size: int, wide: int
    ) -> Iterator[Place]:
        run = self._run(text, region, piece, last, size)
        if run:
            yield from run
            return
        # both parts of a divided pre-token have more bytes than any token: gate 0'.7 (a)
        least = self.facts.longest_token + 1
        tokens = vocabulary_of(self.facts, piece[1] - piece[0])
        low, misses = piece[0], 0
        target = max(last + size, piece[0] + least)
        stretch: Periodic | None = None
        while True:
            near = last + wide * (2 if stretch and stretch.cycle else 1)  # what repeats costs less
            if tokens is None or misses >= _MOST_MISSES:
                target = max(target, near)
            if target > piece[1] - least:
                return
            if stretch is None or not stretch.start <= target < stretch.stop:
                stretch = stretch_at(text, piece, target, self.scanner, self.tokenizer)
                if stretch and stretch.cycle:
                    continue
            place = None
            if tokens and misses < _MOST_MISSES and not (stretch and _paired(stretch, tokens)):
                place = self._forced(text, region, piece, target, tokens)
            if place is None:
                misses += 1
                if target < near:  # a cut may stand nearer than a window
                    target = min(target + size, near)
                    continue
                place = self._window(text, region, piece, low, target, stretch)
            if place is None:
                return
            yield place
            low, last = place.stop, place.seam.position
            target = max(last + size, low + least)

    def _forced(
        self, text: str, region: Region, piece: tuple[int, int], target: int, tokens: Vocabulary
    ) -> Place | None:
        """A place at or soon behind the target that no token reaches across (lemma 24)."""
        stop = min(target + FORCED_REACH, piece[1] - self.facts.longest_token)
        place = tokens.forced(text, piece, target, stop)
        if place is None or not self.apart(text, piece, place):
            return None
        return at(Seam(place, "K4", "24", region.witness))

    def _window(
        self,
        text: str,
        region: Region,
        piece: tuple[int, int],
        low: int,
        target: int,
        stretch: Periodic | None,
    ) -> Place | None:
        """An overlap around the target, or behind it in periodic text, where it begins where a
        token should, for a seam in its middle. None if too little of the pre-token is left."""
        if not isinstance(self.tokenizer, Locates):
            return None
        least = self.facts.longest_token + 1
        width = max(LEAST_OVERLAP, 2 * least)
        start = max(low, target - width // 2)
        if stretch is None or not stretch.cycle:
            start = self._moved(text, piece, start)
        else:
            start = stretch.edge_from(start)
            width = max(width, 3 * stretch.cycle + least)
        if start + 2 > piece[1] - least:
            return None
        stop = self._moved(text, piece, min(piece[1], max(start + width, target + 2)))
        middle = min(max(target, (start + stop) // 2), piece[1] - least)
        return Place(Seam(middle, None, "5'", region.witness), start, stop)

    def _moved(self, text: str, piece: tuple[int, int], place: int) -> int:
        """The first place, from this one on, where the pre-token can be parted; itself if that is
        not near."""
        near = range(place, min(place + _NEARBY, piece[1] + 1))
        ends = (p for p in near if p in piece or self.apart(text, piece, p))
        return next(ends, place)

    def _run(
        self, text: str, region: Region, piece: tuple[int, int], last: int, size: int
    ) -> list[Place]:
        """The seam behind the tokens of a constant pre-token that theorem 11 gives, and the K1 cut
        before it; nothing if that does not apply, or does not pay."""
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
        seam = Seam(start + times * run.length, "K6", "11", witness)
        before = [at(cut)] if cut is not None and start != last else []
        return [*before, at(seam, (run.token, times))]

    def _all_closed(self, text: str, region: Region, found: list[Place]) -> list[Place]:
        """Those of the places between which every chunk is scanned as in the text; none if taking
        out what is beside the others does not help soon."""
        for _ in range(_ROUNDS):
            loose = set(self._loose(text, region, found))
            if not loose:
                return found
            found = [place for place in found if place not in loose]
        return []

    def _loose(self, text: str, region: Region, found: Sequence[Place]) -> Iterator[Place]:
        """The places beside chunks that are not scanned as in the text."""
        for left, right in zip([None, *found], [*found, None], strict=True):
            divided = [side for side in (left, right) if side is not None and side.inside]
            if not divided or (right is not None and right.run is not None):
                continue
            start = region.start if left is None else left.start
            stop = region.stop if right is None else right.stop
            if not self.closed(text, region, start, stop):
                yield from divided


def inside_of(tokenizer: TokenizerAdapter) -> Inside:
    """What is known of this tokenizer's pre-tokens."""
    facts = facts_of(tokenizer)
    return Inside(tokenizer, facts, finder_for(facts), scanner_for(facts))


def _paired(stretch: Periodic, tokens: Vocabulary) -> bool:
    """Every two characters side by side in the stretch are a token, which reaches across."""
    pairs = {(a + b).encode() for a, b in pairwise(stretch.word + stretch.word[:1])}
    return all(tokens.longest_at(pair) == len(pair) for pair in pairs)
