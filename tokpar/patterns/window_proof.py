"""Build the proof of the windows of Splits, for a checker that only verifies (theorems 40, 42)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.pattern_reader import Tree
from tokpar.patterns.splits import SplitStage, tree_of
from tokpar.patterns.window_search import Windows


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
    stages = zip(windows.decision.stages, splits, strict=True)
    return tuple(_proof(windows, machine, split) for machine, split in stages)


def _proof(windows: Windows, machine: Automaton, split: SplitStage) -> WindowProof:
    states = list(enumerate(map(machine.state_after, machine.words)))
    return WindowProof(
        machine.size,
        tree_of(split, windows.alphabet),
        machine.words,
        tuple(i for i, x in states if not machine.live[x]),
        tuple(i for i, x in states if not machine.avoid[x]),
    )
