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

Definition gpt2_1 : family := (14,
  [Alt (Seq (One [3]) (One [11])) (Alt (Seq (One [3]) (One [12])) (Alt (Seq (One [3]) (Seq (One
  [10]) (One [7]))) (Alt (Seq (One [3]) (Seq (One [13]) (One [7]))) (Alt (Seq (One [3]) (One [9]))
  (Alt (Seq (One [3]) (Seq (One [8]) (One [8]))) (Alt (Seq (One [3]) (One [6])) (Alt (Seq (Repeated
  [2] 0 (Some 1) Greedy) (Repeated [5; 6; 7; 8; 9; 10; 11; 12; 13] 1 None Greedy)) (Alt (Seq
  (Repeated [2] 0 (Some 1) Greedy) (Repeated [4] 1 None Greedy)) (Alt (Seq (Repeated [2] 0 (Some 1)
  Greedy) (Repeated [0; 3] 1 None Greedy)) (Alt (Seq (Repeated [1; 2] 1 None Greedy) (Ahead [1; 2]
  true)) (Repeated [1; 2] 1 None Greedy)))))))))))],
  [[1; 2; 4; 5; 6; 7; 8; 9; 10; 11; 12; 13]; []; []; [1; 2; 4; 5; 7]; [0; 1; 2; 3; 5; 6; 7; 8; 9;
  10; 11; 12; 13]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3;
  4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]]).

Definition gpt2_2 : family := (11,
  [Alt (Seq (One [3]) (Alt (One [6]) (Alt (Seq (One [8]) (One [8])) (Alt (Seq (One [10]) (One [7]))
  (Seq (One [9]) (One [7])))))) (Alt (Seq (Repeated [2] 0 (Some 1) Greedy) (Repeated [5; 6; 7; 8; 9;
  10] 1 None Possessively)) (Alt (Seq (Repeated [2] 0 (Some 1) Greedy) (Repeated [4] 1 None
  Possessively)) (Alt (Seq (Repeated [2] 0 (Some 1) Greedy) (Repeated [0; 3] 1 None Possessively))
  (Alt (Seq (Repeated [1; 2] 1 None Possessively) (Ahead [] true)) (Alt (Seq (Repeated [1; 2] 1 None
  Greedy) (Ahead [1; 2] true)) (One [1; 2]))))))],
  [[1; 2; 4; 5; 6; 7; 8; 9; 10]; []; []; [1; 2; 4; 5; 7]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10]; [0; 1; 2;
  3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]; [0; 1; 2; 3; 4]]).

Definition gpt2_3 : family := (12,
  [Alt (Seq (One [4]) (Alt (One [7]) (Alt (Seq (One [9]) (One [9])) (Alt (Seq (One [11]) (One [8]))
  (Seq (One [10]) (One [8])))))) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Repeated [6; 7; 8; 9;
  10; 11] 1 None Possessively)) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Repeated [5] 1 None
  Possessively)) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Repeated [0; 4] 1 None Possessively))
  (Alt (Seq (Repeated [1; 2; 3] 1 None Possessively) (Ahead [2] true)) (Alt (Seq (Repeated [1; 2; 3]
  1 None Greedy) (Ahead [1; 2; 3] true)) (One [1; 2; 3]))))))],
  [[1; 2; 3; 5; 6; 7; 8; 9; 10; 11]; []; []; []; [1; 2; 3; 5; 6; 8]; [0; 1; 2; 3; 4; 6; 7; 8; 9; 10;
  11]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3;
  4; 5]; [0; 1; 2; 3; 4; 5]]).

Definition cl100k_1 : family := (15,
  [Alt (Alt (Seq (One [4]) (One [12])) (Alt (Seq (One [4]) (One [13])) (Alt (Seq (One [4]) (Seq (One
  [11]) (One [8]))) (Alt (Seq (One [4]) (Seq (One [14]) (One [8]))) (Alt (Seq (One [4]) (One [10]))
  (Alt (Seq (One [4]) (Seq (One [9]) (One [9]))) (Seq (One [4]) (One [7])))))))) (Alt (Seq (Repeated
  [0; 1; 3; 4] 0 (Some 1) Greedy) (Repeated [6; 7; 8; 9; 10; 11; 12; 13; 14] 1 None Greedy)) (Alt
  (Repeated [5] 1 (Some 3) Greedy) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Seq (Repeated [0; 4]
  1 None Greedy) (Repeated [2] 0 None Greedy))) (Alt (Seq (Repeated [1; 2; 3] 0 None Greedy)
  (Repeated [2] 1 None Greedy)) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy) (Ahead [1; 2; 3] true))
  (Repeated [1; 2; 3] 1 None Greedy))))))],
  [[1; 3; 5]; []; [0; 4; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 6; 7; 8;
  9; 10; 11; 12; 13; 14]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3;
  4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2;
  3; 4; 5]]).

