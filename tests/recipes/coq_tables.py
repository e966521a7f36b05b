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
from tokpar.patterns.pattern_parser import PatternReader

FILE = Path(__file__).parents[2] / "proofs" / "coq" / "Tables.v"
MODES = {"greedy": "Greedy", "lazy": "Lazy", "possessive": "Possessively"}
HEAD = """\
(** The built-in families: the patterns of their Splits over symbols, and the pairs that tokpar
    stores for them. Written by `python -m tests.recipes.coq_tables` from tokpar/data/tables;
    do not edit.

    A symbol stands for all characters that no class of the pattern tells apart: `classes` in
    tokpar/data/tables/patterns. *)
From Coq Require Import List Bool.
From Tokpar Require Import PreTokens Patterns PatternPairs Rows.
Import ListNotations.

(** How many symbols there are, the pattern of each Split, the pairs. *)
Definition family : Type := nat * list tree * table.
"""
WHITE = """
(** In this order, the symbols of white space, and of line ends that may belong to what stands
    before. *)
Definition white_space : list (list nat * list nat) :="""
TAIL = """
(** Theorem 20: in every family the stored pairs hold whatever is no white space, and behind it
    white space that is no line end; in gpt2 line ends, too. *)
Theorem theorem_20 : forallb (fun '((size, _, pairs), (white, ends)) =>
    forallb (fun c => mem c white ||
      forallb (fun d => mem d ends || holds pairs c d) white) (seq 0 size))
  (combine families white_space) = true /\\ length white_space = length families.
Proof. vm_compute. split; reflexivity. Qed.

(** The checker accepts all of them (computed once, by the kernel at Qed) ... *)
Theorem families_ok :
  forallb (fun '(size, trees, pairs) => row_ok size trees pairs) families = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

(** ... so a cut at a pair that a stored table accepts leaves the pieces as they are, whichever
    characters its symbols stand for. *)
Theorem built_in_pairs : forall size trees pairs, In (size, trees, pairs) families ->
  forall (A : Type) (symbol : A -> nat), (forall a, symbol a < size) ->
    forall c d, holds pairs c d = true ->
      pair_parts (pieces_of_row (splits_of symbol trees))
                 (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros size trees pairs i A symbol small. apply (theorem_42 A symbol size); [exact small|].
  exact (proj1 (forallb_forall _ _) families_ok _ i).
Qed.
"""


def coq_file() -> str:
    """The text of Tables.v."""
    names, definitions = [], []
    for family, number, entry in decided_tables():
        name = f"{family}_{number}"
        trees = {coq_row(row, entry["size"]) for row in trees_of(entry)}
        if len(trees) != 1:
            raise ValueError(f"{name} has {len(trees)} patterns")
        names.append(name)
        definitions += [
            f"\nDefinition {name} : family := ({entry['size']},",
            _wrapped(trees.pop()) + ",",
            _wrapped(coq_pairs(entry)) + ").",
        ]
    listed = _wrapped(f"Definition families : list family := [{'; '.join(names)}].")
    white = _wrapped(f"[{'; '.join(f'({_list(w)}, {_list(e)})' for w, e in white_space())}].")
    return HEAD + "\n".join([*definitions, "", listed.lstrip(), WHITE, white, TAIL])


def white_space() -> Iterator[tuple[list[int], list[int]]]:
    """Of each stored table the symbols of white space, and those of line ends; gpt2 has none."""
    for _, _, entry in decided_tables():
        yield entry["classes"][r"\s"], entry["classes"].get(r"[\r\n]", [])


def coq_pairs(entry: Mapping[str, Any]) -> str:
    """The pairs of a stored pattern: for each symbol before a cut, those behind it."""
    rows = ([d for d, holds in enumerate(row) if holds] for row in entry["pairs"])
    return f"[{'; '.join(map(_list, rows))}]"


def decided_tables() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Each stored table: name, number, entry."""
    for name in read_table("patterns.json")["patterns"]:
        for number, entry in enumerate(read_table(f"patterns/{name}.json")["tables"], start=1):
            yield name, number, entry


def trees_of(entry: Mapping[str, Any]) -> list[list[Any]]:
    """The trees of each spelling of a table, one for each Split, as the checker reads them."""
    return [
        [
            PatternReader(pattern, source["engine"]).tree(
                entry["classes"].__getitem__, entry["size"]
            )
            for pattern in source["patterns"]
        ]
        for source in entry["sources"]
    ]


def coq_row(trees: Sequence[Any], size: int) -> str:
    """The trees of a row of Splits, as Rows.v writes them."""
    return f"[{'; '.join(coq_tree(tree, size) for tree in trees)}]"


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
