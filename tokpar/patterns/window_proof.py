"""Build the proof of the windows of Splits, for a checker that only verifies (theorems 40, 42)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.expression import Ahead, Choice, Expression, OneOf, Repeat
from tokpar.patterns.regex_parser import parse_expression
from tokpar.patterns.splits import SplitStage
from tokpar.patterns.window_search import Windows

Tree = list[Any]
"""["set", symbols], ["look", symbols], ["row", trees], ["choice", trees] or
["repeat", tree, low, high or null, mode]. The symbol `size` is the end of the text."""


@dataclass(frozen=True)
class WindowProof:
    """The proof for one pattern.

    `tree`: the pattern over symbols. `words`: a word to each state of its automaton, the start
    first. `dead`: the words whose state cannot match any more. `sure`: the words whose state
    matches whatever follows."""

    size: int
    tree: Tree
    words: tuple[tuple[int, ...], ...]
    dead: tuple[int, ...]
    sure: tuple[int, ...]

    def to_json(self) -> str:
        """The proof as JSON, in the format that `tokpar.certificate.window_machine` reads."""
        parts = {name: getattr(self, name) for name in ("size", "tree", "words", "dead", "sure")}
        return json.dumps(parts, separators=(",", ":"))


def prove_windows(windows: Windows, splits: Sequence[SplitStage]) -> tuple[WindowProof, ...]:
    """Build a proof for each stage of the Splits from which `windows` was computed."""
    stages = zip(windows.decision.threats.stages, splits, strict=True)
    return tuple(_proof(windows, machine, split) for machine, split in stages)


def _proof(windows: Windows, machine: Automaton, split: SplitStage) -> WindowProof:
    states = list(enumerate(map(machine.behind, machine.words)))
    sets = {
        name[1]: found
        for name, found in windows.alphabet.sets.items()
        if isinstance(name, tuple) and name[0] == split.engine
    }
    return WindowProof(
        machine.size,
        _tree(parse_expression(split.pattern, split.engine), sets, machine.size),
        machine.words,
        tuple(i for i, x in states if not machine.live[x]),
        tuple(i for i, x in states if not machine.avoid[x]),
    )


def _tree(node: Expression, sets: Mapping[str, frozenset[int]], size: int) -> Tree:
    if isinstance(node, OneOf):
        return ["set", sorted(sets[node.source])]
    if isinstance(node, Ahead):
        found = {c for source in node.sources for c in sets[source]} | (
            {size} if node.end else set()
        )
        return ["look", sorted(set(range(size + 1)) - found if node.negated else found)]
    if isinstance(node, Repeat):
        return ["repeat", _tree(node.item, sets, size), node.low, node.high, node.mode]
    if isinstance(node, Choice):
        return ["choice", [_tree(option, sets, size) for option in node.options]]
    return ["row", [_tree(item, sets, size) for item in node.items]]
