"""Refuse patterns that fancy-regex 0.19 (tiktoken 0.14) rewrites to a different pattern.

fancy-regex rewrites ``a+b?a+`` to ``a+(?:ba+)?``, which also matches "a". It rewrites ``a+b??a*``
and ``(?:a+(?:ba*)?)+`` in the same way. This module refuses every sequence of such a shape, even if
fancy-regex would not change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tokpar.errors import OptionError
from tokpar.patterns.automaton import Members
from tokpar.patterns.expression import (
    Choice,
    Expression,
    OneOf,
    Repeat,
    Row,
    UnsupportedPatternError,
    sources,
)
from tokpar.patterns.regex_parser import parse_expression


def refuse_rewritten(tree: Expression, members: Members) -> None:
    """Raise UnsupportedPatternError for a pattern that fancy-regex may rewrite.

    `members`: the symbols of the pattern's classes. The engine compares the spellings of classes;
    equal spellings have equal symbols."""
    for node in _nodes(tree):
        row = _items(node.item if isinstance(node, Repeat) else node)
        if isinstance(node, Repeat):
            optional = row[-1] if node.high is None and len(row) > 1 else None
            changed = isinstance(optional, Repeat) and _alike(
                row[0], _items(optional.item)[-1], members
            )
        else:
            changed = any(
                isinstance(middle, Repeat) and middle.low == 0 and _alike(left, right, members)
                for (left, middle), (_, right) in pairwise(pairwise(row))
            )
        if changed:
            raise UnsupportedPatternError(
                "fancy-regex may take two equal repeats with something optional between for others"
            )


def require_unchanged(pattern: str) -> None:
    """Raise OptionError for a pattern that tiktoken may rewrite.

    Another engine may then give other ids than tiktoken. Accepts every pattern that the parser
    does not support."""
    try:
        tree = parse_expression(pattern, "fancy-regex")
    except UnsupportedPatternError:
        return
    try:
        refuse_rewritten(tree, {each: frozenset({k}) for k, each in enumerate({*sources(tree)})})
    except UnsupportedPatternError as error:
        raise OptionError(f"pat_str {pattern!r}: {error}; load it with engine='tiktoken'") from None


def _nodes(node: Expression) -> Iterator[Expression]:
    yield node
    if isinstance(node, Repeat):
        yield from _nodes(node.item)
    elif isinstance(node, Row | Choice):
        for child in node.items if isinstance(node, Row) else node.options:
            yield from _nodes(child)


def _items(node: Expression) -> Sequence[Expression]:
    """The items of a sequence, with nested sequences flattened."""
    if not isinstance(node, Row):
        return (node,)
    return [item for child in node.items for item in _items(child)]


def _alike(left: Expression, right: Expression, members: Members) -> bool:
    """True if both nodes repeat the same item without an upper bound."""
    if not isinstance(left, Repeat) or not isinstance(right, Repeat):
        return False
    endless = left.high is None and right.high is None
    return endless and _spelled(left.item, members) == _spelled(right.item, members)


def _spelled(node: Expression, members: Members) -> object:
    """A key that is equal for nodes that match the same texts in the same way."""
    if isinstance(node, OneOf):
        return members[node.source]
    if isinstance(node, Repeat):
        return _spelled(node.item, members), node.low, node.high, node.mode
    if isinstance(node, Row):
        return tuple(_spelled(item, members) for item in _items(node))
    if isinstance(node, Choice):
        return frozenset(_spelled(option, members) for option in node.options)
    return node
