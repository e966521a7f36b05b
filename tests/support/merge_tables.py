"""Merge tables of the theorems: greedy runs, boundaries, edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from hypothesis import strategies as st

from tests.support.draws import BOOLEANS, between, bytes_of, shuffled

Tokens = tuple[str, ...]
Token = tuple[int, int, str]
Priority = Callable[[str, str], int | None]


class Table(NamedTuple):
    """BPE merges in order of priority. `by_bytes`: any two tokens may merge whose strings
    together are a token, as in tiktoken; else only the pairs listed, as in HF."""

    merges: tuple[tuple[str, str], ...]
    by_bytes: bool = False

    @property
    def tokens(self) -> frozenset[str]:
        return frozenset("abc") | {left + right for left, right in self.merges}

    def priority(self) -> Priority:
        if self.by_bytes:
            ranks = {left + right: k for k, (left, right) in reversed([*enumerate(self.merges)])}
            return lambda left, right: ranks.get(left + right)
        pairs = {pair: k for k, pair in reversed([*enumerate(self.merges)])}
        return lambda left, right: pairs.get((left, right))


def run(table: Table, text: str) -> tuple[Tokens, list[int]]:
    """The tokens of `text`, and the boundaries that were deleted, in order."""
    priority = table.priority()
    parts, deleted = list(text), list[int]()
    while True:
        found = [
            (rank, i)
            for i, (left, right) in enumerate(pairwise(parts))
            if (rank := priority(left, right)) is not None
        ]
        if not found:
            return tuple(parts), deleted
        i = min(found)[1]
        deleted.append(sum(map(len, parts[: i + 1])))
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def encode(table: Table, text: str) -> Tokens:
    return run(table, text)[0]


def edges(tokens: Sequence[str], start: int = 0) -> set[int]:
    """Token boundaries, both ends included: ("ab", "c") -> {0, 2, 3}."""
    places = {start}
    for token in tokens:
        start += len(token)
        places.add(start)
    return places


def boundaries(table: Table, text: str, start: int = 0) -> set[int]:
    return edges(encode(table, text), start)


def before(tokens: Sequence[str], place: int) -> Tokens:
    """The tokens that end at or before a boundary `place`, counted from their own start."""
    return tuple(t for k, t in enumerate(tokens) if sum(map(len, tokens[: k + 1])) <= place)


def behind(tokens: Sequence[str], place: int) -> Tokens:
    return tuple(tokens[len(before(tokens, place)) :])


@st.composite
def tables(draw: st.DrawFn, alphabet: str = "abc", improper: bool | None = None) -> Table:
    """Up to 12 merges; improper ones may use a token before the merge that makes it."""
    letters = alphabet[: draw(between(min(2, len(alphabet)), len(alphabet)))]
    tokens, merges = list(letters), []
    for step in draw(bytes_of(draw(between(1, 12)))):
        left, right = (tokens[k] for k in divmod(step % len(tokens) ** 2, len(tokens)))
        if len(left + right) <= 8 and (left, right) not in merges:
            tokens.append(left + right)
            merges.append((left, right))
    if draw(BOOLEANS) if improper is None else improper:
        merges = shuffled(draw, merges)
    return Table(tuple(merges), draw(BOOLEANS))


def greedy(vocabulary: frozenset[str], word: str) -> list[Token] | None:
    """Longest match first, or None."""
    pieces, s = [], 0
    while s < len(word):
        mark = "##" if s else ""
        ends = [e for e in range(len(word), s, -1) if mark + word[s:e] in vocabulary]
        if not ends:
            return None
        pieces.append((s, ends[0], mark + word[s : ends[0]]))
        s = ends[0]
    return pieces
