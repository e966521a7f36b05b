"""From a row of Splits to its windows: parse, ask the engine, build the machines, decide."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokpar.patterns.automaton import Automaton, automaton
from tokpar.patterns.char_partition import Alphabet, alphabet
from tokpar.patterns.charclass_cache import kept_members
from tokpar.patterns.charclass_members import EVERY
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.expression import sources
from tokpar.patterns.fancy_regex_quirks import refuse_rewritten
from tokpar.patterns.regex_parser import parse_expression
from tokpar.patterns.time_budget import SECONDS, Budget
from tokpar.patterns.window_search import Decision, Windows


@dataclass(frozen=True)
class SplitStage:
    """One stage of a pre-tokenizer: matches and gaps of a pattern are pieces of their own."""

    pattern: str
    engine: str


Ask = Callable[[Iterable[str], str], Mapping[str, Ranges]]
"""(classes, engine) -> code points of each."""


def decide_windows(
    splits: Sequence[SplitStage],
    ask: Ask = kept_members,
    asked: Ranges = EVERY,
    seconds: float = SECONDS,
) -> Windows:
    """The windows of a row of Splits, of texts over the code points `asked`; raises
    `UnsupportedPatternError` with the reason. `seconds` bound the work but for asking."""
    budget = Budget(seconds)
    symbols, machines = machines_of(splits, ask, asked, budget)
    return Windows(symbols, Decision(machines, budget))


def machines_of(
    splits: Sequence[SplitStage],
    ask: Ask = kept_members,
    asked: Ranges = EVERY,
    budget: Budget | None = None,
) -> tuple[Alphabet, tuple[Automaton, ...]]:
    """The machine of each Split, over common symbols. Raises as `decide_windows`."""
    budget = Budget(SECONDS) if budget is None else budget
    trees = [parse_expression(split.pattern, split.engine) for split in splits]
    parsed = list(zip(trees, (split.engine for split in splits), strict=True))
    classes: dict[Hashable, Ranges] = {}
    for engine in sorted({engine for _, engine in parsed}):
        wanted = {source for tree, own in parsed if own == engine for source in sources(tree)}
        for source, ranges in ask(wanted, engine).items():
            classes[engine, source] = ranges
    symbols = alphabet(classes, asked)
    budget.renew()  # asking is not bounded
    machines = []
    for tree, engine in parsed:
        sets = {source: symbols.sets[engine, source] for source in sources(tree)}
        if engine == "fancy-regex":
            refuse_rewritten(tree, sets)
        machines.append(automaton(tree, sets, symbols.size, budget))
    return symbols, tuple(machines)
