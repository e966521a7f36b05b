"""Drawn pre-tokenizer regexes over a small alphabet, as trees that can be read without an engine.

A pattern is an ordered choice of rows of classes, quantifiers, groups and look-aheads, as in the
families, and never matches the empty text. `source` is its spelling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import regex
from hypothesis import strategies as st

from tests.support.draws import BOOLEANS, between

CATEGORIES = {"a": "Ll", "A": "Lu", "1": "N", " ": "Z", "\n": "C", ".": "P"}
END = ""
"""What stands behind the last character."""

CLASSES = (
    *(r"\p{L}", r"\p{Ll}", r"\p{Lu}", r"\p{N}", r"\s", r"\S", "a", "A", " ", "[aA]", r"[\r\n]"),
    *(r"[^\s\p{L}]", r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{N}]", r"[\p{L}\p{N}]", r"[a.]"),
)
ANY = r"[\s\S]"


@cache
def members(source: str) -> frozenset[str]:
    """Characters of the alphabet in a class."""
    return frozenset(char for char in CATEGORIES if regex.fullmatch(source, char))


@dataclass(frozen=True)
class One:
    """One character of a class."""

    source: str


@dataclass(frozen=True)
class Look:
    """The next character, or the end, is (not) of a class."""

    item: str
    negated: bool

    @property
    def source(self) -> str:
        return f"(?{'!' if self.negated else '='}{self.item})"

    def holds(self, char: str) -> bool:
        return (char != END and char in members(self.item)) != self.negated


@dataclass(frozen=True)
class Far:
    """The next two characters are (not) of two classes."""

    first: str
    second: str
    negated: bool

    @property
    def source(self) -> str:
        return f"(?{'!' if self.negated else '='}{self.first}{self.second})"


@dataclass(frozen=True)
class Times:
    """A class or a group with a quantifier such as "*", "{1,2}+" or "+?"."""

    item: One | Choice
    quantifier: str

    @property
    def low(self) -> int:
        """How often the item is there at least."""
        sign = self.quantifier[0]
        return int(self.quantifier[1]) if sign == "{" else int(sign == "+")

    @property
    def source(self) -> str:
        return self.item.source + self.quantifier


@dataclass(frozen=True)
class Row:
    """One after the other."""

    items: tuple[One | Look | Far | Times | Choice, ...]

    @property
    def source(self) -> str:
        return "".join(item.source for item in self.items)


@dataclass(frozen=True)
class Choice:
    """The first of the rows that goes."""

    rows: tuple[Row, ...]

    @property
    def alternatives(self) -> str:
        """The spelling of a whole pattern."""
        return "|".join(row.source for row in self.rows)

    @property
    def source(self) -> str:
        return f"(?:{self.alternatives})"


Node = One | Look | Far | Times | Row | Choice


def may_be_empty(node: Node) -> bool:
    if isinstance(node, One):
        return False
    if isinstance(node, Times):
        return node.low == 0 or may_be_empty(node.item)
    if isinstance(node, Row):
        return all(map(may_be_empty, node.items))
    return not isinstance(node, Choice) or any(map(may_be_empty, node.rows))


# ------------------------------------------------------------------------------- drawing


ITEMS = ("one", "one", "times", "times", "look", "group")
QUANTIFIERS = ("?", "*", "+", "+", "{1,2}", "{2}")


@cache
def some_of(strings: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(strings)


@st.composite
def patterns(
    draw: st.DrawFn,
    *,
    kinds: Sequence[str] = ("", "+", "?"),
    far: bool = False,
    covering: bool | None = None,
    classes: Sequence[str] = CLASSES,
) -> Choice:
    """`kinds`: greedy "", possessive "+", lazy "?". `far`: look-aheads at two characters, too.
    `covering`: every text has a match at its start."""
    one, quantifiers = (
        some_of(tuple(classes)),
        some_of((*map("".join, product(QUANTIFIERS, kinds)),)),
    )

    def row(depth: int) -> Row:
        items: list[One | Look | Far | Times | Choice] = []
        for _ in range(draw(between(1, 3))):
            kind = draw(some_of(ITEMS))
            if kind == "look" and far and draw(BOOLEANS):
                items.append(Far(draw(one), draw(one), draw(BOOLEANS)))
            elif kind == "look":
                items.append(Look(draw(one), draw(BOOLEANS)))
            elif kind == "group" and depth == 0:
                group = Choice(tuple(row(1) for _ in range(draw(between(1, 2)))))
                items.append(Times(group, "?") if draw(BOOLEANS) else group)
            elif kind == "one":
                items.append(One(draw(one)))
            else:
                items.append(Times(One(draw(one)), draw(quantifiers)))
        if all(map(may_be_empty, items)):
            items.insert(draw(between(0, len(items))), One(draw(one)))
        return Row(tuple(items))

    rows = [row(0) for _ in range(draw(between(1, 4)))]
    if draw(BOOLEANS) if covering is None else covering:
        rows.append(Row((One(ANY),)))
    return Choice(tuple(rows))


def alphabets(size: int) -> st.SearchStrategy[str]:
    return st.permutations(list(CATEGORIES)).map(lambda chars: "".join(sorted(chars[:size])))


def words(alphabet: str, longest: int) -> Iterator[str]:
    """All nonempty texts up to a length, shorter ones first."""
    for size in range(1, longest + 1):
        yield from map("".join, product(alphabet, repeat=size))


# ------------------------------------------------------------------------------- reading


def first_end(pattern: regex.Pattern[str], text: str) -> int:
    """m(text): the end of its first piece."""
    found = pattern.search(text)
    return len(text) if found is None else found.start() or found.end()


def pieces(pattern: regex.Pattern[str], text: str, start: int = 0) -> set[int]:
    """P(text): the edges of matches and gaps, both ends included, counted from `start`."""
    places = {start, start + len(text)}
    for match in pattern.finditer(text):
        places |= {start + match.start(), start + match.end()}
    return places


def clean(pattern: regex.Pattern[str], text: str, p: int) -> bool:
    """The pieces of the text are those of its two parts."""
    return pieces(pattern, text) == pieces(pattern, text[:p]) | pieces(pattern, text[p:], p)