Definition cl100k_2 : family := (12,
  [Alt (Seq (One [4]) (Alt (One [7]) (Alt (Seq (One [9]) (One [9])) (Alt (Seq (One [11]) (One [8]))
  (Seq (One [10]) (One [8])))))) (Alt (Seq (Repeated [0; 1; 3; 4] 0 (Some 1) Possessively) (Repeated
  [6; 7; 8; 9; 10; 11] 1 None Greedy)) (Alt (Repeated [5] 1 (Some 3) Greedy) (Alt (Seq (Repeated [3]
  0 (Some 1) Greedy) (Seq (Repeated [0; 4] 1 None Possessively) (Repeated [2] 0 None Greedy))) (Alt
  (Seq (Repeated [1; 2; 3] 0 None Greedy) (One [2])) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy)
  (Ahead [1; 2; 3] true)) (Repeated [1; 2; 3] 1 None Greedy))))))],
  [[1; 3; 5]; []; [0; 4; 5; 6; 7; 8; 9; 10; 11]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 6; 7; 8; 9; 10; 11];
  [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4;
  5]; [0; 1; 2; 3; 4; 5]]).

Definition cl100k_tiktoken_1 : family := (12,
  [Alt (Seq (One [4]) (Alt (One [7]) (Alt (Seq (One [9]) (One [9])) (Alt (Seq (One [11]) (One [8]))
  (Seq (One [10]) (One [8])))))) (Alt (Seq (Repeated [0; 1; 3; 4] 0 (Some 1) Possessively) (Repeated
  [6; 7; 8; 9; 10; 11] 1 None Possessively)) (Alt (Repeated [5] 1 (Some 3) Possessively) (Alt (Seq
  (Repeated [3] 0 (Some 1) Greedy) (Seq (Repeated [0; 4] 1 None Possessively) (Repeated [2] 0 None
  Possessively))) (Alt (Seq (Repeated [1; 2; 3] 1 None Possessively) (Ahead [] true)) (Alt (Seq
  (Repeated [1; 2; 3] 0 None Greedy) (One [2])) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy) (Ahead
  [1; 2; 3] true)) (One [1; 2; 3])))))))],
  [[1; 3; 5]; []; [0; 4; 5; 6; 7; 8; 9; 10; 11]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 6; 7; 8; 9; 10; 11];
  [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4;
  5]; [0; 1; 2; 3; 4; 5]]).

Definition cl100k_tiktoken_2 : family := (12,
  [Alt (Seq (One [4]) (Alt (One [7]) (Alt (Seq (One [9]) (One [9])) (Alt (Seq (One [11]) (One [8]))
  (Seq (One [10]) (One [8])))))) (Alt (Seq (Repeated [0; 1; 3; 4] 0 (Some 1) Possessively) (Repeated
  [6; 7; 8; 9; 10; 11] 1 None Possessively)) (Alt (Repeated [5] 1 (Some 3) Greedy) (Alt (Seq
  (Repeated [3] 0 (Some 1) Greedy) (Seq (Repeated [0; 4] 1 None Possessively) (Repeated [2] 0 None
  Possessively))) (Alt (Seq (Repeated [1; 2; 3] 1 None Possessively) (Ahead [] true)) (Alt (Seq
  (Repeated [1; 2; 3] 0 None Greedy) (One [2])) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy) (Ahead
  [1; 2; 3] true)) (One [1; 2; 3])))))))],
  [[1; 3; 5]; []; [0; 4; 5; 6; 7; 8; 9; 10; 11]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 6; 7; 8; 9; 10; 11];
  [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4;
  5]; [0; 1; 2; 3; 4; 5]]).

