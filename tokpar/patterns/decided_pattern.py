"""Decide what is known of a pattern that is not shipped, and write the proof for a checker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tokpar.patterns.automaton import Automaton
from tokpar.patterns.char_partition import Alphabet
from tokpar.patterns.engine_crosscheck import require_engine
from tokpar.patterns.known_pattern import KnownPattern, PairTable, certifies_spaces
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_pairs, machines_of, tree_of
from tokpar.types import Facts, Theorem


def decide_pattern(facts: Facts) -> KnownPattern | str:
    """What is known of the patterns of these facts, by the installed engine's own answers, or the
    reason why nothing is."""
    if not facts.patterns:
        return "no pattern of its pre-tokenizer is known"
    try:
        pattern, written = _decide(facts.engine, facts.patterns)
    except UnsupportedPatternError as error:
        return f"its pattern is not decided: {error}"
    facts.proofs[pattern.proof[1]] = written
    return pattern


@lru_cache(maxsize=16)
def _decide(engine: str, patterns: tuple[str, ...]) -> tuple[KnownPattern, str]:
    splits = [SplitStage(pattern, engine) for pattern in patterns]
    decided = decide_pairs(splits)
    stages, alphabet, pairs = decided.stages, decided.alphabet, decided.pairs
    _require_engine(splits, alphabet, stages)
    spaces = certifies_spaces(alphabet.symbol_of, alphabet.size, pairs)
    table = PairTable.of(alphabet.symbol_of, alphabet.size, pairs, spaces)
    written = write_proof(splits, decided)
    theorem = Theorem.PAIR if len(patterns) == 1 else Theorem.PAIR_OF_SPLITS
    proof = "proof", hashlib.sha256(written.encode()).hexdigest()
    known = KnownPattern(
        proof, theorem, theorem if spaces else None, all(map(covers, stages)), lambda: table
    )
    return known, written


def checked_machines(facts: Facts) -> tuple[Alphabet, tuple[Automaton, ...]]:
    """The automata of the facts' patterns, over all code points, after comparing each with its
    engine. Raises UnsupportedPatternError."""
    splits = splits_of(facts)
    alphabet, stages = machines_of(splits)
    _require_engine(splits, alphabet, stages)
    return alphabet, stages


def _require_engine(
    splits: Sequence[SplitStage], alphabet: Alphabet, stages: Sequence[Automaton]
) -> None:
    for split, machine in zip(splits, stages, strict=True):
        require_engine(split.pattern, split.engine, machine, alphabet.examples)


def covers(stage: Automaton) -> bool:
    """True if a match begins at every place of every text."""
    return not any(stage.avoid[behind] for behind in stage.target[0])


def splits_of(facts: Facts) -> list[SplitStage]:
    """The sequence of Splits that these facts name."""
    return [SplitStage(pattern, facts.engine) for pattern in facts.patterns]


def write_proof(splits: Sequence[SplitStage], pairs: Pairs) -> str:
    """The proof as JSON: engine, patterns, symbols, classes, and a proof for each stage.

    The symbols of all code points are run-length encoded: (count, symbol). The classes map to their
    symbols."""
    points, sets = pairs.alphabet.symbol_of, pairs.alphabet.sets
    starts = np.flatnonzero(np.diff(points)) + 1
    edges = np.concatenate(([0], starts, [len(points)]))
    stages = zip(pairs.stages, splits, strict=True)
    data = {
        "engine": splits[0].engine,
        "patterns": [split.pattern for split in splits],
        "counts": np.diff(edges).tolist(),
        "symbols": points[edges[:-1]].tolist(),
        "classes": {name[1]: sorted(sets[name]) for name in sets if isinstance(name, tuple)},
        "stages": [stage_proof(machine, tree_of(s, pairs.alphabet)) for machine, s in stages],
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))


def stage_proof(machine: Automaton, tree: Any) -> dict[str, Any]:
    """What proves the machine of one pattern to a checker.

    `tree`: the pattern over symbols. `words`: a word to each state of its automaton, the start
    first. `dead`: the words whose state cannot match any more. `sure`: the words whose state
    matches whatever follows."""
    states = list(enumerate(map(machine.state_after, machine.words)))
    return {
        "size": machine.size,
        "tree": tree,
        "words": machine.words,
        "dead": [k for k, x in states if not machine.live[x]],
        "sure": [k for k, x in states if not machine.avoid[x]],
    }
