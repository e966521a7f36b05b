"""A Pike machine over class strings (Theorem 19): the ordered thread list of a backtracking regex,
cut at the first match, has finitely many states on strings over a finite alphabet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.recipes.pattern import Ahead, Alt, Chars, Node, Repeat, Seq, char_sets
from tokpar.patterns.pattern_reader import UnsupportedPatternError

END = "END"
"""Stands for "end of text" in look-ahead sets."""

MAX_STATES = 5_000


@dataclass(frozen=True)
class Step:
    """One instruction: consume one of `atoms`, or look at the next one, or (None) match."""

    atoms: frozenset[str] | None
    consumes: bool
    following: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """All machine states on strings over `symbols`, state 0 being the start.

    `target[q][c]` is the state after reading symbol c in state q; `matched[q][c]` says that a
    match ending before c is recorded; column `len(symbols)` of `matched` is END; `live[q]` says
    that some continuation lets a thread of q complete, so that a longer match exists.
    """

    symbols: tuple[tuple[str, ...], ...]
    target: tuple[tuple[int, ...], ...]
    matched: tuple[tuple[bool, ...], ...]
    live: tuple[bool, ...]


Sets = Mapping[str, frozenset[str]]
"""What the one-char regexes of a tree match, by their sources."""


def explore(tree: Alt, atoms: Iterable[str], sets: Sets | None = None) -> Graph:
    """The state graph of `tree`, which must not match the empty string, on strings over `atoms`.
    Without `sets` its classes are those it was parsed with."""
    sets = char_sets(tree) if sets is None else sets
    names = sorted(atoms)
    symbols = _symbols(sets, names)
    program = _Compiler(sets, frozenset(names)).run(tree)
    states: dict[tuple[int, ...], int] = {(0,): 0}
    order: list[tuple[int, ...]] = [(0,)]
    target: list[tuple[int, ...]] = []
    matched: list[tuple[bool, ...]] = []
    for state in order:
        row, flags = [], []
        for group in symbols:
            threads, found = _closure(program, state, group[0])
            flags.append(found)
            after = _advance(program, threads, group[0])
            if after not in states:
                states[after] = len(order)
                order.append(after)
            row.append(states[after])
        flags.append(_closure(program, state, END)[1])
        target.append(tuple(row))
        matched.append(tuple(flags))
        if len(order) > MAX_STATES:
            raise UnsupportedPatternError(f"more than {MAX_STATES} machine states")
    if any(matched[0]):
        raise UnsupportedPatternError("the pattern matches the empty string")
    return Graph(symbols, tuple(target), tuple(matched), _live(target, matched))


def _symbols(sets: Sets, atoms: list[str]) -> tuple[tuple[str, ...], ...]:
    """Atoms grouped by what the pattern can tell apart; the first of a group stands for it."""
    groups: dict[tuple[bool, ...], list[str]] = {}
    for atom in atoms:
        groups.setdefault(tuple(atom in chars for chars in sets.values()), []).append(atom)
    return tuple(tuple(group) for group in groups.values())


class _Compiler:
    """Thompson construction; instruction 0 is the entry."""

    def __init__(self, sets: Sets, names: frozenset[str]) -> None:
        self.sets, self.names = sets, names
        self.steps: list[Step | None] = [None]

    def run(self, tree: Alt) -> tuple[Step, ...]:
        entry = self.node(tree, self.add(Step(None, False, ())))
        self.steps[0] = Step(frozenset(), False, (entry,))
        return tuple(step for step in self.steps if step is not None)

    def add(self, step: Step | None) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def node(self, node: Node, then: int) -> int:
        """Entry of the code that matches `node` and goes on at `then`."""
        if isinstance(node, Chars):
            return self.add(Step(self.sets[node.source], True, (then,)))
        if isinstance(node, Ahead):
            allowed = self.sets[node.item.source] if node.item else frozenset({END})
            if node.negated:
                allowed = (self.names | {END}) - allowed
            if not allowed:
                raise UnsupportedPatternError("look-ahead at an empty class")
            return self.add(Step(allowed, False, (then,)))
        if isinstance(node, Repeat):
            return self.repeat(node, then)
        if isinstance(node, Alt):
            options = tuple(self.node(option, then) for option in node.items)
            return self.add(Step(frozenset(), False, options))
        for item in reversed(node.items):
            then = self.node(item, then)
        return then

    def repeat(self, node: Repeat, then: int) -> int:
        if node.high is None:
            if _nullable(node.item):
                raise UnsupportedPatternError("unbounded repeat of something that may be empty")
            loop = self.add(None)
            self.steps[loop] = Step(frozenset(), False, (self.node(node.item, loop), then))
            entry = loop
        else:
            entry = then
            for _ in range(node.high - node.low):
                entry = self.add(Step(frozenset(), False, (self.node(node.item, entry), then)))
        for _ in range(node.low):
            entry = self.node(node.item, entry)
        return entry


def _nullable(node: Node) -> bool:
    if isinstance(node, Chars):
        return False
    if isinstance(node, Repeat):
        return node.low == 0 or _nullable(node.item)
    if isinstance(node, Seq):
        return all(_nullable(item) for item in node.items)
    return isinstance(node, Ahead) or any(_nullable(option) for option in node.items)


def _closure(program: tuple[Step, ...], state: Iterable[int], atom: str) -> tuple[list[int], bool]:
    """Consuming threads in priority order up to the first match, and whether there is one."""
    threads: list[int] = []
    seen: set[int] = set()
    stack = list(state)[::-1]
    while stack:
        here = stack.pop()
        if here in seen:
            continue
        seen.add(here)
        step = program[here]
        if step.atoms is None:
            return threads, True
        if step.consumes:
            threads.append(here)
        elif not step.atoms or atom in step.atoms:
            stack.extend(reversed(step.following))
    return threads, False


def _advance(program: tuple[Step, ...], threads: Iterable[int], atom: str) -> tuple[int, ...]:
    moved = [program[t].following[0] for t in threads if atom in (program[t].atoms or ())]
    return tuple(dict.fromkeys(moved))


def _live(target: list[tuple[int, ...]], matched: list[tuple[bool, ...]]) -> tuple[bool, ...]:
    live, before = [any(flags) for flags in matched], None
    while live != before:
        before = live
        live = [live[q] or any(live[r] for r in row) for q, row in enumerate(target)]
    return tuple(live)
