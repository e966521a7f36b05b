"""Sequences of Splits: the machine for the last stage, Lemma 23 for the class runs before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tokpar.cuts.machine import Contexts, build, contexts
from tokpar.cuts.pattern import Alt, Chars, Node, Repeat, Seq, UnsupportedPatternError, char_sets


def decide(stages: tuple[Alt, ...], atoms: frozenset[str]) -> Contexts:
    """Safe contexts of a sequence of Splits whose stages before the last cut class runs.

    Lemma 23: a class-run stage cuts the text into maximal runs of its class (all of which later
    stages see as separate texts) and gaps. A pair with one side in a run class is an edge of a
    run and safe; inside a run or gap that is split cleanly, a context is safe exactly when it
    is safe for the last stage on words over that run's alphabet alone (the word itself is a
    text, so this is exact for 1+1). Runs cut every n characters are not split cleanly: nothing
    inside them is certified here (Theorem 22 does that).
    """
    groups = [(atoms, True)]
    for stage in stages[:-1]:
        groups = list(_divided(groups, *_class_run(stage)))
    pairs: set[tuple[str, str]] = set()
    triples: set[tuple[str, str, str]] = set()
    left_triples: set[tuple[str, str, str]] = set()
    for group, clean in groups:
        pairs.update(product(group, atoms - group))
        if clean:
            inside = contexts(build(stages[-1], group), atoms - group)
            pairs |= inside.pairs
            triples |= inside.triples
            left_triples |= inside.left_triples
    return Contexts(
        tuple(sorted(atoms)), frozenset(pairs), frozenset(triples), frozenset(left_triples)
    )


def _divided(
    groups: list[tuple[frozenset[str], bool]], members: frozenset[str], whole: bool
) -> Iterator[tuple[frozenset[str], bool]]:
    """The groups after one more class-run stage, which cuts each piece of those before as a text
    of its own; whether each group's runs stay whole. One that is cut inside stays as it is."""
    for group, clean in groups:
        if clean:
            parts = ((group & members, whole), (group - members, True))
            yield from ((part, kept) for part, kept in parts if part)
        else:
            yield group, False


def _class_run(stage: Alt) -> tuple[frozenset[str], bool]:
    """The class of a `[..]+` or `[..]{1,n}` stage, and whether its runs stay whole."""
    node: Node = stage
    while isinstance(node, (Alt, Seq)):
        children = node.options if isinstance(node, Alt) else node.items
        if len(children) != 1:
            raise UnsupportedPatternError("an early stage that is not one class run")
        node = children[0]
    if not isinstance(node, Repeat) or not isinstance(node.item, Chars) or node.low != 1:
        raise UnsupportedPatternError("an early stage that is not one class run")
    return node.item.atoms, node.high is None


def digit_phase(stages: tuple[Alt, ...], digits: frozenset[str]) -> int | None:
    """n if digits are consumed by one alternative `digits{1,n}` and nothing else (Theorem 22)."""
    stage = stages[0]
    users = [node for node in stage.options if any(s & digits for s in char_sets(node).values())]
    if len(users) != 1:
        return None
    node = users[0]
    while isinstance(node, Seq) and len(node.items) == 1:
        node = node.items[0]
    if not isinstance(node, Repeat) or not isinstance(node.item, Chars) or node.low != 1:
        return None
    return node.high if node.item.atoms == digits else None
