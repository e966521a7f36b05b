"""Build the automaton of one Split (definition 39): ordered thread lists over symbols.

A state is the list of threads of one match attempt, best thread first, up to the first match. The
lookaheads at the next symbol are still open in a state. So a match that ends before a symbol is
known when the automaton reads this symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tokpar.patterns.expression import (
    Ahead,
    Choice,
    Expression,
    OneOf,
    Repeat,
    UnsupportedPatternError,
)
from tokpar.patterns.time_budget import Budget

MAX_STATES = 5_000
MAX_STEPS = 20_000

Members = Mapping[str, frozenset[int]]
"""Map the spelling of each character class to its symbols."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton. State 0 is the start.

    The symbols are 0..size-1; `size` stands for the end of the text. `target[x][c]`: the state
    after symbol c. `hit[x][c]`, c up to `size`: a match ends before c. `live[x]`: some continuation
    has a match. `avoid[x]`: some continuation, or the end of the text, has no match. `words`: a
    shortest word to each state of the automaton before minimization.
    """

    size: int
    target: tuple[tuple[int, ...], ...]
    hit: tuple[tuple[bool, ...], ...]
    live: tuple[bool, ...]
    avoid: tuple[bool, ...]
    words: tuple[tuple[int, ...], ...]

    def behind(self, word: Iterable[int]) -> int:
        """The state after reading `word` from the start."""
        x = 0
        for c in word:
            x = self.target[x][c]
        return x


def automaton(tree: Expression, members: Members, size: int, budget: Budget) -> Automaton:
    """Build the minimal automaton of a pattern that does not match the empty text."""
    target, hit = _explore(_Program(members, size, budget).run(tree), size, budget)
    if any(hit[0]):
        raise UnsupportedPatternError("the pattern may match the empty text")
    words = _words(target)
    target, hit = _minimal(target, hit, budget)

    def lives(x: int, known: list[bool]) -> bool:
        return any(hit[x]) or any(known[y] for y in target[x])

    def avoids(x: int, known: list[bool]) -> bool:
        quiet = (known[y] for c, y in enumerate(target[x]) if not hit[x][c])
        return not hit[x][size] or any(quiet)

    return Automaton(
        size,
        tuple(map(tuple, target)),
        tuple(map(tuple, hit)),
        tuple(_least(len(target), lives)),
        tuple(_least(len(target), avoids)),
        words,
    )


@dataclass(frozen=True)
class _Step:
    """One step of a program: consume a symbol, look ahead at a symbol, fork, or match.

    `symbols`: a bit set of symbols; bit `size` is the end of the text."""

    kind: str
    symbols: int = 0
    following: tuple[int, ...] = ()


class _Program:
    """Thompson's construction of a program. The entry is the last step."""

    def __init__(self, members: Members, size: int, budget: Budget) -> None:
        self.sets = {source: sum(1 << c for c in found) for source, found in members.items()}
        self.every = (1 << size + 1) - 1
        self.end = 1 << size
        self.budget = budget
        self.steps = [_Step("match")]

    def run(self, tree: Expression) -> list[_Step]:
        entry = self.node(tree, 0)
        self.add(_Step("fork", following=(entry,)))
        return self.steps

    def add(self, step: _Step) -> int:
        self.steps.append(step)
        self.budget.spend("steps of a pattern", len(self.steps), MAX_STEPS)
        return len(self.steps) - 1

    def node(self, node: Expression, then: int) -> int:
        """Add the steps that match `node` and continue at `then`; return their entry."""
        if isinstance(node, OneOf):
            return self.add(_Step("consume", self.sets[node.source], (then,)))
        if isinstance(node, Ahead):
            return self.add(_Step("look", self.looked_for(node), (then,)))
        if isinstance(node, Repeat):
            return self.repeat(node, then)
        if isinstance(node, Choice):
            options = tuple(self.node(option, then) for option in node.options)
            return self.add(_Step("fork", following=options))
        for item in reversed(node.items):
            then = self.node(item, then)
        return then

    def looked_for(self, node: Ahead) -> int:
        found = self.end if node.end else 0
        for source in node.sources:
            found |= self.sets[source]
        return self.every & ~found if node.negated else found

    def repeat(self, node: Repeat, then: int) -> int:
        leave = then
        if node.mode == "possessive":
            # A possessive repeat continues while the class matches: leaving it is a lookahead.
            assert isinstance(node.item, OneOf)
            leave = self.add(_Step("look", self.every & ~self.sets[node.item.source], (then,)))
        if node.high is None:
            entry = loop = self.add(_Step("fork"))
            self.steps[loop] = self.fork(node, self.node(node.item, loop), leave)
        else:
            entry = then
            for _ in range(node.high - node.low):
                entry = self.add(self.fork(node, self.node(node.item, entry), leave))
        for _ in range(node.low):
            entry = self.node(node.item, entry)
        return entry

    def fork(self, node: Repeat, again: int, leave: int) -> _Step:
        return _Step("fork", 0, (leave, again) if node.mode == "lazy" else (again, leave))


