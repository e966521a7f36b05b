"""Are these ids the ids of a text, by the file alone? Theorem 32, for byte-level BPE."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of
from tokpar.certificate.findings import Finding
from tokpar_model.byte_file import ByteTokenizer
from tokpar_model.byte_vocabulary import NO_TOKEN
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.laid_text import LaidText

_BLOCK = 1 << 18
Mask = NDArray[np.bool_]


class TokenRow:
    """The ids of a text, laid over the bytes that they must spell.

    `ids`: int64, (n,). `edges`: the byte offset at which each token begins, then the end."""

    def __init__(self, tokenizer: ByteTokenizer, laid_text: LaidText, ids: IntArray) -> None:
        self._merging = tokenizer.merging
        self._laid_text, self.ids = laid_text, ids
        self.numbers = self._merging.vocabulary.numbers(ids)
        own = self.numbers != NO_TOKEN
        sizes = np.where(own, self._merging.vocabulary.lengths[self.numbers], 0)
        for id_, size in laid_text.added_sizes.items():
            sizes[ids == id_] = size
        self.sizes: IntArray = sizes
        self.edges = offsets_of(sizes)

    def findings(self, work: StepLimit) -> Iterator[Finding]:
        """Yields the first reason why the ids are wrong, if there is one. Refused for too much
        work."""
        yield from chain(
            self._unknown(),
            self._crossing(),
            self._added_findings(),
            self._spelling(),
            self._rows(work),
        )

    def _unknown(self) -> Iterator[Finding]:
        for k in np.flatnonzero(self.sizes == 0)[:1].tolist():
            yield Finding("ids", f"id {k}: {self.ids[k]} is no token, or one of no bytes")

    def _crossing(self) -> Iterator[Finding]:
        pieces = self._laid_text.pieces
        near = np.searchsorted(self.edges, pieces).clip(max=len(self.edges) - 1)
        for k in np.flatnonzero(self.edges[near] != pieces)[:1].tolist():
            place = int(pieces[k])
            message = f"no id begins or ends at byte {place}, where a pre-token does"
            yield self._finding_at(place, message)
        if self.edges[-1] != pieces[-1]:
            yield Finding("ids", f"expected ids of {pieces[-1]} bytes, got {self.edges[-1]}")

    def _added_findings(self) -> Iterator[Finding]:
        """Yield a finding for an added token without its id, or for such an id elsewhere."""
        start, stop, wanted = self._laid_text.added_spans.T
        at = np.searchsorted(self.edges, start)
        right = (self.ids[at] == wanted) & (self.edges[at + 1] == stop)
        for k in np.flatnonzero(~right)[:1].tolist():
            yield self._finding_at(int(start[k]), f"expected the added token {wanted[k]}")
        self.numbers[at] = NO_TOKEN
        self._is_added: Mask = np.zeros(len(self.ids), dtype=np.bool_)
        self._is_added[at] = True
        stray = (self.numbers == NO_TOKEN) & ~self._is_added
        for k in np.flatnonzero(stray)[:1].tolist():
            yield self._finding_at(int(self.edges[k]), f"id {k}: {self.ids[k]} is an added token's")

    def _spelling(self) -> Iterator[Finding]:
        codes, spelled_by = self._laid_text.text.codes, self._merging.vocabulary.spelled_by
        for k in range(0, len(self.ids), _BLOCK):
            numbers, matched = self.numbers[k : k + _BLOCK], self._is_added[k : k + _BLOCK]
            expected = codes[self.edges[k] : self.edges[k + len(numbers)]]
            if matched.any():
                expected = expected[np.repeat(~matched, self.sizes[k : k + _BLOCK])]
                numbers = numbers[~matched]
            if not np.array_equal(spelled_by(numbers), expected):
                start = int(self.edges[k])
                yield self._finding_at(start, f"ids {k} to {k + len(matched)} spell other bytes")
                return

    def _rows(self, work: StepLimit) -> Iterator[Finding]:
        """Each row of a piece must be what greedy merging makes of the piece (theorem 32)."""
        begins = np.zeros(len(self._laid_text.text.codes) + 1, dtype=np.bool_)
        begins[self._laid_text.pieces] = True
        first, last = begins[self.edges[:-1]], begins[self.edges[1:]]
        if not self._merging.whole_piece:
            yield from self._lone(first & last & ~self._is_added, work)
        else:
            yield from self._looked_up(first & ~last, last & ~first)
        yield from self._pairs(np.flatnonzero(~last), work)

    def _lone(self, lone: Mask, work: StepLimit) -> Iterator[Finding]:
        """A token that is a whole piece must be what merging makes of its bytes."""
        distinct = np.flatnonzero(np.bincount(self.numbers[lone], minlength=1))
        number = self._merging.first_unkept(distinct, 1, work)
        if number is not None:
            k = int(np.flatnonzero(lone & (self.numbers == number))[0])
            yield self._finding_at(
                int(self.edges[k]), f"id {k}: merging does not make {self.ids[k]}"
            )

    def _looked_up(self, first: Mask, last: Mask) -> Iterator[Finding]:
        """A piece of several tokens must not be a token itself, if the engine looks pieces up."""
        starts, stops = self.edges[:-1][first], self.edges[1:][last]
        some = stops - starts <= self._merging.vocabulary.longest
        starts, stops = starts[some], stops[some]
        known = self._merging.vocabulary.number_of
        for k in range(0, len(starts), _BLOCK):
            low, high = int(starts[k]), int(stops[min(k + _BLOCK, len(starts)) - 1])
            data = self._laid_text.text.codes[low:high].tobytes()
            places = zip(starts[k : k + _BLOCK] - low, stops[k : k + _BLOCK] - low, strict=True)
            found = {data[a:b] for a, b in places} & known.keys()
            if found:
                message = f"several ids for {min(found)!r}, which is one token"
                yield self._finding_at(low, message)
                return

    def _pairs(self, left_places: IntArray, work: StepLimit) -> Iterator[Finding]:
        """Two neighbours in a piece must be what merging makes of their bytes."""
        count = len(self._merging.vocabulary.ids)
        keys = self.numbers[left_places].astype(np.int64) * count + self.numbers[left_places + 1]
        key = self._merging.first_unkept(np.unique(keys), 2, work)
        if key is not None:
            k = int(left_places[np.flatnonzero(keys == key)[0]])
            pair = f"ids {k} and {k + 1}: {self.ids[k]}, {self.ids[k + 1]}"
            yield self._finding_at(int(self.edges[k]), f"{pair} is not what merging makes")

    def _finding_at(self, byte: int, message: str) -> Finding:
        return Finding("ids", message, self._laid_text.position(byte))


def byte_id_findings(
    tokenizer: ByteTokenizer, laid_text: LaidText, ids: IntArray, work: StepLimit
) -> list[Finding]:
    """Returns the first reason why `ids` are not the ids of a text; [] if they are.

    `ids`: int64, (n,), without those that post-processing inserts."""
    row = TokenRow(tokenizer, laid_text, ids)
    first = next(row.findings(work), None)
    return [] if first is None else [first]
