"""The longest token that the bytes read so far end with: the automaton of Aho and Corasick.

A state is a text that tokens begin with, the longest one that the bytes read so far end with. The
way to the next state goes over shorter and shorter ones until one can be continued; each step makes
the state shorter and each byte makes it longer by one at most, so a byte costs O(1) on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

START = 0


class Automaton:
    """`tokens`: no two alike, all 256 single bytes among them, known by their place.

    `next_state`: state * 256 + byte -> state. `shorter`: the state of the longest proper suffix.
    `depth`: bytes of the state. `longest`: place of the longest token that the state ends with.
    `longest_suffix`: per token the longest one that is a proper suffix of it, -1 for a byte.

    >>> bytes_ = [bytes([byte]) for byte in range(256)]
    >>> automaton = Automaton([*bytes_, b"abc", b"bcd"])
    >>> [automaton.longest[state] for state in automaton.states(b"abcd")]
    [97, 98, 256, 257]
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self.next_state: dict[int, int] = {}
        self.depth = [0]
        self._reached_by = [0]
        ends = self._grow(tokens)
        self.shorter = [START] * len(self.depth)
        self.longest = [-1] * len(self.depth)
        self.longest_suffix = [-1] * len(tokens)
        self._link(ends)

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        while (following := self.next_state.get(state << 8 | byte)) is None:
            state = self.shorter[state]
        return following

    def states(self, data: bytes) -> list[int]:
        """The state after each byte."""
        return list(accumulate(data, self.step, initial=START))[1:]

    def _grow(self, tokens: Sequence[bytes]) -> dict[int, int]:
        """The tree of all prefixes; the place of the token of each state that is one."""
        next_state, depth = self.next_state, self.depth
        ends = {}
        for place, token in enumerate(tokens):
            state = START
            for size, byte in enumerate(token, 1):
                key = state << 8 | byte
                following = next_state.get(key)
                if following is None:
                    following = next_state[key] = len(depth)
                    depth.append(size)
                    self._reached_by.append(key)
                state = following
            ends[state] = place
        return ends

    def _link(self, ends: dict[int, int]) -> None:
        """Shorter states first: a step goes over the `shorter` of shorter states alone."""
        for state in sorted(range(1, len(self.depth)), key=self.depth.__getitem__):
            before, byte = divmod(self._reached_by[state], 256)
            if before != START:
                self.shorter[state] = self.step(self.shorter[before], byte)
            self.longest[state] = suffix = self.longest[self.shorter[state]]
            place = ends.get(state)
            if place is not None:
                self.longest[state], self.longest_suffix[place] = place, suffix
