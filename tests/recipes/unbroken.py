"""Which characters make up one pre-token however they are put together: proofs/unbroken.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokpar.patterns.automaton import Automaton

Symbols = frozenset[int]


def unbroken_sets(stages: Sequence[Automaton]) -> list[tuple[list[int], list[int]]]:
    """For a row of Splits: greatest sets of symbols, and those of them with which a text over the
    set must end to be one pre-token for certain; ascending."""
    found: dict[Symbols, set[int]] = {}
    for last in range(stages[0].size):
        for symbols in _greatest(stages, last):
            found.setdefault(symbols, set()).add(last)
    return sorted((sorted(symbols), sorted(lasts)) for symbols, lasts in found.items())


def _greatest(stages: Sequence[Automaton], last: int) -> list[Symbols]:
    """The greatest sets of which every text that ends with `last` is one pre-token."""
    newest = {frozenset([last])} if unbroken(stages, frozenset([last]), last) else set()
    found = set(newest)
    while newest:  # what holds of a set holds of its parts
        larger = {held | {c} for held in newest for c in range(stages[0].size) if c not in held}
        newest = {symbols for symbols in larger if unbroken(stages, symbols, last)}
        found |= newest
    return [one for one in found if not any(one < other for other in found)]


def unbroken(stages: Iterable[Automaton], symbols: Symbols, last: int) -> bool:
    """Each Split matches every text over the symbols that ends with `last` as a whole, or has no
    match in any."""
    return all(
        _matches_all(stage, symbols, last) or _matches_none(stage, symbols, last)
        for stage in stages
    )


def _matches_all(stage: Automaton, symbols: Symbols, last: int) -> bool:
    return all(stage.hit[x][stage.size] for x in _behind(stage, symbols, last))


def _matches_none(stage: Automaton, symbols: Symbols, last: int) -> bool:
    inside = (stage.hit[x][c] for x in _reached(stage, symbols) for c in symbols)
    return not any(inside) and not any(
        stage.hit[x][stage.size] for x in _behind(stage, symbols, last)
    )


def _behind(stage: Automaton, symbols: Symbols, last: int) -> set[int]:
    """The states behind texts over the symbols that end with `last`."""
    return {stage.target[x][last] for x in _reached(stage, symbols)}


def _reached(stage: Automaton, symbols: Symbols) -> set[int]:
    """The states behind texts over the symbols, the empty one among them."""
    reached: set[int] = set()
    new = {0}
    while new:
        reached |= new
        new = {stage.target[x][c] for x in new for c in symbols} - reached
    return reached
