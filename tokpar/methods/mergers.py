"""The mergers of overlapping chunks: they join seam by seam, and repair a seam that failed.

`LicensedMerger` checks a merger of another author."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

from tokpar.contract.interfaces import Merger, TokenizerAdapter
from tokpar.contract.part_checks import mend_chunks, merge_pieces, unite_chunks
from tokpar.methods.acceptance import Accept, by_cut, by_match
from tokpar.methods.overlaps import Licences, PieceLocator, overlap_of
from tokpar.pipeline.chunks_at_cuts import joins_at_cuts
from tokpar.pipeline.plan import matches_spans
from tokpar.process.limits import ON_FAILURE, require_choice, require_min_match
from tokpar.types import CERTIFIED_CUTS, Chunk, Chunks, Join, Joins, Piece, Pieces, Seam


@dataclass(frozen=True)
class OverlapMerger:
    """Joins overlapping chunks where `accept` accepts a seam, and other chunks at certified cuts.

    `restart`: a failed seam starts the splitter's next attempt; else the seam is repaired."""

    accept: Accept
    restart: bool = False
    matches_spans: bool = True

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        licences, locator = Licences.of(text, tokenizer), PieceLocator(text, tokenizer)

        def join(pair: tuple[Chunk, Chunk], sides: tuple[Piece, Piece], last: int) -> Join | None:
            if pair[0].stop < pair[1].start:  # a gap between the chunks: nothing to compare
                return None
            overlap = overlap_of(text, pair, sides, tokenizer, locator)
            return self.accept(overlap, licences, last)

        return _joins(chunks, pieces, join)

    def mend(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed_seams: Sequence[int],
        tokenizer: TokenizerAdapter,
    ) -> list[Chunk] | None:
        """Returns chunks that meet, without overlap, at a certified cut near each failed seam.

        Without such a cut, the two chunks become one chunk. None with `restart`."""
        if self.restart:
            return None
        licences, broken = Licences.of(text, tokenizer), set(failed_seams)
        mended: list[Chunk] = [chunks[0]]
        for i, right in enumerate(chunks[1:], start=1):
            if i not in broken:
                mended.append(right)
                continue
            left = mended.pop()
            first = 1 + max(left.start, mended[-1].stop if mended else 0)
            after = chunks[i + 1] if i + 1 < len(chunks) else None
            limit = right.stop if after is None else min(after.start, after.core_start)
            cut, middle, finder = None, max(first, right.start + 1), licences.finder
            if not licences.has_no_cuts:  # the first cut after the overlap's start, else before it
                cut = finder.find(text, middle, limit) or finder.find(text, first, middle)
            mended += (
                [unite_chunks(left, right)] if cut is None else _put_cut_between(left, right, cut)
            )
        return mended


@dataclass(frozen=True)
class LicensedMerger:
    """A merger without the joins that tokpar does not license.

    Keeps a join where tokpar itself certifies the cut, and divides the tokens of both sides as the
    merger does. Whatever rule and witness the merger names, the seam gets those that tokpar finds.
    """

    merger: Merger

    @property
    def matches_spans(self) -> bool:
        return matches_spans(self.merger)

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        joins = merge_pieces(self.merger, text, chunks, pieces, tokenizer)
        licences, locator = Licences.of(text, tokenizer), PieceLocator(text, tokenizer)
        kept: list[Join | None] = []
        last = 0
        for join, pair, sides in zip(joins, pairwise(chunks), pairwise(pieces), strict=True):
            found = None if join is None else _license_join(join, pair, sides, licences, locator)
            if found is not None and found.seam.position <= last:  # a second seam at one place
                found = None
            kept.append(found)
            last = last if found is None else found.seam.position
        return kept

    def mend(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed_seams: Sequence[int],
        tokenizer: TokenizerAdapter,
    ) -> list[Chunk] | None:
        return mend_chunks(self.merger, text, chunks, failed_seams, tokenizer)


def _joins(
    chunks: Sequence[Chunk],
    pieces: Sequence[Piece],
    join: Callable[[tuple[Chunk, Chunk], tuple[Piece, Piece], int], Join | None],
) -> list[Join | None]:
    """Returns the joins at certified cuts without overlap, and the results of `join` elsewhere.

    `join` takes two chunks, their pieces, and the position of the seam before."""
    joins = joins_at_cuts(chunks, pieces)
    last = 0
    for i, pair in enumerate(pairwise(chunks)):
        made = joins[i] or join(pair, (pieces[i], pieces[i + 1]), last)
        joins[i] = made
        last = last if made is None else made.seam.position
    return joins


def _put_cut_between(left: Chunk, right: Chunk, cut: Seam) -> list[Chunk]:
    """Returns the two chunks with `cut` between them. An absorbed space is left out."""
    place, left_out = cut.position, cut.absorbed
    return [
        replace(left, stop=place, core_stop=place),
        replace(right, start=place + left_out, core_start=place, absorbed=left_out, cut=cut),
    ]


def _license_join(
    join: Join,
    pair: tuple[Chunk, Chunk],
    sides: tuple[Piece, Piece],
    licences: Licences,
    locator: PieceLocator,
) -> Join | None:
    """Returns the join with the rule and witness that tokpar finds itself, or None.

    Chunks that overlap are joined at a certified cut of the text and of both chunks (window lemma).
    The kept ids depend on whether a space was left out (6.4), so both must agree on that."""
    claimed, (left, right) = join.seam, pair
    if claimed.rule not in CERTIFIED_CUTS or licences.has_no_cuts:
        return None
    if left.stop > right.start:
        try:
            overlap = overlap_of(licences.text, pair, sides, locator.tokenizer, locator)
        except LookupError:
            return None
        found = licences.as_certified(overlap, join, claimed.position, end=claimed.absorbed == 0)
        return found if found is not None and found.seam.absorbed == claimed.absorbed else None
    seam = licences.finder.certify(licences.text, claimed.position)
    if seam is None or seam.absorbed != claimed.absorbed:
        return None
    if (left.stop, right.start) != (seam.position, seam.position + seam.absorbed):
        return None
    return replace(join, seam=seam)


def build_certified(
    *, min_match: int | Literal["longest"] = 0, on_failure: Literal["repair", "restart"] = "repair"
) -> OverlapMerger:
    """Joins where a rule licenses the seam, or `min_match` tokens agree around a certified cut."""
    require_min_match(min_match, least=0)
    require_choice("on_failure", on_failure, ON_FAILURE)
    return OverlapMerger(partial(by_cut, least=min_match), restart=on_failure == "restart")


def build_match(*, min_match: int | Literal["longest"] = 2) -> OverlapMerger:
    """Joins where `min_match` tokens of both chunks agree, as published by LoPT."""
    require_min_match(min_match)
    return OverlapMerger(partial(by_match, least=min_match))
