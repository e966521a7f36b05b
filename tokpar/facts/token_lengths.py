"""Token lengths by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tokpar.arrays import IdArray, IntArray, SpanArray, byte_length, spans_between

_BLOCK = 1 << 15  # ids per block: their lengths fit in the processor's cache
_DENSE = 8  # the highest id may be this many times the number of tokens for a table of all ids


class TokenLengths:
    """The number of UTF-8 bytes of each token, by id. The later entry of a repeated id counts.

    `shared_ids`: for an id of several tokens, the bytes of these tokens. The id means the first of
    them that the text has at the token's position."""

    def __init__(
        self,
        ids: Iterable[int] | IntArray,
        lengths: Iterable[int] | IntArray,
        shared_ids: Mapping[int, Sequence[bytes]] | None = None,
    ) -> None:
        given, sizes = _integers(ids), _integers(lengths)
        self._shared_ids = dict(shared_ids or {})
        shares = np.fromiter(self._shared_ids, np.int64, len(self._shared_ids))
        self._table: IntArray | None = None
        self._ids, self._sizes = given[:0], given[:0]
        if len(given) and given.min() >= 0 and given.max() < _DENSE * (len(given) + 1024):
            self._table = np.zeros(int(given.max()) + 1, dtype=np.int64)
            self._table[given] = sizes
        else:
            self._ids, last = np.unique(given[::-1], return_index=True)
            self._sizes = sizes[::-1][last]
        others = given[sizes != self.lengths_of(given)]
        self.doubtful = len(others) > 0 or len(shares) > 0
        """True if some id belongs to tokens of different lengths."""
        if self._table is not None:
            self._table[shares[shares < len(self._table)]] = 0
        self._sizes[np.isin(self._ids, shares)] = 0

    def lengths_of(self, ids: IdArray | IntArray) -> IntArray:
        """The length of each token, int64; 0 for unknown ids: {2: 5}, [2, 1, 7] -> [5, 0, 0]."""
        if self._table is not None:
            try:  # cheaper than looking for the highest id first
                known: IntArray = self._table[ids]
            except IndexError:
                known = self._table[np.minimum(ids, len(self._table) - 1)]
                known[ids >= len(self._table)] = 0
            return known
        if not len(ids) or not len(self._ids):
            return np.zeros(len(ids), dtype=np.int64)
        near = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        found: IntArray = np.where(self._ids[near] == ids, self._sizes[near], 0)
        return found

    def spans(self, ids: IdArray, text: str) -> SpanArray:
        """The byte spans of tokens that tile `text`.

        Raises LookupError if the token lengths do not add up to the text."""
        edges: IntArray = np.zeros(len(ids) + 1, dtype=np.int64)
        lengths = edges[1:]
        for k in range(0, len(ids), _BLOCK):
            lengths[k : k + _BLOCK] = self.lengths_of(ids[k : k + _BLOCK])
        if self._shared_ids:
            self._measure(ids, text, lengths)
        total, expected = int(edges.cumsum(out=edges)[-1]), byte_length(text)
        if total != expected or np.count_nonzero(edges[1:] == edges[:-1]):
            found = f"{total} bytes in tokens, {expected} in text"
            raise LookupError(f"the tokens' bytes do not tile the text: {found}")
        return spans_between(edges)

    def _measure(self, ids: IdArray, text: str, lengths: IntArray) -> None:
        """Fill in the lengths that shared ids have in this text, from left to right."""
        places = np.flatnonzero(np.isin(ids, list(self._shared_ids)))
        if not len(places):
            return
        data, starts, more = text.encode("utf-8", "surrogatepass"), np.cumsum(lengths), 0
        for k in places.tolist():
            start = int(starts[k]) + more
            tokens = self._shared_ids[int(ids[k])]
            lengths[k] = next((len(token) for token in tokens if data.startswith(token, start)), 0)
            more += int(lengths[k])


def _integers(some: Iterable[int] | IntArray) -> IntArray:
    return some if isinstance(some, np.ndarray) else np.fromiter(some, np.int64)
