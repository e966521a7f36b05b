"""Checks windows of one Split from the proof that came with them (Theorems 40, 41 and 44).

Its semantics are its own: a state is an ordered list of what is left of the pattern (derivatives).
It searches no states and decides no pattern: the proof names them, and here they are only compared.
What it trusts is that the tree over symbols is the pattern, and which symbol a character is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Left = tuple[Any, ...]
"""What is left of a pattern: trees, one after the other."""
State = tuple[Left, ...]
"""The ways that an attempt may still go on, best first."""
Owed = frozenset[int]
Item = tuple[int, Owed]
"""An attempt in this state, or `GAP` or `BEGIN`, if those that are owed never match again."""

GAP, BEGIN = -1, -2
_MOST_STATES = 5_000
_MOST_ITEMS = 20_000
_DEEPEST = 200


class RefusedProofError(ValueError):
    """The data do not prove what they should."""


class WindowChecker:
    """The windows of one pattern, by a proof that holds; raises `RefusedProofError` for others."""

    def __init__(self, proof: str) -> None:
        self.size, tree, words, dead, sure = _read(proof)
        self.states = self._close(((tree,),), words)
        self.dead = {self.states[i] for i in dead}
        self.sure = {self.states[i] for i in sure}
        self._check_marked()
        self._sets: list[frozenset[Item]] = []
        self._numbers: dict[frozenset[Item], int] = {}
        self._moved: dict[tuple[int, int], int] = {}
        self._begin = self._number(frozenset({(BEGIN, frozenset())}))
        self._anywhere = self._number(self._everything())

    def refusal(self, left: list[int], right: list[int], anchored: bool = False) -> str | None:
        """Why the cut between these symbols is not proved, or None. `anchored`: the left part is
        all of the text, or all behind a cut whose own window ends in it."""
        if not left or not right or not all(0 <= c < self.size for c in (*left, *right)):
            return "no window"
        here = self._begin if anchored else self._anywhere
        for c in left:
            key = here, c
            if key not in self._moved:
                moved = (new for item in self._sets[here] for new in self._moves(item, c))
                self._moved[key] = self._number(frozenset(moved))
            here = self._moved[key]
        for item in self._sets[here]:
            why = self._refute(item, right)
            if why is not None:
                return why
        return None

    def _close(self, start: State, words: list[list[int]]) -> list[int]:
        """Moves between the states that the words lead to, which must be all there are; the state
        of each word."""
        states: dict[State, int] = {}
        places = []
        for word in words:
            state = start
            for c in word:
                state = _step(state, c)[0]
            places.append(states.setdefault(state, len(states)))
        if states.get(start) != 0:
            raise RefusedProofError("the first word does not lead to the start")
        self.hit = [[_step(x, c)[1] for c in range(self.size + 1)] for x in states]
        found = [[states.get(_step(x, c)[0]) for c in range(self.size)] for x in states]
        self.to = [[y for y in row if y is not None] for row in found]
        if any(len(row) != self.size for row in self.to):
            raise RefusedProofError("a state is missing")
        if any(self.hit[0]):
            raise RefusedProofError("the pattern matches the empty text")
        return places

    def _check_marked(self) -> None:
        for x in self.dead:
            if any(self.hit[x]) or any(y not in self.dead for y in self.to[x]):
                raise RefusedProofError(f"state {x} is not dead")
        for x in self.sure:
            quiet = [y for c, y in enumerate(self.to[x]) if not self.hit[x][c]]
            if not self.hit[x][self.size] or any(y not in self.sure for y in quiet):
                raise RefusedProofError(f"state {x} is not sure to match")

    def _number(self, items: frozenset[Item]) -> int:
        if items not in self._numbers:
            self._numbers[items] = len(self._sets)
            self._sets.append(items)
        return self._numbers[items]

    def _everything(self) -> frozenset[Item]:
        """The items after any text, each with the least obligations."""
        least: dict[int, list[Owed]] = {}
        todo: list[Item] = [(BEGIN, frozenset())]
        count = 0
        while todo:
            x, owed = todo.pop()
            known = least.setdefault(x, [])
            if any(less <= owed for less in known):
                continue
            known[:] = [more for more in known if not owed <= more] + [owed]
            count += 1
            if count > _MOST_ITEMS:
                raise RefusedProofError("too many items")
            for c in range(self.size):
                todo += self._moves((x, owed), c)
        return frozenset((x, owed) for x, known in least.items() for owed in known)

    def _fresh(self, c: int, owed: Owed) -> list[Item]:
        """An attempt begins before c; or it will fail, and c is in a gap."""
        y = self.to[0][c]
        items = [(y, owed)] if y not in self.dead else []
        return items if y in self.sure else [*items, (GAP, owed | self._debt(y))]

    def _moves(self, item: Item, c: int) -> list[Item]:
        x, before = item
        if any(self.hit[y][c] for y in before):
            return []
        owed = frozenset().union(*(self._debt(self.to[y][c]) for y in before))
        if x in (GAP, BEGIN):
            return self._fresh(c, owed)
        y = self.to[x][c]
        going = [(y, owed)] if y not in self.dead else []
        return going + (self._fresh(c, owed | self._debt(y)) if self.hit[x][c] else [])

    def _debt(self, y: int) -> Owed:
        return frozenset() if y in self.dead else frozenset({y})

    def _refute(self, item: Item, right: list[int]) -> str | None:
        """Why this item speaks against the cut, or None."""
        x, owed = item
        if any(self.hit[y][self.size] for y in owed):
            return None
        if x == GAP:
            y = self.to[0][right[0]]
            for c in right[1:]:
                if self.hit[y][c]:
                    return None
                y = self.to[y][c]
            return None if y in self.sure else "a gap may go on over the cut"
        if self.hit[x][self.size] != self.hit[x][right[0]]:
            return "the cut itself is seen"
        y = self.to[x][right[0]]
        for c in right[1:]:
            if self.hit[y][c]:
                return "a longer match"
            y = self.to[y][c]
        return None if y in self.dead else "perhaps a longer match"


def _step(state: State, c: int) -> tuple[State, bool]:
    """What is left behind symbol c, and whether a match ends before it."""
    found: dict[Left, None] = {}
    seen: set[Left] = set()
    for way in state:
        for left in _behind(way, c, seen):
            if left is None:
                return tuple(found), True
            found[left] = None
    return tuple(found), False


def _behind(way: Left, c: int, seen: set[Left]) -> Iterator[Left | None]:
    """What is left of one way behind symbol c, best first; None: a match ends before c. A way that
    was seen, so is among the better ones, adds nothing."""
    if way in seen:
        return
    seen.add(way)
    if not way:
        yield None
        return
    (kind, *parts), rest = way[0], way[1:]
    if kind == "set":
        if c in parts[0]:
            yield rest
    elif kind == "look":
        if c in parts[0]:
            yield from _behind(rest, c, seen)
    elif kind == "row":
        yield from _behind((*parts[0], *rest), c, seen)
    elif kind == "choice":
        for option in parts[0]:
            yield from _behind((option, *rest), c, seen)
    else:
        item, low, high, mode = parts
        fewer = ("repeat", item, max(low - 1, 0), None if high is None else high - 1, mode)
        again = [(item, *rest) if high == 1 else (item, fewer, *rest)]
        leave = [] if low else [rest]
        if mode == "possessive" and c in item[1]:
            leave = []  # it gives nothing back
        for each in leave + again if mode == "lazy" else again + leave:
            yield from _behind(each, c, seen)


def _read(proof: str) -> tuple[int, Any, list[list[int]], frozenset[int], frozenset[int]]:
    """The parts of a proof, each of the right kind."""
    try:
        data = json.loads(proof)
    except (ValueError, RecursionError) as error:
        raise RefusedProofError(f"no proof: {error}") from None
    match data:
        case {
            "size": int(size),
            "tree": list(tree),
            "words": list(words),
            "dead": list(dead),
            "sure": list(sure),
        } if 0 < size < 256 and 0 < len(words) <= _MOST_STATES:
            if not all(isinstance(word, list) and _below(word, size) for word in words):
                raise RefusedProofError("a word is not of symbols")
            if not _below(dead, len(words)) or not _below(sure, len(words)):
                raise RefusedProofError("what is marked is no state")
            return size, _tree(tree, size, 0), words, frozenset(dead), frozenset(sure)
    raise RefusedProofError("no proof of windows")


def _below(numbers: list[Any], limit: int) -> bool:
    return all(type(number) is int and 0 <= number < limit for number in numbers)


def _tree(node: Any, size: int, depth: int) -> tuple[Any, ...]:
    """A tree of tuples that derivatives may be taken of."""
    if depth > _DEEPEST:
        raise RefusedProofError("a tree too deep")
    match node:
        case ["set", list(symbols)] if _below(symbols, size):
            return "set", frozenset(symbols)
        case ["look", list(symbols)] if _below(symbols, size + 1):
            return "look", frozenset(symbols)
        case ["row" | "choice" as kind, list(nodes)]:
            return kind, tuple(_tree(each, size, depth + 1) for each in nodes)
        case [
            "repeat",
            inner,
            int(low),
            int() | None as high,
            "greedy" | "lazy" | "possessive" as mode,
        ]:
            item = _tree(inner, size, depth + 1)
            many = high is None or high > 1
            if low < 0 or (high is not None and high < max(low, 1)) or (many and _empty(item)):
                raise RefusedProofError("a repeat of nothing")
            if mode == "possessive" and item[0] != "set":
                raise RefusedProofError("a possessive repeat of more than a class")
            return "repeat", item, low, high, mode
    raise RefusedProofError("no tree")


def _empty(node: tuple[Any, ...]) -> bool:
    """It may match without consuming anything."""
    if node[0] == "repeat":
        return node[2] == 0 or _empty(node[1])
    if node[0] == "row":
        return all(map(_empty, node[1]))
    return any(map(_empty, node[1])) if node[0] == "choice" else node[0] == "look"
