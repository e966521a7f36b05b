(** Theorem 60, the sure cuts of a row of Splits: proofs/compiled-call.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns PatternPairs Rows.
Import ListNotations.

(** Conditions (b) and (c): each run that has just read c, whatever it read before, dies on d, and hits
    before d exactly if it hits before END. *)
Definition dies_there (m : machine) (c d : nat) : bool :=
  forallb (fun x => same_at_cut m d (to x c)) (states m).
(** Condition (a): the run that begins at c hits before d. *)
Definition hits_there (m : machine) (c d : nat) : bool := hit (to (start m) c) (Some d).

(** (c, d) is sure: (a) in some stage; (b) and (c) in it and in those before. *)
Fixpoint sure_pair (row : list machine) (c d : nat) : bool :=
  match row with
  | [] => false
  | m :: rest => dies_there m c d && (hits_there m c d || sure_pair rest c d)
  end.

Lemma sure_cons m rest c d :
  sure_pair (m :: rest) c d = dies_there m c d && (hits_there m c d || sure_pair rest c d).
Proof. reflexivity. Qed.

Section Sure.
Variable A : Type.
Variable symbol : A -> nat.
Variable size : nat.
Hypothesis small : forall a, symbol a < size.

Section Stage.
Variable t : tree.
(** The machine is abstract here: computing it takes long. *)
Variable M : machine.
Hypothesis start_is : start M = [compile t].
Hypothesis machine_fine : machine_ok size M = true.
Notation pattern := (tree_regex symbol t).
Variables a b : A.
Variable W : list A.
Hypothesis dies : dies_there M (symbol a) (symbol b) = true.

Lemma read_cut u : same_at_cut M (symbol b) (read (start M) (map symbol (u ++ [a]))) = true.
Proof.
  unfold dies_there in dies. rewrite forallb_forall in dies. rewrite map_app, read_app.
  apply dies, (reached A symbol size small M machine_fine).
  exact (proj1 (fine_parts A symbol size small M machine_fine)).
Qed.

Lemma match_same u : match_length pattern ((u ++ [a]) ++ b :: W) = match_length pattern (u ++ [a]).
Proof.
  pose proof (read_cut u) as h. apply andb_prop in h as [h n]. apply eqb_prop in h.
  apply in_states_spec in n.
  rewrite !(length_of A symbol t M start_is).
  rewrite (first_alike A symbol _ _ b W h (dead_first A symbol size small M machine_fine _ W n)).
  destruct (first A symbol (start M) (u ++ [a])); [|easy]. simpl. rewrite !app_length. f_equal. lia.
Qed.

(** A gap that holds both goes on to where the first gap of the right part ends. *)
Lemma gap_same u : gap A pattern ((u ++ [a]) ++ b :: W) = gap A pattern (u ++ [a]) \/
  gap A pattern (u ++ [a]) = length (u ++ [a]) /\
  gap A pattern ((u ++ [a]) ++ b :: W) = length (u ++ [a]) + first_end pattern (b :: W).
Proof.
  induction u as [|x u IH]; [pose proof (match_same []) as e|pose proof (match_same (x :: u)) as e].
  - cbn [app gap] in *. rewrite e. destruct (match_length pattern [a]); [now left|].
    unfold first_end. cbn [gap length]. destruct (match_length pattern (b :: W)); auto.
  - rewrite <- !app_comm_cons in *. cbn [gap length]. rewrite e.
    destruct (match_length pattern (x :: u ++ [a])); [now left|]. destruct IH as [IH|IH]; [left|right]; lia.
Qed.

Lemma end_same u : first_end pattern ((u ++ [a]) ++ b :: W) = first_end pattern (u ++ [a]) \/
  first_end pattern (u ++ [a]) = length (u ++ [a]) /\
  first_end pattern ((u ++ [a]) ++ b :: W) = length (u ++ [a]) + first_end pattern (b :: W).
Proof.
  unfold first_end at 1 2 3 4. rewrite match_same.
  destruct (match_length pattern (u ++ [a])); [now left|apply gap_same].
Qed.

(** Where a alone is a match, it stands in no gap. *)
Lemma end_hit u : hits_there M (symbol a) (symbol b) = true ->
  first_end pattern ((u ++ [a]) ++ b :: W) = first_end pattern (u ++ [a]).
Proof.
  intros h. pose proof (read_cut []) as s. apply andb_prop in s as [s _]. apply eqb_prop in s.
  simpl in s. unfold hits_there in h. rewrite h in s.
  assert (match_length pattern [a] <> None) as alone.
  { rewrite (length_of A symbol t M start_is), (hit_first A symbol (start M) [a] s). easy. }
  unfold first_end. rewrite match_same. destruct (match_length pattern (u ++ [a])); [easy|].
  induction u as [|x u IH].
  - pose proof (match_same []) as e. cbn [app gap] in *. rewrite e.
    now destruct (match_length pattern [a]).
  - pose proof (match_same (x :: u)) as e. rewrite <- !app_comm_cons in *. cbn [gap]. rewrite e.
    destruct (match_length pattern (x :: u ++ [a])); [easy|]. now rewrite IH.
Qed.
End Stage.

(** Theorem 60: a pre-token ends between the two, and the pre-tokens are those of both parts. *)
Theorem theorem_60 : forall (trees : list tree) (c d : nat),
  forallb (tree_ok size) trees = true -> sure_pair (map (machine_of size) trees) c d = true ->
  pair_parts (pieces_of_row (splits_of symbol trees)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros trees c d. induction trees as [|t trees IH]; intros fine ok; [discriminate ok|].
  apply andb_prop in fine as [f fine].
  pose proof (proj2 (andb_prop _ _ f)) as fm.
  rewrite map_cons, sure_cons in ok. apply andb_prop in ok as [dies ok].
  pose proof (proj1 (andb_prop _ _ f)) as n. apply negb_true_iff in n.
  pose proof (pattern_pieces A symbol t n) as restartable.
  change (splits_of symbol (t :: trees))
    with (pieces (first_end (tree_regex symbol t)) :: splits_of symbol trees).
  apply lemma_23. apply orb_prop in ok as [ok|ok].
  - left. apply (safe_parts A _ _ _ restartable), (lemma_17 A _ restartable).
    intros u a b W <- <-. exact (end_hit t (machine_of size t) eq_refl fm a b W dies u ok).
  - right. split; [|exact (IH fine ok)]. apply (glues_divides A _ _ _ restartable).
    intros u a b W <- <-. exact (end_same t (machine_of size t) eq_refl fm a b W dies u).
Qed.
End Sure.

(** A row of two Splits with gaps, computed: digits (0) by themselves, then rows of letters (1); 2 is
    anything else. *)
Definition digits_letters : list tree := [One [0]; Repeated [1] 1 None Greedy].
Definition digits_letters_sure : list (list nat) :=
  let row := map (machine_of 3) digits_letters in
  map (fun c => filter (sure_pair row c) (List.seq 0 3)) (List.seq 0 3).
Example sure_pairs_computed : forallb (tree_ok 3) digits_letters = true /\
  digits_letters_sure = [[0; 1; 2]; [0; 2]; []].
Proof. split; vm_compute; reflexivity. Qed.

(** The page's table "Each hypothesis is needed": the pieces of c d in one text and in two. *)
Definition both_ways (trees : list tree) (L R : list nat) :=
  let pieces := pieces_of_row (splits_of (fun a => a) trees) in
  (pieces (L ++ R), pieces L ++ pieces R).
(** (a): in a gap of all stages; (b): a run goes on over the cut; (c): a hit at END only. *)
Example theorem_60_needs_each_condition :
  both_ways [One [0]] [2] [2] = ([[2; 2]], [[2]; [2]]) /\
  both_ways [Repeated [1] 1 None Greedy] [1] [1] = ([[1; 1]], [[1]; [1]]) /\
  both_ways [Alt (Seq (Repeated [1] 2 (Some 2) Greedy) (Ahead [] true)) (One [0; 1; 2])] [1; 1] [2] =
    ([[1]; [1]; [2]], [[1; 1]; [2]]).
Proof. repeat split; vm_compute; reflexivity. Qed.
