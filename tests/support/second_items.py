"""The oracle of `tokpar.regexes.pair_rows`: the possible states of a sequence of Splits
before a cut (definition 39, theorems 40 to 42).

A lineage of stage i is the state of one match attempt inside the current piece of stage i-1, or
`GAP`. An item has a lineage for each stage, and obligations. An obligation is an attempt that must
end without another match: the item is true only under this condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.time_budget import Budget

GAP = -1
MAX_ITEMS = 50_000

Owed = frozenset[tuple[int, int]]
"""Obligations: (stage, state of the attempt)."""
Item = tuple[tuple[int, ...], Owed]
"""(one lineage per stage, obligations)."""

BEGIN: Item = ((), frozenset())
"""The item at the beginning of a text."""


class Items:
    """Advances sets of items over symbols.

    A set drops an item if it has the same lineages with fewer obligations."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.stages = tuple(stages)
        self.size = stages[0].size
        self.budget = budget
        self._moves: dict[tuple[Item, int], tuple[Item, ...]] = {}

    def everywhere(self) -> frozenset[Item]:
        """The items after every possible text, and `BEGIN`."""
        least: dict[tuple[int, ...], list[Owed]] = {}
        todo = [BEGIN]
        count = 0
        while todo:
            item = todo.pop()
            for c in range(self.size):
                for lineages, owed in self.moves(item, c):
                    known = least.setdefault(lineages, [])
                    if any(less <= owed for less in known):
                        continue
                    known[:] = [more for more in known if not owed <= more] + [owed]
                    todo.append((lineages, owed))
                    count += 1
                    self.budget.spend("items", count, MAX_ITEMS)
        items = ((lineages, owed) for lineages, known in least.items() for owed in known)
        return frozenset([BEGIN, *items])

    def after(self, items: Iterable[Item], c: int) -> frozenset[Item]:
        """The items after symbol c."""
        by_lineages: dict[tuple[int, ...], set[Owed]] = {}
        for item in items:
            for lineages, owed in self.moves(item, c):
                by_lineages.setdefault(lineages, set()).add(owed)
        return frozenset(
            (lineages, owed)
            for lineages, every in by_lineages.items()
            for owed in every
            if not any(less < owed for less in every)
        )

    def holds_at_end(self, item: Item) -> bool:
        """True if the item's obligations hold when the text ends here."""
        return not any(self._hits_end(i, x) for i, x in item[1])

    def moves(self, item: Item, c: int) -> tuple[Item, ...]:
        """The items that may follow `item` after symbol c."""
        key = item, c
        found = self._moves.get(key)
        if found is None:
            self.budget.spend("moves of items")
            found = self._moves[key] = tuple(
                self._fresh_items(c) if item == BEGIN else self._move(item, c)
            )
        return found

    def _fresh_items(self, c: int) -> Iterator[Item]:
        for lineages, owed in self._fresh(0, c):
            yield lineages, frozenset(owed)

    def _move(self, item: Item, c: int) -> Iterator[Item]:
        lineages, owed = item
        last = len(self.stages)
        for first in range(last + 1):
            # Pieces of stages before `first` continue over c. Later stages start anew before c.
            if first < last and not self._may_end(first, lineages[first], c):
                continue
            kept = self._owed_after(owed, first, c)
            onward = self._onward(lineages[:first], c)
            if kept is None or onward is None:
                continue
            going, failed = onward
            behind_gap = first < last and lineages[first] == GAP
            if first < last and not behind_gap:
                ended = self.stages[first].target[lineages[first]][c]
                if not self.stages[first].avoid[ended]:
                    continue
                failed |= self._debt(first, ended)
            for fresh, more in self._fresh(first, c, behind_gap):
                yield going + fresh, frozenset(kept | failed | more)

    def _may_end(self, i: int, lineage: int, c: int) -> bool:
        return lineage == GAP or self.stages[i].hit[lineage][c]

    def _owed_after(self, owed: Owed, first: int, c: int) -> set[tuple[int, int]] | None:
        """The obligations after symbol c; None if c breaks an obligation.

        The texts of the stages after `first` end before c."""
        kept: set[tuple[int, int]] = set()
        for i, x in owed:
            if i > first:
                if self._hits_end(i, x):
                    return None
                continue
            y = self.stages[i].target[x][c]
            if self.stages[i].hit[x][c] or not self.stages[i].avoid[y]:
                return None
            kept |= self._debt(i, y)
        return kept

    def _onward(
        self, lineages: tuple[int, ...], c: int
    ) -> tuple[tuple[int, ...], set[tuple[int, int]]] | None:
        """The lineages after symbol c, and their obligations; None if one cannot continue."""
        going = []
        failed: set[tuple[int, int]] = set()
        for i, lineage in enumerate(lineages):
            stage = self.stages[i]
            y = stage.target[0 if lineage == GAP else lineage][c]
            if lineage == GAP:
                if not stage.avoid[y]:
                    return None
                failed |= self._debt(i, y)
                going.append(GAP)
            elif stage.live[y]:
                going.append(y)
            else:
                return None
        return tuple(going), failed

    def _fresh(
        self, first: int, c: int, behind_gap: bool = False
    ) -> list[tuple[tuple[int, ...], set[tuple[int, int]]]]:
        """The lineages and obligations with which the stages from `first` on may start before c.

        After a gap of stage `first`, only a match starts a piece."""
        ways: list[tuple[tuple[int, ...], set[tuple[int, int]]]] = [((), set())]
        for i in range(first, len(self.stages)):
            stage = self.stages[i]
            y = stage.target[0][c]
            options: list[tuple[int, set[tuple[int, int]]]] = []
            if stage.live[y]:
                options.append((y, set()))
            if stage.avoid[y] and not (behind_gap and i == first):
                options.append((GAP, self._debt(i, y)))
            ways = [
                ((*lineages, lineage), owed | more)
                for lineages, owed in ways
                for lineage, more in options
            ]
        return ways

    def _debt(self, i: int, x: int) -> set[tuple[int, int]]:
        """The obligation that attempt x of stage i has no more match; empty if x cannot match."""
        return {(i, x)} if self.stages[i].live[x] else set()

    def _hits_end(self, i: int, x: int) -> bool:
        return self.stages[i].hit[x][self.size]
