"""Finds new priorities that make a dictionary proper and keep all its tokenizations.

A dictionary is proper if each rule comes after the rules of its two parts. Some engines and papers
need this. A *rival* of a token is a token whose right part is the left part of the first. The new
order must make a token and each of its rivals in the same order as before (`Dictionary.beats`), and
both parts of a token before the token. If these demands form a cycle, no such order exists. Proof:
"Properization" in proofs/incremental-bpe.md."""

from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from tokpar.errors import OptionError
from tokpar_incremental.dictionary import BYTE, Dictionary, Rule, dictionary
from tokpar_incremental.search import children

Demand = tuple[object, object]
"""A demand: the first must be made before the second."""


def is_proper(some: Dictionary) -> bool:
    """True if each rule of a canonical token comes after the rules of its two parts."""
    return some.level == some.priority


def make_proper(some: Dictionary) -> Dictionary:
    """Returns a proper dictionary with the same tokenizations: `some` itself if it is proper, else
    one with new priorities 0, 1, ...

    Raises OptionError if there is none; it names the merges whose demands form a cycle."""
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
    if not is_proper(made) or made.rules.keys() != some.rules.keys():
        raise OptionError(f"{some.name}: the merges in this order are not the same, or not proper")
    return replace(made, unreachable=some.unreachable, whole=some.whole)


def _demands(some: Dictionary) -> Iterator[Demand]:
    """Yields all demands on the new order.

    To keep their number low, a token has no demand for each single rival. Auxiliary nodes stand for
    many rivals: ("from", part, i) for the rivals from number i on, ("up to", part, i) for the
    rivals before number i."""
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
    """Yields the demands that place `token` before the rivals that it beats, and after the other
    rivals."""
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
