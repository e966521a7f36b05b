"""What makes a seam between two overlapping chunks acceptable: a rule, or what a paper published.

Each acceptance looks at one overlap and answers with a join, or None."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from tokpar.cuts.within_pretoken import Inside, Region
from tokpar.overlap.licences import Licences, Overlap
from tokpar.types import Facts, Join, Seam

LeastMatch = int | Literal["longest"]

_MOST_TRIED = 16
_PLAIN = re.compile("[ -~]*")


Accept = Callable[[Overlap, Licences, int], Join | None]
"""The last argument is the position of the seam before, code points."""


@dataclass(frozen=True, slots=True)
class Match:
    """The longest run of tokens that both sides found one after the other at the same places.

    `left` and `right`: numbers, in the overlap, of the first token after the run. `tokens`: how
    many it has; `start`, `stop`: its bytes from the start of the overlap."""

    left: int
    right: int
    tokens: int
    start: int
    stop: int

    def enough(self, least: LeastMatch, facts: Facts) -> bool:
        """At least so many tokens, or ("longest") more bytes than the longest token has."""
        if least == "longest":
            return self.stop - self.start > facts.longest_token
        return self.tokens >= least


def longest_match(overlap: Overlap) -> Match | None:
    """The longest match of an overlap, the first of several; None if no token is matched."""
    left, right = overlap.matched()
    if not len(left):
        return None
    breaks = np.flatnonzero((np.diff(left) != 1) | (np.diff(right) != 1)) + 1
    ends = np.concatenate([[0], breaks, [len(left)]])
    k = int(np.diff(ends).argmax())
    return _match(overlap, int(left[ends[k]]), int(right[ends[k]]), int(ends[k + 1] - ends[k]))


def match_around(overlap: Overlap, join: Join) -> Match | None:
    """The match that a join lies in or at an end of; None if the tokens beside it differ."""
    left, right = join.left - overlap.left_first, join.right
    before = min(left, right)
    after = min(len(overlap.left_ids) - left, len(overlap.right_ids) - right)
    own = slice(left - before, left + after)
    other = slice(right - before, right + after)
    equal = overlap.left_ids[own] == overlap.right_ids[other]
    equal &= (overlap.left_spans[own] == overlap.right_spans[other]).all(axis=1)
    unequal = np.flatnonzero(~equal)
    place = int(np.searchsorted(unequal, before))
    first = int(unequal[place - 1]) + 1 if place else 0
    last = int(unequal[place]) if place < len(unequal) else len(equal)
    if first == last:
        return None
    return _match(overlap, own.start + first, other.start + first, last - first)


def _match(overlap: Overlap, left: int, right: int, tokens: int) -> Match:
    spans = overlap.left_spans[left : left + tokens]
    return Match(left + tokens, right + tokens, tokens, int(spans[0, 0]), int(spans[-1, 1]))


def by_match(
    overlap: Overlap, licences: Licences, last: int = 0, least: LeastMatch = 2
) -> Join | None:
    """LoPT as published: both sides agree on a run of tokens, and the cut is behind it. No proof
    (proofs/lopt-theorem-3.1.md): the seam is certified only where a rule happens to hold."""
    match = longest_match(overlap)
    if match is None or not match.enough(least, licences.finder.facts):
        return None
    return _as_published(overlap, licences, overlap.position(match.stop), match.left, match.right)


def by_midpoint(overlap: Overlap, licences: Licences, last: int = 0) -> Join:
    """The midpoint filter as published: the left side keeps the tokens that start before the right
    chunk's own share, the right side the others. Proves nothing (proofs/midpoint-filter.md)."""
    position = overlap.right.core_start
    offset = overlap.edges[position - overlap.start]
    left = int(np.count_nonzero(overlap.left_spans[:, 0] < offset))
    right = int(np.count_nonzero(overlap.right_spans[:, 0] < offset))
    return _as_published(overlap, licences, position, left, right)


def _as_published(
    overlap: Overlap, licences: Licences, position: int, left: int, right: int
) -> Join:
    """The join that keeps `left` tokens of the overlap's left side and drops `right` of its right
    side; certified if `position` is a certified cut and this is how it parts the tokens. -1: no
    position, the seam is put at the start of the right chunk's share."""
    place = overlap.right.core_start if position < 0 else position
    join = Join(Seam(place, None, ""), overlap.left_first + left, right)
    return join if position < 0 else licences.as_certified(overlap, join, position) or join


