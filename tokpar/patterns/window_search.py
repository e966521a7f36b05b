"""Decide which windows (v1|v2) certify a cut in every surrounding text (theorems 40 to 42).

Four small tables decide windows of every width. The left part v1 is read from the set of all items,
the right part v2 from the threats that remain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.char_partition import Alphabet
from tokpar.patterns.pending_matches import Threat, Threats
from tokpar.patterns.product_states import BEGIN, Item, Items
from tokpar.patterns.stored_windows import TableArray, WindowTables, Word
from tokpar.patterns.time_budget import Budget

MAX_SETS = 5_000


class Decision:
    """The items, threats and window tables of a sequence of Splits over common symbols."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.budget = budget
        self.items = Items(stages, budget)
        self.threats = Threats(stages, budget)
        self.size = stages[0].size
        self.everything = self.items.everywhere()
        self.tables = self._tables(budget)

    def _tables(self, budget: Budget) -> WindowTables:
        symbols = range(self.size)
        sets = _Numbers("left sets", budget)
        sets.number(self.everything)
        sets.number(frozenset({BEGIN}))
        left = [[sets.number(self.items.after(here, c)) for c in symbols] for here in sets.values]
        threats = _Numbers("threat sets", budget)
        threats.number(None)
        cut = [[threats.number(self.behind_cut(here, c)) for c in symbols] for here in sets.values]
        right = [[threats.number(self.behind(here, d)) for d in symbols] for here in threats.values]
        certain = []
        for here in threats.values:
            budget.spend("threats")
            certain.append(here is not None and all(map(self.threats.harmless, here)))
        return WindowTables(_array(left), _array(cut), _array(right), np.array(certain))

    def behind_cut(self, items: frozenset[Item], c: int) -> frozenset[Threat] | None:
        """The threats after c, the first symbol after the cut; None: the cut is refuted."""
        found: set[Threat] = set()
        for item in items:
            if item != BEGIN and self.items.holds_at_end(item):
                first = self.threats.first(item, c)
                if first is None:
                    return None
                found.update(first)
        return frozenset(found)

    def behind(self, threats: frozenset[Threat] | None, d: int) -> frozenset[Threat] | None:
        """The threats after one more symbol d; None: the cut is refuted."""
        if threats is None:
            return None
        found: set[Threat] = set()
        for threat in threats:
            left = self.threats.step(threat, d)
            if left is None:
                return None
            found.update(left)
        return frozenset(found)

    def witness(self, left: Word, right: Word) -> tuple[Word, Word] | None:
        """The shortest texts (before, after) around a window that make its cut wrong.

        None for a certified window. Raises `UnsupportedPatternError` if the search exceeds the
        budget of a decision."""
        self.budget.renew()
        best: tuple[Word, Word] | None = None
        for item, before in self._reached(left).items():
            if item == BEGIN or not self.items.holds_at_end(item):
                continue
            behind = self._realized(item, right)
            if behind is None:
                continue
            if best is None or len(before) + len(behind) < len(best[0]) + len(best[1]):
                best = before, behind
        return best

    def _reached(self, left: Word) -> dict[Item, Word]:
        """Map each item after the left part to a shortest text before the left part."""
        words: dict[Item, Word] = {BEGIN: ()}
        queue = deque(words)
        while queue:
            item = queue.popleft()
            for c in range(self.size):
                for after in self.items.moves(item, c):
                    if after not in words:
                        words[after] = (*words[item], c)
                        queue.append(after)
        for c in left:
            moved: dict[Item, Word] = {}
            for item, word in sorted(words.items(), key=lambda pair: len(pair[1])):
                for after in self.items.moves(item, c):
                    moved.setdefault(after, word)
            words = moved
        return words

    def _realized(self, item: Item, right: Word) -> Word | None:
        """A shortest text after the right part that makes a threat come true, or None."""
        live = self.threats.first(item, right[0])
        for d in right[1:]:
            if live is None:
                break
            steps = [self.threats.step(threat, d) for threat in live]
            live = None if None in steps else tuple({t for s in steps for t in s or ()})
        if live is None:
            return ()
        words: dict[Threat, Word] = dict.fromkeys(live, ())
        queue = deque(words)
        while queue:
            threat = queue.popleft()
            for d in (self.size, *range(self.size)):
                left = self.threats.step(threat, d)
                word = words[threat] if d == self.size else (*words[threat], d)
                if left is None:
                    return word
                for each in left:
                    if each not in words:
                        words[each] = word
                        queue.append(each)
        return None


class _Numbers:
    """Numbers sets in order of first appearance. `values` grows while a caller iterates over it."""

    def __init__(self, what: str, budget: Budget) -> None:
        self.what, self.budget = what, budget
        self.values: list[Any] = []
        self._known: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        if value not in self._known:
            self._known[value] = len(self.values)
            self.values.append(value)
            self.budget.spend(self.what, len(self.values), MAX_SETS)
        return self._known[value]


def _array(rows: list[list[int]]) -> TableArray:
    return np.array(rows, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of one sequence of Splits: which are certified, and counterexamples for the
    rest."""

    alphabet: Alphabet
    decision: Decision

    @property
    def tables(self) -> WindowTables:
        return self.decision.tables

    def window(self, left: str, right: str) -> bool:
        """True if a cut between these two texts is lossless in every surrounding text."""
        word = self._word(left), self._word(right)
        return bool(left and right) and self.tables.holds(*word)

    def witness(self, left: str, right: str) -> tuple[str, str] | None:
        """Texts (before, after) around an uncertified window that make its cut wrong, or None.

        They are a proven counterexample for a single Split that matches at every position."""
        found = self.decision.witness(self._word(left), self._word(right))
        return None if found is None else (self._text(found[0]), self._text(found[1]))

    def _word(self, text: str) -> Word:
        return self.alphabet.symbols(text)

    def _text(self, word: Word) -> str:
        return "".join(self.alphabet.examples[c] for c in word)
