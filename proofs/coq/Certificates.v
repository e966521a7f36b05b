(** Levels ids and model to the end: from the facts of a byte-level BPE tokenizer with one regex, a
    text, cuts and ids to the ids of the text. Theorems 31, 32 and 41 together. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams PreTokens Patterns PatternPairs Ids Pipeline.
Import ListNotations.

(** ** Facts of a tokenizer *)

Record facts : Type := {
  size : nat;                                  (* symbols are below it *)
  ranges : list (N * N * nat);                 (* first and last code point, their symbol *)
  other : nat;                                 (* the symbol of all other code points *)
  pattern : tree;                              (* over symbols *)
  pairs : table;                               (* of the pattern *)
  vocabulary_of : vocabulary;                  (* bytes and ids *)
  merges : list (list nat * list nat);         (* in the order of their ranks *)
  whole_piece : bool                           (* a piece that is a token is not merged *)
}.

Definition symbol_of (f : facts) (c : N) : nat :=
  match find (fun '(low, high, _) => (low <=? c)%N && (c <=? high)%N) (ranges f) with
  | Some (_, s) => s
  | None => other f
  end.

Definition first_piece (f : facts) : text -> nat := first_end (tree_regex (symbol_of f) (pattern f)).

(** The ids of a piece, and of a text: what an engine with these facts gives. *)
Definition piece_ids (f : facts) (w : text) : list N :=
  encode_piece (vocabulary_of f) (by_pairs (merges f)) (whole_piece f) (bytes w).
Definition ids_of (f : facts) : text -> list N := PreTokens.T (first_piece f) (piece_ids f).

(** ** Level ids *)

(** The table accepts the two characters at the place p. *)
Definition certified (f : facts) (S : text) (p : nat) : bool :=
  match skipn (p - 1) S with
  | a :: b :: _ => (0 <? p) && holds (pairs f) (symbol_of f a) (symbol_of f b)
  | _ => false
  end.

Definition check_ids (f : facts) (S : text) (cuts : list nat) (ids : list N) : bool :=
  cuts_ok (certified f) S cuts && rows_ok (ids_of f) (segments cuts S) ids.

(** What is asked of the facts. *)
Definition symbols_ok (f : facts) : bool :=
  (other f <? size f) && forallb (fun '(_, _, s) => s <? size f) (ranges f).
Definition facts_ok (f : facts) : bool :=
  symbols_ok f && table_ok (size f) (pattern f) (pairs f).

Lemma symbol_small f : symbols_ok f = true -> forall c, symbol_of f c < size f.
Proof.
  intros h c. apply andb_prop in h as [h1 h2]. rewrite forallb_forall in h2. unfold symbol_of.
  destruct (find _ (ranges f)) as [[[low high] s]|] eqn:e.
  - apply find_some in e as [i _]. specialize (h2 _ i). now apply Nat.ltb_lt.
  - now apply Nat.ltb_lt.
Qed.

Section Level.
Variable f : facts.
Hypothesis fine : facts_ok f = true.

Lemma fine_parts_of : ends_first_piece (first_piece f) /\
  forall c d, holds (pairs f) c d = true ->
    safe (first_piece f) (fun a => symbol_of f a = c) (fun a => symbol_of f a = d).
Proof.
  apply andb_prop in fine as [h1 h2]. apply (theorem_41 N (symbol_of f) (size f)); [|exact h2].
  now apply symbol_small.
Qed.

Lemma certified_clean S p : certified f S p = true -> clean (first_piece f) S p.
Proof.
  unfold certified. intros h. destruct (skipn (p - 1) S) as [|a [|b r]] eqn:e; [easy|easy|].
  apply andb_prop in h as [lt h]. apply Nat.ltb_lt in lt.
  pose proof (proj2 fine_parts_of _ _ h (firstn (p - 1) S) a b r eq_refl eq_refl) as safe.
  assert (length (firstn (p - 1) S) = p - 1) as n.
  { apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e.
    rewrite firstn_length. lia. }
  rewrite app_length, n in safe. simpl in safe. replace (p - 1 + 1) with p in safe by lia.
  rewrite <- app_assoc in safe. simpl in safe. now rewrite <- e, firstn_skipn in safe.
Qed.

(** Level ids: what is accepted are the ids of the text. *)
Theorem check_ids_proves : forall (S : text) (cuts : list nat) (ids : list N),
  check_ids f S cuts ids = true -> ids = ids_of f S.
Proof.
  intros S cuts ids h. apply andb_prop in h as [c r].
  apply (theorem_31 N (first_piece f) (proj1 fine_parts_of) (piece_ids f) (certified f))
    with (cuts := cuts); [|exact c|exact r].
  intros S' p _. apply certified_clean.
Qed.

(** ... and the ids of the text are accepted with every row of certified cuts. *)
Theorem check_ids_accepts : forall (S : text) (cuts : list nat),
  cuts_ok (certified f) S cuts = true -> check_ids f S cuts (ids_of f S) = true.
Proof.
  intros S cuts c. unfold check_ids. rewrite c. simpl.
  apply (theorem_31 N (first_piece f) (proj1 fine_parts_of) (piece_ids f) (certified f));
    [|easy|easy].
  intros S' p _. apply certified_clean.
Qed.
End Level.

(** ** Level model *)

Definition check_model (f : facts) (S : text) (ids : list N) : bool :=
  one_to_one (vocabulary_of f) &&
  model_ok (vocabulary_of f) (by_pairs (merges f)) (whole_piece f)
           (map bytes (pieces (first_piece f) S)) ids.

(** The bytes of the text are tokens, and so is what a merge makes. *)
Definition gate (f : facts) (S : text) : bool :=
  let known t := match id_in (vocabulary_of f) t with Some _ => true | None => false end in
  forallb (fun b => known [b]) (bytes S) && forallb (fun '(u, v) => known (u ++ v)) (merges f).

Lemma ids_of_pieces f S : ids_of f S =
  concat (map (encode_piece (vocabulary_of f) (by_pairs (merges f)) (whole_piece f))
              (map bytes (pieces (first_piece f) S))).
Proof. unfold ids_of, PreTokens.T. now rewrite map_map. Qed.

(** Level model: what is accepted are the ids of the text; no cut is used, and no table. *)
Theorem check_model_proves : forall (f : facts) (S : text) (ids : list N),
  check_model f S ids = true -> ids = ids_of f S.
Proof.
  intros f S ids h. apply andb_prop in h as [g h]. rewrite ids_of_pieces.
  now apply theorem_32_sound.
Qed.

(** ... and inside the gate the ids of the text are accepted. *)
Theorem check_model_accepts : forall (f : facts) (S : text),
  facts_ok f = true -> one_to_one (vocabulary_of f) = true -> gate f S = true ->
  check_model f S (ids_of f S) = true.
Proof.
  intros f S fine g h. unfold check_model. rewrite g. simpl.
  apply andb_prop in h as [h1 h2]. rewrite forallb_forall in h1, h2.
  apply theorem_32_closed; [exact g| | |apply ids_of_pieces].
  - intros b a ib ia e. apply in_map_iff in ib as (w & <- & iw).
    assert (In a (bytes S)) as i.
    { rewrite <- (pieces_concat N _ (proj1 (fine_parts_of f fine)) S).
      apply in_flat_map in ia as (c & ic & ia). apply in_flat_map. exists c. split; [|easy].
      apply in_concat. eauto. }
    specialize (h1 a i). now rewrite e in h1.
  - intros u v p e. apply place_some in e as ([u' v'] & i & e). simpl in e.
    apply andb_prop in e as [e1 e2]. apply same_spec in e1 as ->, e2 as ->.
    specialize (h2 _ i). simpl in h2. now destruct (id_in (vocabulary_of f) (u ++ v)).
Qed.
