"""TokenTree: byte-level tokens by longest match, from left to right. It approximates byte-pair
encoding.

Source: "Fast Inference-Time Tokenization through Approximating BPE". Ids may differ from the ids of
BPE; `tokpar tokentree` counts how many do. The tree is a table, which is built faster than a trie:
the next three bytes give the token lengths to try, the longest first.

The engine is used by ``engine="tokentree"`` only. For it, "lossless" means equal to its own serial
call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tokpar_pure.adapter import FileTokenizer, PureTokenizer
from tokpar_pure.adapter import load as load_exact
from tokpar_pure.bpe import RankBPE
from tokpar_pure.formats import vocabulary_of

from tokpar.formats.vocabulary import Vocabulary
from tokpar.plugin.tokenizer import Facts
from tokpar.process.cached_property import cached_property

_PREFIX = 3
_SHORT = (2, 1)


def lengths_by_prefix(tokens: Iterable[bytes]) -> dict[bytes, tuple[int, ...]]:
    """For each three bytes, the lengths of the tokens that begin with them, the longest first, then
    2 and 1.

    {"the", "them", "to", "t"} -> {"the": (4, 3, 2, 1)}."""
    found: dict[bytes, set[int]] = {}
    for token in tokens:
        if len(token) >= _PREFIX:
            found.setdefault(token[:_PREFIX], set()).add(len(token))
    return {prefix: (*sorted(lengths, reverse=True), *_SHORT) for prefix, lengths in found.items()}


class TokenTree(RankBPE):
    """`RankBPE` with longest match instead of merges. `tokens` has all 256 single bytes.

    O(n * L) for n bytes, if the tokens with the same three first bytes have at most L different
    lengths.

    >>> bytes_ = {bytes([byte]): byte for byte in range(256)}
    >>> TokenTree(bytes_ | {b"bc": 256, b"ab": 257}).encode("abc")
    (257, 99)
    """

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        super().__init__(tokens)
        self._lengths = lengths_by_prefix(tokens)

    def _starts(self, data: bytes) -> list[int]:
        """The starts of the tokens, and the end of the text, in bytes.

        A length beyond the end stands for the whole rest, which is the longest match possible.
        Single bytes are tokens, so one length always fits."""
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


def load(source: Any, *, engine: str | None = None, **settings: Any) -> TreeTokenizer | None:
    """An adapter for byte-level BPE, with the sources, settings and errors of
    `tokpar_pure.adapter.load`.

    Raises FileFormatError for a file of another model. None for any other source, or if `engine`
    names another engine than "tokentree"."""
    if engine not in (None, "tokentree"):
        return None
    exact = load_exact(source, **settings)
    if isinstance(exact, FileTokenizer):
        return TreeTokenizer(vocabulary_of(exact.config, source))
    return None if exact is None else TreeTokenizer(exact.vocabulary())


class TreeTokenizer(PureTokenizer):
    """The adapter that `load` returns. Everything except the ids is as in the exact tokenizer."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, "tokentree", TokenTree(vocabulary.tokens))
        self.name += " (approximates BPE)"

    @property
    def origin(self) -> None:
        """None: no file describes this model to a checker."""

    @cached_property
    def facts(self) -> Facts:
        """The facts of the exact tokenizer, without its tokens.

        Cuts between pre-tokens are as safe as in the exact tokenizer: theorem 14 assumes nothing
        about how one pre-token is encoded."""
        return replace(super().facts, model="TokenTree", tokens=None)
