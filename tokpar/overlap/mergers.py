"""The mergers of chunks that overlap, seam by seam, and how they mend a seam that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokpar.interfaces import TokenizerAdapter
from tokpar.overlap.acceptance import Accept, by_two_edges
from tokpar.overlap.chunks import FAR, absorbed, joins_at_cuts
from tokpar.overlap.joining import overlap_of
from tokpar.overlap.licences import Licences
from tokpar.types import Chunk, Join, Piece, Seam, united


@dataclass(frozen=True)
class OverlapMerger:
    """Joins at each seam that `accept` accepts, and without overlap at certified cuts.

    `restart`: on failure everything is to be encoded again with the splitter's next attempt (LoPT
    as published); else only the two chunks concerned are cut anew at a certified place or fused.
    """

    accept: Accept
    restart: bool = False
    matches_spans: bool = True

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        licences = Licences.of(text, tokenizer)

        def join(pair: tuple[Chunk, Chunk], sides: tuple[Piece, Piece], last: int) -> Join | None:
            if pair[0].stop < pair[1].start:  # a gap: no place of it is in both
                return None
            return self.accept(overlap_of(text, pair, sides, tokenizer), licences, last)

        joins = _joins(chunks, pieces, join)
        return joins if licences.none_inside else licences.kept(joins)

    def mended(
        self, text: str, chunks: Sequence[Chunk], failed: Sequence[int], tokenizer: TokenizerAdapter
    ) -> list[Chunk] | None:
        """Both chunks cut at a certified place near the failed seam, without overlap; where there
        is none, one chunk of the two. None with `restart`."""
        if self.restart:
            return None
        licences = Licences.of(text, tokenizer)
        mended: list[Chunk] = [chunks[0]]
        for i, right in enumerate(chunks[1:], start=1):
            if i not in failed:
                mended.append(right)
                continue
            left = mended.pop()
            first = 1 + max(left.start, mended[-1].stop if mended else 0)
            after = chunks[i + 1] if i + 1 < len(chunks) else None
            limit = right.stop if after is None else min(after.start, after.core_start)
            cut = None if licences.refused else _nearby_cut(text, first, right, limit, licences)
            mended += [united(left, right)] if cut is None else _parted(left, right, cut)
        return mended


@dataclass(frozen=True)
class InsideMerger:
    """Concatenates at seams that the planner has proved, and certifies those it proposes inside
    one pre-token: two token edges in common (theorem 5', K5)."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        joins = joins_at_cuts(chunks, pieces)
        if all(joins):
            return joins
        licences = Licences.of(text, tokenizer)

        def join(pair: tuple[Chunk, Chunk], sides: tuple[Piece, Piece], last: int) -> Join | None:
            cut = pair[1].cut
            region = None if cut is None or cut.rule is not None else licences.region_of(cut)
            if cut is None or region is None:
                return None
            overlap = overlap_of(text, pair, sides, tokenizer)
            return by_two_edges(overlap, cut.position, region, licences.inside, last)

        return licences.kept(_joins(chunks, pieces, join))

    def mended(
        self, text: str, chunks: Sequence[Chunk], failed: Sequence[int], tokenizer: TokenizerAdapter
    ) -> list[Chunk]:
        """One chunk of those on either side of a failed seam, and of more of them where it would
        not be scanned as in the text."""
        licences, broken = Licences.of(text, tokenizer), set(failed)
        while True:
            mended: list[Chunk] = []
            more: set[int] = set()
            firsts = [i for i in range(len(chunks)) if i not in broken]
            for first, after in pairwise([*firsts, len(chunks)]):
                chunk = chunks[first]
                if after > first + 1:
                    chunk = united(chunk, chunks[after - 1])
                    ends = {i: _divides(chunks[i]) for i in (first, after) if i < len(chunks)}
                    inside = {i: cut for i, cut in ends.items() if cut is not None}
                    if not all(
                        licences.closed(c, chunk.start, chunk.stop) for c in inside.values()
                    ):
                        more.update(inside)
                mended.append(chunk)
            if not more:
                return mended
            broken |= more


def _joins(
    chunks: Sequence[Chunk],
    pieces: Sequence[Piece],
    join: Callable[[tuple[Chunk, Chunk], tuple[Piece, Piece], int], Join | None],
) -> list[Join | None]:
    """Those at certified cuts where nothing overlaps, and what `join` makes of the others: two
    chunks, their pieces, the position of the seam before."""
    joins = joins_at_cuts(chunks, pieces)
    last = 0
    for i, pair in enumerate(pairwise(chunks)):
        made = joins[i] or join(pair, (pieces[i], pieces[i + 1]), last)
        joins[i] = made
        last = last if made is None else made.seam.position
    return joins


def _divides(chunk: Chunk) -> Seam | None:
    """The seam at the left edge of a chunk if it divides a pre-token, or is proposed to."""
    cut = chunk.cut
    return cut if cut is not None and cut.rule in (None, "K4", "K5", "K6") else None


def _nearby_cut(text: str, first: int, right: Chunk, limit: int, licences: Licences) -> Seam | None:
    """A certified cut in [first, limit): the first one after the failed overlap's start if there
    is one, else the first one before."""
    middle = max(first, right.start + 1)
    inside = licences.inside
    return inside.next_cut(text, middle, limit, FAR) or inside.next_cut(text, first, middle, FAR)


def _parted(left: Chunk, right: Chunk, cut: Seam) -> list[Chunk]:
    """The two chunks with this cut between them; a space that is absorbed is left out."""
    left_out = absorbed(cut)
    start = cut.position + left_out
    return [
        replace(left, stop=cut.position, core_stop=cut.position),
        replace(right, start=start, core_start=cut.position, absorbed=left_out, cut=cut),
    ]
