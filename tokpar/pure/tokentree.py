"""TokenTree: byte-level tokens by longest match, from left to right, an approximation of byte-pair
encoding. Source: "Fast Inference-Time Tokenization through Approximating BPE". Ids may differ from
those of BPE; `Comparison` counts how much. The tree is a table, which is built faster than a trie:
the first three bytes of the rest give the lengths worth trying, the longest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from operator import add
from time import process_time

from tokpar.pure.bpe import RankBPE
from tokpar.pure.tokenizer import tokenizer_of
from tokpar.pure.vocabulary import Vocabulary

_PREFIX = 3
_SHORT = (2, 1)


def lengths_by_prefix(tokens: Iterable[bytes]) -> dict[bytes, tuple[int, ...]]:
    """Lengths of the tokens that begin with the same three bytes, the longest first, then 2 and 1:
    {"the", "them", "to", "t"} -> {"the": (4, 3, 2, 1)}."""
    found: dict[bytes, set[int]] = {}
    for token in tokens:
        if len(token) >= _PREFIX:
            found.setdefault(token[:_PREFIX], set()).add(len(token))
    return {prefix: (*sorted(lengths, reverse=True), *_SHORT) for prefix, lengths in found.items()}


class TokenTree(RankBPE):
    """`RankBPE` with longest matches in place of merging. O(n * L) for n bytes and tokens of at
    most L different lengths under one prefix. `tokens` has all 256 single bytes.

    >>> bytes_ = {bytes([byte]): byte for byte in range(256)}
    >>> TokenTree(bytes_ | {b"bc": 256, b"ab": 257}).encode("abc")
    (257, 99)
    """

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        super().__init__(tokens)
        self._lengths = lengths_by_prefix(tokens)

    def _starts(self, data: bytes) -> list[int]:
        """Where tokens begin, and the end. A length beyond the end stands for the whole rest, which
        is the longest there can be; single bytes are tokens, so one length always fits."""
        tokens, lengths = self._ranks, self._lengths
        if data in tokens:
            return [0, len(data)]
        edges, start = [0], 0
        while start < len(data):
            for length in lengths.get(data[start : start + _PREFIX], _SHORT):
                if data[start : start + length] in tokens:
                    start = min(start + length, len(data))
                    edges.append(start)
                    break
        return edges


@dataclass(frozen=True, slots=True)
class Difference:
    """TokenTree beside true BPE on one text, or on several: `texts`, and in how many the ids
    differ. `bpe_tokens`, `tree_tokens`: ids of each, added tokens included. `shared_tokens`: with
    the same bytes at the same place. Seconds of processor time: `split_seconds`, the same for both,
    then those of the two models, each with its own memo."""

    texts: int = 0
    texts_differing: int = 0
    bpe_tokens: int = 0
    tree_tokens: int = 0
    shared_tokens: int = 0
    split_seconds: float = 0.0
    bpe_seconds: float = 0.0
    tree_seconds: float = 0.0

    def __add__(self, other: Difference) -> Difference:
        return Difference(*map(add, astuple(self), astuple(other)))

    @property
    def text_share(self) -> float:
        """Share of the texts whose ids differ, 0 to 1."""
        return self.texts_differing / self.texts if self.texts else 0.0

    @property
    def token_share(self) -> float:
        """1 - 2 * shared / (bpe + tree), 0 to 1: of the tokens of both, those without a twin."""
        both = self.bpe_tokens + self.tree_tokens
        return (both - 2 * self.shared_tokens) / both if both else 0.0

    @property
    def model_speedup(self) -> float:
        """Seconds of BPE over those of TokenTree, on pre-tokens that are given."""
        return self.bpe_seconds / self.tree_seconds if self.tree_seconds else 1.0

    @property
    def speedup(self) -> float:
        """The same from text to ids, splitting included in both."""
        tree = self.split_seconds + self.tree_seconds
        return (self.split_seconds + self.bpe_seconds) / tree if tree else 1.0


class Comparison:
    """TokenTree and true BPE over the same vocabulary, pre-tokens and added tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        exact = tokenizer_of(vocabulary)
        self._parts = exact.parts
        self._bpe = exact.model
        self._tree = TokenTree(vocabulary.tokens)
        self._length_of = {id_: len(token) for token, id_ in vocabulary.tokens.items()}

    def of(self, text: str) -> Difference:
        """What differs in one text."""
        started = process_time()
        parts = list(self._parts(text))
        split = process_time()
        pieces = [piece for part in parts if not isinstance(part, int) for piece in part]
        added = sum(isinstance(part, int) for part in parts)
        counts = Counter(pieces)  # hashes them all, so that neither model has to
        before = process_time()
        bpe = self._bpe.encode_all(pieces)
        between = process_time()
        tree = self._tree.encode_all(pieces)
        after = process_time()
        return Difference(
            texts=1,
            texts_differing=int(bpe != tree),
            bpe_tokens=added + len(bpe),
            tree_tokens=added + len(tree),
            shared_tokens=added + sum(n * self._shared(piece) for piece, n in counts.items()),
            split_seconds=split - started,
            bpe_seconds=between - before,
            tree_seconds=after - between,
        )

    def _shared(self, piece: str) -> int:
        bpe, tree = tuple(self._bpe.encode(piece)), self._tree.encode(piece)
        return len(bpe) if bpe == tree else len(self._spans(bpe) & self._spans(tree))

    def _spans(self, ids: Iterable[int]) -> set[tuple[int, int]]:
        """[start, stop) of each token in bytes of its pre-token."""
        return set(pairwise(accumulate((self._length_of[id_] for id_ in ids), initial=0)))
