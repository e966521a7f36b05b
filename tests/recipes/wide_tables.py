"""Tables that decide windows of every width, for the machine-checked proofs (proofs/coq/Tables.v).

tokpar itself decides pairs of characters only."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tokpar.regexes.pair_rows import BEGIN, REFUTED, WRONG, RowPairs, Threat, fewest


@dataclass(frozen=True)
class WideTables:
    """`n` symbols.

    `left`     (left sets, n): the left set after a symbol; 0: any text, 1: start of a text
    `cut`      (left sets, n): the threat set if the cut is here and the symbol follows
    `right`    (threat sets, n): the threat set after one more symbol; 0: refuted
    `certain`  (threat sets,): no threat of the set can come true any more
    """

    left: list[list[int]]
    cut: list[list[int]]
    right: list[list[int]]
    certain: list[bool]


class _Numbers:
    """Numbers sets in order of first appearance. `values` grows while a caller iterates over it."""

    def __init__(self, *values: Hashable) -> None:
        self.values: list[Any] = []
        self._number_of: dict[Hashable, int] = {}
        for value in values:
            self.number(value)

    def number(self, value: Hashable) -> int:
        if value not in self._number_of:
            self._number_of[value] = len(self.values)
            self.values.append(value)
        return self._number_of[value]


def wide_tables(rows: RowPairs) -> WideTables:
    symbols = range(rows.size)
    sets, pending = _Numbers(rows.everything, frozenset({BEGIN})), _Numbers(REFUTED)
    left = [
        [sets.number(fewest(new for item in here for new in rows.moves(item, c))) for c in symbols]
        for here in sets.values
    ]
    cut = [[pending.number(rows.threats(here, c)) for c in symbols] for here in sets.values]
    right = [[pending.number(_after(rows, here, d)) for d in symbols] for here in pending.values]
    return WideTables(left, cut, right, [rows.is_certain(here) for here in pending.values])


def _after(rows: RowPairs, threats: frozenset[Threat], d: int) -> frozenset[Threat]:
    """The threats after one more symbol."""
    found = frozenset(new for threat in threats for new in rows.step(threat, d))
    return REFUTED if WRONG in found else found
