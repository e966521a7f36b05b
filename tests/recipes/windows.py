"""The windows of one family, for the tables: decided of all code points, kept of the frozen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tests.recipes.pattern import Atom
from tests.recipes.wide_tables import wide_tables
from tokpar.patterns.charclass_members import members
from tokpar.patterns.splits import SplitStage, decide_windows
from tokpar.patterns.window_proof import prove_windows
from tokpar.patterns.window_search import Windows


def text(sources: Sequence[Mapping[str, Any]], atoms: Iterable[Atom]) -> str:
    """windows/*.json: an entry for each table, with all spellings that have it."""
    answers: dict[str, dict[str, Any]] = {}
    atoms = tuple(atoms)
    for source in sources:
        splits = [SplitStage(pattern, source["engine"]) for pattern in source["patterns"]]
        windows = decide_windows(splits, ask=members)
        table = answer(windows, atoms)
        wide = wide_tables(windows.decision.rows)  # Tables.v has an entry for each of these
        entry = answers.setdefault(
            json.dumps([table, asdict(wide)]), {**table, "classes": {}, "sources": [], "proofs": []}
        )
        for name, symbols in windows.alphabet.sets.items():
            assert isinstance(name, tuple)
            spelling, found = name[1], sorted(symbols)
            assert entry["classes"].setdefault(spelling, found) == found, spelling
        proofs = [json.loads(proof.to_json()) for proof in prove_windows(windows, splits)]
        stages = [{key: proof[key] for key in ("words", "dead", "sure")} for proof in proofs]
        entry["sources"].append(source)
        entry["proofs"].append(stages)
    blocks = []
    for entry in answers.values():
        fields = [f"  {json.dumps(key)}: {_rows(key, value)}" for key, value in entry.items()]
        blocks.append(" {\n" + ",\n".join(fields) + "\n }")
    return '{"windows": [\n' + ",\n".join(blocks) + "\n]}\n"


def answer(windows: Windows, atoms: Iterable[Atom]) -> dict[str, Any]:
    """The symbol of each atom, of characters that have another than their atom, and the pairs."""
    symbols: dict[str, int] = {}
    apart: dict[str, int] = {}
    symbol_of = windows.alphabet.symbol_of
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
        "size": windows.alphabet.size,
        "symbols": symbols,
        "apart": apart,
        "pairs": windows.pairs.astype(int).tolist(),
    }


def _rows(key: str, value: Any) -> str:
    if key in ("sources", "proofs"):
        return "[\n" + ",\n".join("   " + _dump(item) for item in value) + "\n  ]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
