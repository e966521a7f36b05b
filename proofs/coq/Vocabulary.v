(** Lemma 24, vocabulary-forced cuts: proofs/24-vocabulary-forced-cuts.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams.
Import ListNotations.

Section Vocabulary.
Variable A : Type.
Variable V : list A -> Prop.

(** No token of V occurs in w across p. *)
Definition none_across (w : list A) (p : nat) : Prop :=
  forall s e, s < p < e -> e <= length w -> ~ V (slice w s e).

Lemma token_slice (l : list (list A)) t r :
  slice (concat (l ++ t :: r)) (size l) (size l + length t) = t.
Proof.
  unfold slice. rewrite concat_app, skipn_app. unfold size at 3 4.
  rewrite skipn_all2, Nat.sub_diag by easy. simpl.
  replace (size l + length t - size l) with (length t) by lia.
  rewrite firstn_app, Nat.sub_diag, firstn_all. apply app_nil_r.
Qed.

(** Some token lies across p, or p is a boundary. *)
Lemma boundary_or_across (s : list (list A)) p : p <= size s ->
  In p (boundaries s) \/
  exists l t r, s = l ++ t :: r /\ size l < p < size l + length t.
Proof.
  revert p. induction s as [|t s IH]; intros p le.
  - rewrite size_nil in le. left. now replace p with 0 by lia; left.
  - rewrite size_cons in le. destruct (Nat.eq_dec p 0) as [->|ne]; [left; apply boundary_0|].
    destruct (Nat.lt_ge_cases p (length t)) as [lt|ge].
    + right. exists [], t, s. rewrite size_nil. split; [easy|lia].
    + destruct (IH (p - length t)) as [h|(l & t' & r & -> & h)]; [lia| |].
      * left. right. apply in_map_iff. exists (p - length t). split; [lia|easy].
      * right. exists (t :: l), t', r. rewrite size_cons. split; [easy|lia].
Qed.

(** Lemma 24. The model may be any that gives tokens of V which, in their order, are the text. *)
Theorem lemma_24 : forall (model : list A -> list (list A)) (w : list A) (p : nat),
  concat (model w) = w -> (forall t, In t (model w) -> V t) -> p <= length w ->
  none_across w p -> In p (boundaries (model w)).
Proof.
  intros model w p whole tokens le none.
  destruct (boundary_or_across (model w) p) as [h|(l & t & r & e & h)]; [|easy|].
  - unfold size. now rewrite whole.
  - exfalso. apply (none (size l) (size l + length t)); [lia| |].
    + rewrite <- whole, e. fold (size (l ++ t :: r)). rewrite size_app, size_cons. lia.
    + rewrite <- whole, e, token_slice. apply tokens. rewrite e. apply in_elt.
Qed.

(** The pair is enough: if no token of V contains w[p-1] and w[p] side by side, none occurs
    across p. *)
Theorem lemma_24_pair : forall (l r : list A) (x y : A),
  (forall u v, ~ V (u ++ x :: y :: v)) -> none_across (l ++ x :: y :: r) (length l + 1).
Proof.
  intros l r x y no s e h le. rewrite app_length in le. simpl in le.
  assert (slice (l ++ x :: y :: r) s e = skipn s l ++ x :: y :: firstn (e - length l - 2) r) as ->.
  { unfold slice. rewrite skipn_app. replace (s - length l) with 0 by lia. simpl.
    rewrite firstn_app, firstn_all2; rewrite skipn_length; [|lia]. f_equal.
    replace (e - s - (length l - s)) with (S (S (e - length l - 2))) by lia. reflexivity. }
  apply no.
Qed.

(** ** Greedy merging *)
Variable priority : list A -> list A -> option nat.

(** Greedy merging gives tokens of V if V holds the atoms and what is merged. *)
Lemma tokens_of_V (w : list A) : (forall a, V [a]) ->
  (forall u v p, priority u v = Some p -> V (u ++ v)) ->
  forall t, In t (E priority w) -> V t.
Proof.
  intros atom merged. rewrite E_final.
  assert (forall t, In t (atoms w) -> V t) as h.
  { intros t i. apply in_map_iff in i as (a & <- & _). apply atom. }
  revert h. generalize (atoms w). intros s.
  induction s as [s st|s d s' st IH] using (final_induction A priority);
    rewrite (final_step _ _ s), st; [easy|]. intros h. apply IH.
  apply definition_1 in st as (l & u & v & r & (-> & p & pr & _) & _ & ->).
  intros t i. apply in_app_or in i as [i|[<-|i]].
  - apply h, in_or_app. now left.
  - now apply (merged u v p).
  - apply h, in_or_app. right. right. now right.
Qed.

(** Lemma 24 for greedy merging: E(w) = E(w[:p]) E(w[p:]). *)
Theorem lemma_24_merging : forall (w : list A) (p : nat),
  (forall t, In t (E priority w) -> V t) -> p <= length w -> none_across w p ->
  E priority w = E priority (firstn p w) ++ E priority (skipn p w).
Proof.
  intros w p tokens le none. apply lemma_4_parts. apply lemma_24; auto. apply E_concat.
Qed.

(** With the vocabulary of the merges. *)
Corollary lemma_24_vocabulary : forall (w : list A) (p : nat),
  (forall a, V [a]) -> (forall u v q, priority u v = Some q -> V (u ++ v)) ->
  p <= length w -> none_across w p ->
  E priority w = E priority (firstn p w) ++ E priority (skipn p w).
Proof. intros w p atom merged. apply lemma_24_merging. now apply tokens_of_V. Qed.

End Vocabulary.

Arguments none_across {A}.

(** That the pair itself is no token is not enough: "ab" is none, "abc" is one. *)
Example lemma_24_needs_all_tokens :
  let p := by_pairs [([1], [2]); ([0], [1; 2])] in
  E p [0; 1; 2] = [[0; 1; 2]] /\ E p [0; 1] = [[0]; [1]].
Proof. split; vm_compute; reflexivity. Qed.
