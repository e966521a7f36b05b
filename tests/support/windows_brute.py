"""All texts over a few characters, through the engines themselves: which cuts are lossless.

Nothing here reads a pattern or a table: a text's pieces are what the engine says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
import regex
import tiktoken

from tests.conftest import below_one
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.splits import SplitStage

Edges = Callable[[str], int]
"""A text -> its piece edges as bits: bit p is set if a piece begins or ends at p."""
BoolArray = npt.NDArray[np.bool_]


def edges_of(splits: Sequence[SplitStage], words: Sequence[str]) -> Edges:
    """How the engine of these Splits cuts texts, all substrings of which are among the words."""
    (engine,) = {split.engine for split in splits}
    patterns = [split.pattern for split in splits]
    if engine == "regex":
        return _by_regex(patterns)
    if engine == "oniguruma":
        return _by_oniguruma(patterns)
    (pattern,) = patterns
    return _by_tiktoken(pattern, words)


def _by_regex(patterns: Sequence[str]) -> Edges:
    compiled = [regex.compile(pattern) for pattern in patterns]

    def edges(text: str) -> int:
        places = {0, len(text)}
        for pattern in compiled:
            known = sorted(places)
            for low, high in pairwise(known):
                # a slice, since look-aheads must not see what stands behind the piece
                for match in pattern.finditer(text[low:high]):
                    places |= {low + match.start(), low + match.end()}
        return sum(1 << p for p in places)

    return edges


def _by_oniguruma(patterns: Sequence[str]) -> Edges:
    pre = below_one().pre_tokenizers
    row = pre.Sequence([pre.Split(below_one().Regex(p), "isolated") for p in patterns])

    def edges(text: str) -> int:
        pieces = row.pre_tokenize_str(text) if text else ()
        return 1 | sum(1 << stop for _, (_, stop) in pieces)

    return edges


def _by_tiktoken(pattern: str, words: Iterable[str]) -> Edges:
    """It does not tell its pieces, but every piece is a token if `words` are all substrings of the
    texts. What no match holds it drops: the pattern has to match everywhere."""
    ranks = {bytes([i]): i for i in range(256)}
    for word in words:
        ranks.setdefault(word.encode(), len(ranks))
    encoding = tiktoken.Encoding("all", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    texts = {ranks[word.encode()]: word for word in words}

    def edges(text: str) -> int:
        found, p = 1, 0
        for rank in encoding.encode_ordinary(text):
            p += len(texts[rank])
            found |= 1 << p
        assert p == len(text), "a text that the pattern does not cover"
        return found

    return edges


def ask(atoms: str) -> Callable[[Iterable[str], str], dict[str, Ranges]]:
    """Which of these characters are in a class: one by one, of the engine."""

    def members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
        return {
            source: tuple((ord(c), ord(c)) for c in sorted(atoms) if _is_in(source, engine, c))
            for source in sources
        }

    return members


@cache
def _is_in(source: str, engine: str, char: str) -> bool:
    if engine == "regex":
        return regex.fullmatch(source, char) is not None
    if engine == "oniguruma":
        split = below_one().pre_tokenizers.Split(below_one().Regex(source), "removed")
        return split.pre_tokenize_str(char) == []
    ranks = {bytes([i]): i for i in range(256)}
    kwargs: dict[str, Any] = {"mergeable_ranks": ranks, "special_tokens": {}}
    return bool(tiktoken.Encoding("one", pat_str=source, **kwargs).encode_ordinary(char))


def asked(atoms: str) -> Ranges:
    return tuple((ord(c), ord(c)) for c in sorted(atoms))


class Brute:
    """Lossless cuts of all texts over `atoms` of up to `longest` characters. Texts are numbered as
    digits to the base of the atoms, the first character first."""

    def __init__(self, splits: Sequence[SplitStage], atoms: str, longest: int) -> None:
        self.atoms, self.longest = atoms, longest
        self.splits = splits
        self.edges = edges_of(splits, [t for n in range(1, longest + 1) for t in self.texts(n)])
        self.masks = [
            np.fromiter(map(self.edges, self.texts(n)), np.int64, len(atoms) ** n)
            for n in range(longest + 1)
        ]

    def lossless(self, n: int, p: int) -> BoolArray:
        """Shape (texts of n characters,): the cut before character p leaves all pieces alone."""
        base = len(self.atoms)
        number = np.arange(base**n)
        left = self.masks[p][number // base ** (n - p)]
        right = self.masks[n - p][number % base ** (n - p)]
        whole: BoolArray = self.masks[n] == (left | (right << p))
        return whole

    def refuted(self, left: int, right: int) -> BoolArray:
        """Shape (texts of left + right characters,): some text around it has a cut between the two
        parts that is not lossless."""
        base = len(self.atoms)
        found = np.zeros(base ** (left + right), np.bool_)
        for n in range(left + right, self.longest + 1):
            for p in range(left, n - right + 1):
                shape = (base ** (p - left), -1, base ** (n - p - right))
                found |= ~self.lossless(n, p).reshape(shape).all(axis=(0, 2))
        return found

    def texts(self, n: int) -> list[str]:
        return ["".join(text) for text in product(self.atoms, repeat=n)]

    def broken(self, text: str, p: int) -> bool:
        """The cut of one text, of any length, is not lossless."""
        ends = range(1, len(text) + 1)
        edges = edges_of(self.splits, [text[i:j] for j in ends for i in range(j)])
        return edges(text) != edges(text[:p]) | edges(text[p:]) << p
