"""The checker's automaton of one pattern, from the proof of its pairs (theorem 40).

A state is an ordered list of pattern remainders (derivatives), independent of `tokpar.patterns`.
The proof names the states; this module only verifies them. It trusts that the tree over symbols is
the pattern, and it trusts the symbol of each character.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokpar.patterns.pattern_parser import RefusedProofError
from tokpar.process.cached_property import cached_property

Remainder = tuple[Any, ...]
"""The remainder of a pattern: a sequence of trees."""
State = tuple[Remainder, ...]
"""The remainders with which an attempt may continue, best first."""

_MOST_STATES = 5_000
_DEEPEST = 200


class ProvedMachine:
    """The moves of one pattern, from a proof that holds, a JSON object. Raises `RefusedProofError`
    for another proof.

    `target[x][c]` is the state after symbol c in state x; c = `size` is the end of the text.
    `hit[x][c]` is True if a match ends before c. State 0 is the start; `states` are the states of
    the words of the proof."""

    def __init__(self, proof: object) -> None:
        self.size, tree, words, dead, sure = _read(proof)
        self.states = self._close((plain((tree,)),), words)
        self.dead = {self.states[i] for i in dead}
        self.sure = {self.states[i] for i in sure}
        self._check_marked()

    def _close(self, start: State, words: list[list[int]]) -> list[int]:
        """Computes the moves between the states of the words. Returns the state of each word.

        Raises RefusedProofError unless the words reach all states."""
        states: dict[State, int] = {}
        places = []
        for word in words:
            state = start
            for c in word:
                state = step(state, c)[0]
            places.append(states.setdefault(state, len(states)))
        if states.get(start) != 0:
            raise RefusedProofError("the first word does not lead to the start")
        self.hit = [[step(x, c)[1] for c in range(self.size + 1)] for x in states]
        found = [[states.get(step(x, c)[0]) for c in range(self.size)] for x in states]
        self.target = [[y for y in row if y is not None] for row in found]
        if any(len(row) != self.size for row in self.target):
            raise RefusedProofError("a state is missing")
        if any(self.hit[0]):
            raise RefusedProofError("the pattern matches the empty text")
        return places

    def _check_marked(self) -> None:
        for x in self.dead:
            if any(self.hit[x]) or any(y not in self.dead for y in self.target[x]):
                raise RefusedProofError(f"state {x} is not dead")
        for x in self.sure:
            quiet = [y for c, y in enumerate(self.target[x]) if not self.hit[x][c]]
            if not self.hit[x][self.size] or any(y not in self.sure for y in quiet):
                raise RefusedProofError(f"state {x} is not sure to match")


class PairChecker(ProvedMachine):
    """Checks the pairs of one Split by a proof that holds (theorems 40 and 41).

    The text may begin anywhere. So an attempt after a text that ends with symbol c is in any state
    that a word with the last symbol c reaches, whatever attempts stood before it. A gap may be c
    alone."""

    def refusal(self, left: int, right: int) -> str | None:
        """Returns why the cut between two symbols is not proved, or None."""
        if not (0 <= left < self.size and 0 <= right < self.size):
            return "no pair"
        for x in self._states_after[left]:
            if self.hit[x][self.size] != self.hit[x][right]:
                return "the cut itself is seen"
            if self.target[x][right] not in self.dead:
                return "perhaps a longer match"
        alone = self.target[0][left]
        matched = alone in self.sure or self.hit[alone][self.size]
        if not matched and self.target[0][right] not in self.sure:
            return "a gap may go on over the cut"
        return None

    @cached_property
    def _states_after(self) -> list[set[int]]:
        """For each symbol, the states after it that may still match."""
        symbols = range(self.size)
        return [{row[c] for row in self.target} - self.dead for c in symbols]


def step(state: State, c: int) -> tuple[State, bool]:
    """Returns the state after symbol c, and True if a match ends before c."""
    found: dict[Remainder, None] = {}
    seen: set[Remainder] = set()
    for way in state:
        for left in _remainders_after(way, c, seen):
            if left is None:
                return tuple(found), True
            found[left] = None
    return tuple(found), False


def plain(way: Remainder) -> Remainder:
    """Returns the same remainder without sequences and mandatory repeats at its start, so that
    equal places of a pattern have equal remainders."""
    while way and (way[0][0] == "row" or (way[0][0] == "repeat" and way[0][2])):
        way = (*way[0][1], *way[1:]) if way[0][0] == "row" else (*_once(way[0]), *way[1:])
    return way


def _once(repeat: Any) -> Remainder:
    """Returns the item of a repeat once, and what remains of the repeat."""
    _, item, low, high, mode = repeat
    fewer = ("repeat", item, max(low - 1, 0), None if high is None else high - 1, mode)
    return (item,) if high == 1 else (item, fewer)


def _remainders_after(
    way: Remainder, c: int, seen_ways: set[Remainder]
) -> Iterator[Remainder | None]:
    """Returns the remainders of one remainder after symbol c, best first. None among them: a match
    ends before c.

    A remainder that is in `seen_ways`, so among the better ones, is left out."""
    if way in seen_ways:
        return
    seen_ways.add(way)
    if not way:
        yield None
        return
    (kind, *parts), rest = way[0], way[1:]
    if kind == "set":
        if c in parts[0]:
            yield plain(rest)
    elif kind == "look":
        if c in parts[0]:
            yield from _remainders_after(rest, c, seen_ways)
    elif kind == "row":
        yield from _remainders_after((*parts[0], *rest), c, seen_ways)
    elif kind == "choice":
        for option in parts[0]:
            yield from _remainders_after((option, *rest), c, seen_ways)
    else:
        item, low, _, mode = parts
        again = [(*_once(way[0]), *rest)]
        leave = [] if low else [rest]
        if mode == "possessive" and c in item[1]:
            leave = []  # a possessive repeat gives nothing back
        for each in leave + again if mode == "lazy" else again + leave:
            yield from _remainders_after(each, c, seen_ways)


def _read(proof: object) -> tuple[int, Any, list[list[int]], frozenset[int], frozenset[int]]:
    """Returns the parts of a proof. Raises RefusedProofError if a part has the wrong type."""
    match proof:
        case {
            "size": int(size),
            "tree": list(tree),
            "words": list(words),
            "dead": list(dead),
            "sure": list(sure),
        } if 0 < size < 256 and 0 < len(words) <= _MOST_STATES:
            if not all(isinstance(word, list) and _are_below(word, size) for word in words):
                raise RefusedProofError("a word is not of symbols")
            if not _are_below(dead, len(words)) or not _are_below(sure, len(words)):
                raise RefusedProofError("what is marked is no state")
            return size, read_tree(tree, size, 0), words, frozenset(dead), frozenset(sure)
    raise RefusedProofError("no proof of pairs")


def _are_below(numbers: list[Any], limit: int) -> bool:
    return all(type(number) is int and 0 <= number < limit for number in numbers)


def read_tree(node: Any, size: int, depth: int) -> tuple[Any, ...]:
    """Convert a tree of the proof to tuples, for derivatives."""
    if depth > _DEEPEST:
        raise RefusedProofError("a tree too deep")
    match node:
        case ["set", list(symbols)] if _are_below(symbols, size):
            return "set", frozenset(symbols)
        case ["look", list(symbols)] if _are_below(symbols, size + 1):
            return "look", frozenset(symbols)
        case ["row" | "choice" as kind, list(nodes)]:
            return kind, tuple(read_tree(each, size, depth + 1) for each in nodes)
        case [
            "repeat",
            inner,
            int(low),
            int() | None as high,
            "greedy" | "lazy" | "possessive" as mode,
        ]:
            item = read_tree(inner, size, depth + 1)
            many = high is None or high > 1
            if low < 0 or (high is not None and high < max(low, 1)) or (many and _empty(item)):
                raise RefusedProofError("a repeat of nothing")
            if mode == "possessive" and item[0] != "set":
                raise RefusedProofError("a possessive repeat of more than a class")
            return "repeat", item, low, high, mode
    raise RefusedProofError("no tree")


def _empty(node: tuple[Any, ...]) -> bool:
    """True if the node can match without consuming a character."""
    if node[0] == "repeat":
        return node[2] == 0 or _empty(node[1])
    if node[0] == "row":
        return all(map(_empty, node[1]))
    return any(map(_empty, node[1])) if node[0] == "choice" else node[0] == "look"
