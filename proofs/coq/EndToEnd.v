(** The end theorem: from the facts of a whole tokenizer, a text, a certificate and ids to the ids of
    the text. In words: proofs/end-to-end.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams PreTokens Patterns PatternPairs Rows Tables Pairs Ids
  AddedTokens Skipped Edges Pipeline Stages.
Import ListNotations.

(** ** Facts and certificates *)

(** A tokenizer; how many symbols its patterns have; the pairs of symbols between which its row of
    patterns is cut. *)
Record facts : Type := { tokenizer_of : tokenizer; size : nat; pairs : table }.

(** Why a text may be cut: between two characters (PAIR, STAGE); there, and the character behind the
    cut is left out (STAGE, absorbed); at an edge of an added token (EDGE). *)
Inductive rule : Type := Between | Absorbing | Edge.

(** The next segment has so many characters, and this rule ends it. *)
Definition certificate : Type := list (nat * rule).

(** Without tokens a text is one section. *)
Lemma no_tokens space word F first S : F first [] = [] -> with_tokens space word [] F first S = F first S.
Proof.
  intros nothing. unfold with_tokens, AddedTokens.parts, parts_from.
  assert (forall a k w, search [] a k w = []) as e.
  { intros a k w. revert a k. induction w as [|c w IH]; intros a [|k]; simpl; auto. }
  unfold matches. rewrite e. simpl. unfold section. destruct S as [|c S]; [now rewrite nothing|].
  unfold ids_of_parts. cbn [end_of length Nat.ltb Nat.leb map concat part_ids].
  rewrite app_nil_r, Nat.eqb_refl, andb_true_r. unfold slice. cbn [skipn]. now rewrite Nat.sub_0_r, firstn_all2.
Qed.

(** ** The checker *)
Section Checker.
Variable f : facts.
Notation t := (tokenizer_of f).
Notation space := (inside (spaces t)).
Notation word := (inside (words t)).
Notation tokens := (searched_tokens (raw_tokens t)).

Fixpoint patterns_of (row : list split) : option (list tree) :=
  match row with
  | [Pattern p] => Some [p]
  | Pattern p :: row' => option_map (cons p) (patterns_of row')
  | _ => None
  end.

