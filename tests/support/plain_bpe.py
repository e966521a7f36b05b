"""Byte-pair encoding, written to be obviously right: the models of `tokpar_pure` have its ids.
`merge_by_scanning` says it in code, `merge_by_heap` gives the same tokens in O(n log n)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokpar_pure.merging import NEVER, merge_by_queue

from tokpar.formats.vocabulary import Merges, Ranks, Vocabulary

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