Definition qwen2_1 : family := (15,
  [Alt (Alt (Seq (One [4]) (One [12])) (Alt (Seq (One [4]) (One [13])) (Alt (Seq (One [4]) (Seq (One
  [11]) (One [8]))) (Alt (Seq (One [4]) (Seq (One [14]) (One [8]))) (Alt (Seq (One [4]) (One [10]))
  (Alt (Seq (One [4]) (Seq (One [9]) (One [9]))) (Seq (One [4]) (One [7])))))))) (Alt (Seq (Repeated
  [0; 1; 3; 4] 0 (Some 1) Greedy) (Repeated [6; 7; 8; 9; 10; 11; 12; 13; 14] 1 None Greedy)) (Alt
  (One [5]) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Seq (Repeated [0; 4] 1 None Greedy)
  (Repeated [2] 0 None Greedy))) (Alt (Seq (Repeated [1; 2; 3] 0 None Greedy) (Repeated [2] 1 None
  Greedy)) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy) (Ahead [1; 2; 3] true)) (Repeated [1; 2; 3]
  1 None Greedy))))))],
  [[1; 3; 5]; []; [0; 4; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 5; 6; 7;
  8; 9; 10; 11; 12; 13; 14]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2;
  3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1; 2; 3; 4; 5]; [0; 1;
  2; 3; 4; 5]]).

Definition o200k_1 : family := (27,
  [Alt (Seq (Repeated [0; 1; 3; 4; 5; 26] 0 (Some 1) Greedy) (Seq (Repeated [7; 8; 9; 10; 11; 12;
  13; 14; 15; 25; 26] 0 None Greedy) (Seq (Repeated [16; 17; 18; 19; 20; 21; 22; 23; 24; 25; 26] 1
  None Greedy) (Alt (Alt (Seq (One [4]) (One [13; 22])) (Alt (Seq (One [4]) (One [14; 23])) (Alt
  (Seq (One [4]) (Seq (One [12; 21]) (One [9; 18]))) (Alt (Seq (One [4]) (Seq (One [15; 24]) (One
  [9; 18]))) (Alt (Seq (One [4]) (One [11; 20])) (Alt (Seq (One [4]) (Seq (One [10; 19]) (One [10;
  19]))) (Seq (One [4]) (One [8; 17])))))))) Nothing)))) (Alt (Seq (Repeated [0; 1; 3; 4; 5; 26] 0
  (Some 1) Greedy) (Seq (Repeated [7; 8; 9; 10; 11; 12; 13; 14; 15; 25; 26] 1 None Greedy) (Seq
  (Repeated [16; 17; 18; 19; 20; 21; 22; 23; 24; 25; 26] 0 None Greedy) (Alt (Alt (Seq (One [4])
  (One [13; 22])) (Alt (Seq (One [4]) (One [14; 23])) (Alt (Seq (One [4]) (Seq (One [12; 21]) (One
  [9; 18]))) (Alt (Seq (One [4]) (Seq (One [15; 24]) (One [9; 18]))) (Alt (Seq (One [4]) (One [11;
  20])) (Alt (Seq (One [4]) (Seq (One [10; 19]) (One [10; 19]))) (Seq (One [4]) (One [8; 17]))))))))
  Nothing)))) (Alt (Repeated [6] 1 (Some 3) Greedy) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Seq
  (Repeated [0; 4; 5; 26] 1 None Greedy) (Repeated [2; 5] 0 None Greedy))) (Alt (Seq (Repeated [1;
  2; 3] 0 None Greedy) (Repeated [2] 1 None Greedy)) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy)
  (Ahead [1; 2; 3] true)) (Repeated [1; 2; 3] 1 None Greedy))))))],
  [[1; 3; 6]; []; [0; 4; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15; 16; 17; 18; 19; 20; 21; 22; 23; 24; 25;
  26]; []; [1; 3; 6]; [1; 3; 6]; [0; 1; 2; 3; 4; 5; 7; 8; 9; 10; 11; 12; 13; 14; 15; 16; 17; 18; 19;
  20; 21; 22; 23; 24; 25; 26]; [0; 1; 2; 3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1; 2;
  3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1; 2; 3; 5; 6]; [0; 1;
  2; 3; 5; 6]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10;
  11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8;
  9; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7;
  8; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8; 9; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5;
  6; 7; 8; 9; 10; 11; 12; 13; 14; 15]; [0; 1; 2; 3; 5; 6; 7; 8; 10; 11; 12; 13; 14; 15]; [0; 1; 2;
  3; 5; 6]; [1; 3; 6]]).

