"""Which contexts are safe: Theorem 19 for one Split, Lemma 23 for the class runs before the last.

m(w) is the end of the first piece of w. The machine has finitely many states, so "m(uR) = m(u) for
every u ending in c and every R starting with d" is a finite question.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from tests.recipes.machine import Graph, explore
from tests.recipes.pattern import Alt, Chars, Node, Repeat, Seq
from tokpar.patterns.pattern_reader import UnsupportedPatternError

ContextSet = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Contexts:
    """Safe contexts over atom names. `triples` (c|d1 d2) and `left_triples` (c1 c2|d) hold
    only what `pairs` (c|d) does not imply."""

    pairs: ContextSet = frozenset()
    triples: ContextSet = frozenset()
    left_triples: ContextSet = frozenset()

    def __or__(self, other: Contexts) -> Contexts:
        return Contexts(
            self.pairs | other.pairs,
            self.triples | other.triples,
            self.left_triples | other.left_triples,
        )


Config = tuple[int, bool, int, int]
"""(state, a match was recorded earlier, last symbol but one or -1, last symbol)."""


def build(tree: Alt, atoms: Iterable[str]) -> Graph:
    """The state graph of `tree` on all strings over `atoms`; the pattern must be covering."""
    graph = explore(tree, atoms)
    for state, had, _, _ in _configs(graph):
        if not had and not graph.matched[state][-1]:
            raise UnsupportedPatternError("some text has no match at its start")
    return graph


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
    reached: dict[tuple[int, ...], set[tuple[int, bool]]] = {}
    for state, had, before, last in _configs(graph):
        for left in ((last,), (before, last)):
            reached.setdefault(left, set()).add((state, had))

    def safe(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
        return all(_stable(graph, state, had, right) for state, had in reached.get(left, ()))

    names = (*graph.symbols, tuple(sorted(outside)))

    def named(rows: Iterable[tuple[int, ...]]) -> ContextSet:
        return frozenset(t for row in rows for t in product(*(names[i] for i in row)))

    indices = range(len(graph.symbols))
    pairs = {(c, d) for c, d in product(indices, repeat=2) if safe((c,), (d,))}
    unsafe = set(product(indices, repeat=2)) - pairs
    triples = {(c, d, e) for c, d in unsafe for e in (*indices, -1) if safe((c,), (d, e))}
    left_triples = {
        (b, c, d)
        for c, d in unsafe
        if safe((-1, c), (d,))
        for b in (-1, *indices)
        if safe((b, c), (d,))
    }
    return Contexts(named(pairs), named(triples), named(left_triples))


def decide(stages: tuple[Alt, ...], atoms: frozenset[str]) -> Contexts:
    """Safe contexts of a sequence of Splits whose stages before the last cut class runs.

    Lemma 23: a class-run stage cuts the text into maximal runs of its class (all of which later
    stages see as separate texts) and gaps. A pair with one side in a run class is an edge of a
    run and safe; inside a run or gap that is split cleanly, a context is safe exactly when it
    is safe for the last stage on words over that run's alphabet alone (the word itself is a
    text, so this is exact for 1+1). Runs cut every n characters are not split cleanly: nothing
    inside them is certified here (Theorem 22 does that).
    """
    whole: list[frozenset[str]] = [atoms]
    cut: list[frozenset[str]] = []
    for stage in stages[:-1]:
        run = class_run(stage)
        if run is None:
            raise UnsupportedPatternError("an early stage that is not one class run")
        inside = [group & run[0] for group in whole]
        whole = [group - run[0] for group in whole]
        (whole if run[1] is None else cut).extend(inside)
    found = Contexts()
    for group in (*whole, *cut):
        found |= Contexts(frozenset(product(group, atoms - group)))
    for group in filter(None, whole):
        found |= contexts(build(stages[-1], group), atoms - group)
    return found


def class_run(node: Node) -> tuple[frozenset[str], int | None] | None:
    """The class and n of a node that is just `[..]{1,n}`, n being None for `[..]+`; else None."""
    while isinstance(node, (Alt, Seq)) and len(node.items) == 1:
        node = node.items[0]
    if not isinstance(node, Repeat) or not isinstance(node.item, Chars) or node.low != 1:
        return None
    return node.item.atoms, node.high
