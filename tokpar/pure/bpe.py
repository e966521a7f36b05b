"""Byte-pair encoding, plain and obviously correct, and the models made of it.

A pre-token starts as its single atoms, bytes or characters. Again and again, of all neighbours that
may merge the pair of best priority is merged, the leftmost if several have it. The kinds of
vocabulary differ in what may merge: listed pairs, by line (HF, `tokpar.pure.pairs.PairBPE`); any
two that are a token together, by id (tiktoken, `RankBPE`), or a piece, by score, which several may
have (SentencePiece, `ScoreBPE`).

`merge_by_scanning` says this in code, `merge_by_heap` gives the same tokens in O(n log n).
`ByteBPE` uses these two; the models use `tokpar.pure.merging`, which is the same written for
speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from tokpar.pure.merging import NEVER, Memo, Span, merge_by_queue, merge_text, touched
from tokpar.pure.vocabulary import Merges, Ranks, Vocabulary

Rule = Callable[[int, int], tuple[int, int] | None]
"""(left id, right id) -> (priority, merged id), less is better; None if the two do not merge."""

SCAN_BYTES = 64
"""`ByteBPE` merges longer pre-tokens by heap."""


def pair_rule(merges: Merges) -> Rule:
    """Explicit priority of each pair of tokens (HF)."""
    return lambda left, right: merges.get((left, right))


def rank_rule(ranks: Ranks) -> Rule:
    """Rank of the merged bytes (tiktoken), which is their id too."""
    spelling = {rank: token for token, rank in ranks.items()}

    def rule(left: int, right: int) -> tuple[int, int] | None:
        merged = ranks.get(spelling[left] + spelling[right])
        return None if merged is None else (merged, merged)

    return rule


def merge_by_scanning(ids: Sequence[int], rule: Rule) -> list[int]:
    """Merge the best pair until none is left; before each merge all pairs are looked at."""
    parts = list(ids)
    while True:
        best: tuple[int, int, int] | None = None
        for i in range(len(parts) - 1):
            found = rule(parts[i], parts[i + 1])
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], i, found[1])
        if best is None:
            return parts
        _, i, merged = best
        parts[i : i + 2] = [merged]


def merge_by_heap(ids: Sequence[int], rule: Rule) -> list[int]:
    """The same tokens as `merge_by_scanning`; `rule` is asked once for every pair there ever is."""
    parts, merged = list(ids), list(ids)

    def priority(i: int, j: int, _: int) -> int:
        found = rule(parts[i], parts[j])
        if found is None:
            return NEVER
        merged[i] = found[1]
        return found[0]

    def join(i: int, _: int) -> None:
        parts[i] = merged[i]

    return [parts[i] for i in merge_by_queue(len(parts), priority, join)[:-1]]


class ByteBPE:
    """Encodes one pre-token at a time. Safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        self._whole_piece = vocabulary.whole_piece
        pairs = vocabulary.semantics == "pairs"
        self._rule = pair_rule(vocabulary.merges) if pairs else rank_rule(vocabulary.tokens)

    def encode(self, piece: bytes) -> tuple[int, ...]:
        """Ids of one pre-token; of no bytes, no ids."""
        if self._whole_piece and piece in self._tokens:
            return (self._tokens[piece],)
        merge = merge_by_scanning if len(piece) <= SCAN_BYTES else merge_by_heap
        return tuple(merge([self._tokens[bytes([byte])] for byte in piece], self._rule))


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
        return touched([(self._ranks[data[i:j]], i, j) for i, j in edges], piece)

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