def _advance(program: list[_Step], state: tuple[int, ...], c: int) -> tuple[tuple[int, ...], bool]:
    """The threads after symbol `c`, and whether a match ends before `c`."""
    after: dict[int, None] = {}
    seen: set[int] = set()
    stack = list(state[::-1])
    while stack:
        here = stack.pop()
        if here in seen:
            continue
        seen.add(here)
        step = program[here]
        if step.kind == "match":
            return tuple(after), True
        if step.kind == "fork":
            stack.extend(step.following[::-1])
        elif step.symbols >> c & 1:
            if step.kind == "consume":
                after[step.following[0]] = None
            else:
                stack.append(step.following[0])
    return tuple(after), False


def _explore(
    program: list[_Step], size: int, budget: Budget
) -> tuple[list[list[int]], list[list[bool]]]:
    order: list[tuple[int, ...]] = [(len(program) - 1,)]
    number = {order[0]: 0}
    target: list[list[int]] = []
    hit: list[list[bool]] = []
    for state in order:
        moves = []
        flags = []
        for c in range(size + 1):
            after, found = _advance(program, state, c)
            flags.append(found)
            if c == size:
                break
            if after not in number:
                number[after] = len(order)
                order.append(after)
            moves.append(number[after])
            budget.spend("states", len(order), MAX_STATES)
        target.append(moves)
        hit.append(flags)
    return target, hit


def _minimal(
    target: list[list[int]], hit: list[list[bool]], budget: Budget
) -> tuple[list[list[int]], list[list[bool]]]:
    """Merge the states that have the same matches on all continuations. The start stays state 0."""
    block = _numbered([tuple(flags) for flags in hit])
    while True:
        budget.spend("states")
        finer = _numbered(
            [(block[x], *(block[y] for y in moves)) for x, moves in enumerate(target)]
        )
        if max(finer) == max(block):
            break
        block = finer
    first = {number: x for x, number in reversed(list(enumerate(block)))}
    kept = [first[number] for number in range(len(first))]
    return [[block[y] for y in target[x]] for x in kept], [hit[x] for x in kept]


def _numbered(keys: list[tuple[int, ...]]) -> list[int]:
    """Number the keys in order of first appearance. Equal keys get equal numbers."""
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _least(count: int, holds: Callable[[int, list[bool]], bool]) -> list[bool]:
    """The least fixed point of `holds` over sets of states. `holds` must be monotone."""
    known = [False] * count
    grown = True
    while grown:
        grown = False
        for x in reversed(range(count)):
            if not known[x] and holds(x, known):
                known[x] = grown = True
    return known


def _words(target: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    words: dict[int, tuple[int, ...]] = {0: ()}
    order = [0]
    for x in order:
        for c, y in enumerate(target[x]):
            if y not in words:
                words[y] = (*words[x], c)
                order.append(y)
    return tuple(words[x] for x in range(len(target)))
