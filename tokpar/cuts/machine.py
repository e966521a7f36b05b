"""Exact decision of safe contexts (Theorem 19): a Pike machine over class strings.

m(w) is the end of the first piece of w. The ordered thread list of a backtracking regex, cut at
the first match, has finitely many states on strings over a finite alphabet, so "m(uR) = m(u)
for every u ending in c and every R starting with d" is a finite question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from tokpar.cuts.pattern import (
    END,
    Ahead,
    Alt,
    Chars,
    Node,
    Repeat,
    Seq,
    UnsupportedPatternError,
    char_sets,
)

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


@dataclass(frozen=True)
class Contexts:
    """Safe contexts over atom names. `triples` (c|d1 d2) and `left_triples` (c1 c2|d) hold
    only what `pairs` does not imply."""

    atoms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    triples: frozenset[tuple[str, str, str]]
    left_triples: frozenset[tuple[str, str, str]]


Config = tuple[int, bool, int, int]
"""(state, a match was recorded earlier, last symbol but one or -1, last symbol)."""


def build(tree: Alt, atoms: Iterable[str]) -> Graph:
    """The state graph of `tree` on all strings over `atoms`; the pattern must be covering."""
    graph = explore(tree, atoms)
    for state, had, _, _ in _configs(graph):
        if not had and not graph.matched[state][-1]:
            raise UnsupportedPatternError("some text has no match at its start")
    return graph


def explore(tree: Alt, atoms: Iterable[str]) -> Graph:
    """The same of any pattern that does not match the empty string."""
    symbols = _symbols(tree, sorted(atoms))
    program = _Compiler().run(tree)
    states: dict[tuple[int, ...], int] = {(0,): 0}
    order: list[tuple[int, ...]] = [(0,)]
    target: list[tuple[int, ...]] = []
    matched: list[tuple[bool, ...]] = []
    for state in order:
        row, flags = [], []
        for names in (*symbols, (END,)):
            threads, found = _closure(program, state, names[0])
            flags.append(found)
            after = _advance(program, threads, names[0])
            if names[0] != END:
                if after not in states:
                    states[after] = len(order)
                    order.append(after)
                row.append(states[after])
        target.append(tuple(row))
        matched.append(tuple(flags))
        if len(order) > MAX_STATES:
            raise UnsupportedPatternError(f"more than {MAX_STATES} machine states")
    if any(matched[0]):
        raise UnsupportedPatternError("the pattern matches the empty string")
    return Graph(symbols, tuple(target), tuple(matched), _live(target, matched))


def first_piece(graph: Graph, word: Iterable[str]) -> int:
    """m(word) for a nonempty word of atom names: the length of its first piece."""
    column = {atom: i for i, names in enumerate(graph.symbols) for atom in names}
    state, end, length = 0, 0, 0
    for length, atom in enumerate(word, 1):
        if graph.matched[state][column[atom]]:
            end = length - 1
        state = graph.target[state][column[atom]]
    return length if graph.matched[state][-1] else end


def _symbols(tree: Alt, atoms: list[str]) -> tuple[tuple[str, ...], ...]:
    """Atoms grouped by what the pattern can tell apart; the first of a group stands for it."""
    sets = [*char_sets(tree).values(), *_look_aheads(tree)]
    groups: dict[tuple[bool, ...], list[str]] = {}
    for atom in atoms:
        groups.setdefault(tuple(atom in chars for chars in sets), []).append(atom)
    return tuple(tuple(group) for group in groups.values())


def _look_aheads(node: Node) -> Iterator[frozenset[str]]:
    if isinstance(node, Ahead):
        yield node.allowed
    elif isinstance(node, Repeat):
        yield from _look_aheads(node.item)
    elif not isinstance(node, Chars):
        for child in node.items if isinstance(node, Seq) else node.options:
            yield from _look_aheads(child)


class _Compiler:
    """Thompson construction; instruction 0 is the entry."""

    def __init__(self) -> None:
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
            return self.add(Step(node.atoms, True, (then,)))
        if isinstance(node, Ahead):
            if not node.allowed:
                raise UnsupportedPatternError("look-ahead at an empty class")
            return self.add(Step(node.allowed, False, (then,)))
        if isinstance(node, Repeat):
            return self.repeat(node, then)
        if isinstance(node, Alt):
            options = tuple(self.node(option, then) for option in node.options)
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
    return isinstance(node, Ahead) or any(_nullable(option) for option in node.options)


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
    live = [any(flags) for flags in matched]
    changed = True
    while changed:
        grown = [
            alive or any(live[q] for q in row) for alive, row in zip(live, target, strict=True)
        ]
        changed, live = grown != live, grown
    return tuple(live)


def _configs(graph: Graph) -> set[Config]:
    """Every (state, earlier match, last two symbols) that some nonempty word reaches."""
    found: set[Config] = set()
    todo: list[Config] = [(0, False, -1, -1)]
    while todo:
        state, had, _, last = todo.pop()
        for c in range(len(graph.symbols)):
            config = (graph.target[state][c], had or graph.matched[state][c], last, c)
            if config not in found:
                found.add(config)
                todo.append(config)
    return found


def _stable(graph: Graph, state: int, had: bool, right: tuple[int, ...]) -> bool:
    """m(uR) = m(u) for every R that starts with the symbols `right` (one or two; a trailing
    -1 says that R is exactly `right[0]`), where u leads to (state, had)."""
    ends = graph.matched[state][-1]
    if ends != graph.matched[state][right[0]] or not (ends or had):
        return False
    after = graph.target[state][right[0]]
    if len(right) == 1:
        return not graph.live[after]
    if graph.matched[after][right[1]]:
        return False
    return right[1] < 0 or not graph.live[graph.target[after][right[1]]]


def contexts(graph: Graph, outside: Iterable[str] = ()) -> Contexts:
    """Safe 1+1, 1+2 and 2+1 contexts of texts that are runs over the graph's alphabet.

    `outside` are atoms that end such a run on either side (Lemma 23); they take part as the
    far character of a triple. 2+1 rows use the sufficient form: also the piece that starts at
    c2 must be stable, whatever c1 is.
    """
    count = len(graph.symbols)
    configs = _configs(graph)
    by_last: dict[int, set[tuple[int, bool]]] = {}
    by_two: dict[tuple[int, int], set[tuple[int, bool]]] = {}
    for state, had, before, last in configs:
        by_last.setdefault(last, set()).add((state, had))
        by_two.setdefault((before, last), set()).add((state, had))

    def safe(reached: set[tuple[int, bool]], right: tuple[int, ...]) -> bool:
        return all(_stable(graph, state, had, right) for state, had in reached)

    indices = range(count)
    pairs = {(c, d) for c, d in product(indices, repeat=2) if safe(by_last[c], (d,))}
    unsafe = set(product(indices, repeat=2)) - pairs
    triples = {(c, d, e) for c, d in unsafe for e in (*indices, -1) if safe(by_last[c], (d, e))}
    left_triples = {
        (b, c, d)
        for c, d in unsafe
        if safe(by_two[-1, c], (d,))
        for b in (-1, *indices)
        if b < 0 or safe(by_two.get((b, c), set()), (d,))
    }
    names = (*graph.symbols, tuple(sorted(outside)))
    return Contexts(
        atoms=tuple(sorted(atom for group in names for atom in group)),
        pairs=frozenset(p for c, d in pairs for p in product(names[c], names[d])),
        triples=frozenset(t for c, d, e in triples for t in product(names[c], names[d], names[e])),
        left_triples=frozenset(
            t for b, c, d in left_triples for t in product(names[b], names[c], names[d])
        ),
    )
