"""Left of a cut: what a row of Splits may be doing there (Definition 39, Theorems 40 to 42).

A lineage of stage i is the state of one attempt to match inside the piece of stage i-1 that goes
on here, or `GAP`. An item has a lineage for each stage, and obligations: attempts that have to end
without another match, because what the item says is true only then.
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
"""One lineage per stage, and the obligations."""

BEGIN: Item = ((), frozenset())
"""The text begins here."""


class Items:
    """Moves of items over symbols. An item is left out of a set that has it with fewer
    obligations."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.stages = tuple(stages)
        self.size = stages[0].size
        self.budget = budget
        self._moves: dict[tuple[Item, int], tuple[Item, ...]] = {}

    def everywhere(self) -> frozenset[Item]:
        """The items after any text, and `BEGIN`."""
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
        """The items behind symbol c."""
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
        """What the item says is true if the text ends here."""
        return not any(self._hits_end(i, x) for i, x in item[1])

    def moves(self, item: Item, c: int) -> tuple[Item, ...]:
        """What may become of an item over symbol c."""
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
            # stages before `first` go on over c, the others start anew before it
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
        """The obligations behind c; None if one is broken. The texts of stages behind `first` end
        before c."""
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
        """The lineages that go on over c, and what they owe; None if one cannot."""
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
        """How the stages from `first` on may start before c. Behind a gap of stage `first` only a
        match starts a piece."""
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
        """An attempt that must not match any more; none if it cannot."""
        return {(i, x)} if self.stages[i].live[x] else set()

    def _hits_end(self, i: int, x: int) -> bool:
        return self.stages[i].hit[x][self.size]
