(** Rows of Splits (Isolated): Lemma 23, and the pairs of a row, decided: proofs/23-rows-of-splits.md and
    42-windows-and-rows.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns PatternPairs Ids.
Import ListNotations.

Section Rows.
Variable A : Type.

(** A way to cut a text into pieces; for one Split [pieces m], its matches and the gaps between. *)
Definition splitter : Type := list A -> list (list A).

(** The pieces of a row: each splitter cuts each piece of the one before as a text of its own. *)
Fixpoint pieces_of_row (row : list splitter) (S : list A) : list (list A) :=
  match row with
  | [] => [S]
  | F :: rest => flat_map (pieces_of_row rest) (F S)
  end.

(** Each cut with its left neighbour in c and its right neighbour in d leaves the pieces as they
    are, or the ids. *)
Definition pair_parts {B} (F : list A -> list B) (c d : A -> Prop) : Prop :=
  forall u x y R, c x -> d y -> F ((u ++ [x]) ++ y :: R) = F (u ++ [x]) ++ F (y :: R).

(** ... or divides one piece of the text, into the last one of the left part and the first one of the
    right part. *)
Definition pair_divides (F : splitter) (c d : A -> Prop) : Prop :=
  forall u x y R, c x -> d y ->
    F ((u ++ [x]) ++ y :: R) = F (u ++ [x]) ++ F (y :: R) \/
    exists l v w r, F (u ++ [x]) = l ++ [v ++ [x]] /\ F (y :: R) = (y :: w) :: r /\
                    F ((u ++ [x]) ++ y :: R) = l ++ ((v ++ [x]) ++ y :: w) :: r.

Lemma row_cons F rest S : pieces_of_row (F :: rest) S = flat_map (pieces_of_row rest) (F S).
Proof. easy. Qed.

Lemma row_one F S : pieces_of_row [F] S = F S.
Proof. simpl. induction (F S); simpl; congruence. Qed.

(** Lemma 23: a pair that leaves the pieces of the first Split leaves those of the row; so does one
    that divides a piece of the first Split, if it leaves the pieces of the rest of the row. *)
Theorem lemma_23 : forall (F : splitter) (rest : list splitter) (c d : A -> Prop),
  pair_parts F c d \/ pair_divides F c d /\ pair_parts (pieces_of_row rest) c d ->
  pair_parts (pieces_of_row (F :: rest)) c d.
Proof.
  intros F rest c d [h|[g h]] u x y R cx dy; rewrite !row_cons, <- flat_map_app.
  - f_equal. now apply h.
  - destruct (g u x y R cx dy) as [->|(l & v & w & r & -> & -> & ->)]; [easy|].
    rewrite !flat_map_app. cbn [flat_map]. now rewrite (h v x y w cx dy), app_nil_r, <- !app_assoc.
Qed.

(** The ids are those of the pieces, for any function of one piece. *)
Lemma parts_ids (F : splitter) c d {Id} (encode : list A -> list Id) :
  pair_parts F c d -> pair_parts (fun S => concat (map encode (F S))) c d.
Proof. intros h u x y R cx dy. now rewrite (h u x y R cx dy), map_app, concat_app. Qed.

(** ** One Split *)

(** The last piece of the left part stays, or goes on to the end of the first piece of the right
    part. *)
Definition glues (m : list A -> nat) (c d : A -> Prop) : Prop :=
  forall u x y R, c x -> d y ->
    m ((u ++ [x]) ++ y :: R) = m (u ++ [x]) \/
    m (u ++ [x]) = length (u ++ [x]) /\ m ((u ++ [x]) ++ y :: R) = length (u ++ [x]) + m (y :: R).

Lemma safe_parts m c d : ends_first_piece m -> safe m c d -> pair_parts (pieces m) c d.
Proof.
  intros restartable h u x y R cx dy. apply (undisturbed_pieces A m restartable).
  apply (clean_undisturbed A m restartable). now apply h.
Qed.

Lemma ends_in m (u : list A) x : ends_first_piece m -> m (u ++ [x]) < length (u ++ [x]) ->
  exists u' : list A, skipn (m (u ++ [x])) (u ++ [x]) = u' ++ [x] /\ length u' < length u.
Proof.
  intros restartable lt. destruct (restartable (u ++ [x])) as [lo _]; [now destruct u|].
  rewrite app_length in lt. simpl in lt. exists (skipn (m (u ++ [x])) u).
  rewrite skipn_app. replace (m (u ++ [x]) - length u) with 0 by lia.
  rewrite skipn_length. split; [easy|lia].
Qed.

Lemma glues_divides m c d : ends_first_piece m -> glues m c d -> pair_divides (pieces m) c d.
Proof.
  intros restartable g u x y R cx dy. remember (@length A u) as n eqn:e. revert u e.
  induction n as [n IH] using lt_wf_ind. intros u e.
  assert (u ++ [x] <> []) as ne by now destruct u.
  assert ((u ++ [x]) ++ y :: R <> []) as ne' by now destruct u.
  destruct (restartable _ ne) as [lo hi].
  rewrite (pieces_step A m restartable _ ne'), (pieces_step A m restartable _ ne).
  destruct (g u x y R cx dy) as [same|[whole longer]].
  - rewrite same, firstn_prefix by easy. destruct (Nat.eq_dec (m (u ++ [x])) (length (u ++ [x]))) as [w|w].
    + left. rewrite w, skipn_all, skipn_suffix, Nat.sub_diag by easy. easy.
    + destruct (ends_in m u x restartable) as (u' & es & lt); [lia|].
      assert (skipn (m (u ++ [x])) ((u ++ [x]) ++ y :: R) = (u' ++ [x]) ++ y :: R) as es'.
      { rewrite skipn_app, es. now replace (m (u ++ [x]) - length (u ++ [x])) with 0 by lia. }
      rewrite es, es'. destruct (IH (length u') ltac:(lia) u' eq_refl) as [->|(l & v & w' & r & -> & q & ->)].
      * now left.
      * right. exists (firstn (m (u ++ [x])) (u ++ [x]) :: l), v, w', r. easy.
  - right. destruct (restartable (y :: R)) as [lo' hi']; [easy|].
    destruct (m (y :: R)) as [|k] eqn:k1; [lia|].
    exists [], u, (firstn k R), (pieces m (skipn k R)).
    rewrite whole, firstn_all, skipn_all, longer, (pieces_step A m restartable (y :: R)), k1 by easy.
    split; [easy|]. split; [easy|].
    rewrite firstn_app, skipn_app, firstn_all2, skipn_all2 by lia.
    replace (length (u ++ [x]) + S k - length (u ++ [x])) with (S k) by lia. easy.
Qed.

(** ** Many cuts at once *)
Section Cuts.
Variable B : Type.
Variable F : list A -> list B.
Variable certified : A -> A -> bool.
Hypothesis sound : forall a b, certified a b = true -> pair_parts F (eq a) (eq b).

(** The place p stands between two such characters. *)
Definition certified_at (S : list A) (p : nat) : bool :=
  match skipn (p - 1) S with a :: b :: _ => (0 <? p) && certified a b | _ => false end.

Lemma certified_parts S p : certified_at S p = true -> F S = F (firstn p S) ++ F (skipn p S).
Proof.
  unfold certified_at. intros h. destruct (skipn (p - 1) S) as [|a [|b R]] eqn:e; [easy|easy|].
  apply andb_prop in h as [lt h]. apply Nat.ltb_lt in lt.
  pose proof (sound a b h (firstn (p - 1) S) a b R eq_refl eq_refl) as parts.
  assert (length (firstn (p - 1) S) = p - 1) as n.
  { apply (f_equal (@length A)) in e. rewrite skipn_length in e. simpl in e.
    rewrite firstn_length. lia. }
  assert (S = (firstn (p - 1) S ++ [a]) ++ b :: R) as es.
  { rewrite <- app_assoc. simpl. now rewrite <- e, firstn_skipn. }
  revert parts es n. generalize (firstn (p - 1) S) as u. intros u parts -> n.
  assert (length (u ++ [a]) = p) as <- by (rewrite app_length, n; simpl; lia).
  now rewrite firstn_prefix, firstn_all, skipn_suffix, Nat.sub_diag by easy.
Qed.

(** Theorem 43 for rows: all cuts at such pairs may be made at once; F gives pieces, or ids. *)
Theorem theorem_43_pairs : forall (S : list A) (cuts : list nat),
  cuts_ok certified_at S cuts = true -> F S = concat (map F (segments cuts S)).
Proof.
  intros S cuts h. apply andb_prop in h as [up h]. rewrite forallb_forall in h.
  assert (forall f R, ascending f cuts (f + length R) = true ->
    (forall c, In c cuts -> certified_at R (c - f) = true) ->
    F R = concat (map F (segments_from A f cuts R))) as H; [|apply (H 0 S up)].
  - clear S up h. induction cuts as [|c cuts IH]; intros f R up h; [simpl; now rewrite app_nil_r|].
    pose proof (ascending_above _ _ _ c up (or_introl eq_refl)) as lt.
    simpl in up. apply andb_prop in up as [_ up]. simpl.
    rewrite (certified_parts R (c - f)) by (apply h; now left). f_equal.
    apply IH.
    + rewrite skipn_length. replace (c + (length R - (c - f))) with (f + length R) by lia. easy.
    + intros d i. pose proof (ascending_above _ _ _ d up i) as above.
      specialize (h d (or_intror i)). unfold certified_at in *.
      rewrite skipn_add. replace (c - f + (d - c - 1)) with (d - f - 1) by lia.
      destruct (skipn (d - f - 1) R) as [|a [|b r]]; [easy|easy|].
      apply andb_prop in h as [_ ->]. now replace (0 <? d - c) with true by (symmetry; apply Nat.ltb_lt; lia).
  - intros c i. rewrite Nat.sub_0_r. auto.
Qed.

End Cuts.

(** ** The checker *)

(** A pair of a row: a cut of the first Split, or one that it glues and the rest of the row has. *)
Fixpoint row_pair_ok (row : list machine) (c d : nat) : bool :=
  match row with
  | [] => false
  | m :: rest => pair_ok m c d || cut_ok true m c d && row_pair_ok rest c d
  end.

Lemma row_pair_cons m rest c d :
  row_pair_ok (m :: rest) c d = pair_ok m c d || cut_ok true m c d && row_pair_ok rest c d.
Proof. reflexivity. Qed.

Definition row_ok (size : nat) (trees : list tree) (pairs : table) : bool :=
  let row := map (machine_of size) trees in
  forallb (tree_ok size) trees &&
  forallb (fun c => forallb (row_pair_ok row c) (nth c pairs [])) (List.seq 0 (length pairs)).

Variable symbol : A -> nat.

(** The Splits of trees. *)
Definition splits_of : list tree -> list splitter :=
  map (fun t => pieces (first_end (tree_regex symbol t))).

Lemma row_pair_parts size trees c d : (forall a, symbol a < size) ->
  forallb (tree_ok size) trees = true -> row_pair_ok (map (machine_of size) trees) c d = true ->
  pair_parts (pieces_of_row (splits_of trees)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros small. induction trees as [|t trees IH]; intros fine ok; [discriminate ok|].
  rewrite map_cons, row_pair_cons in ok. apply andb_prop in fine as [f fine].
  pose proof (proj1 (andb_prop _ _ f)) as n. apply negb_true_iff in n.
  pose proof (pattern_pieces A symbol t n) as restartable.
  change (splits_of (t :: trees)) with (pieces (first_end (tree_regex symbol t)) :: splits_of trees).
  apply lemma_23. apply orb_prop in ok as [ok|ok].
  - left. exact (safe_parts _ _ _ restartable (pair_safe A symbol size t c d small f ok)).
  - right. apply andb_prop in ok as [ok rest]. split; [|exact (IH fine rest)].
    apply (glues_divides _ _ _ restartable). intros u a b W <- <-.
    destruct (end_over A symbol size small t (machine_of size t) eq_refl
                (proj2 (andb_prop _ _ f)) n true a b W ok u) as [e|[_ e]]; [left|right]; exact e.
Qed.

(** Theorem 42 for pairs, that the checker is right: each pair of a table that it accepts leaves the
    pieces of the row as they are. *)
Theorem theorem_42 : forall (size : nat) (trees : list tree) (pairs : table),
  (forall a, symbol a < size) -> row_ok size trees pairs = true ->
  forall c d, holds pairs c d = true ->
    pair_parts (pieces_of_row (splits_of trees)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros size trees pairs small h c d p. apply andb_prop in h as [fine w].
  apply (row_pair_parts size); [exact small|exact fine|].
  apply holds_spec in p as [lt i]. rewrite forallb_forall in w. specialize (w c).
  rewrite in_seq in w. specialize (w (conj (Nat.le_0_l c) lt)). rewrite forallb_forall in w.
  exact (w d i).
Qed.
End Rows.

Arguments pieces_of_row {A}.
Arguments pair_parts {A B}.
Arguments pair_divides {A}.
Arguments certified_at {A}.
Arguments splits_of {A}.

(** ** The pages' counterexamples, over symbols *)
Notation cut := (fun trees S => pieces_of_row (splits_of (fun c : nat => c) trees) S).
Notation other := (One [0; 1; 2; 3; 4]).

(** Theorem 41: letters (0) only, gaps kept. No attempt goes on over the cut, but the gap does. *)
Example theorem_41_needs_a_match_behind_the_gap :
  let words := Repeated [0] 1 None Greedy in let m := machine_of 2 words in
  cut [words] [0; 1; 1; 0] = [[0]; [1; 1]; [0]] /\ cut [words] [0; 1] = [[0]; [1]] /\
  forallb (fun x => same_at_cut m 1 (to x 1)) (states m) = true /\
  pair_ok m 1 1 = false /\ cut_ok true m 1 1 = true.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Theorem 41: the pattern ab|b fails at a, and matches the whole of ab. *)
Example theorem_41_needs_what_fails_to_fail :
  let ab := Alt (Seq (One [0]) (One [1])) (One [1]) in
  cut [ab] [0; 1] = [[0; 1]] /\ cut [ab] [0] = [[0]] /\ cut [ab] [1] = [[1]] /\
  pair_ok (machine_of 2 ab) 0 1 = false.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Lemma 23: stages [1-4]{1,3} and 12|34|any. The second has a cut between 2 and 3. *)
Example lemma_23_needs_a_clean_split :
  let stages := [Repeated [1; 2; 3; 4] 1 (Some 3) Greedy;
                 Alt (Seq (One [1]) (One [2])) (Alt (Seq (One [3]) (One [4])) other)] in
  cut stages [1; 2; 3; 4] = [[1; 2]; [3]; [4]] /\
  cut stages [1; 2] ++ cut stages [3; 4] = [[1; 2]; [3; 4]] /\
  map (fun t => pair_ok (machine_of 5 t) 2 3) stages = [false; true] /\
  row_pair_ok (map (machine_of 5) stages) 2 3 = false.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Theorem 42: stages 1+ and a+|b, with a 0, b 1 and 1 2: a gap, and one match of the second. *)
Example theorem_42_needs_an_edge :
  let stages := [Repeated [2] 1 None Greedy; Alt (Repeated [0] 1 None Greedy) (One [1])] in
  cut stages [0; 0; 1] = [[0; 0]; [1]] /\
  cut stages [0] ++ cut stages [0; 1] = [[0]; [0]; [1]] /\
  map (fun t => cut_ok true (machine_of 3 t) 0 0) stages = [true; true] /\
  row_pair_ok (map (machine_of 3) stages) 0 0 = false.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Theorem 14: that p is a boundary of S is not enough. The pattern is ab(?=c)|a|b|c. *)
Example theorem_14_needs_the_left_part :
  let before_c := Alt (Seq (One [0]) (Seq (One [1]) (Ahead [2] false))) other in
  cut [before_c] [0; 1; 2] = [[0; 1]; [2]] /\ cut [before_c] [0; 1] = [[0]; [1]].
Proof. split; vm_compute; reflexivity. Qed.

(** Theorem 15: a boundary of two parts need not be one of S. Spaces are 1, newlines 2, and the pattern is
    \s*\n+|\s+(?!\S)|\s+|any. *)
Example theorem_15_needs_a_boundary_of_S :
  let lines := Alt (Seq (Repeated [1; 2] 0 None Greedy) (Repeated [2] 1 None Greedy))
    (Alt (Seq (Repeated [1; 2] 1 None Greedy) (Ahead [1; 2] true)) (Alt (Repeated [1; 2] 1 None Greedy) other)) in
  cut [lines] [0; 2; 1; 2; 0] = [[0]; [2; 1; 2]; [0]] /\
  cut [lines] [0; 2; 1] = [[0]; [2]; [1]] /\ cut [lines] [1; 2; 0] = [[1; 2]; [0]].
Proof. repeat split; vm_compute; reflexivity. Qed.
