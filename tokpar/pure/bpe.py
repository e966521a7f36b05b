"""Byte-pair encoding, and two of the models made of it.

A pre-token starts as its single atoms, bytes or characters. Again and again, of all neighbours that
may merge the pair of best priority is merged, the leftmost if several have it. The kinds of
vocabulary differ in what may merge: listed pairs, by line (HF, `tokpar.pure.pairs.PairBPE`); any
two that are a token together, by id (tiktoken, `RankBPE`), or a piece, by score, which several may
have (SentencePiece, `ScoreBPE`). `tokpar.pure.merging` does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from tokpar.pure.merging import Memo, Span, cover_characters, merge_text


class RankBPE:
    """BPE by rank of the merged bytes (tiktoken). `ranks` has all 256 single bytes.

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
        """Where tokens begin, and the end."""
        return [0, len(data)] if data in self._ranks else merge_text(data, self._ranks)


class ScoreBPE:
    """BPE in SentencePiece's order: best score, then leftmost. Pieces are of kind "normal" only.

    `pieces`: text -> (id, score). Characters that are no piece become `unk_id`, neighbours of them
    one, or, given the ids of the 256 bytes, their bytes.

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
