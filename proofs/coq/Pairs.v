(** Pre-tokenizers that look at two neighbours only: Theorem 4.8, proofs/4.8-pair-local-pre-tokenizers.md. *)
From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Section Pairs.
Variable A : Type.
(** Whether a piece ends between these two neighbours. *)
Variable parts : A -> A -> bool.

(** The pieces of a text, read from the right. *)
Fixpoint pair_pieces (S : list A) : list (list A) :=
  match S with
  | [] => []
  | x :: S' =>
      match pair_pieces S' with
      | (y :: w) :: ws => if parts x y then [x] :: (y :: w) :: ws else (x :: y :: w) :: ws
      | ws => [x] :: ws
      end
  end.

Lemma pair_pieces_unfold x S : pair_pieces (x :: S) =
  match pair_pieces S with
  | (y :: w) :: ws => if parts x y then [x] :: (y :: w) :: ws else (x :: y :: w) :: ws
  | ws => [x] :: ws
  end.
Proof. reflexivity. Qed.

Lemma pair_pieces_some y S : exists w ws, pair_pieces (y :: S) = (y :: w) :: ws.
Proof.
  revert y. induction S as [|z S IH]; intros y; [now exists [], []|].
  destruct (IH z) as (w & ws & e). rewrite pair_pieces_unfold, e. destruct (parts y z); eauto.
Qed.

Lemma pair_pieces_cons x y S : pair_pieces (x :: y :: S) =
  if parts x y then [x] :: pair_pieces (y :: S)
  else (x :: hd [] (pair_pieces (y :: S))) :: tl (pair_pieces (y :: S)).
Proof.
  destruct (pair_pieces_some y S) as (w & ws & e). rewrite pair_pieces_unfold, e.
  now destruct (parts x y).
Qed.

Lemma pair_pieces_concat S : concat (pair_pieces S) = S.
Proof.
  induction S as [|x [|y S] IH]; [easy|easy|]. rewrite pair_pieces_cons.
  destruct (pair_pieces_some y S) as (w & ws & e). rewrite e in *. simpl in *.
  destruct (parts x y); simpl; congruence.
Qed.

(** A cut where the pre-tokenizer parts leaves the pieces as they are. *)
Theorem pairs_part : forall (l r : list A) (x y : A), parts x y = true ->
  pair_pieces (l ++ x :: y :: r) = pair_pieces (l ++ [x]) ++ pair_pieces (y :: r).
Proof.
  intros l r x y h. induction l as [|a l IH].
  - cbn [app]. now rewrite pair_pieces_cons, h.
  - destruct l as [|b l].
    + cbn [app] in *. rewrite !(pair_pieces_cons a x), IH.
      destruct (pair_pieces_some x []) as (w & ws & e). rewrite e. now destruct (parts a x).
    + rewrite <- !app_comm_cons in *. rewrite !(pair_pieces_cons a b), IH.
      destruct (pair_pieces_some b (l ++ [x])) as (w & ws & e). rewrite e. now destruct (parts a b).
Qed.

(** The ids, for any function of one piece: the model may drop pieces of white space. *)
Definition pair_ids {Id} (encode : list A -> list Id) (S : list A) : list Id :=
  concat (map encode (pair_pieces S)).

Corollary pairs_lossless : forall (l r : list A) (x y : A), parts x y = true ->
  forall (Id : Type) (encode : list A -> list Id),
    pair_ids encode (l ++ x :: y :: r) = pair_ids encode (l ++ [x]) ++ pair_ids encode (y :: r).
Proof.
  intros l r x y h Id encode. unfold pair_ids. now rewrite pairs_part, map_app, concat_app.
Qed.
End Pairs.

Arguments pair_ids {A} parts {Id}.

(** ** (a) BERT *)
Section Bert.
Variable A : Type.
(** White space, punctuation and CJK as the engine knows them. *)
Variable separator : A -> bool.
(** What the normalizer makes of one character: it maps, deletes, or puts spaces around CJK. Stages
    that reorder combining marks are not of this form. *)
Variable normal : A -> list A.
(** What a separator becomes begins and ends with one. *)
Hypothesis kept : forall c, separator c = true ->
  exists x w y, normal c = x :: w /\ separator x = true /\ last (x :: w) x = y /\ separator y = true.

Definition bert_parts (x y : A) : bool := separator x || separator y.
Definition bert_ids {Id} (encode : list A -> list Id) (S : list A) : list Id :=
  pair_ids bert_parts encode (flat_map normal S).

