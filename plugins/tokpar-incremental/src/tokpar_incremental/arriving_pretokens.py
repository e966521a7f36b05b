"""Pre-tokenize a text that is still arriving, with the automaton of theorem 40.

A chain has one `PatternSplitter` for each Split. A splitter receives the text that certainly
belongs to its current piece, and feeds its own pieces to the next splitter. The character classes
are those of the module `regex`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tokpar.cuts.added_token_contents import Contents
from tokpar.patterns.automaton import Automaton, automaton
from tokpar.patterns.char_partition import alphabet
from tokpar.patterns.charclass_cache import cached_members
from tokpar.patterns.charclass_members import SURROGATES
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.pattern_reader import read_pattern
from tokpar.patterns.time_budget import Budget

_WIDE = "utf-32-le"
_RECORDS, _SURE, _DEAD, _CLOSED = 1, 2, 4, 8


class Sink(Protocol):
    """Receives texts in parts."""

    def feed(self, text: str) -> None:
        """Append `text` to the current text."""

    def end(self) -> None:
        """End the current text. The next `feed` begins another text."""


@dataclass(frozen=True, eq=False)
class ArrivalMachine:
    """The automaton of one pattern as flat tables. State 0 is the start.

    `next_states` and `signs` have the entry for reading a symbol in a state at state * width +
    symbol. `next_states`: the next state. `signs`: a bit set. `_RECORDS`: a match ends before the
    character. `_SURE`: a match ends after the character or later, whatever follows. `_DEAD`: no
    match can end later than the matches so far. `_CLOSED`: no match can end later than the sure
    match. `at_end`: by state, True if a match ends at the end of the text. `symbol_of`: uint8,
    (0x110000,)."""

    symbol_of: NDArray[np.uint8]
    width: int
    next_states: tuple[int, ...]
    signs: tuple[int, ...]
    at_end: tuple[bool, ...]


class PatternSplitter:
    """Splits an arriving text into the matches of a pattern and the gaps between matches.

    The splitter passes on the text up to the end of the longest match so far: only a longer match
    can replace this match. The buffer keeps the rest until the match is final. Then the splitter
    reads the rest again."""

    def __init__(self, machine: ArrivalMachine, sink: Sink) -> None:
        self._machine, self._sink = machine, sink
        self._wide, self._symbols = bytearray(), bytearray()
        self._state = self._read = 0
        self._has_match = self._in_gap = False

    def feed(self, text: str) -> None:
        wide = text.encode(_WIDE)
        self._wide += wide
        self._symbols += self._machine.symbol_of[np.frombuffer(wide, dtype="<u4")].tobytes()
        self._run()

    def end(self) -> None:
        while self._symbols or self._has_match:
            if self._machine.at_end[self._state]:
                self._pass_on(0, len(self._symbols))
                self._forget(len(self._symbols))
                self._has_match = True
            self._forget(self._end_piece(0))
            self._state = self._read = 0
            self._run()
        self._end_gap()

    def _run(self) -> None:
        """Read the text that has arrived.

        Afterwards the buffer begins at the first character that was not passed on: after the
        longest match so far, or at the beginning of the piece."""
        machine, symbols = self._machine, self._symbols
        next_states, signs, width = machine.next_states, machine.signs, machine.width
        state, place, passed, end = self._state, self._read, 0, 0
        while place < len(symbols):
            step = state * width + symbols[place]
            state, sign = next_states[step], signs[step]
            if sign & _RECORDS:
                end, self._has_match = place, True
            place += 1
            if sign & _SURE:
                end, self._has_match = place, True
            if sign & (_DEAD | _CLOSED):
                self._pass_on(passed, end)
                place = passed = end = self._end_piece(end)
                state = 0
        self._pass_on(passed, end)
        self._forget(end)
        self._state, self._read = state, place - end

    def _pass_on(self, start: int, stop: int) -> None:
        if stop > start:
            self._end_gap()
            self._sink.feed(self._text(start, stop))

    def _end_piece(self, end: int) -> int:
        """End the match at `end`; without a match, put the character at `end` into a gap.

        Returns where the next piece begins."""
        if self._has_match:
            self._has_match = False
            self._sink.end()
            return end
        self._in_gap = True
        self._sink.feed(self._text(end, end + 1))
        return end + 1

    def _end_gap(self) -> None:
        if self._in_gap:
            self._in_gap = False
            self._sink.end()

    def _text(self, start: int, stop: int) -> str:
        return self._wide[4 * start : 4 * stop].decode(_WIDE)

    def _forget(self, count: int) -> None:
        del self._symbols[:count], self._wide[: 4 * count]


class TokenSplitter:
    """Finds added tokens without flags in an arriving text: the leftmost first, then the longest.

    The splitter calls `on_token` with the id of each token. The match of such a token does not
    depend on the characters around it."""

    def __init__(
        self, ids: Mapping[str, int], sink: Sink, on_token: Callable[[int], object]
    ) -> None:
        self._contents = Contents.of(ids)
        self._ids, self._sink, self._on_token = ids, sink, on_token
        self._text = ""

    def feed(self, text: str) -> None:
        self._text += text
        self._take(False)

    def end(self) -> None:
        self._take(True)
        self._sink.end()

    def _take(self, is_whole: bool) -> None:
        """Pass on the text before the first position where an incomplete token may begin."""
        text, place = self._text, 0
        limit = len(text) if is_whole else self._contents.unfinished_start(text)
        for start, stop in self._contents.matches(text):
            if start >= limit:
                break
            if start > place:
                self._sink.feed(text[place:start])
            self._sink.end()
            self._on_token(self._ids[text[start:stop]])
            place = stop
            if place > limit:
                limit = self._contents.unfinished_start(text, place)
        if place < limit:
            self._sink.feed(text[place:limit])
        self._text = text[max(place, limit) :]


@lru_cache(maxsize=32)
def machine_for(pattern: str) -> ArrivalMachine:
    """Build the `ArrivalMachine` of a Split's pattern, cached.

    Raises UnsupportedPatternError if no automaton can be built."""
    reader = read_pattern(pattern, "regex")
    classes: dict[Hashable, Ranges] = {}
    classes.update(cached_members(reader.sources, "regex").items())
    symbols = alphabet(classes)
    symbol_of = symbols.symbol_of.copy()
    low, high = SURROGATES
    symbol_of[low : high + 1] = 0  # surrogates never arrive and need no symbol of their own
    tree = reader.tree(lambda source: sorted(symbols.sets[source]), symbols.size)
    return _flatten(automaton(tree, symbols.size, Budget()), symbol_of)


def splitters(patterns: Sequence[str], sink: Sink) -> Sink:
    """Build the chain of splitters for these patterns, and return its first splitter.

    The last splitter feeds `sink`. Raises UnsupportedPatternError."""
    for pattern in reversed(patterns):
        sink = PatternSplitter(machine_for(pattern), sink)
    return sink


def _flatten(states: Automaton, symbol_of: NDArray[np.uint8]) -> ArrivalMachine:
    sure = [not avoided for avoided in states.avoid]
    closed = [not any(states.live[q] for q in row) for row in states.target]
    next_states: list[int] = []
    signs: list[int] = []
    for row, hit in zip(states.target, states.hit, strict=True):
        for state, records in zip(row, hit, strict=False):
            sign = _SURE | _CLOSED * closed[state] if sure[state] else 0
            next_states.append(state)
            signs.append(sign | _RECORDS * records | _DEAD * (not states.live[state]))
    at_end = tuple(row[-1] for row in states.hit)
    return ArrivalMachine(symbol_of, states.size, tuple(next_states), tuple(signs), at_end)
