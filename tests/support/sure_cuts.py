"""Theorem 63 read word for word: which three characters make a cut of a row of Splits sure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tokpar.patterns.automaton import Automaton

Conditions = dict[str, bool]
"""Name of a condition -> whether it holds, for one stage or for the row."""


def after(stage: Automaton, states: set[int], symbol: int) -> set[int]:
    """The states after `symbol` of the runs that were in one of `states`."""
    return {stage.target[x][symbol] for x in states}


def dies(stage: Automaton, states: set[int], symbol: int) -> bool:
    """No run in these states matches any more behind `symbol`."""
    return after(stage, states, symbol) <= stage.dead


def hits_alike(stage: Automaton, states: set[int], symbol: int) -> bool:
    """Each run in these states hits before `symbol` exactly if it hits before END."""
    return all(stage.hit[x][symbol] == stage.hit[x][stage.size] for x in states)


def hits(stage: Automaton, states: set[int], symbol: int) -> bool:
    return any(stage.hit[x][symbol] for x in states)


def reached(stage: Automaton) -> set[int]:
    """All states of the minimal automaton are reached."""
    return set(range(len(stage.target)))


def passes(stages: Sequence[Automaton], a: int, b: int) -> bool:
    """(b) and (c) of Theorem 60 in all these stages."""
    runs = [(stage, after(stage, reached(stage), a)) for stage in stages]
    return all(dies(stage, x, b) and hits_alike(stage, x, b) for stage, x in runs)


def last_conditions(row: Sequence[Automaton], k: int, a: int, b: int, c: int) -> Conditions:
    """Theorem 63, *last*, in the stage `k` of the row: a cut behind a, b and before c."""
    stage = row[k]
    runs = after(stage, after(stage, reached(stage), a), b)
    begun = after(stage, {0}, b)
    return {
        "(a) begun at b: hits": hits(stage, begun, c),
        "(a) begun at b: dies": dies(stage, begun, c),
        "(a) begun at b: END": hits_alike(stage, begun, c),
        "(b)": dies(stage, runs, c),
        "(c)": hits_alike(stage, runs, c),
        "(d)": passes(row[:k], b, c),
    }


def middle_conditions(row: Sequence[Automaton], k: int, a: int, b: int, c: int) -> Conditions:
    """Theorem 63, *middle*, in the stage `k` of the row: a cut behind a and before b, c."""
    stage = row[k]
    runs = after(stage, reached(stage), a)
    over = after(stage, runs, b)
    keeps = all(after(each, {0}, c) <= each.dead for each in row[:k])
    return {
        "(a)": hits(stage, after(stage, {0}, a), b),
        "(b)": hits_alike(stage, runs, b),
        "(c) hits": not hits(stage, over, c),
        "(c) goes on": dies(stage, over, c),
        "(d)": passes(row[:k], a, b),
        "(e)": keeps or not hits(stage, over, stage.size),
    }


def is_sure_last(row: Sequence[Automaton], a: int, b: int, c: int) -> bool:
    return any(all(last_conditions(row, k, a, b, c).values()) for k in range(len(row)))


def is_sure_middle(row: Sequence[Automaton], a: int, b: int, c: int) -> bool:
    return any(all(middle_conditions(row, k, a, b, c).values()) for k in range(len(row)))


def is_sure_pair(row: Sequence[Automaton], a: int, b: int) -> bool:
    """Theorem 60."""
    begun = (hits(stage, after(stage, {0}, a), b) for stage in row)
    return any(found and passes(row[: k + 1], a, b) for k, found in enumerate(begun))


def sure_triples(row: Sequence[Automaton]) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    """The triples (a, b, c) of symbols that are *last*, and those that are *middle*."""
    all_ = [*product(range(row[0].size), repeat=3)]
    return (
        {each for each in all_ if is_sure_last(row, *each)},
        {each for each in all_ if is_sure_middle(row, *each)},
    )
