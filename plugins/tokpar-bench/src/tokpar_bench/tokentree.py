"""Compare TokenTree, longest match over a vocabulary made for BPE, with true BPE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from operator import add
from time import process_time

from tokpar_pure.tokenizer import tokenizer_of

from tokpar.formats.vocabulary import Vocabulary
from tokpar_bench.tokentree_engine import TokenTree


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """How TokenTree and true BPE differ on one text or on several.

    `texts`: the number of texts. `texts_differing`: the number of texts whose ids differ.
    `bpe_tokens`, `tree_tokens`: the number of ids of each, with added tokens. `shared_tokens`:
    tokens with the same bytes at the same place. All seconds are processor time: `split_seconds` is
    the same for both; then each model's own time, each with its own cache."""

    texts: int = 0
    texts_differing: int = 0
    bpe_tokens: int = 0
    tree_tokens: int = 0
    shared_tokens: int = 0
    split_seconds: float = 0.0
    bpe_seconds: float = 0.0
    tree_seconds: float = 0.0

    def __add__(self, other: TreeDifference) -> TreeDifference:
        return TreeDifference(*map(add, astuple(self), astuple(other)))

    @property
    def text_share(self) -> float:
        """The share of the texts whose ids differ, 0 to 1."""
        return self.texts_differing / self.texts if self.texts else 0.0

    @property
    def token_share(self) -> float:
        """The share of the tokens of both that are not shared, 0 to 1: 1 - 2 * shared / (bpe +
        tree)."""
        both = self.bpe_tokens + self.tree_tokens
        return (both - 2 * self.shared_tokens) / both if both else 0.0

    @property
    def model_speedup(self) -> float:
        """The seconds of BPE divided by the seconds of TokenTree, on given pre-tokens."""
        return self.bpe_seconds / self.tree_seconds if self.tree_seconds else 1.0

    @property
    def speedup(self) -> float:
        """The seconds of BPE divided by the seconds of TokenTree from text to ids, with splitting
        in both."""
        tree = self.split_seconds + self.tree_seconds
        return (self.split_seconds + self.bpe_seconds) / tree if tree else 1.0


class Comparison:
    """TokenTree and true BPE with the same vocabulary, pre-tokens and added tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        exact = tokenizer_of(vocabulary)
        self._parts = exact.parts
        self._bpe = exact.model
        self._tree = TokenTree(vocabulary.tokens)
        self._length_of = {id_: len(token) for token, id_ in vocabulary.tokens.items()}

    def difference_in(self, text: str) -> TreeDifference:
        """How the two differ on one text."""
        started = process_time()
        parts = list(self._parts(text))
        split = process_time()
        pieces = [piece for part in parts if not isinstance(part, int) for piece in part]
        added = sum(isinstance(part, int) for part in parts)
        counts = Counter(pieces)  # computes all hashes, so that no model's time includes this
        before = process_time()
        bpe = self._bpe.encode_all(pieces)
        between = process_time()
        tree = self._tree.encode_all(pieces)
        after = process_time()
        return TreeDifference(
            texts=1,
            texts_differing=int(bpe != tree),
            bpe_tokens=added + len(bpe),
            tree_tokens=added + len(tree),
            shared_tokens=added + sum(n * self._count_shared(piece) for piece, n in counts.items()),
            split_seconds=split - started,
            bpe_seconds=between - before,
            tree_seconds=after - between,
        )

    def _count_shared(self, piece: str) -> int:
        bpe, tree = tuple(self._bpe.encode(piece)), self._tree.encode(piece)
        return len(bpe) if bpe == tree else len(self._spans(bpe) & self._spans(tree))

    def _spans(self, ids: Iterable[int]) -> set[tuple[int, int]]:
        """[start, stop) of each token, in bytes of its pre-token."""
        return set(pairwise(accumulate((self._length_of[id_] for id_ in ids), initial=0)))
