"""`overlap`, of ParallelTokenizer: joins overlapping chunks at the longest common run of ids.

The merger compares ids without their places. Ids repeat, so this strategy proves nothing and is
approximate. It is a baseline to compare with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from tokpar import Seam
from tokpar.plugin.merge import Chunk, Chunks, Join, Joins, Pieces, TokenizerAdapter, facts_of
from tokpar.plugin.overlap import IdArray, IntArray, Licences, Overlap, PieceLocator, overlap_of
from tokpar.plugin.split import Split, require_choice, require_count, split_without_overlaps

MATCHES = ("longest", "window")


@dataclass(frozen=True)
class OverlapSplitter:
    """Makes the chunks text[k * chunk_chars : (k + 1) * chunk_chars + overlap_chars], code points.

    One chunk for attempt 1 and later, and for a text with lone surrogates."""

    chunk_chars: int = 40960
    overlap_chars: int = 512

    def __post_init__(self) -> None:
        require_count("chunk_chars", self.chunk_chars)
        require_count("overlap_chars", self.overlap_chars)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        length = len(text)
        size = length if attempt > 0 else self.chunk_chars
        whole = split_without_overlaps(text, tokenizer, size, plan_cuts=False)
        if whole is not None:
            return whole
        reach = size + self.overlap_chars
        chunks = [
            Chunk(start, min(start + reach, length), start, min(start + size, length))
            for start in range(0, length, size)
        ]
        share = f"{size:,} code points and {self.overlap_chars:,} of overlap"
        return Split(chunks, f"{len(chunks):,} chunks of {share}", "joined at common runs of ids")


@dataclass(frozen=True)
class RunMerger:
    """Joins two pieces at their longest common run of ids: the left piece ends with the run.

    `match` "longest" compares all ids. "window" compares the ids that touch the overlap. A seam
    that is also a certified cut of text and chunks names its rule; for "longest", only where tokens
    tile the text."""

    match: Literal["longest", "window"] = "longest"

    def __post_init__(self) -> None:
        require_choice("match", self.match, MATCHES)

    @property
    def matches_spans(self) -> bool:
        return self.match == "window"

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        licences = Licences.of(text, tokenizer)
        places = PieceLocator(text, tokenizer)
        located = self.matches_spans or (facts_of(tokenizer).tiles and not licences.has_no_cuts)
        joins: list[Join | None] = []
        first = 0
        for pair, sides in zip(pairwise(chunks), pairwise(pieces), strict=True):
            overlap = overlap_of(text, pair, sides, tokenizer, places) if located else None
            if overlap is not None and self.matches_spans:
                join = _join_after_run(pair[1], overlap.left_ids, overlap.right_ids)
                join = replace(join, left=overlap.left_first + join.left)
            else:
                join = _join_after_run(pair[1], sides[0].ids, sides[1].ids)
                # ParallelTokenizer drops nothing where the run ends with the right piece (its slice
                # begins at `(n - b) % n`): a last chunk no longer than the overlap is there twice
                if join.right == len(sides[1].ids):
                    join = replace(join, right=0)
            if overlap is not None:
                join = _join_by_rule(overlap, join, licences) or join
            # a run before the previous seam of the same piece leaves nothing of the piece
            joins.append(replace(join, left=max(first, join.left)))
            first = join.right
        return joins


def _join_after_run(right: Chunk, left_ids: IdArray, right_ids: IdArray) -> Join:
    """Returns the join after the longest common run.

    Without a common run, all ids of both sides are kept; the published code warns and goes on."""
    i, j, length = longest_common_run(left_ids, right_ids)
    seam = Seam(right.core_start, None, "", (("matched", str(length)),))
    return Join(seam, i + length, j + length)


def _join_by_rule(overlap: Overlap, join: Join, licences: Licences) -> Join | None:
    """Returns the join with a rule if it divides the tokens of both sides at a certified cut.

    Not at a space that would have to be left out (absorb rule), nor beyond the right chunk's own
    share, where the next seam may stand."""
    before = join.left - overlap.left_first
    if before < 1 or not join.right:
        return None
    position = overlap.position(int(overlap.left_spans[before - 1, 1]))
    if not overlap.start < position < overlap.right.core_stop:
        return None
    found = licences.as_certified(overlap, join, position, end=True)
    return None if found is None or "absorbed" in dict(found.seam.witness) else found


def longest_common_run(left: IdArray, right: IdArray) -> tuple[int, int, int]:
    """(i, j, length) of the longest run of ids in both rows, left[i : i + length] and
    right[j : j + length]: [1, 2, 3, 9] and [5, 2, 3] -> (1, 1, 2).

    Of several the last one in `left`, then the last one in `right`, as ParallelTokenizer takes it
    (it searches both rows backwards). No common id: (len(left), 0, 0). Exact, without hashing:
    windows of 1, 2, 4, ... ids are numbered by sorting, at most 2 log2(n) sorts of n numbers."""
    count = len(left)
    both = np.concatenate([left.astype(np.int64), [-1], right.astype(np.int64)])
    doubled = [_number_shared(both, count)]  # of the windows of 2**k ids, by where they start
    if not (doubled[0] >= 0).any():
        return count, 0, 0
    while True:
        longer = _extend_windows(doubled[-1], doubled[-1], 1 << (len(doubled) - 1), count)
        if not (longer >= 0).any():
            break
        doubled.append(longer)
    length = 1 << (len(doubled) - 1)
    longest = doubled.pop()
    while doubled:
        extra = 1 << (len(doubled) - 1)
        longer = _extend_windows(longest, doubled.pop(), length, count)
        if (longer >= 0).any():
            longest, length = longer, length + extra
    i = int(np.flatnonzero(longest[:count] >= 0)[-1])
    j = int(np.flatnonzero(longest[count + 1 :] == longest[i])[-1])
    return i, j, length


def _extend_windows(first: IntArray, second: IntArray, length: int, count: int) -> IntArray:
    """Returns the windows of a window of `first` (`length` ids) and the next window of `second`."""
    behind = np.full_like(second, -1)
    behind[:-length] = second[length:]
    windows = first * (1 + second.max()) + behind
    return _number_shared(np.where((first >= 0) & (behind >= 0), windows, -1), count)


def _number_shared(values: IntArray, count: int) -> IntArray:
    """Returns equal numbers for values that occur both before and after `count`; else -1."""
    shared = np.intersect1d(values[:count], values[count:])
    shared = shared[shared >= 0]
    if not len(shared):
        return np.full_like(values, -1)
    near = np.minimum(np.searchsorted(shared, values), len(shared) - 1)
    places: IntArray = np.where(shared[near] == values, near, -1)
    return places


def build(
    *,
    chunk_chars: int = 40960,
    overlap_chars: int = 512,
    match: Literal["longest", "window"] = "longest",
) -> tuple[OverlapSplitter, RunMerger]:
    """`chunk_chars`: own share of a chunk, `overlap_chars`: what it shares with the next one, both
    in code points. `match`: compare all ids of two pieces, or those that touch the overlap."""
    return OverlapSplitter(chunk_chars, overlap_chars), RunMerger(match)
