"""The ids of a text from one code point on, and where its tokens lie; more text as a caller asks.

All positions are code points."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from tokpar.arrays import IdArray, IntArray, SpanArray
from tokpar.contract.interfaces import Locates, TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.process.cached_property import cached_property
from tokpar.results.adding_up import EncodesParts, Part, concatenate, encode_part
from tokpar.results.spans import spans_of
from tokpar.types import Rows, Seam

REGION, LOCATED = 1 << 20, 1 << 17
"""Code points of a region, which is encoded at once up to the next certified cut. The second is for
tokenizers whose tokens do not tile the text: the engine may have to locate them."""
_FEW = 4
"""Tokens for each byte that continues a code point from which on such bytes are looked up."""
_WINDOW = 64
"""Code points that a search for the next certified cut looks at in one step."""


def _no_seam(position: int) -> Seam | None:
    """Finds no seam, in a text that cannot be cut."""
    return None


class EncodedText:
    """The ids of `text` from the last `start_behind` on, as far as a caller asked.

    `ids`: uint32. `starts`, `stops`: where the tokens lie, whole characters, int64, both ascending:
    a token that shares a character with another one has all of it. `stop`: the end of the encoded
    text. `is_exact`: exactly the tokens that end at or before a certified cut lie before it."""

    def __init__(
        self, text: str, tokenizer: TokenizerAdapter, encode: EncodesParts, least_region: int
    ) -> None:
        self.text, self.tokenizer = text, tokenizer
        self.finder: CutFinder = finder_for(facts_of(tokenizer))
        self.has_cuts = self.finder.refusal_for(text) is None
        self._encode, self._is_tiled = encode, facts_of(tokenizer).tiles
        self._is_compiled = encode.is_compiled
        self._region = max(REGION if self._is_tiled else LOCATED, least_region)
        self.ids: IdArray = np.empty(0, np.uint32)
        self.starts = self.stops = np.empty(0, np.int64)
        self.stop, self._absorbed_chars, self.is_exact = 0, 0, True
        certify = partial(self.finder.certify, text) if self.has_cuts else _no_seam
        self.seam = lru_cache(8)(certify)

    def load(self) -> bool:
        """Encode the next region. False at the end of the text."""
        start, skipped, text = self.stop, self._absorbed_chars, self.text
        if start >= len(text):
            return False
        cut = None
        if self.has_cuts and start + self._region < len(text):
            cut = self.finder.find(text, start + self._region, len(text), _WINDOW)
        self.stop = len(text) if cut is None else cut.position
        self._absorbed_chars = 0 if cut is None else cut.absorbed
        ids, starts, stops = self._encode_places(Part(start, self.stop, skipped))
        if len(self.ids):  # a copy of a million numbers costs as much as encoding them
            ids = concatenate([self.ids, ids])
            starts = np.concatenate([self.starts, starts])
            stops = np.concatenate([self.stops, stops])
        self.ids, self.starts, self.stops = ids, starts, stops
        return True

    def tokens_before(self, position: int) -> int:
        """Returns how many of the tokens end at or before `position`."""
        while position > self.stop and self.load():
            pass
        return int(self.stops.searchsorted(position, "right"))

    def start_behind(self, position: int, count: int) -> int:
        """Returns where the token starts that has `count` tokens between itself and `position`, or
        the end of the text. Forgets the tokens that end at or before `position`, if they are
        many."""
        first = self.tokens_before(position)
        if 2 * first > len(self.ids):
            self.ids = self.ids[first:]
            self.starts, self.stops = self.starts[first:], self.stops[first:]
            first = 0
        return self.token_start(first + count)

    def token_start(self, token: int) -> int:
        """Returns where token number `token` starts, or the end of the text."""
        while token >= len(self.ids) and self.load():
            pass
        return int(self.starts[token]) if token < len(self.ids) else len(self.text)

    def is_edge(self, token: int) -> bool:
        """True if token number `token` shares no character with the token before it."""
        return token == 0 or self.stops[token - 1] <= self.starts[token]

    def ids_alone(self, start: int, stop: int) -> IdArray:
        """Returns the ids of [start, stop) as a text of its own.

        The compiled call encodes each slice, sooner than a cut is certified. The engine encodes a
        slice only if its ids are no slice of the ids that are known."""
        if not self._is_compiled and self.is_exact and self.is_certified(start, stop):
            first, last = self.tokens_before(start), self.tokens_before(stop)
            if self.is_exact:
                return self.ids[first:last]
        return self.encode(Part(start, stop))

    def is_certified(self, start: int, stop: int) -> bool:
        """True if [start, stop) has the ids that it has in the whole text."""
        return self.begins_alone(start) and self.ends_alone(stop)

    def encode(self, part: Part) -> IdArray:
        """Returns the ids of a part as a text of its own; uint32, (n,)."""
        return encode_part(self.text, part, self._encode)

    @cached_property
    def absorbs_each_cut(self) -> bool:
        """True if no text from a certified cut on has the ids that it has in the whole text: each
        cut absorbs a space (theorem 6.4), and only edges of added tokens do not."""
        if self.finder.facts.scheme != "dummy":
            return False
        edges = self.finder.edges
        return edges.refusal is not None or not edges.occur(self.text)

    def begins_alone(self, position: int) -> bool:
        """True if the text from `position` on has the ids that it has in the whole text."""
        seam = None if position == 0 else self.seam(position)
        return position == 0 or (seam is not None and not seam.absorbed)

    def ends_alone(self, position: int) -> bool:
        """True if the text before `position` has the ids that it has in the whole text."""
        return position == len(self.text) or self.seam(position) is not None

    def _encode_places(self, part: Part) -> tuple[IdArray, IntArray, IntArray]:
        """Returns the ids of a part, and where its tokens start and stop: by one call if tokens do
        not tile the text and the compiled call knows their places."""
        text = part.slice_of(self.text)
        places = None if self._is_tiled else self._encode.places(text)
        if places is None:
            ids = self.encode(part)
            return ids, *self._locate(part, text, ids)
        self.is_exact = False
        ids, spans, _ = places
        return ids, *_ascending(spans, part)

    def _locate(self, part: Part, text: str, ids: IdArray) -> tuple[IntArray, IntArray]:
        """Returns where the tokens of a part start and stop. The part is one place for all of them
        if they cannot be located. `text`: what the tokenizer got of the part."""
        try:
            if self._is_tiled and isinstance(self.tokenizer, Locates):
                spans = self.tokenizer.locate(ids, text)
                return tiled_places(spans, text, part.start + part.absorbed_chars)
            self.is_exact = False
            spans = spans_of(self.tokenizer, [text], Rows.of([ids]), code_points=True)
        except LookupError:
            self.is_exact = False
            return np.full(len(ids), part.start), np.full(len(ids), part.stop)
        return _ascending(spans, part)


def _ascending(spans: SpanArray, part: Part) -> tuple[IntArray, IntArray]:
    """Returns where the tokens of a part start and stop in the whole text, both ascending. `spans`:
    code points of what the tokenizer got."""
    first = part.start + part.absorbed_chars
    starts = np.maximum.accumulate(spans[:, 0]) + first
    stops = np.maximum.accumulate(spans[:, 1]) + first
    if part.absorbed_chars:
        starts[:1] = part.start
        if len(spans) > 1 and spans[1, 0] == 0:  # the first token is the absorbed space alone
            stops[0] = first
    return starts, stops


def tiled_places(spans: SpanArray, text: str, begin: int) -> tuple[IntArray, IntArray]:
    """Returns where tokens that tile `text` start and stop. `begin`: where `text` begins. `spans`:
    UTF-8 bytes."""
    inside = np.frombuffer(text.encode(), np.int8) < -64  # 10xxxxxx continues a code point
    continuations = np.flatnonzero(inside)
    if _FEW * len(continuations) < len(spans):
        tokens = spans[:, 1].searchsorted(continuations, "right")
        stops = spans[:, 1] - np.bincount(tokens, minlength=len(spans)).cumsum() + begin
    else:
        points = np.cumsum(~inside, dtype=np.int32)
        stops = points[spans[:, 1] - 1] + np.int64(begin)
    starts = np.concatenate(([begin], stops[:-1]))
    if len(continuations):
        starts -= inside[spans[:, 0]]
    return starts, stops
