"""Find many chunks of a text at a time, with arrays: the ends that tokens of the whole text allow,
then the ids beside all ends that are no cuts, encoded in one call (proofs/chunks.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tokpar.arrays import IdArray, frozen_ids
from tokpar.chunks.encoded_text import EncodedText, Region
from tokpar.chunks.slice_ids import SliceIds
from tokpar.chunks.special_tokens import FixedTokens
from tokpar.chunks.text_chunk import TextChunk
from tokpar.chunks.token_places import TokenBytes
from tokpar.concatenation import Part, concatenate
from tokpar.cuts.near_cuts import NearCutFinder, near_cut_finder
from tokpar.errors import EngineError
from tokpar.patterns.known_pattern import OPEN, SURE

_FEWEST, _MOST, _GROWTH = 64, 1024, 8
"""How many chunks are found at a time: few at first, so that the first chunk comes soon."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where chunks may end, ascending: places between two tokens that share no character.

    `positions`: code points; the first one is where the first chunk starts. `bytes`: UTF-8 bytes
    from the start of the region. `tokens`: how many tokens of the region lie before each place."""

    positions: list[int]
    bytes: list[int]
    tokens: list[int]


def ends_of(tiles: TokenBytes, start: int, token: int, budget: int, most: int, last: int) -> Ends:
    """Returns `start` and the ends of the next chunks of `budget` tokens, `most` at most.

    `token`: how many tokens lie before `start`. No chunk begins at token `last` or behind it. There
    are fewer ends if a chunk of `budget` tokens has less than a character."""
    tokens = tiles.edges(token, budget, most, last)
    bytes_ = tiles.starts(tokens)
    return Ends([*accumulate(tiles.chars(bytes_), initial=start)], bytes_, tokens)


class ChunkRuns:
    """Finds runs of chunks that end between tokens and do not overlap."""

    def __init__(self, slices: SliceIds, special: FixedTokens, most: int) -> None:
        self._slices, self._special = slices, special
        self._whole: EncodedText = slices.whole
        self._budget, self._limit = most - special.count, most
        self._table: NearCutFinder | None = None
        if self._whole.has_cuts and self._whole.facts.tiles:
            self._table = near_cut_finder(self._whole.finder)
        self._size, self._resume_point = _FEWEST, (0, 0)

    def next_chunks(self, start: int) -> list[TextChunk]:
        """Returns the next chunks from `start` on, or none where each chunk needs a look."""
        if self._table is None:
            return []
        region = self._whole.region_at(start)
        if region.tiles is None or region.absorbed_chars[0]:
            return []
        place, token = self._resume_point
        if place != start:
            token = self._whole.tokens_before(start)
        token -= int(region.tokens[0])
        last = len(region.ids)
        if region.stop < len(self._whole.text):
            last -= self._budget
        ends = ends_of(region.tiles, start, token, self._budget, self._size, last)
        found = self._chunks(region, region.tiles, ends) if len(ends.tokens) > 1 else []
        reached = ends.tokens[len(found)] + int(region.tokens[0])
        self._resume_point = ends.positions[len(found)], reached
        self._size = min(_MOST, max(_FEWEST, _GROWTH * len(found)))
        return found

    def _chunks(self, region: Region, tiles: TokenBytes, ends: Ends) -> list[TextChunk]:
        """Returns the chunks between neighbouring ends, up to the first one that does not fit."""
        inner = self._inner(ends)
        text, places = self._whole.text, ends.positions[: len(inner) + 1]
        heads = [Part(a, left) for a, (left, _) in zip(places, inner, strict=False)]
        tails = [Part(right, b) for b, (_, right) in zip(places[1:], inner, strict=True)]
        try:
            ids = iter(self._ids_of([*heads, *tails]))
        except EngineError:  # a look at each chunk finds out which one it is
            return []
        head_ids, tail_ids = [next(ids) for _ in heads], [next(ids) for _ in tails]
        head_texts, tail_texts = ([p.slice_of(text) for p in some] for some in (heads, tails))
        firsts = tiles.tokens_before(ends.bytes, head_texts, 1)
        stops = tiles.tokens_before(ends.bytes[1:], tail_texts, -1)
        inner_ids = [region.ids[first:stop] for first, stop in zip(firsts, stops, strict=False)]
        return self._take_fitting(places, head_ids, inner_ids, tail_ids)

    def _take_fitting(
        self,
        places: list[int],
        heads: list[IdArray | None],
        inner: list[IdArray],
        tails: list[IdArray | None],
    ) -> list[TextChunk]:
        """Returns the chunks between neighbouring places, up to the first one that does not fit.

        Its ids are those of the head, the inner part and the tail, with special tokens."""
        special = self._special
        parts: list[IdArray] = []
        edges, size, limit = [0], 0, self._limit
        for head, ids, tail in zip(heads, inner, tails, strict=True):
            own = [special.prefix] if special.count else []
            if head is not None:
                own.append(head)
            own.append(ids)
            if tail is not None:
                own.append(tail)
            if special.count:
                own.append(special.suffix)
            length = sum(map(len, own))
            if length > limit:
                break
            size += length
            parts += own
            edges.append(size)
        if not parts:
            return []
        flat = frozen_ids(concatenate(parts))
        spans = zip(places, places[1:], edges, edges[1:], heads, tails, strict=False)
        return [
            TextChunk(a, b, flat[first:stop], head is tail is None)
            for a, b, first, stop, head, tail in spans
        ]

    def _ids_of(self, parts: Sequence[Part]) -> list[IdArray | None]:
        """Returns the ids of each part by itself, before special tokens; None for an empty part."""
        filled = [part for part in parts if part.start < part.stop]
        if not filled:
            return [None] * len(parts)
        rows = iter(self._whole.encode(filled).rows)
        return [next(rows) if part.start < part.stop else None for part in parts]

    def _inner(self, ends: Ends) -> list[tuple[int, int]]:
        """Returns for each chunk the first and the last cut of the text and of the slice alone.

        These are the ends of the chunk themselves where its ends are cuts. Stops before a chunk
        without such cuts."""
        assert self._table is not None
        length, places, slices = len(self._whole.text), ends.positions, self._slices
        near = self._table.find_near(self._whole.text, [p for p in places if 0 < p < length])
        before, after = near.cuts_before, near.cuts_after
        at = near.statuses
        if places[0] == 0:
            before, at, after = [0, *before], [SURE, *at], [0, *after]
        if places[-1] == length:
            before, at, after = [*before, length], [*at, SURE], [*after, length]
        is_cut = [
            s == SURE or (s == OPEN and slices.is_cut(p)) for s, p in zip(at, places, strict=True)
        ]
        found = []
        for k, (a, b) in enumerate(pairwise(places)):
            left = a if is_cut[k] else after[k] if after[k] >= 0 else slices.first_cut(a, b)
            right: int | None = b if is_cut[k + 1] else before[k + 1]
            if right == -1:
                right = slices.last_cut(a, b)
            if left is None or right is None or not a <= left <= right <= b:
                break
            found.append((left, right))
        return found
