(** Level model to the end: the ids of a text by the merges of the file, without cuts and tables of
    pairs. Theorem 32 for the tokenizers of Pipeline.v that merge. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Ids WordPiece Pipeline EndToEnd.
Import ListNotations.

Section Level.
Variable t : tokenizer.
Variable m : bpe.
Hypothesis merging : model_of t = Merges m.

(** The pieces of a text in atoms, where no added token is searched. *)
Definition pieces_of_text (S : text) : list (list nat) :=
  match stages_text (start_kept t true S) (signs t) (stages_text true (normalizer t) S) with
  | [] => []
  | H => map (flat_map (atoms_of m)) (row_pieces (symbol_of t) (splits t) H)
  end.

Definition no_tokens_searched : bool :=
  match raw_tokens t, normalized_tokens t with [], [] => true | _, _ => false end.

Definition check_model (S : text) (ids : list N) : bool :=
  no_tokens_searched && one_to_one (vocabulary_of m) &&
  model_ok (vocabulary_of m) (by_pairs (merges m)) (whole_piece m) (pieces_of_text S) ids.

(** The atoms of the pieces are tokens, and so is what a merge makes. *)
Definition gate (S : text) : bool :=
  let known w := match id_in (vocabulary_of m) w with Some _ => true | None => false end in
  forallb (forallb (fun a => known [a])) (pieces_of_text S) &&
  forallb (fun '(u, v) => known (u ++ v)) (merges m).

Lemma T_of_pieces S : no_tokens_searched = true -> T t S =
  concat (map (encode_piece (vocabulary_of m) (by_pairs (merges m)) (whole_piece m)) (pieces_of_text S)).
Proof.
  unfold no_tokens_searched, T. destruct (raw_tokens t) eqn:raw, (normalized_tokens t) eqn:normal; try easy.
  intros _. rewrite no_tokens by (unfold segment_ids; now rewrite Stages.stages_text_nil).
  unfold segment_ids. rewrite normal, no_tokens by apply Stages.piece_ids_nil.
  unfold piece_ids, pieces_of_text. destruct (stages_text _ (signs t) _); [easy|].
  now rewrite flat_map_concat_map, map_map, merging.
Qed.

(** Level model: what is accepted are the ids of the text; no cut is used, and no table. *)
Theorem check_model_proves : forall (S : text) (ids : list N), check_model S ids = true -> ids = T t S.
Proof.
  intros S ids h. apply andb_prop in h as [h ok]. apply andb_prop in h as [none g].
  rewrite T_of_pieces by exact none. now apply theorem_32_sound.
Qed.

(** ... and inside the gate the ids of the text are accepted. *)
Theorem check_model_accepts : forall (S : text), no_tokens_searched = true ->
  one_to_one (vocabulary_of m) = true -> gate S = true -> check_model S (T t S) = true.
Proof.
  intros S none g h. unfold check_model. rewrite none, g. simpl.
  apply andb_prop in h as [h1 h2]. rewrite forallb_forall in h1, h2.
  apply theorem_32_closed; [exact g| | |now apply T_of_pieces].
  - intros b a ib ia e. specialize (h1 b ib). rewrite forallb_forall in h1. specialize (h1 a ia).
    now rewrite e in h1.
  - intros u v p e. apply place_some in e as ([u' v'] & i & e). simpl in e.
    apply andb_prop in e as [e1 e2]. apply same_spec in e1 as ->, e2 as ->.
    specialize (h2 _ i). simpl in h2. now destruct (id_in (vocabulary_of m) (u ++ v)).
Qed.
End Level.
