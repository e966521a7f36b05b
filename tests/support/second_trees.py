"""The trees of the second parser: ordered choices of sequences of classes (theorem 40)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["greedy", "lazy", "possessive"]


class UnsupportedPatternError(ValueError):
    """The second parser does not support this pattern."""


@dataclass(frozen=True)
class OneOf:
    """Consumes one character of a class. `source`: the regex spelling of the class."""

    source: str


@dataclass(frozen=True)
class Ahead:
    """A lookahead: succeeds if a character of one of the classes follows. Consumes nothing.

    `end`: the end of the text succeeds, too. `negated`: the lookahead succeeds exactly if it would
    otherwise fail."""

    sources: tuple[str, ...] = ()
    end: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Repeat:
    """Repeats `item` `low` to `high` times; `high` None: no bound.

    The item of a possessive repeat is an `OneOf`."""

    item: Expression
    low: int
    high: int | None
    mode: Mode = "greedy"


@dataclass(frozen=True)
class Row:
    """A sequence: matches the items one after the other."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """An ordered choice: matches the first option with which the rest of the pattern matches."""

    options: tuple[Expression, ...]


Expression = OneOf | Ahead | Repeat | Row | Choice


def may_be_empty(node: Expression) -> bool:
    """True if the node can match without consuming a character, if all lookaheads succeed."""
    if isinstance(node, Repeat):
        return node.low == 0 or may_be_empty(node.item)
    if isinstance(node, Row):
        return all(map(may_be_empty, node.items))
    if isinstance(node, Choice):
        return any(map(may_be_empty, node.options))
    return isinstance(node, Ahead)


def sources(node: Expression) -> Iterator[str]:
    """Yield the spelling of every class in the tree, including lookaheads and repetitions."""
    if isinstance(node, OneOf):
        yield node.source
    elif isinstance(node, Ahead):
        yield from node.sources
    elif isinstance(node, Repeat):
        yield from sources(node.item)
    else:
        for child in node.items if isinstance(node, Row) else node.options:
            yield from sources(child)


def folded_edge(node: Expression, side: int) -> frozenset[str]:
    """The lower-case letters of case-insensitive classes at one end of the node.

    Side 0: classes that may consume the node's first character. Side -1: its last character."""
    if isinstance(node, OneOf):
        folded = node.source.startswith("(?i:")
        return frozenset(node.source[4:-1].lower()) if folded else frozenset()
    if isinstance(node, Repeat):
        return folded_edge(node.item, side)
    if isinstance(node, Choice):
        return frozenset().union(*(folded_edge(option, side) for option in node.options))
    found: frozenset[str] = frozenset()
    if isinstance(node, Row):
        for item in node.items[:: -1 if side else 1]:
            found |= folded_edge(item, side)
            if not may_be_empty(item):
                break
    return found


def over(node: Expression, sets: Mapping[str, frozenset[int]], size: int) -> list[Any]:
    """The tree over symbols, as `tokpar.regexes.pattern_parser` spells it."""
    if isinstance(node, OneOf):
        return ["set", sorted(sets[node.source])]
    if isinstance(node, Ahead):
        found = {c for source in node.sources for c in sets[source]} | (
            {size} if node.end else set()
        )
        return ["look", sorted(set(range(size + 1)) - found if node.negated else found)]
    if isinstance(node, Repeat):
        return ["repeat", over(node.item, sets, size), node.low, node.high, node.mode]
    if isinstance(node, Choice):
        return ["choice", [over(option, sets, size) for option in node.options]]
    return ["row", [over(item, sets, size) for item in node.items]]
