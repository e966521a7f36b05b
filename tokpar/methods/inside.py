"""Joins chunks that overlap inside one pre-token: two token edges in common (theorem 5', K5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokpar.cuts.inside import Inside, Region, inside_of
from tokpar.interfaces import TokenizerAdapter
from tokpar.methods.cut import CutMerger, join_at_cut, meet_at_cut
from tokpar.methods.joining import Overlap, locate_of, overlap_of
from tokpar.methods.regions import Regions, is_inside
from tokpar.types import Chunk, Join, Piece, Seam, united

_MOST_TRIED = 16


@dataclass(frozen=True)
class InsideMerger:
    """Concatenates at seams that the planner has proved, and certifies those it proposes (K5)."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        if all(meet_at_cut(left, right) for left, right in pairwise(chunks)):
            return CutMerger().merge(text, chunks, pieces, tokenizer)
        regions = Regions(text, inside_of(tokenizer))
        joins: list[Join | None] = []
        last = 0
        for i in range(1, len(chunks)):
            pair, sides = (chunks[i - 1], chunks[i]), (pieces[i - 1], pieces[i])
            join = _joined(text, pair, sides, tokenizer, regions, last)
            joins.append(join)
            last = last if join is None else join.seam.position
        return without(joins, loose(joins, len(text), regions))

    def mended(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed: Sequence[int],
        tokenizer: TokenizerAdapter,
    ) -> list[Chunk]:
        """One chunk of those on either side of a failed seam, and of more of them where it would
        not be scanned as in the text."""
        regions, broken = Regions(text, inside_of(tokenizer)), set(failed)
        while True:
            mended, ends = _fused(chunks, broken)
            more = {
                end
                for chunk, sides in zip(mended, ends, strict=True)
                if not regions.closed(chunk, [chunks[k].cut for k in sides])
                for end in sides
                if is_inside(chunks[end].cut)
            }
            if not more - broken:
                return mended
            broken |= more


def _joined(
    text: str,
    pair: tuple[Chunk, Chunk],
    sides: tuple[Piece, Piece],
    tokenizer: TokenizerAdapter,
    regions: Regions,
    last: int,
) -> Join | None:
    cut = pair[1].cut
    if cut is None:
        return None
    if cut.rule is not None:
        return join_at_cut(*pair, sides[0])
    region = regions.of(cut)
    if region is None:
        return None
    overlap = overlap_of(text, pair, sides, locate_of(tokenizer))
    return by_two_edges(overlap, cut, region, regions.inside, last)


def by_two_edges(
    overlap: Overlap, proposed: Seam, region: Region, inside: Inside, last: int
) -> Join | None:
    """The join at the first of two token edges that both sides found strictly inside the overlap,
    near the proposed place; both parts of the divided pre-token stay longer than any token. `last`:
    the seam before, code points."""
    piece = region.piece(proposed.position)
    start, stop = overlap.start, overlap.stop
    if not (piece[0] <= start and stop <= piece[1]):
        return None
    least = inside.facts.longest_token + 1
    offsets = overlap.shared_edges()
    places = overlap.positions(offsets)
    common = [
        (place, offset)
        for place, offset in zip(places.tolist(), offsets.tolist(), strict=True)
        if start < place < stop
    ]
    low, high = max(piece[0], last) + least, piece[1] - least
    pairs = [(first, second) for first, second in pairwise(common) if low <= first[0] <= high]
    pairs.sort(key=lambda pair: abs(pair[0][0] - proposed.position))
    for (place, offset), (second, _) in pairs[:_MOST_TRIED]:
        if inside.apart(overlap.text, piece, place):
            witness = (
                *region.witness,
                ("right_start", start),
                ("second", second),
                ("left_stop", stop),
            )
            return overlap.join(Seam(place, "K5", "5'", witness), offset)
    return None


def without(joins: Sequence[Join | None], numbers: Iterable[int]) -> list[Join | None]:
    """The joins, None in the place of some; i stands for the one between chunks i - 1 and i."""
    left_out = set(numbers)
    return [None if i in left_out else join for i, join in enumerate(joins, start=1)]


def loose(joins: Sequence[Join | None], length: int, regions: Regions) -> Iterator[int]:
    """The K5 seams beside a part that is not scanned as in the text; parts end at seams. Where one
    is missing the chunks will be encoded anew anyway."""
    ends = [0, *(None if join is None else join.seam.position for join in joins), length]
    for i, join in enumerate(joins, start=1):
        if join is None or join.seam.rule != "K5":
            continue
        before, here, after = ends[i - 1 : i + 2]
        assert here is not None
        parts = [(before, here), (here, after)]
        known = [(start, stop) for start, stop in parts if start is not None and stop is not None]
        if not all(regions.closed_part(join.seam, start, stop) for start, stop in known):
            yield i


def _fused(chunks: Sequence[Chunk], broken: set[int]) -> tuple[list[Chunk], list[tuple[int, ...]]]:
    """One chunk of those beside each broken seam; and for each chunk which seams are at its ends,
    none for those that stay as they are."""
    mended: list[Chunk] = []
    ends: list[tuple[int, ...]] = []
    first = 0
    for i in range(1, len(chunks) + 1):
        if i in broken:
            continue
        whole, right = chunks[first], chunks[i - 1]
        alone = i == first + 1
        if not alone:
            whole = united(whole, right)
        mended.append(whole)
        sides = tuple(k for k in (first, i) if k < len(chunks))
        ends.append(() if alone else sides)
        first = i
    return mended, ends
