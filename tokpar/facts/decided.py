"""The windows of a tokenizer's pattern, decided when they are first asked for, and their proof."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from tokpar.facts.pattern import UnsupportedPatternError
from tokpar.facts.splits import SplitStage, decide_windows
from tokpar.facts.window_proof import prove_windows
from tokpar.facts.windows import Windows
from tokpar.types import Facts


@dataclass(frozen=True, eq=False)
class Decided:
    """The windows of a pattern, or (`refusal`) why they cannot be decided. `proof`: the sha256 of
    what was handed over for checkers, in hex (`Facts.proofs`)."""

    windows: Windows | None
    refusal: str | None = None
    proof: str = ""


def decided(facts: Facts) -> Decided:
    """The windows of the pattern that these facts name, kept with them."""
    return facts.derived(_decided)


def _decided(facts: Facts) -> Decided:
    splits = [SplitStage(pattern, facts.engine) for pattern in facts.patterns]
    if not splits:
        return Decided(None, "no pattern of its pre-tokenizer is known")
    try:
        windows = decide_windows(splits)
    except UnsupportedPatternError as error:
        return Decided(None, f"its pattern is of no known family, and not decided: {error}")
    written = written_proof(facts, windows, splits)
    digest = hashlib.sha256(written.encode()).hexdigest()
    facts.proofs[digest] = written
    return Decided(windows, None, digest)


def written_proof(facts: Facts, windows: Windows, splits: list[SplitStage]) -> str:
    """JSON: engine and patterns; the symbols of all code points, as how many code points in a row
    have one, and which; the symbols of each class; a proof for each stage."""
    points = windows.alphabet.symbol_of
    starts = np.flatnonzero(np.diff(points)) + 1
    edges = np.concatenate(([0], starts, [len(points)]))
    sets = windows.alphabet.sets
    data = {
        "engine": facts.engine,
        "patterns": list(facts.patterns),
        "counts": np.diff(edges).tolist(),
        "symbols": points[edges[:-1]].tolist(),
        "classes": {name[1]: sorted(sets[name]) for name in sets if isinstance(name, tuple)},
        "stages": [json.loads(proof.to_json()) for proof in prove_windows(windows, splits)],
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))
