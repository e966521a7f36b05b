"""The pairs of one shipped pattern, for the tables: decided for all code points, kept if frozen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.recipes.atoms import Atom
from tokpar.patterns.charclass_members import members
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.pair_search import Pairs
from tokpar.patterns.splits import SplitStage, decide_pairs, tree_of


def text(sources: Sequence[Mapping[str, Any]], atoms: Iterable[Atom]) -> str:
    """patterns/*.json: an entry for each table, with all spellings that have it."""
    answers: dict[str, dict[str, Any]] = {}
    atoms = tuple(atoms)
    for source in sources:
        splits = [SplitStage(pattern, source["engine"]) for pattern in source["patterns"]]
        pairs = decide_pairs(splits, ask=members)
        table = answer(pairs, atoms)
        trees = [tree_of(split, pairs.alphabet) for split in splits]
        # Tables.v has one tree for each entry
        key = json.dumps([table, trees if len(trees) == 1 else []])
        entry = answers.setdefault(key, {**table, "classes": {}, "sources": [], "proofs": []})
        for name, symbols in pairs.alphabet.sets.items():
            assert isinstance(name, tuple)
            spelling, found = name[1], sorted(symbols)
            assert entry["classes"].setdefault(spelling, found) == found, spelling
        proofs = [stage_proof(machine, None) for machine in pairs.stages]
        stages = [{key: proof[key] for key in ("words", "dead", "sure")} for proof in proofs]
        entry["sources"].append(source)
        entry["proofs"].append(stages)
    blocks = []
    for entry in answers.values():
        fields = [f"  {json.dumps(key)}: {_rows(key, value)}" for key, value in entry.items()]
        blocks.append(" {\n" + ",\n".join(fields) + "\n }")
    return '{"tables": [\n' + ",\n".join(blocks) + "\n]}\n"


def answer(pairs: Pairs, atoms: Iterable[Atom]) -> dict[str, Any]:
    """The symbol of each atom, of characters that have another than their atom, and the pairs."""
    symbols: dict[str, int] = {}
    apart: dict[str, int] = {}
    symbol_of = pairs.alphabet.symbol_of
    for atom in atoms:
        points = [point for low, high in atom.ranges for point in range(low, high + 1)]
        symbols[atom.name] = int(symbol_of[points[0]])
        apart |= {
            chr(p): int(c)
            for p, c in zip(points, symbol_of[points], strict=True)
            if c != symbols[atom.name]
        }
    assert len(apart) < 10
    return {
        "size": pairs.alphabet.size,
        "symbols": symbols,
        "apart": apart,
        "pairs": pairs.pairs.astype(int).tolist(),
    }


def _rows(key: str, value: Any) -> str:
    if key in ("sources", "proofs"):
        return "[\n" + ",\n".join("   " + _dump(item) for item in value) + "\n  ]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
