"""Build the automaton of one Split (definition 39): ordered thread lists over symbols.

A state is the list of threads of one match attempt, best thread first, up to the first match. The
lookaheads at the next symbol are still open in a state. So a match that ends before a symbol is
known when the automaton reads this symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tokpar.patterns.pattern_reader import Tree, UnsupportedPatternError
from tokpar.patterns.time_budget import Budget
from tokpar.process.cached_property import cached_property

MAX_STATES = 5_000
MAX_STEPS = 20_000


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

    @cached_property
    def dead(self) -> frozenset[int]:
        """The states that never match any more."""
        return frozenset(x for x, live in enumerate(self.live) if not live)

    @cached_property
    def sure(self) -> frozenset[int]:
        """The states that match whatever follows."""
        return frozenset(x for x, avoid in enumerate(self.avoid) if not avoid)

    def state_after(self, word: Iterable[int]) -> int:
        """The state after reading `word` from the start."""
        x = 0
        for c in word:
            x = self.target[x][c]
        return x


def automaton(tree: Tree, size: int, budget: Budget) -> Automaton:
    """Build the minimal automaton of a pattern that does not match the empty text."""
    target, hit = _explore(_Program(size, budget).run(tree), size, budget)
    if any(hit[0]):
        raise UnsupportedPatternError("the pattern may match the empty text")
    words = _words(target)
    target, hit = _minimal(target, hit, budget)

    def lives(x: int, known_states: list[bool]) -> bool:
        return any(hit[x]) or any(known_states[y] for y in target[x])

    def avoids(x: int, known_states: list[bool]) -> bool:
        quiet = (known_states[y] for c, y in enumerate(target[x]) if not hit[x][c])
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

    def __init__(self, size: int, budget: Budget) -> None:
        self.every = (1 << size + 1) - 1
        self.budget = budget
        self.steps = [_Step("match")]

    def run(self, tree: Tree) -> list[_Step]:
        entry = self.node(tree, 0)
        self.add(_Step("fork", following=(entry,)))
        return self.steps

    def add(self, step: _Step) -> int:
        self.steps.append(step)
        self.budget.spend("steps of a pattern", len(self.steps), MAX_STEPS)
        return len(self.steps) - 1

    def node(self, node: Tree, then: int) -> int:
        """Add the steps that match `node` and continue at `then`; return their entry."""
        match node:
            case ["set", symbols]:
                return self.add(_Step("consume", _bits(symbols), (then,)))
            case ["look", symbols]:
                return self.add(_Step("look", _bits(symbols), (then,)))
            case ["repeat", item, low, high, mode]:
                return self.repeat(item, low, high, mode, then)
            case ["choice", options]:
                entries = tuple(self.node(option, then) for option in options)
                return self.add(_Step("fork", following=entries))
        for item in reversed(node[1]):
            then = self.node(item, then)
        return then

    def repeat(self, item: Tree, low: int, high: int | None, mode: str, then: int) -> int:
        leave = then
        if mode == "possessive":
            # A possessive repeat continues while the class matches: leaving it is a lookahead.
            leave = self.add(_Step("look", self.every & ~_bits(item[1]), (then,)))
        if high is None:
            entry = loop = self.add(_Step("fork"))
            self.steps[loop] = self.fork(mode, self.node(item, loop), leave)
        else:
            entry = then
            for _ in range(high - low):
                entry = self.add(self.fork(mode, self.node(item, entry), leave))
        for _ in range(low):
            entry = self.node(item, entry)
        return entry

    def fork(self, mode: str, again: int, leave: int) -> _Step:
        return _Step("fork", 0, (leave, again) if mode == "lazy" else (again, leave))


def _bits(symbols: Iterable[int]) -> int:
    return sum(1 << c for c in symbols)


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
    block = _number_keys([tuple(flags) for flags in hit])
    while True:
        budget.spend("states")
        finer = _number_keys(
            [(block[x], *(block[y] for y in moves)) for x, moves in enumerate(target)]
        )
        if max(finer) == max(block):
            break
        block = finer
    first = {number: x for x, number in reversed(list(enumerate(block)))}
    kept = [first[number] for number in range(len(first))]
    return [[block[y] for y in target[x]] for x in kept], [hit[x] for x in kept]


def _number_keys(keys: list[tuple[int, ...]]) -> list[int]:
    """Number the keys in order of first appearance. Equal keys get equal numbers."""
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _least(count: int, holds: Callable[[int, list[bool]], bool]) -> list[bool]:
    """The least fixed point of `holds` over sets of states. `holds` must be monotone."""
    known_states = [False] * count
    grown = True
    while grown:
        grown = False
        for x in reversed(range(count)):
            if not known_states[x] and holds(x, known_states):
                known_states[x] = grown = True
    return known_states


def _words(target: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    words: dict[int, tuple[int, ...]] = {0: ()}
    order = [0]
    for x in order:
        for c, y in enumerate(target[x]):
            if y not in words:
                words[y] = (*words[x], c)
                order.append(y)
    return tuple(words[x] for x in range(len(target)))
