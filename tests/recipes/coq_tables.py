"""Write proofs/coq/Tables.v: the patterns of the built-in families over symbols, and the pairs that
tokpar stores for them.

    python -m tests.recipes.coq_tables

tests/proofs/test_coq_tables.py fails while the file is not what this writes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokpar.patterns.class_tables import read_table
from tokpar.regexes.pattern_parser import PatternReader

FILE = Path(__file__).parents[2] / "proofs" / "coq" / "Tables.v"
MODES = {"greedy": "Greedy", "lazy": "Lazy", "possessive": "Possessively"}
HEAD = """\
(** The built-in families of one Split: their patterns over symbols, and the pairs that tokpar
    stores for them. Written by `python -m tests.recipes.coq_tables` from tokpar/data/tables;
    do not edit.

    A symbol stands for all characters that no class of the pattern tells apart: `classes` in
    tokpar/data/tables/patterns. *)
From Coq Require Import List.
From Tokpar Require Import PreTokens Patterns PatternPairs.
Import ListNotations.

(** How many symbols there are, the pattern, the pairs. *)
Definition family : Type := nat * tree * table.
"""
TAIL = """
(** The checker accepts all of them ... *)
Theorem families_ok : forallb (fun '(size, t, pairs) => table_ok size t pairs) families = true.
Proof. vm_compute. reflexivity. Qed.

(** ... so every pair that a stored table accepts is safe, whichever characters its symbols stand
    for. *)
Theorem built_in_pairs : forall size t pairs, In (size, t, pairs) families ->
  forall (A : Type) (symbol : A -> nat), (forall a, symbol a < size) ->
    ends_first_piece (first_end (tree_regex symbol t)) /\\
    forall c d, holds pairs c d = true ->
      safe (first_end (tree_regex symbol t)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros size t pairs i A symbol small. apply (theorem_40 A symbol size); [exact small|].
  pose proof (proj1 (forallb_forall _ _) families_ok _ i) as h. exact h.
Qed.
"""


def coq_file() -> str:
    """The text of Tables.v."""
    names, definitions = [], []
    for family, number, entry in decided_tables():
        name = f"{family}_{number}"
        trees = {coq_tree(tree, entry["size"]) for tree in trees_of(entry)}
        if len(trees) != 1:
            raise ValueError(f"{name} has {len(trees)} patterns")
        names.append(name)
        definitions += [
            f"\nDefinition {name} : family := ({entry['size']},",
            _wrapped(trees.pop()) + ",",
            _wrapped(coq_pairs(entry)) + ").",
        ]
    listed = _wrapped(f"Definition families : list family := [{'; '.join(names)}].")
    return HEAD + "\n".join([*definitions, "", listed.lstrip(), TAIL])


def coq_pairs(entry: Mapping[str, Any]) -> str:
    """The pairs of a stored pattern: for each symbol before a cut, those behind it."""
    rows = ([d for d, holds in enumerate(row) if holds] for row in entry["pairs"])
    return f"[{'; '.join(map(_list, rows))}]"


def decided_tables() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Each stored table of a pattern of one Split: name, number, entry."""
    for name, described in read_table("patterns.json")["patterns"].items():
        if all(len(each["patterns"]) == 1 for each in described["sources"]):
            for number, entry in enumerate(read_table(f"patterns/{name}.json")["tables"], start=1):
                yield name, number, entry


def trees_of(entry: Mapping[str, Any]) -> list[Any]:
    """The tree of each spelling of a table, as the checker reads it."""
    return [
        PatternReader(source["patterns"][0], source["engine"]).tree(
            entry["classes"].__getitem__, entry["size"]
        )
        for source in entry["sources"]
    ]


def coq_tree(node: Sequence[Any], size: int) -> str:
    """A tree of a pattern, as PatternPairs.v writes it. Symbol `size` is the end of the text."""
    kind, *parts = node
    if kind == "set":
        return f"One {_list(parts[0])}"
    if kind == "look":
        inside = [symbol for symbol in parts[0] if symbol < size]
        return f"Ahead {_list(inside)} {str(size in parts[0]).lower()}"
    if kind in ("row", "choice"):
        *others, last = [f"({coq_tree(each, size)})" for each in parts[0]] or ["(Nothing)"]
        for each in reversed(others):
            last = f"({'Seq' if kind == 'row' else 'Alt'} {each} {last})"
        return last[1:-1]
    item, low, high, mode = parts
    if item[0] == "set":
        most = "None" if high is None else f"(Some {high})"
        return f"Repeated {_list(item[1])} {low} {most} {MODES[mode]}"
    if (low, high) == (0, 1):
        some = f"({coq_tree(item, size)})"
        return f"Alt {some} Nothing" if mode == "greedy" else f"Alt Nothing {some}"
    raise ValueError(f"PatternPairs.v has no such repeat: {node}")


def _list(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]"


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


if __name__ == "__main__":
    FILE.write_text(coq_file(), encoding="utf-8")