(** Each character has a symbol; the stored pairs are right; other rows have no pairs. *)
Definition facts_ok : bool :=
  (other_symbol t <? size f) && forallb (fun '(_, _, s) => s <? size f) (symbols t) &&
  match patterns_of (splits t) with Some trees => Rows.row_ok (size f) trees (pairs f) | None => true end.

(** The two characters, as the normalizer leaves them: what follows parts the text between them. *)
Definition parted_between (a b : N) : bool :=
  match patterns_of (splits t) with
  | Some _ =>
      match through_all (signs t) a b with
      | Some (x, y) => holds (pairs f) (symbol_of t x) (symbol_of t y)
      | None => false
      end
  | None => pieces_at t a b
  end.

(** The same wherever in the text a segment stands. *)
Definition placeless_ok : bool :=
  forallb (fun s => match s with Sign _ true => false | _ => true end) (normalizer t ++ signs t).

(** The second search finds no token across the place between x and y, and no flag looks over it. *)
Fixpoint neighbours (x y : N) (w : text) : bool :=
  match w with
  | u :: (v :: _) as w' => (u =? x)%N && (v =? y)%N || neighbours x y w'
  | _ => false
  end.
Definition second_search_ok (x y : N) : bool :=
  forallb (fun u => negb (lstrip u || rstrip u || single_word u || neighbours x y (content u)))
    (normalized_tokens t).

(** Whether the rule allows to cut the text behind its first n characters. *)
Definition cut_allowed (r : rule) (S : text) (n : nat) : bool :=
  match r, skipn (n - 1) S with
  | Between, a :: b :: _ =>
      a_safe_ok space word tokens S n &&
      match through_all (normalizer t) a b with
      | Some (x, y) => second_search_ok x y && parted_between x y
      | None => false
      end
  | Absorbing, a :: b :: c :: _ =>
      a_safe_ok space word tokens S n && a_safe_ok space word tokens S (n + 1) &&
      untouched tokens S (n - 1) (n + 2) && space b && negb (c =? b)%N &&
      placeless_ok &&
      match absorbed (normalizer t) a b with
      | Some (x, y) => second_search_ok x y && parted_between x y
      | None => false
      end
  | Edge, _ => edge_ok space word tokens placeless_ok S n
  | _, _ => false
  end.

(** What is left of the text behind a segment. *)
Definition behind (r : rule) (n : nat) (S : text) : text :=
  match r with Absorbing => skipn (Datatypes.S n) S | _ => skipn n S end.

(** The certificate's cuts are allowed, one after the other, each in what is left of the text. *)
Fixpoint cuts_allowed (S : text) (cert : certificate) : bool :=
  match cert with
  | [] => true
  | (n, r) :: cert' => cut_allowed r S n && cuts_allowed (behind r n S) cert'
  end.

(** The ids are the ids of the segments, one after the other, and none is left. *)
Fixpoint rows_right (S : text) (cert : certificate) (ids : list N) : bool :=
  match cert with
  | [] => match behind_row (T t S) ids with Some [] => true | _ => false end
  | (n, r) :: cert' =>
      match behind_row (T t (firstn n S)) ids with
      | Some ids' => rows_right (behind r n S) cert' ids'
      | None => false
      end
  end.

Definition check (S : text) (cert : certificate) (ids : list N) : bool :=
  cuts_allowed S cert && rows_right S cert ids.

(** ** Each rule leaves the ids as they are *)
Hypothesis fine : facts_ok = true.

Lemma symbols_small c : symbol_of t c < size f.
Proof.
  pose proof fine as h. unfold facts_ok in h. apply andb_prop in h as [h _].
  apply andb_prop in h as [h1 h2]. rewrite forallb_forall in h2. unfold symbol_of.
  destruct (find _ (symbols t)) as [[[low high] s]|] eqn:e.
  - apply find_some in e as [i _]. specialize (h2 _ i). now apply Nat.ltb_lt.
  - now apply Nat.ltb_lt.
Qed.

Lemma patterns_row row trees : patterns_of row = Some trees -> row = map Pattern trees.
Proof.
  revert trees. induction row as [|[p| |] row IH]; intros trees h; try easy.
  simpl in h. destruct row as [|s row]; [now injection h as <-|].
  destruct (patterns_of (s :: row)) as [trees'|] eqn:e; [|easy].
  injection h as <-. simpl. f_equal. now apply IH.
Qed.

Lemma pattern_row_pieces trees G :
  row_pieces (symbol_of t) (map Pattern trees) G = pieces_of_row (splits_of (symbol_of t) trees) G.
Proof. unfold row_pieces, splits_of. now rewrite map_map. Qed.

Lemma parted_pieces a b L R first : parted_between a b = true -> beside L R a b ->
  piece_ids t first (L ++ R) = piece_ids t first L ++ piece_ids t true R /\
  piece_ids t false R = piece_ids t true R.
Proof.
  intros h sides. unfold parted_between in h.
  destruct (patterns_of (splits t)) as [trees|] eqn:row; [|now apply (theorem_50 t a b)].
  destruct (through_all (signs t) a b) as [[x y]|] eqn:e; [|easy].
  apply (behind_signs t a b x y L R first e sides). intros u v [[l ->] [r ->]].
  pose proof fine as ok. unfold facts_ok in ok. rewrite row in ok. apply andb_prop in ok as [_ ok].
  unfold row_ids. rewrite (patterns_row _ _ row), !pattern_row_pieces.
  rewrite (theorem_42 N (symbol_of t) _ _ _ symbols_small ok _ _ h l x y r eq_refl eq_refl).
  apply flat_map_app.
Qed.

Notation searched := (with_tokens space word (normalized_tokens t) (piece_ids t)).

Lemma neighbours_inside x y u v : neighbours x y (u ++ x :: y :: v) = true.
Proof.
  induction u as [|a u IH]; [simpl; now rewrite !N.eqb_refl|].
  cbn [app]. destruct (u ++ x :: y :: v) as [|b w]; [easy|].
  change ((a =? x)%N && (b =? y)%N || neighbours x y (b :: w) = true). rewrite IH. apply orb_true_r.
Qed.

Lemma second_search_safe x y l r : second_search_ok x y = true ->
  a_safe space word (normalized_tokens t) ((l ++ [x]) ++ y :: r) (length (l ++ [x])).
Proof.
  intros h. unfold second_search_ok in h. rewrite forallb_forall in h. split.
  - rewrite !app_length. simpl. lia.
  - intros s u i o. specialize (h u i). rewrite negb_true_iff, !orb_false_iff in h.
    destruct h as [[[l1 l2] l3] n]. split.
    + intros [lt gt]. unfold occurs in o. apply begins_spec in o as [_ [w e]].
      rewrite app_length in lt, gt. simpl in lt, gt. unfold stop_of in gt.
      rewrite <- app_assoc in e. cbn [app] in e. rewrite skipn_left in e by lia.
      assert (content u = skipn s l ++ x :: y :: firstn (length (content u) - length (skipn s l) - 2) r) as ec.
      { pose proof (f_equal (firstn (length (content u))) e) as e'.
        rewrite (firstn_app (length (content u)) (content u) w), Nat.sub_diag, firstn_all, firstn_O, app_nil_r in e'.
        rewrite <- e' at 1.
        rewrite firstn_app, firstn_all2 by (rewrite skipn_length; lia). f_equal. rewrite skipn_length.
        replace (length (content u) - (length l - s))
          with (Datatypes.S (Datatypes.S (length (content u) - (length l - s) - 2))) at 1 by lia.
        easy. }
      rewrite ec, neighbours_inside in n. easy.
    + unfold overlooks. rewrite l1, l2, l3. easy.
Qed.

Lemma start_kept_app first l a R : start_kept t first ((l ++ [a]) ++ R) = start_kept t first (l ++ [a]).
Proof. unfold start_kept. now destruct l. Qed.

(** Behind the cut it makes no difference whether a section is at the start of a text. *)
Lemma parted_start a b L R v : parted_between a b = true -> beside L R a b ->
  piece_ids t v R = piece_ids t true R.
Proof. intros h sides. destruct v; [easy|]. apply (parted_pieces a b L R true h sides). Qed.

(** Behind the normalizer: the second search, and the pieces between the tokens that it finds. *)
Lemma searched_start x y L R v : parted_between x y = true -> beside L R x y -> searched v R = searched true R.
Proof.
  intros h [_ [r ->]]. apply with_tokens_same. intros [|k] e; [|now rewrite !andb_false_r].
  unfold slice. cbn [skipn]. destruct (e - 0) as [|m]; [now rewrite !piece_ids_nil|]. cbn [firstn].
  rewrite !(parted_start x y [x] (y :: firstn m r) _ h); (easy || (split; [now exists []|eauto])).
Qed.

Lemma searched_apart x y L R v : second_search_ok x y = true -> parted_between x y = true -> beside L R x y ->
  searched v (L ++ R) = searched v L ++ searched true R.
Proof.
  intros ok h [[l ->] [r ->]].
  apply (theorem_6_1_pair space word (normalized_tokens t) (piece_ids t) (eq x) (eq y)); try easy.
  - split.
    + intros first l' x' y' r' <- <-. apply (parted_pieces x y); [easy|]. split; eauto.
    + intros y' r' <-. apply (parted_pieces x y [x] (y :: r') true h). split; [now exists []|eauto].
  - intros first. apply piece_ids_nil.
  - now apply second_search_safe.
Qed.

Lemma segment_nothing first : segment_ids t first [] = [].
Proof. unfold segment_ids. now rewrite stages_text_nil. Qed.

Lemma placeless_stages stages first G :
  forallb (fun s => match s with Sign _ true => false | _ => true end) stages = true ->
  stages_text first stages G = stages_text true stages G.
Proof.
  unfold stages_text. revert G. induction stages as [|s stages IH]; intros G h; [easy|].
  simpl in h. apply andb_prop in h as [h h']. cbn [fold_left].
  replace (stage_text first s G) with (stage_text true s G); [now apply IH|].
  destruct s as [| |sign [|]| |]; destruct G; easy.
Qed.

Lemma placeless_pieces first G : placeless_ok = true -> piece_ids t first G = piece_ids t true G.
Proof.
  intros h. unfold placeless_ok in h. rewrite forallb_app in h. apply andb_prop in h as [_ h].
  unfold piece_ids. now rewrite (placeless_stages _ first G h).
Qed.

Lemma placeless_segments : placeless_ok = true -> placeless (segment_ids t).
Proof.
  intros h G. unfold segment_ids, with_tokens, ids_of_parts. pose proof h as h'.
  unfold placeless_ok in h'. rewrite forallb_app in h'. apply andb_prop in h' as [h' _].
  rewrite (placeless_stages _ false G h'). f_equal. apply map_ext. intros [[[u|] a] e]; [easy|].
  simpl. rewrite (placeless_pieces (_ && _)), (placeless_pieces (start_kept t true G && _)); easy.
Qed.

Lemma split_two n (S : text) a b r : skipn (n - 1) S = a :: b :: r -> 0 < n ->
  S = (firstn (n - 1) S ++ [a]) ++ b :: r /\ length (firstn (n - 1) S ++ [a]) = n /\
  firstn n S = firstn (n - 1) S ++ [a] /\ skipn n S = b :: r.
Proof.
  intros e lt. assert (S = (firstn (n - 1) S ++ [a]) ++ b :: r) as es.
  { rewrite <- app_assoc. simpl. now rewrite <- e, firstn_skipn. }
  assert (length (firstn (n - 1) S ++ [a]) = n) as n'.
  { rewrite app_length, firstn_length. apply (f_equal (@length N)) in e. rewrite skipn_length in e.
    simpl in *. lia. }
  split; [easy|]. split; [easy|]. revert es n'. generalize (firstn (n - 1) S ++ [a]) as u. intros u -> <-.
  rewrite firstn_app, firstn_all, skipn_app, skipn_all, Nat.sub_diag. simpl. now rewrite app_nil_r.
Qed.

(** Special tokens that the engine skips are left out, if they hide no other token. *)
Lemma T_searched S : T t S = with_tokens space word tokens (segment_ids t) true S.
Proof. symmetry. apply skipped_left_out. Qed.

(** A cut that is allowed: the ids of the text are those of the segment, then those of what is left. *)
Theorem cut_right : forall (r : rule) (S : text) (n : nat), cut_allowed r S n = true ->
  T t S = T t (firstn n S) ++ T t (behind r n S).
Proof.
  intros r S n h. rewrite !T_searched. destruct r; cbn [cut_allowed behind] in *.
  - destruct (skipn (n - 1) S) as [|a [|b R]] eqn:e; [easy|easy|].
    apply andb_prop in h as [h1 h]. apply a_safe_computed in h1.
    destruct (through_all (normalizer t) a b) as [[x y]|] eqn:thr; [|easy].
    apply andb_prop in h as [h2 h3].
    destruct (split_two n S a b R e (proj1 (proj1 h1))) as (es & len & -> & ->).
    rewrite es in h1 |- * at 1. rewrite <- len in h1 at 2.
    apply (theorem_6_1_pair space word tokens (segment_ids t) (eq a) (eq b)); try easy.
    + split.
      * intros first l x' y' r' <- <-. unfold segment_ids.
        assert (beside (l ++ [a]) (b :: r') a b) as sides by (split; [now exists l|now exists r']).
        destruct (stages_apart _ a b x y _ _ first thr sides) as (-> & sides' & _).
        rewrite start_kept_app, (searched_start x y _ _ (start_kept t true _) h3 sides').
        now apply (searched_apart x y).
      * intros y' r' <-. unfold segment_ids.
        assert (beside [a] (b :: r') a b) as sides by (split; [now exists []|now exists r']).
        destruct (stages_apart _ a b x y _ _ true thr sides) as (_ & sides' & ->).
        now rewrite !(searched_start x y _ _ (start_kept t _ _) h3 sides').
    + exact segment_nothing.
  - destruct (skipn (n - 1) S) as [|a [|b [|c R]]] eqn:e; [easy|easy|easy|].
    rewrite !andb_true_iff in h. destruct h as [[[[[[h safe'] un] sb] ne] pl] ab].
    apply a_safe_computed in h.
    apply a_safe_computed in safe'. apply negb_true_iff, N.eqb_neq in ne.
    destruct (absorbed (normalizer t) a b) as [[x y]|] eqn:thr; [|easy].
    apply andb_prop in ab as [second ab].
    destruct (split_two n S a b (c :: R) e (proj1 (proj1 h))) as (es & len & -> & es').
    assert (skipn (Datatypes.S n) S = c :: R) as ->.
    { change (Datatypes.S n) with (1 + n). rewrite Nat.add_comm, <- skipn_add, es'. easy. }
    rewrite es at 1.
    apply (theorem_6_4 space word tokens (segment_ids t)); try easy.
    + intros G. now apply placeless_segments.
    + apply segment_nothing.
    + intros l r ner. unfold segment_ids.
      destruct (stages_absorb _ a b x y (l ++ [a]) r true thr ltac:(now exists l) ner) as (-> & sides' & _).
      rewrite start_kept_app, (searched_start x y _ _ (start_kept t true r) ab sides').
      now apply (searched_apart x y).
    + now rewrite len, <- es.
    + now rewrite len, <- es.
    + now rewrite len, <- es.
  - apply (edge_computed _ _ _ (segment_ids t)) in h; [|intros e; now apply placeless_segments].
    apply theorem_29; [exact h|exact segment_nothing].
Qed.

(** ** The end theorem *)

Lemma certificate_rows S cert : cuts_allowed S cert = true ->
  forall ids, rows_right S cert ids = true <-> ids = T t S.
Proof.
  revert S. induction cert as [|[n r] cert IH]; intros S h ids; cbn [rows_right cuts_allowed] in *.
  - destruct (behind_row (T t S) ids) as [rest|] eqn:e.
    + apply behind_row_spec in e as ->. destruct rest as [|i rest].
      * rewrite app_nil_r. easy.
      * split; [easy|]. intros e. rewrite <- (app_nil_r (T t S)) in e at 2.
        now apply app_inv_head in e.
    + split; [easy|]. intros ->. rewrite <- (app_nil_r (T t S)) in e at 2.
      now rewrite (proj2 (behind_row_spec _ _ _) eq_refl) in e.
  - apply andb_prop in h as [h h']. rewrite (cut_right r S n h).
    destruct (behind_row (T t (firstn n S)) ids) as [rest|] eqn:e.
    + apply behind_row_spec in e as ->. rewrite (IH _ h'). split; [now intros ->|].
      intros e. now apply app_inv_head in e.
    + split; [easy|]. intros ->. now rewrite (proj2 (behind_row_spec _ _ _) eq_refl) in e.
Qed.

Lemma check_spec S cert ids : cuts_allowed S cert = true -> (check S cert ids = true <-> ids = T t S).
Proof. intros h. unfold check. rewrite h. simpl. now apply certificate_rows. Qed.

End Checker.

(** What the checker accepts are the ids of the text ... *)
Theorem accepted_ids_are_right : forall (f : facts) (S : text) (cert : certificate) (ids : list N),
  facts_ok f = true -> check f S cert ids = true -> ids = T (tokenizer_of f) S.
Proof.
  intros f S cert ids fine h. pose proof h as h'. apply andb_prop in h' as [cuts _].
  now apply (check_spec f fine S cert ids).
Qed.

(** ... and the ids of the text are accepted with every certificate whose cuts are allowed. *)
Theorem right_ids_are_accepted : forall (f : facts) (S : text) (cert : certificate),
  facts_ok f = true -> cuts_allowed f S cert = true -> check f S cert (T (tokenizer_of f) S) = true.
Proof. intros f S cert fine cuts. now apply check_spec. Qed.

(** Tokens with normalized=True, where nothing is normalized and no others are searched before them,
    are found as those of the text: such files are read with all tokens as [raw_tokens]. *)
Definition as_raw (t : tokenizer) : tokenizer := {|
  spaces := spaces t; words := words t; raw_tokens := normalized_tokens t; normalizer := [];
  normalized_tokens := []; signs := signs t; symbols := symbols t; other_symbol := other_symbol t;
  splits := splits t; model_of := model_of t |}.

Lemma start_without_normalizer t first G : normalizer t = [] ->
  piece_ids t (start_kept t first G) G = piece_ids t first G.
Proof. intros none. unfold start_kept. rewrite none. destruct G; [now rewrite !piece_ids_nil|easy]. Qed.

Theorem without_normalizer : forall (t : tokenizer) (S : text),
  raw_tokens t = [] -> normalizer t = [] -> T t S = T (as_raw t) S.
Proof.
  intros t S raw none. destruct S as [|c S]; [reflexivity|].
  unfold T. rewrite raw, no_tokens by (unfold segment_ids; now rewrite stages_text_nil).
  unfold segment_ids at 1, start_kept. rewrite none. apply with_tokens_same. intros a e. symmetry.
  etransitivity; [exact (no_tokens _ _ (piece_ids t) _ _ (piece_ids_nil t _))|].
  exact (start_without_normalizer (as_raw t) _ _ eq_refl).
Qed.
