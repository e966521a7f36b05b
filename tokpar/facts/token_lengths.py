"""How many bytes of text each id stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tokpar.kernels import IdArray, IntArray, SpanArray, byte_length, spans_from_lengths

_DENSE = 8
"""A table of all ids is made up to so many times the number of tokens."""


class TokenLengths:
    """UTF-8 bytes of tokens by id; of an id given twice the later counts.

    `shared`: ids of several tokens, each with their bytes; where more than one of these is found in
    the text the first is meant.
    """

    def __init__(
        self,
        ids: Iterable[int],
        lengths: Iterable[int],
        shared: Mapping[int, Sequence[bytes]] | None = None,
    ) -> None:
        given, sizes = np.fromiter(ids, np.int64), np.fromiter(lengths, np.int64)
        self._ids, last = np.unique(given[::-1], return_index=True)
        self._sizes: IntArray = sizes[::-1][last]
        self._shared = dict(shared or {})
        self._sizes[np.isin(self._ids, list(self._shared))] = 0
        self._table: IntArray | None = None
        if len(given) and self._ids[-1] < _DENSE * (len(given) + 1024):
            self._table = np.zeros(int(self._ids[-1]) + 1, dtype=np.int64)
            self._table[self._ids] = self._sizes

    def of(self, ids: IdArray) -> IntArray:
        """The length of each token, 0 for ids without one: {2: 5}, [2, 1, 7] -> [5, 0, 0]."""
        if not len(ids) or not len(self._ids):
            return np.zeros(len(ids), dtype=np.int64)
        found: IntArray
        if self._table is not None and int(ids.max()) < len(self._table):
            found = self._table[ids]
        else:
            near = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
            found = np.where(self._ids[near] == ids, self._sizes[near], 0)
        return found

    def spans(self, ids: IdArray, text: str) -> SpanArray:
        """Byte spans of tokens that tile `text`; LookupError if by their lengths they do not."""
        lengths = self.of(ids)
        if self._shared:
            self._measure(ids, text, lengths)
        total, expected = int(lengths.sum()), byte_length(text)
        if total != expected or not lengths.all():
            found = f"{total} bytes in tokens, {expected} in text"
            raise LookupError(f"the tokens' bytes do not tile the text: {found}")
        return spans_from_lengths(lengths)

    def _measure(self, ids: IdArray, text: str, lengths: IntArray) -> None:
        """Puts in the lengths that shared ids have in this text, one after the other."""
        places = np.flatnonzero(np.isin(ids, list(self._shared)))
        if not len(places):
            return
        data, starts, more = text.encode("utf-8", "surrogatepass"), np.cumsum(lengths), 0
        for k in places.tolist():
            start = int(starts[k]) + more
            tokens = self._shared[int(ids[k])]
            lengths[k] = next((len(token) for token in tokens if data.startswith(token, start)), 0)
            more += int(lengths[k])
