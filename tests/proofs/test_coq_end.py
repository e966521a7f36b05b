"""The end theorem in Coq: without one of its hypotheses wrong ids are accepted."""

from __future__ import annotations

from pathlib import Path

from tests.support.coq_runs import computed

DEFINITIONS = """
Open Scope N_scope.
Definition answer (b : bool) : nat := if b then 1%nat else 0%nat.
Definition right : facts := gpt2 (small_file 2 5 4 1 0 14 true).
Definition wrong : facts :=
  {| tokenizer_of := tokenizer_of right; size := 14; pairs := repeat (seq 0 14) 14 |}.
Definition ab : text := [97; 98].
Definition token : text := [60; 115; 62].
Definition cut_at (n : nat) (f : facts) (S : text) : list nat :=
  let claimed := T (tokenizer_of f) (firstn n S) ++ T (tokenizer_of f) (skipn n S) in
  let cert := [(n, Between)] in
  map answer [facts_ok f; cuts_allowed f S cert; rows_right f S cert claimed;
    if list_eq_dec N.eq_dec claimed (T (tokenizer_of f) S) then true else false].
Definition second (w : text) (strips : bool) : facts :=
  let t := tokenizer_of right in
  {| tokenizer_of := {| spaces := spaces t; words := words t; raw_tokens := raw_tokens t;
       normalizer := normalizer t; normalized_tokens := [markup w 902 strips]; signs := signs t;
       symbols := symbols t; other_symbol := other_symbol t; splits := splits t;
       model_of := model_of t |}; size := size right; pairs := pairs right |}.
Definition sentence : text := [98; 46; 32; 97].
Definition one_more : list nat :=
  let ids := T (tokenizer_of right) ab in
  map answer [facts_ok right; cuts_allowed right ab []; rows_right right ab [] (ids ++ [7]); false].
Close Scope N_scope.
"""


HYPOTHESES = {
    "cut_at 1%nat wrong ab": [0, 1, 1, 0],
    "cut_at 1%nat right token": [1, 0, 1, 0],
    "cut_at 1%nat right ab": [1, 0, 1, 0],
    "cut_at 2%nat (second [98; 46]%N false) sentence": [1, 1, 1, 1],
    "cut_at 2%nat (second [46; 32]%N false) sentence": [1, 0, 1, 0],
    "cut_at 2%nat (second [46]%N true) sentence": [1, 0, 1, 0],
    "one_more": [1, 1, 0, 0],
}
"""`facts_ok`, `cuts_allowed`, `rows_right`, and whether the claimed ids are the text's: one of the
hypotheses is missing (pairs, tokens, characters, the second search, the end), and the ids are not.
"b. a" cut at 2 is right beside a token of the second search, not inside one or where it strips."""


def test_the_end_theorem_needs_its_hypotheses(compiled: tuple[Path, str]) -> None:
    imports = "PatternPairs Pipeline EndToEnd Instances"
    values = computed(compiled[0], imports, [f"[{term}]" for term in HYPOTHESES], DEFINITIONS)
    assert dict(zip(HYPOTHESES, values, strict=True)) == {t: [h] for t, h in HYPOTHESES.items()}
