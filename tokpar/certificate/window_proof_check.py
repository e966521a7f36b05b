"""Checks the windows of one Split by the proof that came with them (theorems 40, 41 and 44)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from tokpar.certificate.window_machine import Machine, RefusedProofError

Debts = frozenset[int]
Item = tuple[int, Debts]
"""An attempt in this state, or `GAP` or `BEGIN`, as long as the attempts that are owed never
match."""

Place = TypeVar("Place", bound=Hashable)
Debt = TypeVar("Debt", bound=Hashable)
Attempt = tuple[Place, frozenset[Debt]]
"""An item: what is going on, and what it owes."""

GAP, BEGIN = -1, -2
ANYWHERE, BEGINNING = 0, 1
MOST_ITEMS = 20_000


class ItemSets(Generic[Place, Debt]):
    """Numbered sets of items: what a regex attempt may be doing after a text.

    `ANYWHERE` is the set after any text. `BEGINNING` is the set after no text: at the start of a
    text, or at a certified cut."""

    def __init__(
        self,
        moves: Callable[[Attempt[Place, Debt], int], Iterable[Attempt[Place, Debt]]],
        begin: Attempt[Place, Debt],
        everything: frozenset[Attempt[Place, Debt]],
    ) -> None:
        self._moves = moves
        self._sets = [everything, frozenset({begin})]  # ANYWHERE and BEGINNING
        self._numbers = {items: number for number, items in enumerate(self._sets)}
        self._set_cache: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._sets)

    def items(self, here: int) -> frozenset[Attempt[Place, Debt]]:
        """Returns the items of a set."""
        return self._sets[here]

    def set_after(self, here: int, symbols: Iterable[int]) -> int:
        """Returns the number of the set after these symbols, read from a set."""
        for c in symbols:
            key = here, c
            if key not in self._set_cache:
                moved = (new for item in self._sets[here] for new in self._moves(item, c))
                self._set_cache[key] = self._number(fewest(moved))
            here = self._set_cache[key]
        return here

    def _number(self, items: frozenset[Attempt[Place, Debt]]) -> int:
        if items not in self._numbers:
            self._numbers[items] = len(self._sets)
            self._sets.append(items)
        return self._numbers[items]


class WindowChecker(Machine):
    """Checks windows of one pattern by a proof that holds. Raises `RefusedProofError` for another
    proof."""

    def __init__(self, proof: str) -> None:
        super().__init__(proof)
        begin = BEGIN, frozenset[int]()
        self.sets = ItemSets(self._moves, begin, reachable_items(begin, self._moves, self.size))

    def refusal_behind(self, here: int, right: list[int]) -> str | None:
        """Returns why the cut after a left part is not proved, or None. The left part is given by
        the number of its item set."""
        if not right or not all(0 <= c < self.size for c in right):
            return "no window"
        refutations = (self._refute(item, right) for item in self.sets.items(here))
        return next(filter(None, refutations), None)

    def _fresh(self, c: int, debts: Debts) -> list[Item]:
        """True if an attempt begins before symbol c, or if c is in a gap because the attempt will
        fail."""
        y = self.target[0][c]
        items = [(y, debts)] if y not in self.dead else []
        return items if y in self.sure else [*items, (GAP, debts | self._debt(y))]

    def _moves(self, item: Item, c: int) -> list[Item]:
        x, before = item
        if any(self.hit[y][c] for y in before):
            return []
        owed = frozenset().union(*(self._debt(self.target[y][c]) for y in before))
        if x in (GAP, BEGIN):
            return self._fresh(c, owed)
        y = self.target[x][c]
        going = [(y, owed)] if y not in self.dead else []
        return going + (self._fresh(c, owed | self._debt(y)) if self.hit[x][c] else [])

    def _debt(self, y: int) -> Debts:
        return frozenset() if y in self.dead else frozenset({y})

    def _refute(self, item: Item, right: list[int]) -> str | None:
        """Returns why this item refutes the cut, or None."""
        x, owed = item
        if any(self.hit[y][self.size] for y in owed):
            return None
        if x == GAP:
            y = self.target[0][right[0]]
            for c in right[1:]:
                if self.hit[y][c]:
                    return None
                y = self.target[y][c]
            return None if y in self.sure else "a gap may go on over the cut"
        if self.hit[x][self.size] != self.hit[x][right[0]]:
            return "the cut itself is seen"
        y = self.target[x][right[0]]
        for c in right[1:]:
            if self.hit[y][c]:
                return "a longer match"
            y = self.target[y][c]
        return None if y in self.dead else "perhaps a longer match"


def reachable_items(
    begin: Attempt[Place, Debt],
    moves: Callable[[Attempt[Place, Debt], int], Iterable[Attempt[Place, Debt]]],
    symbols: int,
) -> frozenset[Attempt[Place, Debt]]:
    """Returns the items after any text, `begin` after no text, each with the fewest obligations."""
    least: dict[Place, list[frozenset[Debt]]] = {}
    todo = [begin]
    count = 0
    while todo:
        place, owed = todo.pop()
        known = least.setdefault(place, [])
        if any(less <= owed for less in known):
            continue
        known[:] = [more for more in known if not owed <= more] + [owed]
        count += 1
        if count > MOST_ITEMS:
            raise RefusedProofError(f"more than {MOST_ITEMS} items")
        for c in range(symbols):
            todo += moves((place, owed), c)
    return frozenset((place, owed) for place, known in least.items() for owed in known)


def fewest(items: Iterable[Attempt[Place, Debt]]) -> frozenset[Attempt[Place, Debt]]:
    """Returns the items without those that owe more than another item in the same place."""
    least: dict[Place, set[frozenset[Debt]]] = {}
    for place, owed in items:
        least.setdefault(place, set()).add(owed)
    return frozenset(
        (place, owed)
        for place, each in least.items()
        for owed in each
        if not any(less < owed for less in each)
    )