Definition tekken_1 : family := (10,
  [Alt (Seq (Repeated [0; 1; 3; 4; 9] 0 (Some 1) Greedy) (Seq (Repeated [6; 8; 9] 0 None Greedy)
  (Repeated [7; 8; 9] 1 None Greedy))) (Alt (Seq (Repeated [0; 1; 3; 4; 9] 0 (Some 1) Greedy) (Seq
  (Repeated [6; 8; 9] 1 None Greedy) (Repeated [7; 8; 9] 0 None Greedy))) (Alt (One [5]) (Alt (Seq
  (Repeated [3] 0 (Some 1) Greedy) (Seq (Repeated [0; 4; 9] 1 None Greedy) (Repeated [2; 4] 0 None
  Greedy))) (Alt (Seq (Repeated [1; 2; 3] 0 None Greedy) (Repeated [2] 1 None Greedy)) (Alt (Seq
  (Repeated [1; 2; 3] 1 None Greedy) (Ahead [1; 2; 3] true)) (Repeated [1; 2; 3] 1 None
  Greedy))))))],
  [[1; 3; 5]; []; [0; 5; 6; 7; 8; 9]; []; [1; 3; 5]; [0; 1; 2; 3; 4; 5; 6; 7; 8; 9]; [0; 1; 2; 3; 4;
  5]; [0; 1; 2; 3; 4; 5; 6]; [0; 1; 2; 3; 4; 5]; [1; 3; 5]]).

Definition deepseek_1 : family := (14,
  [Repeated [5] 1 (Some 3) Greedy; Repeated [10; 11; 12; 13] 1 None Greedy; Alt (Seq (One [4])
  (Repeated [6] 1 None Greedy)) (Alt (Seq (Repeated [0; 1; 3; 5; 9; 10; 12] 0 (Some 1) Greedy)
  (Repeated [6; 8; 9; 11; 12] 1 None Greedy)) (Alt (Seq (Repeated [3] 0 (Some 1) Greedy) (Seq
  (Repeated [4; 7; 13] 1 None Greedy) (Repeated [2] 0 None Greedy))) (Alt (Seq (Repeated [1; 2; 3] 0
  None Greedy) (Repeated [2] 1 None Greedy)) (Alt (Seq (Repeated [1; 2; 3] 1 None Greedy) (Ahead [1;
  2; 3] true)) (Repeated [1; 2; 3] 1 None Greedy)))))],
  [[1; 2; 3; 4; 5; 7; 10; 11; 12; 13]; [5; 10; 11; 12; 13]; [0; 4; 5; 6; 7; 8; 9; 10; 11; 12; 13];
  [5; 10; 11; 12; 13]; [0; 1; 3; 5; 8; 9; 10; 11; 12; 13]; [0; 1; 2; 3; 4; 6; 7; 8; 9; 10; 11; 12;
  13]; [0; 1; 2; 3; 4; 5; 7; 10; 11; 12; 13]; [0; 1; 3; 5; 6; 8; 9; 10; 11; 12; 13]; [0; 1; 2; 3; 4;
  5; 7; 10; 11; 12; 13]; [0; 1; 2; 3; 4; 5; 7; 10; 11; 12; 13]; [0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 13];
  [0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 13]; [0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 13]; [0; 1; 2; 3; 4; 5;
  6; 7; 8; 9; 10; 11; 12]]).

Definition families : list family := [gpt2_1; gpt2_2; gpt2_3; cl100k_1; cl100k_2;
  cl100k_tiktoken_1; cl100k_tiktoken_2; qwen2_1; o200k_1; tekken_1; deepseek_1].

(** In this order, the symbols of white space, and of line ends that may belong to what stands
    before. *)
Definition white_space : list (list nat * list nat) :=
  [([1; 2], []); ([1; 2], []); ([1; 2; 3], []); ([1; 2; 3], [2]); ([1; 2; 3], [2]); ([1; 2; 3],
  [2]); ([1; 2; 3], [2]); ([1; 2; 3], [2]); ([1; 2; 3], [2]); ([1; 2; 3], [2]); ([1; 2; 3], [2])].

(** Theorem 20: in every family the stored pairs hold whatever is no white space, and behind it
    white space that is no line end; in gpt2 line ends, too. *)
Theorem theorem_20 : forallb (fun '((size, _, pairs), (white, ends)) =>
    forallb (fun c => mem c white ||
      forallb (fun d => mem d ends || holds pairs c d) white) (seq 0 size))
  (combine families white_space) = true /\ length white_space = length families.
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
