"""The pre-tokens of a text by the machines of a row of Splits (theorem 51).

Many attempts run at once, from guessed places. An attempt depends on its start only, so two chains
of attempts that share a start are equal from there on: guesses are kept where the chain from the
text's start meets them, and what is left runs attempt after attempt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.certificate.model.greedy_merging import Work
from tokpar.certificate.model.pretoken_machine import DEAD, HIT, PretokenMachine

Marks = NDArray[np.uint8]
LANE = 256
"""Characters from one guessed place to the next."""
_FEW = 2048
"""Shorter texts are read attempt after attempt."""
_STEPS = 4
"""How many steps for each of its characters a chain of attempts may run from a guessed place."""
_MORE = 512


def mark_pretokens(
    machine: PretokenMachine, symbols: NDArray[np.uint8], marks: Marks, work: Work
) -> None:
    """Divide the pieces of a text further: set `marks` where a match, or the text after one,
    begins.

    `symbols`: the symbol of each character, and one more entry. `marks`: 1 at each edge of a piece,
    both ends of the text included; (characters + 1,). Each piece is a text of its own. Refused if
    failed attempts read too often over the same text."""
    count = len(marks) - 1
    edges = np.flatnonzero(marks)
    starts, stops = _busy(machine, symbols[:count], edges)
    if not len(starts):
        return
    one = OneAttempt(machine, symbols, work)
    if count < _FEW:
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            one.run(start, stop, marks)
        return
    chains = _guessed(starts, stops, symbols, int(machine.symbols.symbol_of[ord(" ")]))
    visited = np.zeros(count + 1, dtype=np.uint8)
    chains.run(machine, symbols, marks, visited)
    chains.repair(one, marks, visited)


def _busy(
    machine: PretokenMachine, symbols: NDArray[np.uint8], edges: IntArray
) -> tuple[IntArray, IntArray]:
    """Returns the ranges to read: all pieces, or what is left of them without idle symbols."""
    if not machine.idle.any():
        return edges[:-1], edges[1:]
    busy = np.zeros(len(symbols) + 2, dtype=np.int8)
    busy[1:-1] = ~machine.idle[symbols]
    if not busy.any():
        return edges[:0], edges[:0]
    begins = (busy[1:] > busy[:-1])[: len(symbols)]
    begins[edges[:-1]] |= busy[edges[:-1] + 1] > 0
    ends = busy[:-1] > busy[1:]
    inner = edges[1:]
    ends[inner] |= busy[inner] > 0
    return np.flatnonzero(begins), np.flatnonzero(ends)


def _guessed(starts: IntArray, stops: IntArray, symbols: NDArray[np.uint8], space: int) -> Chains:
    """Returns chains that begin at the ranges' starts, and about every `LANE` characters inside,
    where possible before a `space` after another symbol."""
    lengths = stops - starts
    many = np.flatnonzero(lengths > 2 * LANE)
    inside = [
        np.arange(start + LANE, stop - LANE, LANE)
        for start, stop in zip(starts[many].tolist(), stops[many].tolist(), strict=True)
    ]
    more = np.concatenate([starts[:0], *inside])
    spaces = symbols[more[:, None] + np.arange(LANE // 4)] == space
    more += (spaces[:, 1:] & ~spaces[:, :-1]).argmax(axis=1) + 1
    begins = np.sort(np.concatenate([starts, more]))
    stop = stops[np.searchsorted(starts, begins, side="right") - 1]
    goal = np.minimum(np.append(begins[1:], stop[-1]), stop)
    return Chains(begins, goal, stop)


class Chains:
    """Chains of attempts. Chain k runs from `begins[k]` to its first attempt at or behind
    `goal[k]`, in a piece that ends at `stop[k]`."""

    def __init__(self, begins: IntArray, goal: IntArray, stop: IntArray) -> None:
        self.begins, self.goal, self.stop = begins, goal, stop
        self.exits = begins.copy()
        """The start of the attempt at or behind the goal; before the goal if it took too long."""
        self.after_match = np.zeros(len(begins), dtype=np.bool_)
        """True if a match ends at the exit, so that a piece begins there."""

    def run(
        self, machine: PretokenMachine, symbols: NDArray[np.uint8], marks: Marks, visited: Marks
    ) -> None:
        """Run all chains, step by step. Sets `visited` where an attempt begins."""
        width, moves, end = machine.size + 1, machine.moves, machine.size
        visited[self.begins] = 1
        alive = np.arange(len(self.begins))
        first, place = self.begins.copy(), self.begins.copy()
        state, hit = np.zeros(len(alive), dtype=np.int64), np.full(len(alive), -1)
        goal, stop = self.goal, self.stop
        for _ in range(_STEPS * int((goal - first).max()) + _MORE):
            read = symbols.take(place).astype(np.int64)
            read[place == stop] = end
            read += state * width
            move = moves.take(read)
            np.copyto(hit, place, where=(move & HIT) != 0)
            place += 1
            state = (move >> 2).astype(np.int64)
            done = np.flatnonzero(move & DEAD)
            if not len(done):
                continue
            begun, ended = first[done], hit[done]
            matched = ended >= 0
            after = np.where(matched, ended, begun + 1)
            over = after >= goal[done]
            marks[begun[matched]] = 1
            marks[after[matched & ~over]] = 1
            visited[after[~over]] = 1
            first[done] = place[done] = after
            state[done], hit[done] = 0, -1
            if over.any():
                out = done[over]
                self.exits[alive[out]], self.after_match[alive[out]] = after[over], matched[over]
                kept = np.ones(len(alive), dtype=np.bool_)
                kept[out] = False
                alive, first, place = alive[kept], first[kept], place[kept]
                state, hit, goal, stop = state[kept], hit[kept], goal[kept], stop[kept]
                if not len(alive):
                    return
        self.exits[alive] = first

    def repair(self, one: OneAttempt, marks: Marks, visited: Marks) -> None:
        """Run attempt after attempt where a chain did not end at the start of the next chain, until
        both meet. Sets the marks at exits."""
        expected = np.where(self.goal == self.stop, self.stop, np.append(self.begins[1:], 0))
        right = self.exits == expected
        known = 0
        for k in np.flatnonzero(~right).tolist():
            here = k
            while known <= here < len(right) and not right[here]:
                known = self._meet(here, one, marks, visited)
                self.after_match[here:known] = False
                here = known
        marks[self.exits[self.after_match]] = 1

    def _meet(self, here: int, one: OneAttempt, marks: Marks, visited: Marks) -> int:
        """Run attempts from the exit of a chain. Returns the chain that they meet."""
        start, stop, goal = int(self.exits[here]), int(self.stop[here]), int(self.goal[here])
        place, arrived = start, bool(self.after_match[here])
        found = [start] if arrived else []
        while place < stop and (place < goal or not visited[place]):
            ended = one.end(place, stop)
            arrived = ended >= 0
            found += [place, ended] if arrived else []
            place = ended if arrived else place + 1
        begins = arrived or (place < stop and one.end(place, stop) >= 0)
        marks[start + 1 if start < goal else goal : place] = 0
        if place < stop or arrived:
            marks[place] = begins
        marks[found] = 1
        if place == stop:
            return int(np.searchsorted(self.begins, stop))
        return int(np.searchsorted(self.begins, place, side="right")) - 1


class OneAttempt:
    """Runs attempts one by one."""

    def __init__(self, machine: PretokenMachine, symbols: NDArray[np.uint8], work: Work) -> None:
        self._moves: list[int] = machine.moves.tolist()
        self._width, self._symbols, self._work = machine.size + 1, symbols.tobytes(), work

    def end(self, start: int, stop: int) -> int:
        """Returns where the match that begins at `start` ends; -1 if nothing matches there."""
        moves, width, symbols = self._moves, self._width, self._symbols
        state, hit = 0, -1
        for place in range(start, stop):
            move = moves[state * width + symbols[place]]
            if move & HIT:
                hit = place
            if move & DEAD:
                break
            state = move >> 2
        else:
            place = stop
            if moves[state * width + width - 1] & HIT:
                hit = stop
        self._work.spend(place - start + 1)
        return hit

    def run(self, start: int, stop: int, marks: Marks) -> None:
        """Set the marks of all matches from `start` to `stop`."""
        while start < stop:
            ended = self.end(start, stop)
            if ended >= 0:
                marks[start] = marks[ended] = 1
            start = ended if ended >= 0 else start + 1
