"""Decide which pairs of characters certify a cut in every surrounding text (theorems 40 to 42)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.char_partition import Alphabet
from tokpar.patterns.known_pattern import PairArray
from tokpar.patterns.pair_rows import BEGIN, WRONG, Item, RowPairs, Threat
from tokpar.patterns.pattern_parser import RefusedProofError
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.time_budget import Budget

Word = tuple[int, ...]
"""The symbols of a text."""
_State = TypeVar("_State", bound=Hashable)


class Pairs:
    """The pairs of a sequence of Splits over the symbols of `alphabet`, and counterexamples.

    `pairs`: bool, (size, size): the first symbol before a cut and the second one after it certify
    the cut. `rows` decides them. Raises UnsupportedPatternError if that exceeds the budget."""

    def __init__(self, alphabet: Alphabet, stages: Sequence[Automaton], budget: Budget) -> None:
        self.alphabet, self.stages, self._budget = alphabet, tuple(stages), budget
        symbols = range(alphabet.size)
        try:
            self.rows = RowPairs(self.stages, budget.spend)
            decided = [[self.rows.refusal(c, d) is None for d in symbols] for c in symbols]
        except RefusedProofError as error:
            raise UnsupportedPatternError(str(error)) from None
        self.pairs: PairArray = np.array(decided, np.bool_)

    def certifies(self, left: str, right: str) -> bool:
        """True if a cut between these two characters is lossless in every surrounding text."""
        return bool(self.pairs[self.alphabet.symbols(left + right)])

    def witness(self, left: str, right: str) -> tuple[str, str] | None:
        """The shortest texts (before, after) around an uncertified pair that make its cut wrong, or
        None.

        They are a proven counterexample for a single Split that matches at every position. Raises
        UnsupportedPatternError if the search exceeds the budget of a decision."""
        self._budget.renew()
        first, second = self.alphabet.symbols(left + right)
        best: tuple[Word, Word] | None = None
        for item, before in self._items_after(first).items():
            behind = self._realize_threat(item, second) if self.rows.holds_at_end(item) else None
            if behind is None:
                continue
            if best is None or len(before) + len(behind) < len(best[0]) + len(best[1]):
                best = before, behind
        return None if best is None else (self._text(best[0]), self._text(best[1]))

    def _text(self, word: Word) -> str:
        return "".join(self.alphabet.examples[c] for c in word)

    def _items_after(self, left: int) -> dict[Item, Word]:
        """Map each item after the symbol to a shortest text before the symbol."""
        symbols = range(self.alphabet.size)
        words = shortest_words([BEGIN], self.rows.moves, symbols)
        moved: dict[Item, Word] = {}
        for item, word in sorted(words.items(), key=lambda pair: len(pair[1])):
            for after in self.rows.moves(item, left):
                moved.setdefault(after, word)
        return moved

    def _realize_threat(self, item: Item, right: int) -> Word | None:
        """A shortest text after the symbol that makes a threat come true, or None."""
        size = self.alphabet.size
        live: list[Threat] = sorted(self.rows.first(item, right), key=repr)
        found = shortest_words(live, self.rows.step, (size, *range(size)), WRONG)
        return None if WRONG not in found else tuple(d for d in found[WRONG] if d != size)


def shortest_words(
    states: Iterable[_State],
    step: Callable[[_State, int], Iterable[_State]],
    symbols: Iterable[int],
    target: _State | None = None,
) -> dict[_State, Word]:
    """Map each state that `step` reaches from `states` to a shortest word to it, or the states up
    to `target`."""
    words: dict[_State, Word] = dict.fromkeys(states, ())
    queue, symbols = deque(words), tuple(symbols)
    while queue and (target is None or target not in words):
        state = queue.popleft()
        for c in symbols:
            for after in step(state, c):
                if after not in words:
                    words[after] = (*words[state], c)
                    queue.append(after)
    return words
