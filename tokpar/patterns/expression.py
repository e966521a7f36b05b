"""The tree of a pre-tokenizer pattern: ordered choices of rows of classes (Theorem 40)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Mode = Literal["greedy", "lazy", "possessive"]


class UnsupportedPatternError(ValueError):
    """The pattern lies outside what the decision procedure models."""


@dataclass(frozen=True)
class OneOf:
    """Consumes one character of a class; `source` is its regex spelling."""

    source: str


@dataclass(frozen=True)
class Ahead:
    """Succeeds if one of the classes follows, or with `end` the end of the text; `negated`: if
    none of these does. Consumes nothing."""

    sources: tuple[str, ...] = ()
    end: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Repeat:
    """`low` to `high` times, None meaning no bound; a possessive one repeats an `OneOf`."""

    item: Expression
    low: int
    high: int | None
    mode: Mode = "greedy"


@dataclass(frozen=True)
class Row:
    """One after the other."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """The first of the options that lets the rest match."""

    options: tuple[Expression, ...]


Expression = OneOf | Ahead | Repeat | Row | Choice


def may_be_empty(node: Expression) -> bool:
    """Some way through the node consumes nothing, look-aheads being taken to succeed."""
    if isinstance(node, Repeat):
        return node.low == 0 or may_be_empty(node.item)
    if isinstance(node, Row):
        return all(map(may_be_empty, node.items))
    if isinstance(node, Choice):
        return any(map(may_be_empty, node.options))
    return isinstance(node, Ahead)


def sources(node: Expression) -> Iterator[str]:
    """The spellings of all classes in the tree, look-aheads included, with repetitions."""
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
    """Lower-case letters of case-insensitive classes that may be the first (side 0) or the last
    (side -1) that the node consumes."""
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
