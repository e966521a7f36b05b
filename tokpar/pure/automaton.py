"""The longest token that the bytes read so far end with: the automaton of Aho and Corasick.

A state is a text that tokens begin with, the longest one that the bytes read so far end with. The
way to the next state goes over shorter and shorter ones until one can be continued; each step makes
the state shorter and each byte makes it longer by one at most, so a byte costs O(1) on average.
"""

from __future__ import annotations

from collections.abc import Sequence

START = 0
_BYTE_BITS = 8


class Automaton:
    """`tokens`: no two alike, all 256 single bytes among them, known by their place.

    `next_state`: state * 256 + byte -> state. `shorter`: the state of the longest proper suffix.
    `depth`: bytes of the state. `longest`: place of the longest token that the state ends with.

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
        self.shorter, self.longest, self.longest_suffix = self._link(ends, len(tokens))

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        following = self.next_state.get(state << _BYTE_BITS | byte)
        while following is None:
            state = self.shorter[state]
            following = self.next_state.get(state << _BYTE_BITS | byte)
        return following

    def states(self, data: bytes) -> list[int]:
        """The state after each byte."""
        found, state = [], START
        for byte in data:
            state = self.step(state, byte)
            found.append(state)
        return found

    def _grow(self, tokens: Sequence[bytes]) -> dict[int, int]:
        """The tree of all prefixes; the place of the token of each state that is one."""
        next_state, depth = self.next_state, self.depth
        ends = {}
        for place, token in enumerate(tokens):
            state = START
            for size, byte in enumerate(token, 1):
                key = state << _BYTE_BITS | byte
                following = next_state.get(key)
                if following is None:
                    following = next_state[key] = len(depth)
                    depth.append(size)
                    self._reached_by.append(key)
                state = following
            ends[state] = place
        return ends

    def _link(self, ends: dict[int, int], size: int) -> tuple[list[int], list[int], list[int]]:
        """Per state the state of its longest proper suffix and the longest token that it ends with,
        and per token the longest token that is a proper suffix of it, -1 for a byte. Shorter states
        first."""
        shorter = [START] * len(self.depth)
        longest = [-1] * len(self.depth)
        suffix = [-1] * size
        order = sorted(range(1, len(self.depth)), key=self.depth.__getitem__)
        for state in order:
            key = self._reached_by[state]
            if key >> _BYTE_BITS != START:
                before = shorter[key >> _BYTE_BITS]
                shorter[state] = self._after(shorter, before, key & 0xFF)
            place = ends.get(state)
            if place is None:
                longest[state] = longest[shorter[state]]
            else:
                longest[state] = place
                suffix[place] = longest[shorter[state]]
        return shorter, longest, suffix

    def _after(self, shorter: Sequence[int], state: int, byte: int) -> int:
        next_state = self.next_state
        following = next_state.get(state << _BYTE_BITS | byte)
        while following is None:
            state = shorter[state]
            following = next_state.get(state << _BYTE_BITS | byte)
        return following