def certified(
    overlap: Overlap, licences: Licences, last: int = 0, least: LeastMatch = 0
) -> Join | None:
    """A join that a rule licenses: at a certified cut, inside a pre-token that both sides are known
    to share, or behind a word that both sides see."""
    return (
        by_cut(overlap, licences, last, least)
        or by_pre_token(overlap, licences, last)
        or by_word(overlap, licences, last)
    )


def by_cut(
    overlap: Overlap, licences: Licences, last: int = 0, least: LeastMatch = 0
) -> Join | None:
    """A certified cut in the overlap (K1-K3, window lemma) where both sides agree on enough tokens.
    The cut is the proof; how many tokens beside it must agree is a matter of the method."""
    for seam in licences.cuts(overlap):
        join = overlap.join(seam) if seam.position > last else None
        if join is None:
            continue
        match = match_around(overlap, join) if least else None
        if not least or (match is not None and match.enough(least, licences.finder.facts)):
            return join
    return None


def by_pre_token(overlap: Overlap, licences: Licences, last: int) -> Join | None:
    """Two token edges that both sides found strictly inside one pre-token (K5, theorem 5'), which
    is known from a scan of the text between two K1 cuts; both chunks must scan as the text does.
    Not behind a normalizer, where chunks that begin or end anywhere do not tell edges exactly."""
    text, inside = overlap.text, licences.inside
    if licences.none_inside or not inside.facts.tiles:
        return None
    if not inside.scanner.is_one(text[overlap.start : overlap.stop]):
        return None
    region = licences.around(overlap.start, overlap.stop)
    if region is None:
        return None
    for chunk in (overlap.left, overlap.right):
        if not inside.closed(text, region, chunk.start, chunk.stop):
            return None
    return by_two_edges(overlap, (overlap.start + overlap.stop) // 2, region, inside, last)


def by_two_edges(
    overlap: Overlap, near: int, region: Region, inside: Inside, last: int
) -> Join | None:
    """The join at the first of two token edges, the nearest to `near`, that both sides found inside
    the overlap; both parts stay longer than any token (K5). `near`, `last` seam: code points."""
    piece = region.piece(near)
    start, stop = overlap.start, overlap.stop
    if not (piece[0] <= start and stop <= piece[1]):
        return None
    parts = overlap.left.start, overlap.right.stop
    if not inside.facts.tiles and not (region.start <= parts[0] and parts[1] <= region.stop):
        return None  # a normalizer may change what is outside the region (theorem 45)
    least = inside.facts.longest_token + 1
    low, high = max(piece[0], last) + least, piece[1] - least
    common = [place for place in overlap.shared_edges() if start < place < stop]
    pairs = [pair for pair in pairwise(common) if low <= pair[0] <= high]
    pairs.sort(key=lambda pair: abs(pair[0] - near))
    for place, second in pairs[:_MOST_TRIED]:
        if inside.apart(overlap.text, piece, place):
            known = ("right_start", start), ("second", second), ("left_stop", stop)
            return overlap.join(Seam(place, "K5", "5'", (*region.witness, *known)))
    return None


def by_word(overlap: Overlap, licences: Licences, last: int = 0) -> Join | None:
    """WordPiece: a common token in an overlap of at least as many normalized characters as the
    longest word that is not given up (K8, theorem 12). Printable ASCII only: one character each."""
    text, finder = overlap.text, licences.finder
    a, b, least = overlap.start, overlap.stop, finder.facts.longest_word
    if licences.refused or finder.facts.scheme != "bert" or not least or b - a < least:
        return None
    if _PLAIN.fullmatch(text, a, b) is None or not text[b : b + 1].isascii():
        return None
    if finder.normalized.tokens or not finder.added.clear(text, a, b):
        return None
    if not all(p in (0, len(text)) or finder.tokens_safe(text, p) for p in (a, b)):
        return None
    for i, j in zip(*overlap.matched(), strict=True):
        start, stop = overlap.left_spans[i].tolist()
        if start >= 0 and last < a + stop <= min(b, len(text) - 1):
            witness = (
                ("left_start", overlap.left.start),
                ("left_stop", b),
                ("right_start", a),
                ("right_stop", overlap.right.stop),
                ("token_start", a + start),
            )
            seam = Seam(a + stop, "K8", "12", witness)
            return Join(seam, overlap.left_first + int(i) + 1, int(j) + 1)
    return None
