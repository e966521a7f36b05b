"""Decide the pairs of a row of Splits from the machines of their patterns (theorem 42).

The planner decides its pairs by this code, from machines that it builds. The checker decides the
pairs of a certificate by it, from machines that it derived from proofs.

An item has a state of the machine, or `GAP`, for each stage. What may still prove a cut wrong is a
tuple that begins with its kind:

    ("longer", i, above, x)       the attempt x of stage i matches once more
    ("unmatched", i, above, x)    the attempt x, begun at the cut, never matches
    ("broken", i, above)          the text of stage i goes on at all
    ("unclean", i, above, x, y, had, same, edge)
                                  x, of the text before the cut, and y, begun at the cut, end at
                                  different places; see theorem 42

`above` has, for each stage before i, the piece that goes on over the cut: its state, or for a gap
the set of its attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import product
from typing import Any, Protocol

from tokpar.patterns.pattern_parser import RefusedProofError

Debts = frozenset[tuple[int, int]]
Item = tuple[tuple[int, ...], Debts]
Threat = tuple[Any, ...]
OuterPieces = tuple[Any, ...]
WRONG: Threat = ("wrong",)
REFUTED = frozenset({WRONG})
"""The threats to a cut that is certainly wrong."""
BEGIN: Item = ((), frozenset())
GAP = -1
MOST_ITEMS = 20_000


class StageMachine(Protocol):
    """The machine of one pattern, as `pattern_machine.Machine` describes it. `dead`: the states
    that never match any more. `sure`: the states that match whatever follows."""

    @property
    def size(self) -> int: ...

    @property
    def target(self) -> Sequence[Sequence[int]]: ...

    @property
    def hit(self) -> Sequence[Sequence[bool]]: ...

    @property
    def dead(self) -> AbstractSet[int]: ...

    @property
    def sure(self) -> AbstractSet[int]: ...


class RowPairs:
    """Decides the pairs of a sequence of Splits over common symbols.

    `spend` is called in each loop that a pattern may make long. Raises `RefusedProofError`."""

    def __init__(
        self, stages: Sequence[StageMachine], spend: Callable[[str], None] = lambda what: None
    ) -> None:
        self.stages, self._spend = stages, spend
        if not stages or len({stage.size for stage in stages}) != 1:
            raise RefusedProofError("the stages do not have the same symbols")
        self.size = stages[0].size
        self.last = len(stages) - 1
        self._safe: dict[Threat, bool] = {}
        self.moves, self.step = cache(self._moves), cache(self._step)
        self.everything = reachable_items(BEGIN, self.moves, self.size)
        self.items_after = cache(self._items_after)

    def _items_after(self, c: int) -> frozenset[Item]:
        """Returns the items after any text that ends with symbol c."""
        return fewest(new for item in self.everything for new in self.moves(item, c))

    def refusal(self, left: int, right: int) -> str | None:
        """Returns why the cut between two symbols is not proved, or None."""
        if not (0 <= left < self.size and 0 <= right < self.size):
            return "no pair"
        certain = self.is_certain(self.threats(self.items_after(left), right))
        return None if certain else "a piece may go on over the cut"

    def threats(self, items: Iterable[Item], c: int) -> frozenset[Threat]:
        """Returns the threats to a cut after these items and before symbol c, after c."""
        at_end = filter(self.holds_at_end, items)
        found = frozenset(threat for item in at_end for threat in self.first(item, c))
        return REFUTED if WRONG in found else found

    def is_certain(self, threats: frozenset[Threat]) -> bool:
        """True if no text makes one of the threats come true."""
        return all(map(self._is_safe, threats))

    def holds_at_end(self, item: Item) -> bool:
        """True if the item's obligations hold when the text ends here."""
        return not any(self.stages[i].hit[x][self.size] for i, x in item[1])

    # ------------------------------------------------------------------- left of the cut

    def _moves(self, item: Item, c: int) -> list[Item]:
        """Returns the items after symbol c: the first stages go on over c, and the stages from
        `first` on begin anew before c."""
        self._spend("moves of items")
        if item == BEGIN:
            return self._begin_stages((), frozenset(), 0, c)
        lineages, owed = item
        found: list[Item] = []
        for first in range(len(lineages) + 1):
            ended = [x for i, x in owed if i > first and self.stages[i].hit[x][self.size]]
            missed = [x for i, x in owed if i <= first and self.stages[i].hit[x][c]]
            if ended or missed:
                continue
            debts = {(i, self.stages[i].target[x][c]) for i, x in owed if i <= first}
            going = []
            for i, x in enumerate(lineages[:first]):
                y = self.stages[i].target[max(x, 0)][c]
                going.append(GAP if x == GAP else y)
                debts |= {(i, y)} if x == GAP else set()
            if any(y != GAP and y in self.stages[i].dead for i, y in enumerate(going)):
                continue
            if first < len(lineages) and lineages[first] != GAP:
                if not self.stages[first].hit[lineages[first]][c]:
                    continue
                debts.add((first, self.stages[first].target[lineages[first]][c]))
            if any(y in self.stages[i].sure for i, y in debts):
                continue
            begun = self._begin_stages(tuple(going), frozenset(debts), first, c)
            # a gap that ends is followed by a match
            behind_gap = first < len(lineages) and lineages[first] == GAP
            found += [item for item in begun if not (behind_gap and item[0][first] == GAP)]
        return found

    def _begin_stages(self, going: tuple[int, ...], debts: Debts, first: int, c: int) -> list[Item]:
        """Returns the items in which the stages from `first` on begin before c, each with an
        attempt or in a gap."""
        options = []
        for stage in self.stages[first:]:
            y = stage.target[0][c]
            options.append(
                ([y] if y not in stage.dead else []) + ([GAP] if y not in stage.sure else [])
            )
        found: list[Item] = []
        for fresh in product(*options):
            gaps = {
                (first + k, self.stages[first + k].target[0][c])
                for k, x in enumerate(fresh)
                if x == GAP
            }
            alive = {(i, x) for i, x in debts | gaps if x not in self.stages[i].dead}
            found.append((going + fresh, frozenset(alive)))
        return found

    # ------------------------------------------------------------------ right of the cut

    def first(self, item: Item, c: int) -> set[Threat]:
        """Returns the threats of an item to the cut, after the first symbol."""
        lineages, owed = item
        found: set[Threat] = set()
        above: OuterPieces = ()
        for i, x in enumerate(lineages):
            stage, onward = self.stages[i], self._onward(above, c)
            if onward is None:  # a piece of an earlier stage ends at the cut
                break
            start = stage.target[0][c]
            if x == GAP:
                if i == self.last:
                    return found | {*self._unmatched_threats(i, onward, start)}
                if start in stage.sure:
                    break
                above = (*above, frozenset(o for j, o in owed if j == i))
                continue
            y, edge = stage.target[x][c], stage.hit[x][c]
            if i == self.last or not stage.hit[x][self.size]:
                if edge != stage.hit[x][self.size]:
                    return found | {self._broken_threat(i, onward)}
                return found if y in stage.dead else found | {("longer", i, onward, y)}
            found.update(self._unclean(i, onward, y, start, False, edge, edge))
            if y in stage.dead:
                break
            above = (*above, x)
        return found

    def _step(self, threat: Threat, d: int) -> list[Threat]:
        """Returns what remains of `threat` after symbol d, which may be the end of the text."""
        self._spend("threats")
        if threat == WRONG:
            return [WRONG]
        kind, i, above, *states = threat
        stage, ends, onward = self.stages[i], self._may_end(above, d), self._onward(above, d)
        if kind == "broken":
            return [WRONG] if ends else [] if onward is None else [("broken", i, onward)]
        if kind == "unclean":
            return self._step_unclean(threat, d)
        (x,) = states
        if ends and stage.hit[x][self.size] == (kind == "longer"):
            return [WRONG]
        if onward is None:
            return []
        y = stage.target[x][d]
        if stage.hit[x][d]:
            return [self._broken_threat(i, onward)] if kind == "longer" else []
        if kind == "unmatched":
            return self._unmatched_threats(i, onward, y)
        return [] if y in stage.dead else [("longer", i, onward, y)]

    def _unmatched_threats(self, i: int, onward: OuterPieces, y: int) -> list[Threat]:
        """Returns the threat that attempt y of stage i, begun at the cut, never matches."""
        if y in self.stages[i].dead:
            return [self._broken_threat(i, onward)]
        return [] if y in self.stages[i].sure else [("unmatched", i, onward, y)]

    def _step_unclean(self, threat: Threat, d: int) -> list[Threat]:
        _, i, above, x, y, had, same, edge = threat
        stage, onward = self.stages[i], self._onward(above, d)

        def match_after(symbol: int) -> tuple[bool, bool]:
            first, second = stage.hit[x][symbol], stage.hit[y][symbol]
            return had or first, (first and second) if first or second else same

        moved, agreed = match_after(self.size)
        if self._may_end(above, d) and not (agreed if moved else edge):
            return [WRONG]
        if onward is None:
            return []
        return self._unclean(
            i, onward, stage.target[x][d], stage.target[y][d], *match_after(d), edge
        )

    def _unclean(
        self, i: int, onward: OuterPieces, x: int, y: int, had: bool, same: bool, edge: bool
    ) -> list[Threat]:
        """Returns what remains of an "unclean" threat: nothing, itself, or a text that goes on."""
        dead, good = self.stages[i].dead, same if had else edge
        settled = x in dead and (not had or y in dead)
        if good and (x == y or settled):
            return []
        if settled and x != y:
            return [self._broken_threat(i, onward)]
        return [("unclean", i, onward, x, y, had, same, edge)]

    def _broken_threat(self, i: int, onward: OuterPieces) -> Threat:
        return ("broken", i, onward) if onward else WRONG

    def _may_end(self, outer_pieces: OuterPieces, d: int) -> bool:
        """True if the text inside these pieces may end before symbol d."""
        if not outer_pieces:
            return d == self.size
        stage, going = self.stages[len(outer_pieces) - 1], outer_pieces[-1]
        attempts = going if isinstance(going, frozenset) else frozenset({going})
        gap = attempts is going
        at_end = any(stage.hit[x][self.size] for x in attempts)
        if self._may_end(outer_pieces[:-1], d) and at_end != gap:
            return True
        if d == self.size or self._onward(outer_pieces[:-1], d) is None:
            return False
        quiet = all(stage.target[x][d] not in stage.sure for x in attempts)
        if gap:
            quiet = quiet and not any(stage.hit[x][d] for x in attempts)
            return quiet and stage.target[0][d] not in stage.dead
        return quiet and stage.hit[going][d]

    def _onward(self, outer_pieces: OuterPieces, d: int) -> OuterPieces | None:
        """The pieces after symbol d, or None if they cannot continue over d."""
        found: list[Any] = []
        for stage, going in zip(self.stages, outer_pieces, strict=False):
            if isinstance(going, frozenset):
                moved = {stage.target[x][d] for x in (*going, 0)} if d < self.size else set()
                if any(stage.hit[x][d] for x in going) or moved & stage.sure:
                    return None
                found.append(frozenset(moved - stage.dead))
            elif d == self.size or stage.target[going][d] in stage.dead:
                return None
            else:
                found.append(stage.target[going][d])
        return None if d == self.size else tuple(found)

    def _is_safe(self, threat: Threat) -> bool:
        """True if no text makes the threat come true."""
        if threat not in self._safe:
            seen, todo = {threat}, [threat]
            while todo and WRONG not in seen:
                here = todo.pop()
                new = {each for d in range(self.size + 1) for each in self.step(here, d)} - seen
                seen |= new
                todo += new
                if len(seen) > MOST_ITEMS:
                    raise RefusedProofError("too many threats")
            self._safe[threat] = WRONG not in seen
        return self._safe[threat]


def reachable_items(
    begin: Item,
    moves: Callable[[Item, int], Iterable[Item]],
    symbols: int,
) -> frozenset[Item]:
    """Returns the items after any text, `begin` after no text, each with the fewest obligations."""
    least: dict[tuple[int, ...], list[Debts]] = {}
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


def fewest(items: Iterable[Item]) -> frozenset[Item]:
    """Returns the items without those that owe more than another item in the same place."""
    least: dict[tuple[int, ...], set[Debts]] = {}
    for place, owed in items:
        least.setdefault(place, set()).add(owed)
    return frozenset(
        (place, owed)
        for place, each in least.items()
        for owed in each
        if not any(less < owed for less in each)
    )
