"""Accepts seams between two overlapping chunks: by a rule, or by the test of a published paper.

Each function looks at one overlap and returns a join, or None."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tokpar.methods.overlaps import Licences, Overlap
from tokpar.types import Facts, Join, Seam

LeastMatch = int | Literal["longest"]

Accept = Callable[[Overlap, Licences, int], Join | None]
"""The last argument is the position of the seam before, code points."""


@dataclass(frozen=True, slots=True)
class Match:
    """A run of neighbouring tokens that both sides found at the same places.

    `left`, `right`: the index, in the overlap, of the first token after the run. `tokens`: how many
    tokens the run has. `start`, `stop`: bytes of the run from the start of the overlap."""

    left: int
    right: int
    tokens: int
    start: int
    stop: int

    def enough(self, least: LeastMatch, facts: Facts) -> bool:
        """True if the run has `least` tokens; "longest": more bytes than the longest token."""
        if least == "longest":
            return self.stop - self.start > facts.longest_token
        return self.tokens >= least


def longest_match(overlap: Overlap) -> Match | None:
    """Returns the first longest match of an overlap, or None if no token is matched."""
    left, right = overlap.match_tokens()
    if not len(left):
        return None
    breaks = np.flatnonzero((np.diff(left) != 1) | (np.diff(right) != 1)) + 1
    ends = np.concatenate([[0], breaks, [len(left)]])
    k = int(np.diff(ends).argmax())
    return _match(overlap, int(left[ends[k]]), int(right[ends[k]]), int(ends[k + 1] - ends[k]))


def match_around(overlap: Overlap, join: Join) -> Match | None:
    """Returns the match that contains or touches a join. None if the tokens next to it differ."""
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
    """Returns the join of LoPT as published: after a run of tokens that both sides found.

    This is no proof (proofs/lopt-theorem-3.1.md). The seam is certified only where a rule also
    holds."""
    match = longest_match(overlap)
    if match is None or not match.enough(least, licences.finder.facts):
        return None
    return as_published(overlap, licences, overlap.position(match.stop), match.left, match.right)


def as_published(
    overlap: Overlap, licences: Licences, position: int, left: int, right: int
) -> Join:
    """Returns the join that keeps `left` tokens of the left side and drops `right` of the right.

    Certified if `position` is a certified cut that divides the tokens in this way. `position` -1:
    the seam is put at the start of the right chunk's core."""
    place = overlap.right.core_start if position < 0 else position
    join = Join(Seam(place, None, ""), overlap.left_first + left, right)
    return join if position < 0 else licences.as_certified(overlap, join, position) or join


def by_cut(
    overlap: Overlap, licences: Licences, last: int = 0, least: LeastMatch = 0
) -> Join | None:
    """Returns the join at a certified cut in the overlap (PAIR, STAGE; window lemma), or None.

    The cut is the proof. The method decides how many tokens around the cut must agree (`least`)."""
    for seam in licences.cuts(overlap):
        join = overlap.join(seam) if seam.position > last else None
        if join is None:
            continue
        match = match_around(overlap, join) if least else None
        if not least or (match is not None and match.enough(least, licences.finder.facts)):
            return join
    return None
