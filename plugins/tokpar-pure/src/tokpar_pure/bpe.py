"""Byte-pair encoding by rank (tiktoken).

A pre-token starts as a list of atoms: bytes or characters. Each step merges the pair of neighbours
with the best priority, and the leftmost such pair if several have the same priority. Two kinds of
vocabulary differ in the pairs that may merge, and in the priority:

- `tokpar_pure.pairs.PairBPE` (Hugging Face): the pairs that the file lists; earlier lines first.
- `RankBPE` (tiktoken): two parts whose joined bytes are a token; lower ids first.

`tokpar_pure.merging` has the merge loops."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from tokpar_pure.merging import Memo, Span, cover_characters, merge_text


class RankBPE:
    """BPE by the rank of the merged bytes, as in tiktoken. `ranks` has all 256 single bytes.

    >>> bytes_ = {bytes([byte]): byte for byte in range(256)}
    >>> RankBPE(bytes_ | {b"ab": 256}).encode("aabb")
    (97, 256, 98)
    """

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._ranks = ranks

    def spans(self, piece: str) -> list[Span]:
        data = piece.encode("utf-8")
        edges = pairwise(self._starts(data))
        return cover_characters([(self._ranks[data[i:j]], i, j) for i, j in edges], piece)

    def _ids(self, piece: str) -> tuple[int, ...]:
        data, ranks = piece.encode("utf-8"), self._ranks
        return tuple([ranks[data[i:j]] for i, j in pairwise(self._starts(data))])

    def _starts(self, data: bytes) -> list[int]:
        """Returns the byte offsets at which tokens begin, and the length of `data`."""
        return [0, len(data)] if data in self._ranks else merge_text(data, self._ranks)
