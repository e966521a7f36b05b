"""The merger of all strategies whose chunks overlap: one acceptance decides seam by seam."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokpar.cuts.inside import Inside, inside_of
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.kernels import has_surrogate
from tokpar.methods.acceptance import Accept, Licences
from tokpar.methods.cut import SURROGATE
from tokpar.methods.edges import FAR, absorbed
from tokpar.methods.inside import loose, without
from tokpar.methods.joining import Locate, locate_of, overlap_of
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
        locate = locate_of(tokenizer)
        joins: list[Join | None] = []
        last = 0
        for i in range(1, len(chunks)):
            pair, sides = (chunks[i - 1], chunks[i]), (pieces[i - 1], pieces[i])
            join = self._join(text, pair, sides, locate, licences, last)
            joins.append(join)
            last = last if join is None else join.seam.position
        if licences.regions is None:
            return joins
        return without(joins, loose(joins, len(text), licences.regions))

    def _join(
        self,
        text: str,
        pair: tuple[Chunk, Chunk],
        sides: tuple[Piece, Piece],
        locate: Locate,
        licences: Licences,
        last: int,
    ) -> Join | None:
        left, right = pair
        cut = right.cut
        if cut is not None and cut.rule is not None and left.stop <= right.start:
            assert (left.stop, right.start) == (cut.position, cut.position + absorbed(cut))
            return Join(cut, len(sides[0].ids), 0)
        return self.accept(overlap_of(text, pair, sides, locate), licences, last)

    def mended(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed: Sequence[int],
        tokenizer: TokenizerAdapter,
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


def planned_cut(inside: Inside, text: str, start: int, overlap_chars: int) -> Seam | None:
    """The first certified cut in an overlap that begins at `start`, or not far behind it."""
    return inside.cut_soon(text, start, min(len(text), start + max(FAR, overlap_chars)))


def refusal(text: str, tokenizer: TokenizerAdapter) -> str | None:
    """Why no seam of the text can be licensed, wherever its chunks overlap; or None."""
    if has_surrogate(text):
        return SURROGATE
    inside = inside_of(tokenizer)
    if facts_of(tokenizer).unprovable is None and inside.refusal is None:
        return None
    return inside.finder.refusal_for(text)


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