Lemma bert_side {Id} (encode : list A -> list Id) l r :
  (exists u x, l = u ++ [x] /\ separator x = true) \/ (exists y v, r = y :: v /\ separator y = true) ->
  pair_ids bert_parts encode (l ++ r) = pair_ids bert_parts encode l ++ pair_ids bert_parts encode r.
Proof.
  intros h. destruct r as [|y r]; [now rewrite !app_nil_r|].
  destruct l as [|a l] using rev_ind; [easy|]. clear IHl.
  replace ((l ++ [a]) ++ y :: r) with (l ++ a :: y :: r) by now rewrite <- app_assoc.
  apply pairs_lossless. unfold bert_parts. destruct h as [(u & x & e & s)|(z & v & e & s)].
  - apply app_inj_tail in e as [_ ->]. now rewrite s.
  - injection e as -> _. rewrite s. apply orb_true_r.
Qed.

(** Theorem 4.8 (a), for normalizers that work on one character at a time. *)
Theorem theorem_4_8_bert : forall (l r : list A),
  (exists u x, l = u ++ [x] /\ separator x = true) \/ (exists y v, r = y :: v /\ separator y = true) ->
  forall (Id : Type) (encode : list A -> list Id),
    bert_ids encode (l ++ r) = bert_ids encode l ++ bert_ids encode r.
Proof.
  intros l r h Id encode. unfold bert_ids. rewrite flat_map_app. apply bert_side.
  destruct h as [(u & c & -> & s)|(c & v & -> & s)]; [left|right];
    destruct (kept c s) as (x & w & y & e & sx & ey & sy).
  - rewrite flat_map_app. simpl. rewrite app_nil_r, e.
    destruct (exists_last (l := x :: w)) as (w' & z & e'); [easy|].
    exists (flat_map normal u ++ w'), z. rewrite e', app_assoc. split; [easy|].
    rewrite e', last_last in ey. congruence.
  - simpl. rewrite e. exists x, (w ++ flat_map normal v). easy.
Qed.
End Bert.

(** ** (b) Metaspace *)
Section Metaspace.
Variable A : Type.
Variable space : A -> bool.
Variable mark : A.

(** Each space becomes the mark; a piece begins at each mark; [prefix] may put a mark in front. *)
Variable is_mark : A -> bool.
Hypothesis mark_is : forall a, is_mark a = true <-> a = mark.
Definition marked (a : A) : A := if space a then mark else a.
Definition metaspace (prefix : bool) (S : list A) : list A :=
  match map marked S with
  | [] => []
  | y :: w => if prefix && negb (is_mark y) then mark :: y :: w else y :: w
  end.
Definition metaspace_ids {Id} (encode : list A -> list Id) (prefix : bool) (S : list A) : list Id :=
  pair_ids (fun _ y => is_mark y) encode (metaspace prefix S).

(** Theorem 4.8 (b): a cut before a space or a mark, whatever is put in front: [first] of the text,
    [second] of the right part. *)
Theorem theorem_4_8_metaspace : forall (l r : list A) (c : A), l <> [] ->
  marked c = mark -> forall (first second : bool) (Id : Type) (encode : list A -> list Id),
    metaspace_ids encode first (l ++ c :: r) =
    metaspace_ids encode first l ++ metaspace_ids encode second (c :: r).
Proof.
  intros l r c ne m first second Id encode. unfold metaspace_ids, metaspace.
  rewrite map_app. simpl. rewrite m. assert (is_mark mark = true) as im by now apply mark_is.
  rewrite im, andb_false_r. destruct l as [|a l]; [easy|]. simpl.
  set (front := if first && negb (is_mark (marked a)) then mark :: marked a :: map marked l
                else marked a :: map marked l).
  assert ((if first && negb (is_mark (marked a))
           then mark :: marked a :: map marked l ++ mark :: map marked r
           else marked a :: map marked l ++ mark :: map marked r) = front ++ mark :: map marked r) as ->.
  { unfold front. now destruct (first && negb (is_mark (marked a))). }
  destruct front as [|b f] eqn:ef using rev_ind.
  - unfold front in *. now destruct (first && negb (is_mark (marked a))).
  - clear IHf. rewrite <- app_assoc. simpl. now apply pairs_lossless.
Qed.
End Metaspace.
