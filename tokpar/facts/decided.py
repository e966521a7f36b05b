"""The windows of a tokenizer's pattern: stored for known families, decided for others when they are
first asked for; and what proves them to a checker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tokpar.facts.alphabet import SymbolArray
from tokpar.facts.expression import UnsupportedPatternError
from tokpar.facts.members import CODE_POINTS
from tokpar.facts.splits import SplitStage, decide_windows
from tokpar.facts.tables import load_atoms, load_windows
from tokpar.facts.tried import require_engine
from tokpar.facts.window_proof import prove_windows
from tokpar.facts.windows import Windows, WindowTables
from tokpar.types import Facts


@dataclass(frozen=True, eq=False)
class Decided:
    """The windows of a pattern. `symbol_of` (0x110000,) uint8; the symbol `size` is a code point
    about which nothing is known. `proof`: where checkers find what proves them; the name of a
    family, or the sha256, in hex, of what was handed over (`Facts.proofs`)."""

    symbol_of: SymbolArray
    size: int
    tables: WindowTables
    proof: tuple[str, str]


def decided(facts: Facts) -> Decided | str:
    """The windows of the pattern that these facts name, kept with them; or why there are none."""
    return facts.derived(_decided)


def _decided(facts: Facts) -> Decided | str:
    if facts.family is not None:
        found = stored_windows(facts.family, facts.engine, facts.patterns)
        return found or f"the windows of {facts.family!r} are of other patterns, or engines"
    if not facts.patterns:
        return "no pattern of its pre-tokenizer is known"
    try:
        windows = _tried(splits_of(facts))
    except UnsupportedPatternError as error:
        return f"its pattern is of no known family, and not decided: {error}"
    written = written_proof(facts, windows)
    digest = hashlib.sha256(written.encode()).hexdigest()
    facts.proofs[digest] = written
    alphabet = windows.alphabet
    return Decided(alphabet.symbol_of, alphabet.size, windows.tables, ("windows", digest))


def _tried(splits: Sequence[SplitStage]) -> Windows:
    """The windows, if each engine does on the texts that matter what they were decided from."""
    windows = decide_windows(splits)
    for split, machine in zip(splits, windows.decision.items.stages, strict=True):
        require_engine(split.pattern, split.engine, machine, windows.alphabet.examples)
    return windows


def splits_of(facts: Facts) -> list[SplitStage]:
    """The row of Splits that these facts name."""
    return [SplitStage(pattern, facts.engine) for pattern in facts.patterns]


@lru_cache(maxsize=16)
def stored_windows(family: str, engine: str, patterns: tuple[str, ...]) -> Decided | None:
    """The windows of a family as `engine` runs these patterns, of the frozen code points; None if
    it is not known so."""
    for entry in load_windows(family):
        if {"engine": engine, "patterns": [*patterns]} in entry["sources"]:
            break
    else:
        return None
    symbol_of = np.full(CODE_POINTS, entry["size"], np.uint8)
    for name, symbol in entry["symbols"].items():
        for low, high in load_atoms()[name]:
            symbol_of[low : high + 1] = symbol
    for char, symbol in entry["apart"].items():
        symbol_of[ord(char)] = symbol
    left, cut, right = (np.array(entry[name], np.int32) for name in ("left", "cut", "right"))
    tables = WindowTables(left, cut, right, np.array(entry["certain"], np.bool_))
    return Decided(symbol_of, entry["size"], tables, ("family", family))


def written_proof(facts: Facts, windows: Windows) -> str:
    """JSON: engine and patterns; the symbols of all code points, as how many code points in a row
    have one, and which; the symbols of each class; a proof for each stage."""
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
