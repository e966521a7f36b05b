"""Decide which pairs of characters certify a cut in every surrounding text (theorems 40 to 42)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokpar.certificate.window_machine import RefusedProofError
from tokpar.certificate.window_rows import BEGIN, WRONG, Item, RowWindows, Threat
from tokpar.patterns.automaton import Automaton
from tokpar.patterns.char_partition import Alphabet
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.stored_windows import PairArray, Word
from tokpar.patterns.time_budget import Budget


class Decision:
    """The pairs of a sequence of Splits over common symbols, and counterexamples.

    `pairs` (n, n) bool: True if the first symbol before a cut and the second one after it certify
    the cut."""

    def __init__(self, stages: Sequence[Automaton], budget: Budget) -> None:
        self.stages, self.budget = tuple(stages), budget
        self.size = stages[0].size
        symbols = range(self.size)
        try:
            self.rows = RowWindows(self.stages, budget.spend)
            decided = [[self.rows.refusal(c, d) is None for d in symbols] for c in symbols]
        except RefusedProofError as error:
            raise UnsupportedPatternError(str(error)) from None
        self.pairs: PairArray = np.array(decided, np.bool_)

    def witness(self, left: int, right: int) -> tuple[Word, Word] | None:
        """The shortest texts (before, after) around a pair that make its cut wrong.

        None for a certified pair. Raises `UnsupportedPatternError` if the search exceeds the
        budget of a decision."""
        self.budget.renew()
        best: tuple[Word, Word] | None = None
        for item, before in self._items_after(left).items():
            if not self.rows.holds_at_end(item):
                continue
            behind = self._realize_threat(item, right)
            if behind is None:
                continue
            if best is None or len(before) + len(behind) < len(best[0]) + len(best[1]):
                best = before, behind
        return best

    def _items_after(self, left: int) -> dict[Item, Word]:
        """Map each item after the symbol to a shortest text before the symbol."""
        words: dict[Item, Word] = {BEGIN: ()}
        queue = deque(words)
        while queue:
            item = queue.popleft()
            for c in range(self.size):
                for after in self.rows.moves(item, c):
                    if after not in words:
                        words[after] = (*words[item], c)
                        queue.append(after)
        moved: dict[Item, Word] = {}
        for item, word in sorted(words.items(), key=lambda pair: len(pair[1])):
            for after in self.rows.moves(item, left):
                moved.setdefault(after, word)
        return moved

    def _realize_threat(self, item: Item, right: int) -> Word | None:
        """A shortest text after the symbol that makes a threat come true, or None."""
        live = self.rows.first(item, right)
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


@dataclass(frozen=True, eq=False)
class Windows:
    """The pairs of one sequence of Splits: which are certified, and counterexamples for others."""

    alphabet: Alphabet
    decision: Decision

    @property
    def pairs(self) -> PairArray:
        return self.decision.pairs

    def certifies(self, left: str, right: str) -> bool:
        """True if a cut between these two characters is lossless in every surrounding text."""
        return bool(self.pairs[self._pair(left, right)])

    def witness(self, left: str, right: str) -> tuple[str, str] | None:
        """Texts (before, after) around an uncertified pair that make its cut wrong, or None.

        They are a proven counterexample for a single Split that matches at every position."""
        found = self.decision.witness(*self._pair(left, right))
        return None if found is None else (self._text(found[0]), self._text(found[1]))

    def _pair(self, left: str, right: str) -> tuple[int, int]:
        first, second = self.alphabet.symbols(left + right)
        return first, second

    def _text(self, word: Word) -> str:
        return "".join(self.alphabet.examples[c] for c in word)
