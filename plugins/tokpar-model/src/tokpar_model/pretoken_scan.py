"""The pre-tokens of a text by the machines of a row of Splits (theorem 51).

Many attempts run at once, from guessed places. An attempt depends on its start only, so two chains
of attempts that share a start are equal from there on: a guessed chain counts from where the chain
from the text's start meets it, and what is left runs attempt after attempt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.pretoken_machine import AGAIN, DEAD, HIT, PretokenMachine

Marks = NDArray[np.uint8]
VISITED, ARRIVED = 1, 2
"""An attempt begins here; a match ends here, behind which that attempt begins."""
_LANE = 192
"""Characters from one guessed place to the next."""
_FEW = 2048
"""Shorter texts are read attempt after attempt."""
_TOGETHER = 1 << 16
"""Chains that run at the same time."""
_STEPS, _MORE = 4, 512
"""A guessed chain may take 4 steps for each of its characters, and 512."""


def mark_pretokens(
    machine: PretokenMachine, symbols: NDArray[np.uint8], marks: Marks, work: StepLimit
) -> None:
    """Divide the pieces of a text further: set `marks` where a match, or the text after one,
    begins.

    `symbols`: the symbol of each character. `marks`: 1 at each edge of a piece, both ends of the
    text included; (characters + 1,). Each piece is a text of its own. Refused if failed attempts
    read too often over the same text."""
    edges = np.flatnonzero(marks)
    begins, stops = edges[:-1], edges[1:]
    if machine.idle.any():
        begins, stops = _busy(~machine.idle[symbols], edges)
    if not len(begins):
        return
    ends_at = np.cumsum(stops - begins + 1) - 1
    starts = ends_at - (stops - begins)
    row = np.empty(ends_at[-1] + 1, dtype=np.uint8)
    chars = np.ones(len(row), dtype=np.bool_)
    chars[ends_at] = False
    row[ends_at] = machine.size
    whole = len(row) - len(starts) == len(symbols)
    kept = slice(None) if whole else _lies_inside(begins, stops, len(symbols))
    row[chars] = symbols[kept]
    found = _matches(machine, row, starts, work)
    marks[:-1][kept] |= found[chars]
    marks[stops] |= found[ends_at]


def _busy(busy: NDArray[np.bool_], edges: IntArray) -> tuple[IntArray, IntArray]:
    """Returns where runs of busy characters begin and end, divided at the edges. What is left out
    lies between two matches."""
    begins, stops = busy.copy(), np.append(False, busy)
    begins[1:] &= ~busy[:-1]
    stops[:-1] &= ~busy
    inner = edges[1:-1][busy[edges[1:-1]]]
    begins[inner] = True
    stops[inner] = busy[inner - 1]
    return np.flatnonzero(begins), np.flatnonzero(stops)


def _lies_inside(begins: IntArray, stops: IntArray, count: int) -> NDArray[np.bool_]:
    """Returns which of `count` places lie in one of the ranges, which do not overlap."""
    steps = np.zeros(count + 1, dtype=np.int8)
    steps[begins] += 1
    steps[stops] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)


def _matches(
    machine: PretokenMachine, row: NDArray[np.uint8], starts: IntArray, work: StepLimit
) -> NDArray[np.bool_]:
    """Returns where a match, or what follows one, begins in a row of parts, each with an END.

    `starts`: where the parts begin."""
    visited = np.zeros(len(row), dtype=np.uint8)
    visited[starts] = VISITED
    one = OneAttempt(machine, row, work)
    if len(row) < _FEW:
        for start in starts.tolist():
            one.run(start, visited)
    else:
        chains = _guess_chains(row, starts, machine.size, int(machine.symbols.symbol_of[ord(" ")]))
        visited[chains.begins] = VISITED
        chains.run(machine, row, visited)
        chains.repair(one, visited)
    places = np.flatnonzero(visited)
    arrived = visited[places] >= ARRIVED
    found = np.zeros(len(row), dtype=np.bool_)
    found[places[arrived | np.append(arrived[1:], False)]] = True
    return found


def _guess_chains(row: NDArray[np.uint8], starts: IntArray, end: int, space: int) -> Chains:
    """Returns chains that begin at the parts' starts, and about every `_LANE` characters inside,
    where possible before a `space` after another symbol."""
    stops = np.append(starts[1:], len(row)) - 1
    many = np.flatnonzero(stops - starts > 2 * _LANE)
    inside = [
        np.arange(start + _LANE, stop - _LANE, _LANE)
        for start, stop in zip(starts[many].tolist(), stops[many].tolist(), strict=True)
    ]
    more = np.concatenate([starts[:0], *inside])
    spaces = row[more[:, None] + np.arange(_LANE // 4)] == space
    more += (spaces[:, 1:] & ~spaces[:, :-1]).argmax(axis=1) + 1
    begins = np.sort(np.concatenate([starts, more]))
    goal = np.append(begins[1:], len(row))
    goal -= row[goal - 1] == end  # the END of the part, not the start of the next part
    return Chains(begins, goal)


class Chains:
    """Chains of attempts. Chain k runs from `begins[k]` to its first attempt at or behind
    `goal[k]`."""

    def __init__(self, begins: IntArray, goal: IntArray) -> None:
        self.begins, self.goal = begins, goal
        self.exits = begins.copy()
        """The start of the attempt at or behind the goal; before the goal if it took too long."""
        self.exits_by_match = np.zeros(len(begins), dtype=np.bool_)
        """True if a match ends at the exit."""

    def run(self, machine: PretokenMachine, row: NDArray[np.uint8], marks: Marks) -> None:
        """Run all chains, some at a time."""
        for k in range(0, len(self.begins), _TOGETHER):
            self._run(np.arange(k, min(k + _TOGETHER, len(self.begins))), machine, row, marks)

    def _run(
        self,
        alive: IntArray,
        machine: PretokenMachine,
        row: NDArray[np.uint8],
        marks: Marks,
    ) -> None:
        """Run these chains, step by step."""
        moves, goal = machine.moves, self.goal[alive]
        first, place = self.begins[alive], self.begins[alive]
        state, hit = np.zeros(len(alive), dtype=np.int64), np.full(len(alive), -1)
        for _ in range(_STEPS * int((goal - first).max()) + _MORE):
            move = moves.take(row.take(place) + state)
            np.copyto(hit, place, where=(move & HIT) != 0)
            place += 1
            state = move >> 3
            done = np.flatnonzero(move & DEAD)
            if not len(done):
                continue
            ended = hit[done]
            matched = ended >= 0
            after = np.where(matched, ended, first[done] + 1)
            first[done] = after
            place[done] = after + ((move[done] & AGAIN) != 0)
            hit[done] = -1
            over = after >= goal[done]
            marks[after[~over]] = VISITED + ARRIVED * matched[~over]
            if over.any():
                out = done[over]
                self.exits[alive[out]], self.exits_by_match[alive[out]] = after[over], matched[over]
                kept = np.ones(len(alive), dtype=np.bool_)
                kept[out] = False
                alive, first, place = alive[kept], first[kept], place[kept]
                state, hit, goal = state[kept], hit[kept], goal[kept]
                if not len(alive):
                    return
        self.exits[alive] = first

    def repair(self, one: OneAttempt, marks: Marks) -> None:
        """Run attempt after attempt where a chain did not end at its goal, until it meets another
        chain."""
        right = self.exits == self.goal
        known = 0
        for k in np.flatnonzero(~right).tolist():
            if k >= known:
                known = self._meet(k, one, marks)
                right[k:known] = False
        marks[self.goal[right]] |= (VISITED + ARRIVED * self.exits_by_match[right]).astype(np.uint8)

    def _meet(self, here: int, one: OneAttempt, marks: Marks) -> int:
        """Run attempts from the exit of a chain to one of a later chain, or to the END of the part.
        Returns that chain, or the first chain of the next part."""
        start, goal = int(self.exits[here]), int(self.goal[here])
        place, arrived = start, bool(self.exits_by_match[here])
        behind = start + 1 if start < goal else goal
        trail = [] if start < goal else [(start, arrived)]
        while not one.at_end(place) and (place < goal or not marks[place]):
            ended = one.end(place)
            arrived = ended >= 0
            place = ended if arrived else place + 1
            trail.append((place, arrived))
        marks[behind:place] = 0
        for at, by_match in trail:
            marks[at] = VISITED + ARRIVED * by_match
        following = int(np.searchsorted(self.begins, place, side="right"))
        return following if one.at_end(place) else following - 1


class OneAttempt:
    """Runs attempts one by one."""

    def __init__(self, machine: PretokenMachine, row: NDArray[np.uint8], work: StepLimit) -> None:
        self._size = machine.size
        self._moves: list[int] = machine.moves.tolist()
        self._symbols, self._work = row.tobytes(), work

    def end(self, start: int) -> int:
        """Returns where the match that begins at `start` ends; -1 if nothing matches there."""
        moves, symbols = self._moves, self._symbols
        place, state, hit = start, 0, -1
        while True:
            move = moves[state + symbols[place]]
            if move & HIT:
                hit = place
            if move & DEAD:
                break
            state = move >> 3
            place += 1
        self._work.spend(place - start + 1)
        return hit

    def at_end(self, place: int) -> bool:
        """True at the END of a part."""
        return self._symbols[place] == self._size

    def run(self, start: int, marks: Marks) -> None:
        """Run attempts to the END of a part."""
        while not self.at_end(start):
            ended = self.end(start)
            start = ended if ended >= 0 else start + 1
            marks[start] = VISITED + ARRIVED * (ended >= 0)
