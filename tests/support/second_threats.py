"""The oracle of `tokpar.regexes.pair_rows`: which pending matches may still prove a cut wrong
(theorems 40 to 42).

Each threat advances symbol by symbol through the text after the cut. A threat that comes true
refutes the cut. A threat that no text can make true is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from tests.support.second_items import BEGIN, GAP, Item, Items
from tokpar.patterns.automaton import Automaton
from tokpar.patterns.time_budget import Budget

Going = int | frozenset[int]
"""A piece that continues over the cut. For a match: the state of its attempt. For a gap: the states
of the attempts that must not match any more."""
Above = tuple[Going, ...]
"""The current pieces of the earlier stages. The piece of a stage is the text of the next stage."""


class Threat(NamedTuple):
    """An event in the text of one stage that would refute the cut.

    longer     the attempt in state x matches once more
    unmatched  the attempt in state x, which began at the cut, never matches
    broken     the text of the stage continues
    unclean    the attempts in state x (of the piece before the cut) and y (begun at the cut) end at
               different positions. `had`: x has matched after the cut. `same`: the last matches of
               x and y coincide. `edge`: the piece ends at the cut if x does not match again
    """

    kind: Literal["longer", "unmatched", "broken", "unclean"]
    stage: int
    above: Above
    x: int = 0
    y: int = 0
    had: bool = False
    same: bool = False
    edge: bool = False

    @property
    def good(self) -> bool:
        """True if an "unclean" threat does not come true when the text ends now."""
        return self.same if self.had else self.edge


Outcome = tuple[Threat, ...] | None
"""The threats that remain. None: the cut is refuted."""


class Threats:
    """Advances threats over symbols. The symbol `size` is the end of the whole text."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.budget = budget
        self.stages = tuple(stages)
        self.size = stages[0].size
        self._steps: dict[tuple[Threat, int], Outcome] = {}
        self._harmless: dict[Threat, bool] = {}

    def first(self, item: Item, c: int) -> Outcome:
        """The threats after c, the first symbol after the cut, if `item` holds at the cut."""
        lineages, owed = item
        found: list[Threat] = []
        above: Above = ()
        for i, lineage in enumerate(lineages):
            onward = self._onward(above, c)
            if onward is None:  # a piece of an earlier stage ends at the cut
                break
            if lineage == GAP:
                outcome, over = self._behind_gap(i, c, onward)
                going: Going = frozenset(x for stage, x in owed if stage == i)
            else:
                outcome, over = self._behind_attempt(i, lineage, c, onward)
                going = lineage
            if outcome is None:
                return None
            found += outcome
            if not over:
                break
            above = (*above, going)
        return tuple(found)

    def _behind_gap(self, i: int, c: int, onward: Above) -> tuple[Outcome, bool]:
        """The threats if a gap stands before the cut, and whether the gap may continue over it."""
        stage = self.stages[i]
        y = stage.target[0][c]
        if i + 1 < len(self.stages):
            return (), stage.avoid[y]
        if not stage.live[y]:
            return self._broken(i, onward), False
        return ((Threat("unmatched", i, onward, y),) if stage.avoid[y] else ()), False

    def _behind_attempt(self, i: int, x: int, c: int, onward: Above) -> tuple[Outcome, bool]:
        """The threats if the piece before the cut is an attempt in state x, and whether the piece
        may continue over the cut."""
        stage = self.stages[i]
        ends, edge = stage.hit[x][self.size], stage.hit[x][c]
        y = stage.target[x][c]
        if not ends or i + 1 == len(self.stages):
            if ends != edge:
                return self._broken(i, onward), False
            return ((Threat("longer", i, onward, y),) if stage.live[y] else ()), False
        if not stage.live[y]:
            return (() if edge else self._broken(i, onward)), False
        start = stage.target[0][c]
        return self._settled(Threat("unclean", i, onward, y, start, False, edge, edge)), True

    def step(self, threat: Threat, d: int) -> Outcome:
        """The threats that remain of `threat` after symbol d; None: the cut is refuted."""
        key = threat, d
        if key not in self._steps:
            self.budget.spend("threats")
            self._steps[key] = self._step(threat, d)
        return self._steps[key]

    def _step(self, threat: Threat, d: int) -> Outcome:
        kind, i, x = threat.kind, threat.stage, threat.x
        stage = self.stages[i]
        ends = self._may_end(threat.above, d)
        onward = self._onward(threat.above, d)
        if kind == "unclean":
            return self._step_unclean(threat, d, ends, onward)
        if ends:
            true_at_end = stage.hit[x][self.size] if kind == "longer" else kind == "broken"
            if true_at_end or (kind == "unmatched" and not stage.hit[x][self.size]):
                return None
        if onward is None:
            return ()
        if kind == "broken":
            return (threat._replace(above=onward),)
        y = stage.target[x][d]
        if kind == "longer":
            if stage.hit[x][d]:
                return self._broken(i, onward)
            return (threat._replace(above=onward, x=y),) if stage.live[y] else ()
        if stage.hit[x][d]:
            return ()
        if not stage.live[y]:
            return self._broken(i, onward)
        return (threat._replace(above=onward, x=y),) if stage.avoid[y] else ()

    def _step_unclean(self, threat: Threat, d: int, ends: bool, onward: Above | None) -> Outcome:
        stage = self.stages[threat.stage]

        def after(symbol: int) -> Threat:
            first, second = stage.hit[threat.x][symbol], stage.hit[threat.y][symbol]
            same = first and second if first or second else threat.same
            return threat._replace(had=threat.had or first, same=same)

        if ends and not after(self.size).good:
            return None
        if onward is None:
            return ()
        x, y = stage.target[threat.x][d], stage.target[threat.y][d]
        return self._settled(after(d)._replace(above=onward, x=x, y=y))

    def _settled(self, threat: Threat) -> Outcome:
        """The outcome of an "unclean" threat if it is already settled, else the threat itself."""
        stage = self.stages[threat.stage]
        if threat.x == threat.y:
            return () if threat.good else (threat,)
        if not stage.live[threat.x]:
            if not threat.had:
                return () if threat.edge else self._broken(threat.stage, threat.above)
            if not stage.live[threat.y]:
                return () if threat.good else self._broken(threat.stage, threat.above)
        return (threat,)

    def _broken(self, i: int, onward: Above) -> Outcome:
        """The outcome of a threat of stage i that came true after a symbol.

        The cut is refuted in stage 0. In a later stage, it is refuted once the earlier stages'
        pieces continue over that symbol."""
        return (Threat("broken", i, onward),) if onward else None

    def _may_end(self, above: Above, d: int) -> bool:
        """True if the text inside these pieces may end before symbol d."""
        if not above:
            return d == self.size
        stage, going = self.stages[len(above) - 1], above[-1]
        text_ends = self._may_end(above[:-1], d)
        if isinstance(going, frozenset):
            if text_ends and not any(stage.hit[x][self.size] for x in going):
                return True
            if d == self.size or not stage.live[stage.target[0][d]]:
                return False
            quiet = all(not stage.hit[x][d] and stage.avoid[stage.target[x][d]] for x in going)
            return quiet and self._onward(above[:-1], d) is not None
        if text_ends and stage.hit[going][self.size]:
            return True
        if d == self.size or not stage.hit[going][d] or not stage.avoid[stage.target[going][d]]:
            return False
        return self._onward(above[:-1], d) is not None

    def _onward(self, above: Above, d: int) -> Above | None:
        """The pieces after symbol d, or None if they cannot continue over d."""
        if d == self.size:
            return None
        if not above:
            return ()
        before = self._onward(above[:-1], d)
        stage, going = self.stages[len(above) - 1], above[-1]
        if before is None:
            return None
        if isinstance(going, frozenset):
            if any(stage.hit[x][d] for x in going):
                return None
            moved = {stage.target[x][d] for x in (*going, 0)}
            if not all(stage.avoid[x] for x in moved):
                return None
            return (*before, frozenset(x for x in moved if stage.live[x]))
        y = stage.target[going][d]
        return (*before, y) if stage.live[y] else None

    def harmless(self, threat: Threat) -> bool:
        """True if no text makes the threat come true."""
        if threat not in self._harmless:
            seen, todo, safe = {threat}, [threat], True
            while todo and safe:
                here = todo.pop()
                for d in range(self.size + 1):
                    left = self.step(here, d)
                    if left is None:
                        safe = False
                        break
                    new = [each for each in left if each not in seen]
                    seen.update(new)
                    todo += new
            if safe:
                self._harmless.update(dict.fromkeys(seen, True))
            self._harmless[threat] = safe
        return self._harmless[threat]


class SecondDecision:
    """Decides windows one by one, by items and threats of its own."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.items, self.threats = Items(stages, budget), Threats(stages, budget)
        self.everywhere = self.items.everywhere()

    def holds(self, left: Sequence[int], right: Sequence[int], start: bool = False) -> bool:
        """True if the window certifies its cut. `start`: the text begins with the window."""
        items = frozenset({BEGIN}) if start else self.everywhere
        for c in left:
            items = self.items.after(items, c)
        for item in items:
            if item == BEGIN or not self.items.holds_at_end(item):
                continue
            live = self.threats.first(item, right[0])
            for d in right[1:]:
                steps = [] if live is None else [self.threats.step(each, d) for each in live]
                wrong = live is None or None in steps
                live = None if wrong else tuple({each for step in steps for each in step or ()})
            if live is None or not all(map(self.threats.harmless, live)):
                return False
        return True
