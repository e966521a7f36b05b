"""Other priorities for an improper dictionary, under which it is proper (every rule comes after
those that make its parts) and tokenizes as before: engines and papers may need that. A new order
must keep, of each token and each rival for its left part, which is made first (`Dictionary.beats`);
there is none if these demands and properness form a cycle."""

from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from tokpar.errors import OptionError
from tokpar.pure.incremental_dictionary import BYTE, Dictionary, Rule, dictionary
from tokpar.pure.incremental_search import children

Demand = tuple[object, object]
"""The first must be made before the second."""


def is_proper(some: Dictionary) -> bool:
    """Every rule of a token that is ever made comes after those that make its parts."""
    return some.level == some.priority


def make_proper(some: Dictionary) -> Dictionary:
    """The dictionary itself if it is proper, else one with new priorities 0, 1, ... OptionError,
    which names tokens that would come before one another in a circle, if there is none."""
    if is_proper(some):
        return some
    sorter: TopologicalSorter[object] = TopologicalSorter()
    for first, second in _demands(some):
        sorter.add(second, first)
    try:
        order = [token for token in sorter.static_order() if isinstance(token, int)]
    except CycleError as error:
        circle = [token for token in error.args[1] if isinstance(token, int)]
        raise OptionError(_refusal(some, circle)) from None
    ids = some.ids
    rules: list[Rule] = [
        (ids[some.left[token]], ids[some.right[token]], place) for place, token in enumerate(order)
    ]
    tokens = dict(zip(some.spelling, some.ids, strict=True))
    made = dictionary(some.name, tokens, rules)
    assert is_proper(made)
    assert made.rules.keys() == some.rules.keys()
    return replace(made, unreachable=some.unreachable, whole=some.whole)


def _demands(some: Dictionary) -> Iterator[Demand]:
    """All demands; those on the rivals of a token go through stations ("from", part, i) and
    ("up to", part, i), which stand for all rivals from the i-th on, and all before it."""
    rivals = children(some)
    followers: dict[int, list[int]] = {}
    for token, (left, right) in enumerate(zip(some.left, some.right, strict=True)):
        if left != BYTE:
            followers.setdefault(left, []).append(token)
            yield from ((part, token) for part in (left, right) if some.left[part] != BYTE)
    for part, tokens in followers.items():
        for i, rival in enumerate(rivals[part]):
            yield ("up to", part, i + 1), rival
            yield ("up to", part, i + 1), ("up to", part, i)
            yield rival, ("from", part, i)
            yield ("from", part, i + 1), ("from", part, i)
        for token in tokens:
            yield from _places(some, token, rivals[part])


def _places(some: Dictionary, token: int, rivals: list[int]) -> Iterator[Demand]:
    """Before the rivals that it beats, after the others."""
    if token in rivals:
        for rival in rivals:
            if rival != token:
                yield (token, rival) if some.beats(token, rival) else (rival, token)
        return
    beaten = sum(some.beats(token, rival) for rival in rivals)
    part = some.left[token]
    yield token, ("up to", part, beaten)
    yield ("from", part, beaten), token


def _refusal(some: Dictionary, circle: list[int]) -> str:
    steps = []
    for token in circle:
        left, right = some.spelling[some.left[token]], some.spelling[some.right[token]]
        steps.append(f"{left!r} + {right!r} (priority {some.priority[token]})")
    return (
        f"{some.name}: no proper order of the merges gives the same tokens: "
        f"each of these would have to come before the next: {', '.join(steps)}"
    )
