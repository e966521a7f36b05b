"""Byte-pair encoding by rank (tiktoken) and by score (SentencePiece).

A pre-token starts as a list of atoms: bytes or characters. Each step merges the pair of neighbours
with the best priority, and the leftmost such pair if several have the same priority. Three kinds of
vocabulary differ in the pairs that may merge, and in the priority:

- `tokpar_pure.pairs.PairBPE` (Hugging Face): the pairs that the file lists; earlier lines first.
- `RankBPE` (tiktoken): two parts whose joined bytes are a token; lower ids first.
- `ScoreBPE` (SentencePiece): two parts whose joined text is a piece; higher scores first. Several
  pieces may have the same score.

`tokpar_pure.merging` has the merge loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


class ScoreBPE:
    """BPE in the order of SentencePiece: the highest score first, then the leftmost pair. Supports
    only pieces of type "normal".

    `pieces`: text -> (id, score). `byte_ids`: the ids of the 256 bytes, for a vocabulary with byte
    fallback: then a character that is no piece becomes its bytes. Without `byte_ids`, a run of
    characters that are no pieces becomes one `unk_id`.

    >>> ScoreBPE({"a": (1, -1.0), "aa": (2, -2.0)}, unk_id=0).encode("aaaxy")
    (2, 1, 0)
    """

    def __init__(
        self,
        pieces: Mapping[str, tuple[int, float]],
        unk_id: int,
        byte_ids: Sequence[int] | None = None,
    ) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._pieces = {text: id_ for text, (id_, _) in pieces.items()}
        scores = sorted({-score for _, score in pieces.values()})
        order = {score: number for number, score in enumerate(scores)}
        self._codes = {text: order[-score] for text, (_, score) in pieces.items()}
        self._unk_id = unk_id
        self._byte_ids = byte_ids

    def spans(self, piece: str) -> list[Span]:
        spans: list[Span] = []
        unknown = False
        for start, stop in pairwise(merge_text(piece, self._codes)):
            id_ = self._pieces.get(piece[start:stop])
            if id_ is not None:
                spans.append((id_, start, stop))
            elif self._byte_ids is not None:
                data = piece[start:stop].encode("utf-8")
                spans += [(self._byte_ids[byte], start, stop) for byte in data]
            elif unknown:
                spans[-1] = (self._unk_id, spans[-1][1], stop)
            else:
                spans.append((self._unk_id, start, stop))
            unknown = id_ is None
        return spans

    def _ids(self, piece: str) -> tuple[int, ...]:
        return tuple([span[0] for span in self.spans(piece)])
