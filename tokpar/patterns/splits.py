"""Decide the pairs of a sequence of Splits: parse, ask the engine, build automata, decide."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokpar.patterns.automaton import Automaton, automaton
from tokpar.patterns.char_partition import Alphabet, alphabet
from tokpar.patterns.charclass_cache import cached_members
from tokpar.patterns.charclass_members import EVERY
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_reader import Tree, read_pattern, refuse_rewritten
from tokpar.patterns.time_budget import SECONDS, Budget


@dataclass(frozen=True)
class SplitStage:
    """One Split stage of a pre-tokenizer: each match and each gap of the pattern is a piece."""

    pattern: str
    engine: str


Ask = Callable[[Iterable[str], str], Mapping[str, Ranges]]
"""A function (classes, engine) -> the code points of each class."""


def decide_pairs(
    splits: Sequence[SplitStage],
    ask: Ask = cached_members,
    domain: Ranges = EVERY,
    seconds: float = SECONDS,
) -> Pairs:
    """Decide the pairs of a sequence of Splits, for texts over the code points in `domain`.

    `seconds` bounds the processor time, without the time that the engine takes to list classes.
    Raises `UnsupportedPatternError` with the reason."""
    budget = Budget(seconds)
    symbols, machines = machines_of(splits, ask, domain, budget)
    return Pairs(symbols, machines, budget)


def machines_of(
    splits: Sequence[SplitStage],
    ask: Ask = cached_members,
    domain: Ranges = EVERY,
    budget: Budget | None = None,
) -> tuple[Alphabet, tuple[Automaton, ...]]:
    """Build the automaton of each Split, over common symbols. Raises as `decide_pairs`."""
    budget = Budget(SECONDS) if budget is None else budget
    readers = [read_pattern(split.pattern, split.engine) for split in splits]
    classes: dict[Hashable, Ranges] = {}
    for engine in sorted({split.engine for split in splits}):
        wanted = {source for each in readers if each.engine == engine for source in each.sources}
        for source, ranges in ask(wanted, engine).items():
            classes[engine, source] = ranges
    symbols = alphabet(classes, domain)
    budget.renew()  # the budget does not cover listing the classes
    machines = []
    for split in splits:
        tree = tree_of(split, symbols)
        if split.engine == "fancy-regex":
            refuse_rewritten(tree)
        machines.append(automaton(tree, symbols.size, budget))
    return symbols, tuple(machines)


def tree_of(split: SplitStage, symbols: Alphabet) -> Tree:
    """Returns the tree of the Split's pattern over the symbols."""
    reader = read_pattern(split.pattern, split.engine)
    sets = {source: sorted(symbols.sets[split.engine, source]) for source in reader.sources}
    tree: Tree = reader.tree(sets.__getitem__, symbols.size)
    return tree
