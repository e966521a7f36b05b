"""The ids of a whole text, encoded region by region, and where its tokens lie.

All positions are code points. Tokens are numbered from the beginning of the text, without special
tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import itemgetter

import numpy as np

from tokpar.arrays import IdArray, IntArray, spaces_behind_text
from tokpar.chunks.token_places import (
    Places,
    TokenBytes,
    one_place,
    spanned_places,
    tiled_places,
)
from tokpar.concatenation import EncodedParts, EncodeRows, Part, concatenate, encode_parts
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.near_cuts import near_cut_finder
from tokpar.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.spans import spans_of
from tokpar.types import Rows, Seam

REGION, PIECE = 1 << 20, 256
"""Code points of a region, which is encoded at once, and of a piece, whose tokens are located at
once where tokens do not tile the text. Both end at the next certified cut."""
_PIECES_AHEAD = 64
"""How many pieces are located in one call of the engine, where tokens do not tile the text."""
_WINDOW = 64
"""Code points that a search for the next certified cut looks at in one step."""


def _no_seam(text: str, position: int) -> None:
    """Finds no seam, in a text that cannot be cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Encoded text between two certified cuts.

    `start`, `stop`: where the region begins and ends. `positions`: where the pieces begin, and
    `stop`. `tokens`: how many tokens of the whole text lie before each of these positions.
    `absorbed_chars`: the code points at the beginning of each piece that the engine did not get.
    `every_space`: every space after a character other than white space is a certified cut.
    `tiles`: where the tokens end, if they tile the text. Pieces then begin between two tokens, else
    at certified cuts."""

    ids: IdArray
    positions: IntArray
    tokens: IntArray
    absorbed_chars: Sequence[int]
    every_space: bool
    start: int
    stop: int
    tiles: TokenBytes | None


class EncodedText:
    """Encodes `text` once, from left to right, as far as a caller asks.

    Only the regions from the last `forget_before` on are kept."""

    def __init__(
        self, text: str, tokenizer: TokenizerAdapter, encode: EncodeRows, region: int
    ) -> None:
        self.text, self.tokenizer = text, tokenizer
        self.facts = facts_of(tokenizer)
        self.finder: CutFinder = finder_for(self.facts)
        self.has_cuts = self.finder.refusal_for(text) is None
        self._encode, self._region = encode, region
        self._regions: list[Region] = []
        self._next, self._tokens = (0, 0), 0
        self._places_found: dict[tuple[int, int], Places] = {}
        self._cut_counts: list[tuple[int, int, int]] = []
        self._sure = lru_cache(3)(self._sure_pairs)
        find = self.finder.certify if self.has_cuts else _no_seam
        self.certify = lru_cache(8)(partial(find, text))
        self.tokens_before = lru_cache(4)(self._tokens_before)
        self.tokens_before_cut = lru_cache(4)(self._tokens_before_cut)

    def forget_before(self, position: int) -> None:
        """Drop the regions that end at or before `position`."""
        while self._regions and self._regions[0].stop <= position:
            del self._regions[0]
        del self._cut_counts[: max(0, self._count_index(position) - 1)]

    def _tokens_before(self, position: int) -> int:
        """Returns how many tokens end at or before `position`."""
        region, k = self._piece_at(position)
        stops = self._places(region, k).stops
        return int(region.tokens[k]) + int(stops.searchsorted(position, "right"))

    def _tokens_before_cut(self, cut: int) -> int:
        """Returns how many tokens lie before a certified cut. Exact for every tokenizer."""
        region, k = self._piece_at(cut)
        if cut == len(self.text):
            return int(region.tokens[-1])
        known = int(region.positions[k]), region.absorbed_chars[k], int(region.tokens[k])
        if cut > known[0] and self.facts.tiles and (places := self._places(region, k)).exact:
            return known[2] + int(places.stops.searchsorted(cut, "right"))
        return self._count_from(known, cut)

    def _count_from(self, piece: tuple[int, int, int], cut: int) -> int:
        """Returns how many tokens lie before a cut of the piece.

        `piece`: an entry for its start, as in `_cut_counts`: a cut, the code points that it
        absorbs, the number of tokens before. Only the text from the nearest entry on is encoded, so
        that a long piece is encoded once."""
        at = self._count_index(cut)
        start, absorbed, tokens = max([piece, *self._cut_counts[max(0, at - 1) : at]])
        if start == cut:
            return tokens
        tokens += len(self.encode_slice(start + absorbed, cut))
        seam = None if self.is_space_cut(cut) else self.certify(cut)
        own = 0 if seam is None else seam.absorbed
        self._cut_counts.insert(at, (cut, own, tokens))
        return tokens

    def _count_index(self, position: int) -> int:
        """Returns how many entries of `_cut_counts` are cuts at or before `position`."""
        return bisect_right(self._cut_counts, position, key=itemgetter(0))

    def token_start(self, token: int, step: int = 0) -> int:
        """Returns where token number `token` starts; the end of the text if there are not so many,
        and the start of the first kept region for a token before this region.

        The start of the character, for a token that starts inside a character. `step`: the caller
        will ask for about every `step`-th token from there on."""
        while token >= self._tokens and self._load():
            pass
        if token >= self._tokens:
            return len(self.text)
        region = next(r for r in self._regions if token < r.tokens[-1])
        if token < region.tokens[0]:
            return region.start
        k = int(region.tokens.searchsorted(token, "right")) - 1
        if step and region.tiles is None and (region.start, k) not in self._places_found:
            self._locate_ahead(region, token, step)
        return int(self._places(region, k).starts[token - int(region.tokens[k])])

    def last_token_edge(self, lower_bound: int, last: int) -> int | None:
        """Returns the last position in (lower_bound, last] between two tokens and two characters.

        None if there is no such position. The end of the text is one."""
        if last == len(self.text):
            return last if last > lower_bound else None
        while last > lower_bound:
            region, k = self._piece_at(last)
            edges = self._places(region, k).edges
            at = int(edges.searchsorted(last, "right")) - 1
            if at >= 0:
                return int(edges[at]) if edges[at] > lower_bound else None
            last = int(region.positions[k]) - 1
        return None

    def first_token_edge(self, start: int, stop: int) -> int | None:
        """Returns the first position in [start, stop) of the same kind, or None."""
        while start < stop:
            region, k = self._piece_at(start)
            edges = self._places(region, k).edges
            at = int(edges.searchsorted(start))
            if at < len(edges):
                return int(edges[at]) if edges[at] < stop else None
            start = int(region.positions[k + 1])
        return None

    def ids_between(self, first: int, stop: int) -> IdArray:
        """Returns the ids of the tokens [first, stop); a view where one region has them all."""
        parts = []
        for region in self._regions:
            base = int(region.tokens[0])
            if first < region.tokens[-1] and base < stop:
                parts.append(region.ids[max(0, first - base) : stop - base])
        return concatenate(parts)

    def is_space_cut(self, position: int) -> bool:
        """True for a cut before a space that its region certifies without a further look."""
        text = self.text
        if text[position] != " " or text[position - 1].isspace():
            return False
        region, _ = self._piece_at(position)
        return region.every_space and position != region.start

    def sure_pairs_at(self, position: int) -> IntArray | None:
        """Returns the cuts of the region at `position` that two characters license in any text.

        None where the tokenizer or an added token needs a look at each position."""
        return self._sure(self._piece_at(position)[0])

    def _sure_pairs(self, region: Region) -> IntArray | None:
        pairs = self.finder.pairs
        if pairs is None or not self.has_cuts:
            return None
        return pairs.sure_pairs(self.text, region.start, region.stop)

    def region_at(self, position: int) -> Region:
        """Returns the region with the character at `position`."""
        return self._piece_at(position)[0]

    def encode_slice(self, start: int, stop: int) -> IdArray:
        """Returns the ids of the slice [start, stop) as a text of its own."""
        return self.encode([Part(start, stop)]).ids

    def encode(self, parts: Sequence[Part]) -> EncodedParts:
        """Returns the ids of parts, each as a text of its own."""
        return encode_parts(self.text, parts, self._encode)

    def _piece_at(self, position: int) -> tuple[Region, int]:
        """Returns the region with the character at `position`, and the number of the piece."""
        while position >= self._next[0] and self._load():
            pass
        region = self._regions[-1]
        if position < region.start:
            region = next(r for r in self._regions if position < r.stop)
        if len(region.positions) == 2:
            return region, 0
        k = int(region.positions.searchsorted(position, "right")) - 1
        return region, min(k, len(region.positions) - 2)

    def _load(self) -> bool:
        """Encode the next region. False at the end of the text."""
        (start, skipped), text = self._next, self.text
        if start >= len(text):
            return False
        seam = None
        if self.has_cuts and start + self._region < len(text):
            seam = self.finder.find(text, start + self._region, len(text), _WINDOW)
        stop = len(text) if seam is None else seam.position
        parts = self._parts(start, stop, skipped)
        encoded = self.encode(parts)
        ids, tokens = encoded.ids, encoded.ids_before
        positions = [*(part.start for part in parts), stop]
        absorbed = [part.absorbed_chars for part in parts]
        tiles = self._tiles(ids, text[start + skipped : stop])
        if tiles is not None:
            places, numbers = tiles.pieces()
            positions = [start, *(start + skipped + place for place in places[1:])]
            absorbed += [0] * (len(positions) - 2)
            tokens = np.array(numbers, np.int64)
        self._regions.append(
            Region(
                ids,
                np.array(positions, np.int64),
                tokens + self._tokens,
                absorbed,
                self._every_space(start, stop),
                start,
                stop,
                tiles,
            )
        )
        self._tokens += len(ids)
        self._next = stop, 0 if seam is None else seam.absorbed
        return True

    def _tiles(self, ids: IdArray, text: str) -> TokenBytes | None:
        """Returns where the tokens of a region end, or None if they do not tile its text."""
        if not self.facts.tiles or not isinstance(self.tokenizer, Locates):
            return None
        try:
            return TokenBytes(text, self.tokenizer.locate(ids, text)[:, 1])
        except LookupError:
            return None

    def _every_space(self, start: int, stop: int) -> bool:
        """True if `is_space_cut` needs no look at the characters around a space."""
        if not self.has_cuts or self.finder.spaces:
            return False
        return self.finder.spaces_safe(self.text, start, stop)

    def _parts(self, start: int, stop: int, absorbed_chars: int) -> list[Part]:
        """Returns the pieces of a region. `absorbed_chars`: what the cut at `start` absorbs."""
        if self.facts.tiles or not self.has_cuts:
            return [Part(start, stop, absorbed_chars)]
        parts: list[Part] = []
        for edge in (*self._likely_pieces(start, stop), stop):
            while edge - start > 2 * PIECE:
                seam = self._first_seam(start + PIECE, edge)
                if seam is None:
                    break
                parts.append(Part(start, seam.position, absorbed_chars))
                start, absorbed_chars = seam.position, seam.absorbed
            parts.append(Part(start, edge, absorbed_chars))
            start, absorbed_chars = edge, 0
        return parts

    def _first_seam(self, start: int, stop: int) -> Seam | None:
        """Returns the first seam in [start, stop) that is found fast, or None."""
        if self.finder.pairs is None:
            return self.finder.find(self.text, start, stop, _WINDOW)
        return next(self.finder.pair_seams(self.text, start, stop), None)

    def _likely_pieces(self, start: int, stop: int) -> list[int]:
        """Returns cuts in a region that arrays find, ascending, `PIECE` code points apart where
        there are as many."""
        table = near_cut_finder(self.finder)
        targets = np.arange(start + PIECE, stop, PIECE)
        if self._every_space(start, stop):
            spaces = spaces_behind_text(self.text, start, stop)
            if table is None or PIECE * len(spaces) > stop - start:
                places = np.unique(np.minimum(spaces.searchsorted(targets), len(spaces) - 1))
                return spaces[places].tolist() if len(spaces) else []
        if table is None:
            return []
        near = table.find_near(self.text, targets.tolist()).cuts_after
        return sorted({cut for cut in near if 0 < cut < stop})

    def _places(self, region: Region, k: int) -> Places:
        """Returns where the tokens of a piece lie. A piece whose tokens cannot be located is one
        place."""
        if (region.start, k) not in self._places_found:
            self._forget_places()
            if not self._locate(region, [k]):
                first, stop = int(region.positions[k]), int(region.positions[k + 1])
                places = one_place(first, stop, len(self._piece(region, k)[0]))
                self._places_found[region.start, k] = places
        return self._places_found[region.start, k]

    def _forget_places(self) -> None:
        if len(self._places_found) > 2 * _PIECES_AHEAD:
            self._places_found.clear()

    def _locate(self, region: Region, pieces: Sequence[int]) -> bool:
        """Find the tokens of pieces in one call. False if they cannot be located."""
        ids, texts = zip(*(self._piece(region, k) for k in pieces), strict=True)
        rows, tiles = Rows.of(ids), self.facts.tiles and isinstance(self.tokenizer, Locates)
        try:
            spans = spans_of(self.tokenizer, texts, rows, code_points=not tiles)
        except LookupError:
            return False
        for n, k in enumerate(pieces):
            own = spans[rows.offsets[n] : rows.offsets[n + 1]]
            first, skipped = int(region.positions[k]), region.absorbed_chars[k]
            self._places_found[region.start, k] = (
                tiled_places(own, texts[n], first + skipped)
                if tiles
                else spanned_places(own, first, skipped)
            )
        return True

    def _piece(self, region: Region, k: int) -> tuple[IdArray, str]:
        """Returns the ids and the text of a piece, as the engine got it."""
        base, begin = int(region.tokens[0]), int(region.positions[k]) + region.absorbed_chars[k]
        ids = region.ids[int(region.tokens[k]) - base : int(region.tokens[k + 1]) - base]
        return ids, self.text[begin : int(region.positions[k + 1])]

    def _locate_ahead(self, region: Region, token: int, step: int) -> None:
        """Find the tokens of many pieces in one call of the engine, see `token_start`."""
        self._forget_places()
        numbers = np.arange(token, min(int(region.tokens[-1]), token + _PIECES_AHEAD * step), step)
        pieces = np.unique(region.tokens.searchsorted(numbers, "right") - 1).tolist()
        pieces = [k for k in pieces if (region.start, k) not in self._places_found]
        if pieces:
            self._locate(region, pieces)
