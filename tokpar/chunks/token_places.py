"""Where the tokens of a part of a text lie. All positions are code points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from tokpar.arrays import IntArray, SpanArray

_EVERY = 1 << 12
"""Tokens of a piece of text whose tokens are located at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the tokens of one piece lie: [starts[k], stops[k]), whole characters, ascending.

    `edges`: the starts of the tokens that share no character with the token before. `exact`: the
    number of tokens before a certified cut follows from the stops."""

    starts: IntArray
    stops: IntArray
    edges: IntArray
    exact: bool


class TokenBytes:
    """The bytes of tokens that tile a text.

    `stops`: where the tokens end, UTF-8 bytes from the start of `text`; int64, (tokens,)."""

    def __init__(self, text: str, stops: IntArray) -> None:
        self.text, self.stops = text, np.ascontiguousarray(stops)
        self._stop_of = self.stops.data  # one number is sooner found in it than in an array

    @cached_property
    def data(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode()

    @cached_property
    def _leads(self) -> npt.NDArray[np.bool_]:
        """True for each byte that begins a code point: all but 10xxxxxx."""
        found: npt.NDArray[np.bool_] = np.frombuffer(self.data, np.int8) >= -64
        return found

    @cached_property
    def is_ascii(self) -> bool:
        return self.text.isascii()

    def start(self, token: int) -> int:
        """Returns where token number `token` begins, or ends if it is behind the last; bytes."""
        return self._stop_of[token - 1] if token else 0

    def starts(self, tokens: Sequence[int]) -> list[int]:
        """Returns where the tokens begin, see `start`."""
        stop_of = self._stop_of
        return [stop_of[token - 1] if token else 0 for token in tokens]

    def edge(self, token: int) -> int:
        """Returns the last token up to number `token` that begins where a character begins."""
        if not self.is_ascii:
            data, stop_of, count = self.data, self._stop_of, len(self._stop_of)
            while 0 < token < count and data[stop_of[token - 1]] & 0xC0 == 0x80:
                token -= 1
        return token

    def edges(self, token: int, step: int, most: int, last: int) -> list[int]:
        """Returns `token` and the edges that follow it at most `step` tokens apart, `most` of them.

        Edges: see `edge`. Ends before token `last`, the end, or where no edge is within a step."""
        found, count, edge = [token], len(self.stops), self.edge
        if self.is_ascii:
            stop = min(last, token + step * most)
            found += [min(k, count) for k in range(token + step, stop + step, step)]
            return found
        while len(found) <= most and token < last:
            end = edge(min(token + step, count))
            if end <= token:
                break
            token = end
            found.append(token)
        return found

    def chars(self, edges: Sequence[int]) -> Iterator[int]:
        """Returns how many code points begin between neighbouring `edges`, UTF-8 bytes."""
        if self.is_ascii:
            return (stop - first for first, stop in pairwise(edges))
        leads, count = self._leads, np.count_nonzero
        return (int(count(leads[first:stop])) for first, stop in pairwise(edges))

    def tokens_before(self, places: Sequence[int], texts: Sequence[str], sign: int) -> list[int]:
        """Returns how many tokens end at or before each place, moved by the bytes of a text.

        `places`: UTF-8 bytes. `sign`: -1 for places before the texts, 1 for places behind them."""
        pairs = zip(places, texts, strict=False)
        moved = [p + sign * len(text.encode()) if text else p for p, text in pairs]
        found: list[int] = self.stops.searchsorted(moved, "right").tolist()
        return found

    def pieces(self) -> tuple[list[int], list[int]]:
        """Returns edges between tokens, `_EVERY` tokens apart: code points from the start of the
        text, and the numbers of the tokens that begin there. The first edge is 0, the last the end.
        """
        tokens = [0]
        for token in range(_EVERY, len(self.stops), _EVERY):
            token = self.edge(token)
            if token > tokens[-1]:
                tokens.append(token)
        tokens.append(len(self.stops))
        return [*accumulate(self.chars(self.starts(tokens)), initial=0)], tokens


def tiled_places(spans: SpanArray, text: str, begin: int) -> Places:
    """Returns the places of tokens that tile `text`, which begins at `begin`.

    `spans`: UTF-8 bytes."""
    if text.isascii():
        starts, stops = spans[:, 0] + begin, spans[:, 1] + begin
        return Places(starts, stops, starts, exact=True)
    data = np.frombuffer(text.encode("utf-8"), np.int8)
    leads = data >= -64  # all but 10xxxxxx begin a code point
    before = np.cumsum(leads, dtype=np.int64)
    stops = before[spans[:, 1] - 1] + begin
    is_edge = leads[spans[:, 0]]
    starts = np.concatenate(([begin], stops[:-1]))
    starts -= ~is_edge
    return Places(starts, stops, starts[is_edge], exact=True)


def one_place(start: int, stop: int, tokens: int) -> Places:
    """Returns places of `tokens` tokens that all cover [start, stop)."""
    starts = np.full(tokens, start, np.int64)
    return Places(starts, np.full(tokens, stop, np.int64), starts[:1], exact=False)


def spanned_places(spans: SpanArray, first: int, absorbed_chars: int) -> Places:
    """Returns the places of tokens by the offsets of the engine.

    `spans`: code points from the start of what the engine got, `absorbed_chars` code points after
    `first`."""
    starts, stops = spans[:, 0] + (first + absorbed_chars), spans[:, 1] + (first + absorbed_chars)
    starts, stops = np.maximum.accumulate(starts), np.maximum.accumulate(stops)
    if len(starts) and absorbed_chars:
        starts[0] = first
    is_edge = np.ones(len(starts), np.bool_)
    np.less_equal(stops[:-1], starts[1:], out=is_edge[1:])
    return Places(starts, stops, starts[is_edge], exact=False)
