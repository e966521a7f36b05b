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

from tokpar.certificate.window_machine import RefusedProofError
from tokpar.certificate.window_rows import BEGIN, REFUTED, WRONG, Item, RowWindows, Threat
from tokpar.patterns.automaton import Automaton
from tokpar.patterns.char_partition import Alphabet
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.stored_windows import TableArray, WindowTables, Word
from tokpar.patterns.time_budget import Budget

MAX_SETS = 5_000


class Decision:
    """The window tables of a sequence of Splits over common symbols, and counterexamples."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.stages, self.budget = tuple(stages), budget
        self.size = stages[0].size
        try:
            self.rows = RowWindows(self.stages, budget.spend)
            self.tables = self._tables(budget)
        except RefusedProofError as error:
            raise UnsupportedPatternError(str(error)) from None

    def _tables(self, budget: Budget) -> WindowTables:
        symbols, rows = range(self.size), self.rows
        left: list[list[int]] = []
        while len(left) < len(rows.sets):
            left.append([rows.sets.set_after(len(left), (c,)) for c in symbols])
            budget.spend("left sets", len(rows.sets), MAX_SETS)
        threats = _Numbers("threat sets", budget)
        threats.number(REFUTED)
        sets = range(len(left))
        cut = [[threats.number(rows.behind_cut(here, c)) for c in symbols] for here in sets]
        right = [
            [threats.number(rows.threats_after(here, d)) for d in symbols]
            for here in threats.values
        ]
        certain = [rows.is_certain(here) for here in threats.values]
        return WindowTables(_array(left), _array(cut), _array(right), np.array(certain))

    def witness(self, left: Word, right: Word) -> tuple[Word, Word] | None:
        """The shortest texts (before, after) around a window that make its cut wrong.

        None for a certified window. Raises `UnsupportedPatternError` if the search exceeds the
        budget of a decision."""
        self.budget.renew()
        best: tuple[Word, Word] | None = None
        for item, before in self._reachable_items(left).items():
            if item == BEGIN or not self.rows.holds_at_end(item):
                continue
            behind = self._realize_threat(item, right)
            if behind is None:
                continue
            if best is None or len(before) + len(behind) < len(best[0]) + len(best[1]):
                best = before, behind
        return best

    def _reachable_items(self, left: Word) -> dict[Item, Word]:
        """Map each item after the left part to a shortest text before the left part."""
        words: dict[Item, Word] = {BEGIN: ()}
        queue = deque(words)
        while queue:
            item = queue.popleft()
            for c in range(self.size):
                for after in self.rows.moves(item, c):
                    if after not in words:
                        words[after] = (*words[item], c)
                        queue.append(after)
        for c in left:
            moved: dict[Item, Word] = {}
            for item, word in sorted(words.items(), key=lambda pair: len(pair[1])):
                for after in self.rows.moves(item, c):
                    moved.setdefault(after, word)
            words = moved
        return words

    def _realize_threat(self, item: Item, right: Word) -> Word | None:
        """A shortest text after the right part that makes a threat come true, or None."""
        live = self.rows.first(item, right[0])
        for d in right[1:]:
            live = {new for threat in live for new in self.rows.step(threat, d)}
        words: dict[Threat, Word] = dict.fromkeys(sorted(live, key=repr), ())
        queue = deque(words)
        while queue:
            threat = queue.popleft()
            if threat == WRONG:
                return words[threat]
            for d in (self.size, *range(self.size)):
                word = words[threat] if d == self.size else (*words[threat], d)
                for each in self.rows.step(threat, d):
                    if each not in words:
                        words[each] = word
                        queue.append(each)
        return None


class _Numbers:
    """Numbers sets in order of first appearance. `values` grows while a caller iterates over it."""

    def __init__(self, what: str, budget: Budget) -> None:
        self.what, self.budget = what, budget
        self.values: list[Any] = []
        self._number_of: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        if value not in self._number_of:
            self._number_of[value] = len(self.values)
            self.values.append(value)
            self.budget.spend(self.what, len(self.values), MAX_SETS)
        return self._number_of[value]


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
