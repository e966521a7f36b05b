(** Certificates that prove the ids: Lemma 26 and Theorem 27 (proofs/27-segment-cache.md), Theorem 31
    (level ids) and Theorem 32 (level model, BPE). *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams Vocabulary PreTokens.
Import ListNotations.

(** ** Segments between clean cuts *)
Section Segments.
Variable A : Type.
Variable m : list A -> nat.
Hypothesis restartable : ends_first_piece m.
Notation pieces := (pieces m).
Notation clean := (clean m).

(** The segments of a text between the cuts. R is the text from the place f on. *)
Fixpoint segments_from (f : nat) (cuts : list nat) (R : list A) : list (list A) :=
  match cuts with
  | [] => [R]
  | c :: cuts' => firstn (c - f) R :: segments_from c cuts' (skipn (c - f) R)
  end.
Definition segments : list nat -> list A -> list (list A) := segments_from 0.

(** f < c_1 < c_2 < ... < n *)
Fixpoint ascending (f : nat) (cuts : list nat) (n : nat) : bool :=
  match cuts with
  | [] => f <=? n
  | c :: cuts' => (f <? c) && (c <? n) && ascending c cuts' n
  end.

Lemma ascending_above f cuts n c : ascending f cuts n = true -> In c cuts -> f < c < n.
Proof.
  revert f. induction cuts as [|d cuts IH]; intros f h i; [easy|]. simpl in h.
  apply andb_prop in h as [h h']. apply andb_prop in h as [h1 h2].
  apply Nat.ltb_lt in h1, h2. destruct i as [<-|i]; [easy|].
  specialize (IH d h' i). lia.
Qed.

(** Lemma 26: between two clean cuts the pieces of S are those of S[p:q]. *)
Theorem lemma_26 : forall (S : list A) (p q : nat), p < q <= length S -> clean S p -> clean S q ->
  forall t, p <= t <= q -> (In t (P m S) <-> In (t - p) (P m (slice S p q))).
Proof.
  intros S p q h cp cq. exact (proj2 (proj2 (theorem_15_clean A m restartable S p q h cp cq))).
Qed.

Lemma segments_pieces f cuts R : ascending f cuts (f + length R) = true ->
  (forall c, In c cuts -> clean R (c - f)) ->
  pieces R = concat (map pieces (segments_from f cuts R)).
Proof.
  revert f R. induction cuts as [|c cuts IH]; intros f R h cl; [simpl; now rewrite app_nil_r|].
  pose proof (ascending_above _ _ _ c h (or_introl eq_refl)) as lt.
  simpl in h. apply andb_prop in h as [_ h].
  assert (clean R (c - f)) as cc by (apply cl; now left).
  rewrite (proj1 (pieces_clean A m restartable R (c - f) ltac:(lia)) cc). simpl. f_equal.
  apply IH.
  - rewrite skipn_length. replace (c + (length R - (c - f))) with (f + length R) by lia. easy.
  - intros d i. pose proof (ascending_above _ _ _ d h i) as above.
    replace (d - c) with (d - f - (c - f)) by lia.
    assert (c - f < d - f <= length R) as order by lia.
    refine (proj1 (proj2 (theorem_15_clean A m restartable R (c - f) (d - f) order cc _))).
    apply cl. now right.
Qed.

(** Theorem 43, for one Split: all clean cuts of a text may be made at once. *)
Theorem theorem_43 : forall (S : list A) (cuts : list nat),
  ascending 0 cuts (length S) = true -> (forall c, In c cuts -> clean S c) ->
  pieces S = concat (map pieces (segments cuts S)).
Proof.
  intros S cuts h cl. apply (segments_pieces 0 cuts S h). intros c i. rewrite Nat.sub_0_r. auto.
Qed.

(** Theorem 27: the ids of S are those of its segments, one after the other. *)
Theorem theorem_27 : forall (S : list A) (cuts : list nat),
  ascending 0 cuts (length S) = true -> (forall c, In c cuts -> clean S c) ->
  forall (Id : Type) (encode : list A -> list Id),
    T m encode S = concat (map (T m encode) (segments cuts S)).
Proof.
  intros S cuts h cl Id encode. unfold T at 1.
  rewrite (segments_pieces 0 cuts S); [|easy|intros c i; rewrite Nat.sub_0_r; auto].
  unfold segments. induction (segments_from 0 cuts S) as [|w ws IH]; [easy|].
  simpl. now rewrite map_app, concat_app, IH.
Qed.

(** ** Theorem 31: level ids *)

(** What is left of the ids behind a row, if they begin with it. *)
Fixpoint behind_row (row ids : list N) : option (list N) :=
  match row, ids with
  | [], _ => Some ids
  | r :: row', i :: ids' => if N.eqb r i then behind_row row' ids' else None
  | _ :: _, [] => None
  end.

(** The ids are those of the segments, one after the other. *)
Fixpoint rows_ok (tokenize : list A -> list N) (segs : list (list A)) (ids : list N) : bool :=
  match segs with
  | [] => match ids with [] => true | _ => false end
  | w :: segs' =>
      match behind_row (tokenize w) ids with Some rest => rows_ok tokenize segs' rest | None => false end
  end.

Lemma behind_row_spec row ids rest : behind_row row ids = Some rest <-> ids = row ++ rest.
Proof.
  revert ids. induction row as [|r row IH]; intros ids; simpl.
  - split; [intros e; now injection e|intros ->; easy].
  - destruct ids as [|i ids]; [easy|]. destruct (N.eqb_spec r i) as [->|ne].
    + rewrite IH. split; [now intros ->|]. intros e. now injection e.
    + split; [easy|]. intros e. injection e as <- _. easy.
Qed.

Lemma rows_ok_spec tokenize segs ids :
  rows_ok tokenize segs ids = true <-> ids = concat (map tokenize segs).
Proof.
  revert ids. induction segs as [|w segs IH]; intros ids; simpl.
  - now destruct ids.
  - destruct (behind_row (tokenize w) ids) as [rest|] eqn:e.
    + apply behind_row_spec in e as ->. rewrite IH. split; [now intros ->|].
      intros e. now apply app_inv_head in e.
    + split; [easy|]. intros ->. now rewrite (proj2 (behind_row_spec _ _ _) eq_refl) in e.
Qed.

(** certified is the judge of a cut, of which soundness is asked. *)
Definition cuts_ok (certified : list A -> nat -> bool) (S : list A) (cuts : list nat) : bool :=
  ascending 0 cuts (length S) && forallb (certified S) cuts.

Theorem theorem_31 : forall (encode : list A -> list N) (certified : list A -> nat -> bool),
  (forall S c, 0 < c < length S -> certified S c = true -> clean S c) ->
  forall (S : list A) (cuts : list nat) (ids : list N), cuts_ok certified S cuts = true ->
    (rows_ok (T m encode) (segments cuts S) ids = true <-> ids = T m encode S).
Proof.
  intros encode certified sound S cuts ids h. apply andb_prop in h as [up h].
  rewrite forallb_forall in h. rewrite rows_ok_spec, <- theorem_27; [easy|easy|].
  intros c i. apply sound; [|auto]. now apply (ascending_above 0 cuts).
Qed.
End Segments.

Arguments segments {A}.
Arguments cuts_ok {A}.
Arguments rows_ok {A}.

(** ** Theorem 32: level model, greedy merging *)

(** A vocabulary: each token's atoms and its id. *)
Definition vocabulary : Type := list (list nat * N).

Definition id_in (V : vocabulary) (t : list nat) : option N :=
  option_map snd (find (fun e => same (fst e) t) V).
Definition spelling (V : vocabulary) (i : N) : option (list nat) :=
  option_map fst (find (fun e => N.eqb (snd e) i) V).

(** One id a string, one string an id, no empty string. *)
Definition one_to_one (V : vocabulary) : bool :=
  forallb (fun '(t, i) =>
    match id_in V t, spelling V i, t with
    | Some i', Some t', _ :: _ => N.eqb i i' && same t t'
    | _, _, _ => false
    end) V.

Lemma same_spec u v : same u v = true <-> u = v.
Proof. unfold same. now destruct (list_eq_dec Nat.eq_dec u v). Qed.

Lemma place_some {X} (wanted : X -> bool) l p :
  place wanted l = Some p -> exists x, In x l /\ wanted x = true.
Proof.
  revert p. induction l as [|x l IH]; intros p h; [easy|]. simpl in h.
  destruct (wanted x) eqn:w; [exists x; now split; [left|]|].
  destruct (place wanted l) as [q|]; [|easy]. destruct (IH q eq_refl) as (y & i & e).
  exists y. now split; [right|].
Qed.

Section Model.
Variable V : vocabulary.
Variable priority : list nat -> list nat -> option nat.
(** Whether a piece that is a token is this token, whatever merging makes of it. *)
Variable shortcut : bool.
Hypothesis gate : one_to_one V = true.
Notation E := (E priority).

Definition id_or_0 (t : list nat) : N := match id_in V t with Some i => i | None => 0%N end.

(** The ids of a piece, as an engine gives them. *)
Definition encode_piece (b : list nat) : list N :=
  match (if shortcut then id_in V b else None) with
  | Some i => [i]
  | None => map id_or_0 (E b)
  end.

(** The tokens of the first ids that spell b, and the ids behind them. *)
Fixpoint row_of (b : list nat) (ids : list N) : option (list (list nat) * list N) :=
  match b, ids with
  | [], _ => Some ([], ids)
  | _, [] => None
  | _, i :: ids' =>
      match spelling V i with
      | Some t =>
          if same t (firstn (length t) b)
          then match row_of (skipn (length t) b) ids' with
               | Some (row, rest) => Some (t :: row, rest)
               | None => None
               end
          else None
      | None => None
      end
  end.

Definition token_rows_equal : list (list nat) -> list (list nat) -> bool := fun a b =>
  if list_eq_dec (list_eq_dec Nat.eq_dec) a b then true else false.

Fixpoint pairs_ok (row : list (list nat)) : bool :=
  match row with
  | u :: (v :: _) as row' => token_rows_equal (E (u ++ v)) [u; v] && pairs_ok row'
  | _ => true
  end.

Definition row_ok (b : list nat) (row : list (list nat)) : bool :=
  match (if shortcut then id_in V b else None) with
  | Some _ => token_rows_equal row [b]
  | None => match row with [t] => token_rows_equal (E t) [t] | _ => pairs_ok row end
  end.

(** Level model: the pieces in their order, each with its row. *)
Fixpoint model_ok (pieces : list (list nat)) (ids : list N) : bool :=
  match pieces with
  | [] => match ids with [] => true | _ => false end
  | b :: pieces' =>
      match row_of b ids with
      | Some (row, rest) => row_ok b row && model_ok pieces' rest
      | None => false
      end
  end.

Lemma id_in_listed t i : id_in V t = Some i -> In (t, i) V.
Proof.
  unfold id_in. destruct (find _ V) as [[t' i']|] eqn:e; [|easy]. intros h. injection h as <-.
  apply find_some in e as [h e]. apply same_spec in e as <-. exact h.
Qed.

Lemma spelling_listed t i : spelling V i = Some t -> In (t, i) V.
Proof.
  unfold spelling. destruct (find _ V) as [[t' i']|] eqn:e; [|easy]. intros h. injection h as <-.
  apply find_some in e as [h e]. apply N.eqb_eq in e as <-. exact h.
Qed.

Lemma listed t i : In (t, i) V -> id_in V t = Some i /\ spelling V i = Some t /\ t <> [].
Proof.
  intros h. unfold one_to_one in gate. rewrite forallb_forall in gate.
  specialize (gate _ h). cbn beta iota in gate.
  destruct (id_in V t) as [i'|], (spelling V i) as [t'|], t as [|a t]; try easy.
  apply andb_prop in gate as [e1 e2]. apply N.eqb_eq in e1 as <-. now apply same_spec in e2 as <-.
Qed.

Lemma spelled t i : spelling V i = Some t <-> id_in V t = Some i.
Proof.
  split; intros h; [apply spelling_listed in h|apply id_in_listed in h]; now apply listed in h.
Qed.

Lemma row_of_sound b ids row rest : row_of b ids = Some (row, rest) ->
  concat row = b /\ ids = map id_or_0 row ++ rest /\ proper row.
Proof.
  revert b row. induction ids as [|i ids IH]; intros b row h.
  - destruct b; [|easy]. injection h as <- <-. repeat split. constructor.
  - destruct b as [|a b]; [injection h as <- <-; repeat split; constructor|].
    simpl in h. destruct (spelling V i) as [t|] eqn:s; [|easy].
    destruct (same t (firstn (length t) (a :: b))) eqn:e; [|easy]. apply same_spec in e.
    destruct (row_of (skipn (length t) (a :: b)) ids) as [[row' rest']|] eqn:r; [|easy].
    injection h as <- <-. apply IH in r as (c & -> & pr). simpl.
    split; [|split].
    + rewrite c, e at 1. apply firstn_skipn.
    + unfold id_or_0 at 2. now rewrite (proj1 (spelled t i) s).
    + constructor; [|easy]. apply spelling_listed in s. now apply listed in s.
Qed.

(** A row of tokens of V is read as it is. *)
Lemma row_of_complete row rest : (forall t, In t row -> id_in V t <> None) ->
  row_of (concat row) (map id_or_0 row ++ rest) = Some (row, rest).
Proof.
  induction row as [|t row IH]; intros h; [now destruct rest|].
  destruct (id_in V t) as [i|] eqn:e; [|exfalso; apply (h t); [now left|easy]].
  assert (id_or_0 t = i) as e' by (unfold id_or_0; now rewrite e).
  pose proof (proj2 (spelled t i) e) as s. pose proof (id_in_listed t i e) as l.
  apply listed in l as (_ & _ & ne). cbn [concat map app]. rewrite e'.
  destruct t as [|a t]; [easy|]. set (u := a :: t) in *.
  assert (row_of (u ++ concat row) (i :: map id_or_0 row ++ rest) =
    match spelling V i with
    | Some t =>
        if same t (firstn (length t) (u ++ concat row))
        then match row_of (skipn (length t) (u ++ concat row)) (map id_or_0 row ++ rest) with
             | Some (row, rest) => Some (t :: row, rest)
             | None => None
             end
        else None
    | None => None
    end) as -> by easy.
  rewrite s, firstn_app, Nat.sub_diag, firstn_all, app_nil_r, (proj2 (same_spec u u) eq_refl).
  rewrite skipn_app, Nat.sub_diag, skipn_all. cbn [skipn app].
  rewrite IH; [easy|]. intros t' i'. apply h. now right.
Qed.

Lemma token_rows_equal_spec a b : token_rows_equal a b = true <-> a = b.
Proof. unfold token_rows_equal. now destruct (list_eq_dec _ a b). Qed.

Lemma pairs_ok_spec row : pairs_ok row = true <->
  forall k, k + 1 < length row ->
    let u := nth k row [] in let v := nth (k + 1) row [] in E (u ++ v) = [u; v].
Proof.
  induction row as [|u [|v row] IH].
  - split; [|easy]. intros _ k h. simpl in h. lia.
  - split; [|easy]. intros _ k h. simpl in h. lia.
  - change (token_rows_equal (E (u ++ v)) [u; v] && pairs_ok (v :: row) = true <->
      forall k, k + 1 < length (u :: v :: row) ->
        let u' := nth k (u :: v :: row) [] in let v' := nth (k + 1) (u :: v :: row) [] in
        E (u' ++ v') = [u'; v']).
    rewrite andb_true_iff, token_rows_equal_spec, IH. split.
    + intros [e h] [|k] lt; [exact e|]. apply (h k). simpl in *. lia.
    + intros h. split; [apply (h 0); simpl; lia|]. intros k lt. apply (h (S k)). simpl in *. lia.
Qed.

Lemma merging_row row : proper row ->
  (match row with [t] => token_rows_equal (E t) [t] | _ => pairs_ok row end = true <->
   E (concat row) = row).
Proof.
  intros pr. destruct row as [|t [|v row]].
  - now split.
  - simpl. rewrite app_nil_r. apply token_rows_equal_spec.
  - rewrite pairs_ok_spec. symmetry. apply corollary_7. simpl. lia.
Qed.

Lemma row_ok_spec b row : proper row -> concat row = b ->
  (row_ok b row = true <-> map id_or_0 row = encode_piece b /\
    row = match (if shortcut then id_in V b else None) with Some _ => [b] | None => E b end).
Proof.
  intros pr c. unfold row_ok, encode_piece.
  destruct (if shortcut then id_in V b else None) as [i|] eqn:s.
  - rewrite token_rows_equal_spec. split; [|easy]. intros ->. split; [|easy].
    destruct shortcut; [|easy]. simpl. unfold id_or_0. now rewrite s.
  - assert (match row with [t] => token_rows_equal (E t) [t] | _ => pairs_ok row end = true <->
            row = E b) as h.
    { rewrite (merging_row row pr), c. split; congruence. }
    rewrite h. split; [intros ->; easy|easy].
Qed.

(** Accepted ids are those of the model. *)
Theorem theorem_32_sound : forall (pieces : list (list nat)) (ids : list N),
  model_ok pieces ids = true -> ids = concat (map encode_piece pieces).
Proof.
  induction pieces as [|b pieces IH]; intros ids h; simpl in *; [now destruct ids|].
  destruct (row_of b ids) as [[row rest]|] eqn:e; [|easy].
  apply andb_prop in h as [r h]. apply IH in h as ->.
  destruct (row_of_sound _ _ _ _ e) as (c & -> & pr).
  apply (row_ok_spec b row pr c) in r as [-> _]. easy.
Qed.

(** Theorem 32: if merging makes only tokens of V, these are accepted, too. *)
Theorem theorem_32 : forall (pieces : list (list nat)) (ids : list N),
  (forall b t, In b pieces -> In t (E b) -> id_in V t <> None) ->
  (model_ok pieces ids = true <-> ids = concat (map encode_piece pieces)).
Proof.
  intros pieces ids closed. split; [apply theorem_32_sound|]. revert ids.
  induction pieces as [|b pieces IH]; intros ids h; subst ids; [easy|]. cbn [map concat model_ok].
  set (row := match (if shortcut then id_in V b else None) with Some _ => [b] | None => E b end).
  assert (proper row /\ concat row = b /\ forall t, In t row -> id_in V t <> None)
    as (pr & c & known).
  { subst row. destruct (if shortcut then id_in V b else None) as [i|] eqn:s.
    - destruct shortcut; [|easy]. pose proof (id_in_listed _ _ s) as l. apply listed in l.
      split; [|split].
      + now constructor.
      + simpl. apply app_nil_r.
      + intros t [<-|[]]. congruence.
    - split; [apply E_proper|]. split; [apply E_concat|]. intros t. apply closed. now left. }
  assert (row_ok b row = true) as ok.
  { apply row_ok_spec; [easy|easy|]. split; [|easy]. subst row. unfold encode_piece.
    destruct (if shortcut then id_in V b else None) as [i|] eqn:s; [|easy].
    destruct shortcut; [|easy]. simpl. unfold id_or_0. now rewrite s. }
  pose proof (proj1 (row_ok_spec b row pr c) ok) as [e _]. rewrite <- e, <- c at 1.
  rewrite row_of_complete by easy. rewrite ok. simpl. apply IH; [|easy].
  intros b' t i. apply closed. now right.
Qed.

(** The gate of Theorem 32: the atoms of the text are tokens, and whatever is merged is one. *)
Corollary theorem_32_closed : forall (pieces : list (list nat)) (ids : list N),
  (forall b a, In b pieces -> In a b -> id_in V [a] <> None) ->
  (forall u v p, priority u v = Some p -> id_in V (u ++ v) <> None) ->
  (model_ok pieces ids = true <-> ids = concat (map encode_piece pieces)).
Proof.
  intros pieces ids atom merged. apply theorem_32. intros b t ib it.
  apply (tokens_of_V nat (fun t => (forall a, In a t -> In a b) -> id_in V t <> None) priority b).
  - intros a h. apply (atom b); [easy|]. apply h. now left.
  - intros u v p e _. now apply (merged u v p).
  - exact it.
  - intros a i. rewrite <- (E_concat nat priority b). apply in_concat. eauto.
Qed.
End Model.
