"""Compute and cache the windows of a pattern of no known family, and their proof for a checker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from tokpar.patterns.engine_crosscheck import require_engine
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, decide_windows
from tokpar.patterns.stored_windows import DecidedWindows
from tokpar.patterns.window_proof import prove_windows
from tokpar.patterns.window_search import Windows
from tokpar.types import Facts


def windows_of(facts: Facts) -> DecidedWindows | str:
    """The windows of the facts' pattern, or the reason why there are none. The facts cache them."""
    return facts.derive(_compute_windows)


def _compute_windows(facts: Facts) -> DecidedWindows | str:
    if not facts.patterns:
        return "no pattern of its pre-tokenizer is known"
    try:
        windows = _compute_checked_windows(splits_of(facts))
    except UnsupportedPatternError as error:
        return f"its pattern is of no known family, and not decided: {error}"
    written = written_proof(facts, windows)
    digest = hashlib.sha256(written.encode()).hexdigest()
    facts.proofs[digest] = written
    alphabet = windows.alphabet
    return DecidedWindows(alphabet.symbol_of, alphabet.size, windows.pairs, ("windows", digest))


def _compute_checked_windows(splits: Sequence[SplitStage]) -> Windows:
    """The windows of these Splits, after comparing each engine with its automaton.

    Raises UnsupportedPatternError if they differ on a test text."""
    windows = decide_windows(splits)
    for split, machine in zip(splits, windows.decision.stages, strict=True):
        require_engine(split.pattern, split.engine, machine, windows.alphabet.examples)
    return windows


def splits_of(facts: Facts) -> list[SplitStage]:
    """The sequence of Splits that these facts name."""
    return [SplitStage(pattern, facts.engine) for pattern in facts.patterns]


def written_proof(facts: Facts, windows: Windows) -> str:
    """The proof as JSON: engine, patterns, symbols, classes, and a proof for each stage.

    The symbols of all code points are run-length encoded: (count, symbol). The classes map to their
    symbols."""
    points = windows.alphabet.symbol_of
    starts = np.flatnonzero(np.diff(points)) + 1
    edges = np.concatenate(([0], starts, [len(points)]))
    sets = windows.alphabet.sets
    proofs = prove_windows(windows, splits_of(facts))
    data = {
        "engine": facts.engine,
        "patterns": list(facts.patterns),
        "counts": np.diff(edges).tolist(),
        "symbols": points[edges[:-1]].tolist(),
        "classes": {name[1]: sorted(sets[name]) for name in sets if isinstance(name, tuple)},
        "stages": [json.loads(proof.to_json()) for proof in proofs],
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))
