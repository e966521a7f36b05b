(** A cut inside a segment, through the stages of a pipeline: Theorem 50, with the absorbed prefix of
    Theorem 6.4, as a checker of the two characters beside the cut. proofs/50-spaces-between-stages.md and
    6.4-absorb-rule.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams Vocabulary PreTokens Patterns PatternPairs Rows Pairs Ids
  Forms Clusters AddedTokens Edges Pipeline.
Import ListNotations.

(** The two characters beside the cut of a text into L and R. *)
Definition beside (L R : text) (a b : N) : Prop :=
  (exists l, L = l ++ [a]) /\ (exists r, R = b :: r).

Definition last_char (w : text) : option N := hd_error (rev w).

Lemma last_char_spec w a : last_char w = Some a -> exists l, w = l ++ [a].
Proof.
  unfold last_char. intros h. destruct w as [|x w] using rev_ind; [easy|].
  rewrite rev_app_distr in h. injection h as <-. now exists w.
Qed.

Lemma hd_error_spec (w : text) b : hd_error w = Some b -> exists r, w = b :: r.
Proof. destruct w as [|x w]; [easy|]. intros h. injection h as ->. now exists w. Qed.

(** ** Normalizers *)

(** What stands beside the cut behind a stage, if both sides keep their text there. *)
Definition through (s : stage) (a b : N) : option (N * N) :=
  match s with
  | Each table =>
      match last_char (replaced table a), hd_error (replaced table b) with
      | Some x, Some y => Some (x, y)
      | _, _ => None
      end
  | Prepend _ => None
  | Sign sign _ => if (b =? sign)%N then Some (a, b) else None
  | Form tables =>
      match last_char (normal tables [a]), hd_error (decomposition tables b) with
      | Some x, Some y =>
          if begins_anew tables a && begins_anew tables b && negb (is_first tables y) then Some (x, y) else None
      | _, _ => None
      end
  | Precompiled table =>
      if breaks table a b && ends_alone table a && starts_alone table b
      then match last_char (char_image table a), hd_error (char_image table b) with
           | Some x, Some y => Some (x, y)
           | _, _ => None
           end
      else None
  end.
Fixpoint through_all (stages : list stage) (a b : N) : option (N * N) :=
  match stages with
  | [] => Some (a, b)
  | s :: stages' => match through s a b with Some (x, y) => through_all stages' x y | None => None end
  end.

Lemma stage_text_each first table G : stage_text first (Each table) G = flat_map (replaced table) G.
Proof. now destruct G. Qed.

Lemma stage_text_form first tables G : stage_text first (Form tables) G = normal tables G.
Proof. now destruct G. Qed.

Lemma stage_text_mapped first table G : stage_text first (Precompiled table) G = mapped table G.
Proof. now destruct G. Qed.

Lemma through_apart s a b x y L R first : through s a b = Some (x, y) -> beside L R a b ->
  stage_text first s (L ++ R) = stage_text first s L ++ stage_text true s R /\
  beside (stage_text first s L) (stage_text true s R) x y /\
  stage_text false s R = stage_text true s R.
Proof.
  intros h [[l ->] [r ->]]. destruct s as [table|front|sign only|tables|table]; [|easy| | |].
  - simpl in h. rewrite !stage_text_each, !flat_map_app. split; [easy|]. split; [|easy].
    destruct (last_char (replaced table a)) as [x'|] eqn:el; [|easy].
    destruct (hd_error (replaced table b)) as [y'|] eqn:er; [|easy]. injection h as -> ->.
    apply last_char_spec in el as [u el]. apply hd_error_spec in er as [v er].
    split.
    + exists (flat_map (replaced table) l ++ u). simpl. rewrite app_nil_r, el. apply app_assoc.
    + exists (v ++ flat_map (replaced table) r). simpl. now rewrite er.
  - simpl in h. destruct (b =? sign)%N eqn:e; [|easy]. injection h as <- <-.
    assert (forall f, stage_text f (Sign sign only) (b :: r) = b :: r) as same.
    { intros f. simpl. now rewrite e. }
    rewrite !same. split; [|split; [|easy]].
    + destruct l as [|c l]; simpl; now destruct ((_ =? sign)%N || _).
    + split; [|now exists r]. destruct l as [|c l]; simpl; destruct ((_ =? sign)%N || _).
      * now exists [].
      * now exists [sign].
      * now exists (c :: l).
      * now exists (sign :: c :: l).
  - rewrite !stage_text_form. cbn [through] in h.
    destruct (last_char (normal tables [a])) as [x'|] eqn:el; [|easy].
    destruct (hd_error (decomposition tables b)) as [y'|] eqn:er; [|easy].
    destruct (begins_anew tables a) eqn:ba; [|easy]. destruct (begins_anew tables b) eqn:bb; [|easy].
    destruct (is_first tables y') eqn:f; [easy|]. injection h as -> ->.
    rewrite normal_apart by easy. split; [easy|]. split; [|easy]. split.
    + apply last_char_spec in el as [u el]. rewrite normal_apart by easy. rewrite el.
      exists (normal tables l ++ u). apply app_assoc.
    + now apply (normal_begins tables b r y).
  - rewrite !stage_text_mapped. cbn [through] in h.
    destruct (breaks table a b) eqn:br; [|easy]. destruct (ends_alone table a) eqn:ea; [|easy].
    destruct (starts_alone table b) eqn:sb; [|easy]. cbn [andb] in h.
    destruct (last_char (char_image table a)) as [x'|] eqn:el; [|easy].
    destruct (hd_error (char_image table b)) as [y'|] eqn:er; [|easy]. injection h as -> ->.
    rewrite mapped_apart by easy. split; [easy|]. split; [|easy]. split.
    + destruct (mapped_ends table l a ea) as [w ->]. apply last_char_spec in el as [u ->]. exists (w ++ u). apply app_assoc.
    + destruct (mapped_begins table b r sb) as [w ->]. apply hd_error_spec in er as [v ->]. simpl. eauto.
Qed.

(** The normalizer is apart at the cut: N(LR) = N(L) N(R), wherever L and R begin. *)
Theorem stages_apart : forall (stages : list stage) (a b x y : N) (L R : text) (first : bool),
  through_all stages a b = Some (x, y) -> beside L R a b ->
  stages_text first stages (L ++ R) = stages_text first stages L ++ stages_text true stages R /\
  beside (stages_text first stages L) (stages_text true stages R) x y /\
  stages_text false stages R = stages_text true stages R.
Proof.
  induction stages as [|s stages IH]; intros a b x y L R first h sides.
  - injection h as <- <-. easy.
  - simpl in h. destruct (through s a b) as [[x' y']|] eqn:e; [|easy].
    destruct (through_apart s a b x' y' L R first e sides) as (e1 & sides' & e2).
    unfold stages_text in *. simpl. rewrite e1, e2. now apply (IH x' y').
Qed.

(** The stages of 6.4: a text put in front, then characters one by one, which make the same of the
    front and of the space before R. That space is left out: R's own front stands for it. *)
Definition is_each (s : stage) : bool := match s with Each _ => true | _ => false end.

Definition absorbed (stages : list stage) (a b : N) : option (N * N) :=
  match stages with
  | Prepend front :: rest =>
      let each := stages_text true rest in
      if forallb is_each rest && same_text (each front) (each [b])
      then match last_char (each [a]), hd_error (each front) with
           | Some x, Some y => Some (x, y)
           | _, _ => None
           end
      else None
  | _ => None
  end.

Lemma each_app stages first second L R : forallb is_each stages = true ->
  stages_text first stages (L ++ R) = stages_text first stages L ++ stages_text second stages R.
Proof.
  unfold stages_text. revert L R. induction stages as [|[table| | | |] stages IH]; intros L R h; try easy.
  cbn [fold_left]. rewrite !stage_text_each, flat_map_app. now apply IH.
Qed.

(** Theorem 6.4, what the normalizer does: N(L space R) = N(L) N(R). *)
Theorem stages_absorb : forall (stages : list stage) (a b x y : N) (L R : text) (first : bool),
  absorbed stages a b = Some (x, y) -> (exists l, L = l ++ [a]) -> R <> [] ->
  stages_text first stages (L ++ b :: R) = stages_text first stages L ++ stages_text true stages R /\
  beside (stages_text first stages L) (stages_text true stages R) x y /\
  stages_text false stages R = stages_text true stages R.
Proof.
  intros stages a b x y L R first h [l ->] ne.
  destruct stages as [|[|front| | |] stages]; try easy. simpl in h.
  destruct (forallb is_each stages) eqn:e; [|easy]. simpl in h.
  unfold same_text in h. destruct (list_eq_dec N.eq_dec _ _) as [es|]; [|easy].
  destruct (last_char (stages_text true stages [a])) as [x'|] eqn:el; [|easy].
  destruct (hd_error (stages_text true stages front)) as [y'|] eqn:er; [|easy]. injection h as -> ->.
  apply last_char_spec in el as [u el]. apply hd_error_spec in er as [v er].
  assert (forall f G, G <> [] ->
    stages_text f (Prepend front :: stages) G = stages_text true stages front ++ stages_text true stages G)
    as put.
  { intros f G h. unfold stages_text. simpl. destruct G; [easy|].
    change (stages_text f stages (front ++ n :: G) = stages_text true stages front ++ stages_text true stages (n :: G)).
    rewrite <- (each_app stages true true front (n :: G) e).
    rewrite <- (app_nil_r (front ++ n :: G)), (each_app stages f true _ [] e).
    symmetry. rewrite (each_app stages true true _ [] e). f_equal.
    clear - e. generalize (front ++ n :: G). induction stages as [|[| | | |] stages IH]; intros w; try easy.
    unfold stages_text in *. cbn [fold_left] in *. rewrite !stage_text_each. now apply IH. }
  rewrite !put by (easy || now destruct l). split; [|split; [|easy]].
  - rewrite (each_app stages true true (l ++ [a]) (b :: R) e), <- app_assoc. do 2 f_equal.
    now rewrite es, <- (each_app stages true true [b] R e).
  - split.
    + rewrite (each_app stages true true l [a] e), el. eexists. now rewrite !app_assoc.
    + rewrite er. simpl. eauto.
Qed.

(** ** Pre-tokenizers *)

(** How the pieces of LR lie to those of L and of R. *)
Definition cut_apart (whole left right : list text) : Prop := whole = left ++ right.
Definition joined (a b : N) (whole left right : list text) : Prop := exists l u v r,
  left = l ++ [u] /\ right = v :: r /\ whole = l ++ [u ++ v] ++ r /\ beside u v a b.

(** Whether a split cuts at the two characters (Some true), only fails to cut (Some false), or is not
    known to do either. What is removed on both sides is parted. *)
Definition split_at (s : split) (a b : N) : option bool :=
  match s with
  | Pattern _ => None
  | _ => Some (split_parts s a b || negb (split_keeps s [a]))
  end.

Lemma pair_pieces_whole A (parts : A -> A -> bool) l r x y : parts x y = false ->
  exists l' u v r', pair_pieces A parts (l ++ [x]) = l' ++ [u ++ [x]] /\
    pair_pieces A parts (y :: r) = (y :: v) :: r' /\
    pair_pieces A parts (l ++ x :: y :: r) = l' ++ [(u ++ [x]) ++ y :: v] ++ r'.
Proof.
  intros h. destruct (pair_pieces_some A parts y r) as (v & r' & er).
  induction l as [|c l (l' & u & v' & r'' & e1 & e2 & e3)].
  - exists [], [], v, r'. split; [easy|]. split; [easy|].
    cbn [app]. rewrite pair_pieces_cons, h, er. easy.
  - rewrite er in e2. injection e2 as <- <-.
    destruct (match l with [] => (x, []) | d :: l0 => (d, l0 ++ [x]) end) as [d w] eqn:ed.
    assert (l ++ [x] = d :: w) as el by (destruct l; injection ed as <- <-; easy).
    assert (exists w', l ++ x :: y :: r = d :: w') as [w' ew].
    { destruct l; injection ed as <- <-; simpl; eauto. }
    cbn [app]. rewrite el in *. rewrite ew in *. rewrite !pair_pieces_cons, e1, e3.
    destruct (parts c d).
    + exists ([c] :: l'), u, v, r'. easy.
    + destruct l' as [|p l']; simpl.
      * exists [], (c :: u), v, r'. easy.
      * exists ((c :: p) :: l'), u, v, r'. easy.
Qed.

(** All characters of a piece are alike, if neighbours that are not parted are. *)
Lemma pair_pieces_alike A (parts : A -> A -> bool) (f : A -> bool) :
  (forall x y, parts x y = false -> f x = f y) ->
  forall S p, In p (pair_pieces A parts S) -> forall c d, In c p -> In d p -> f c = f d.
Proof.
  intros alike S. induction S as [|x [|y S] IH]; [easy| |].
  - intros p [<-|[]] c d [<-|[]] [<-|[]]. easy.
  - rewrite pair_pieces_cons. destruct (parts x y) eqn:e.
    + intros p [<-|i]; [|now apply IH]. intros c d [<-|[]] [<-|[]]. easy.
    + destruct (pair_pieces_some A parts y S) as (w & ws & ep). rewrite ep in *. simpl.
      intros p [<-|i]; [|apply IH; now right].
      assert (forall c, In c (y :: w) -> f x = f c) as h.
      { intros c i. rewrite (alike x y e). apply (IH (y :: w)); [now left|now left|easy]. }
      intros c d [<-|ic] [<-|id]; [easy|now apply h|symmetry; now apply h|].
      apply (IH (y :: w)); [now left|easy|easy].
Qed.

Section Splits.
Variable symbol : N -> nat.
Notation split_pieces := (split_pieces symbol).
Notation row_pieces := (row_pieces symbol).

Definition is_pattern (s : split) : bool := match s with Pattern _ => true | _ => false end.

Lemma keeps_first s a w : split_keeps s (a :: w) = split_keeps s [a].
Proof. now destruct s as [| |c []]. Qed.

Lemma keeps_alike s x y : is_pattern s = false -> split_parts s x y = false ->
  split_keeps s [x] = split_keeps s [y].
Proof.
  destruct s as [t|alone removed|c how]; [easy| |]; intros _ h; simpl in *.
  - apply orb_false_elim in h as [_ h]. now apply xorb_eq in h as ->.
  - destruct how; simpl in *; try easy. apply orb_false_elim in h as [-> ->]. easy.
Qed.

Lemma split_pair_pieces s G : is_pattern s = false ->
  split_pieces s G = filter (split_keeps s) (pair_pieces N (split_parts s) G).
Proof. now destruct s. Qed.

Lemma last_kept s w x S : is_pattern s = false -> In (w ++ [x]) (pair_pieces N (split_parts s) S) ->
  split_keeps s (w ++ [x]) = split_keeps s [x].
Proof.
  intros h i. destruct w as [|c w]; [easy|]. simpl. rewrite keeps_first.
  apply (pair_pieces_alike N (split_parts s) (fun c => split_keeps s [c])
           (fun x y => keeps_alike s x y h) S _ i); [now left|].
  apply in_or_app. right. now left.
Qed.

(** One split does what [split_at] says. *)
Theorem split_at_right : forall (s : split) (a b : N) (L R : text) (cuts : bool),
  split_at s a b = Some cuts -> beside L R a b ->
  (if cuts then cut_apart else joined a b)
    (split_pieces s (L ++ R)) (split_pieces s L) (split_pieces s R).
Proof.
  intros s a b L R cuts h [[l ->] [r ->]].
  assert (is_pattern s = false) as np by now destruct s.
  assert (split_parts s a b || negb (split_keeps s [a]) = cuts) as <-
    by (destruct s; [easy| |]; now injection h).
  rewrite !split_pair_pieces by easy. rewrite <- app_assoc. cbn [app].
  destruct (split_parts s a b) eqn:p; cbn [orb].
  - unfold cut_apart. now rewrite pairs_part, filter_app.
  - destruct (pair_pieces_whole N (split_parts s) l r a b p) as (l' & u & v & r' & e1 & e2 & e3).
    assert (split_keeps s (u ++ [a]) = split_keeps s [a]) as k1.
    { apply (last_kept s u a (l ++ [a]) np). rewrite e1. apply in_elt. }
    assert (split_keeps s ((u ++ [a]) ++ b :: v) = split_keeps s [a]) as k2.
    { rewrite <- k1. destruct u as [|c u]; simpl; rewrite !keeps_first; [easy|].
      now rewrite (keeps_first s c (u ++ [a])). }
    assert (split_keeps s (b :: v) = split_keeps s [a]) as k3.
    { rewrite keeps_first. symmetry. now apply keeps_alike. }
    rewrite e1, e2, e3, !filter_app. cbn [filter]. rewrite k1, k2, k3. destruct (split_keeps s [a]); simpl.
    + exists (filter (split_keeps s) l'), (u ++ [a]), (b :: v), (filter (split_keeps s) r').
      repeat split; eauto.
    + unfold cut_apart. now rewrite app_nil_r.
Qed.

(** The row of splits: whether one of them cuts, and each before it only fails to. *)
Fixpoint row_at (row : list split) (a b : N) : option bool :=
  match row with
  | [] => Some false
  | s :: row' =>
      match split_at s a b with
      | Some true => Some true
      | Some false => row_at row' a b
      | None => None
      end
  end.

(** The stages of a pre-tokenizer, (b) of Theorem 50: pieces apart, or one piece of both. *)
Theorem row_at_right : forall (row : list split) (a b : N) (L R : text) (cuts : bool),
  row_at row a b = Some cuts -> beside L R a b ->
  (if cuts then cut_apart else joined a b) (row_pieces row (L ++ R)) (row_pieces row L) (row_pieces row R).
Proof.
  unfold row_pieces. induction row as [|s row IH]; intros a b L R cuts h sides.
  - injection h as <-. now exists [], L, R, [].
  - simpl in h. destruct (split_at s a b) as [c|] eqn:e; [|easy].
    pose proof (split_at_right s a b L R c e sides) as d. simpl. destruct c.
    + injection h as <-. rewrite d. apply flat_map_app.
    + destruct d as (l & u & v & r & -> & -> & -> & sides'). specialize (IH a b u v cuts h sides').
      rewrite !flat_map_app. simpl. rewrite app_nil_r. destruct cuts.
      * unfold cut_apart in *. now rewrite IH, <- !app_assoc.
      * destruct IH as (l' & u' & v' & r' & -> & -> & -> & sides'').
        set (F := pieces_of_row (map split_pieces row)) in *.
        exists (flat_map F l ++ l'), u', v', (r' ++ flat_map F r).
        now rewrite <- !app_assoc.
Qed.
End Splits.

(** ** The model *)

(** No merge makes a token with the two atoms side by side. *)
Fixpoint has_pair (x y : nat) (t : list nat) : bool :=
  match t with
  | u :: (v :: _) as t' => (u =? x) && (v =? y) || has_pair x y t'
  | _ => false
  end.
Definition last_atom (w : list nat) : option nat := hd_error (rev w).
Definition model_parts (m : bpe) (a b : N) : bool :=
  negb (whole_piece m) &&
  match last_atom (atoms_of m a), hd_error (atoms_of m b) with
  | Some x, Some y => forallb (fun '(u, v) => negb (has_pair x y (u ++ v))) (merges m)
  | _, _ => false
  end.

Lemma has_pair_inside x y u v : has_pair x y (u ++ x :: y :: v) = true.
Proof.
  induction u as [|a u IH]; [simpl; now rewrite !Nat.eqb_refl|].
  cbn [app]. destruct (u ++ x :: y :: v) as [|b w]; [easy|].
  change ((a =? x) && (b =? y) || has_pair x y (b :: w) = true). rewrite IH. apply orb_true_r.
Qed.

(** Lemma 24 and Lemma 4: the ids of a piece are those of its two parts. *)
Theorem model_apart : forall (m : bpe) (a b : N) (u v : text),
  model_parts m a b = true -> beside u v a b -> bpe_ids m (u ++ v) = bpe_ids m u ++ bpe_ids m v.
Proof.
  intros m a b u v h [[l ->] [r ->]]. apply andb_prop in h as [w h]. apply negb_true_iff in w.
  unfold last_atom in h. destruct (hd_error (rev (atoms_of m a))) as [x|] eqn:el; [|easy].
  destruct (hd_error (atoms_of m b)) as [y|] eqn:er; [|easy]. rewrite forallb_forall in h.
  unfold bpe_ids, encode_piece. rewrite w, flat_map_app, <- map_app. f_equal.
  rewrite flat_map_app. cbn [flat_map]. rewrite app_nil_r.
  assert (exists q, atoms_of m a = q ++ [x]) as [q ->].
  { destruct (atoms_of m a) as [|z q] using rev_ind; [easy|].
    rewrite rev_app_distr in el. injection el as ->. eauto. }
  destruct (atoms_of m b) as [|y' s]; [easy|]. injection er as ->.
  set (L := flat_map (atoms_of m) l ++ q). cbn [app].
  set (R := s ++ flat_map (atoms_of m) r).
  rewrite app_assoc. fold L.
  set (V := fun t : list nat => has_pair x y t = false).
  assert (length (L ++ [x]) = length L + 1) as n by (rewrite app_length; easy).
  assert ((L ++ [x]) ++ y :: R = L ++ x :: y :: R) as e by now rewrite <- app_assoc.
  rewrite (lemma_24_vocabulary nat V (by_pairs (merges m)) ((L ++ [x]) ++ y :: R) (length L + 1)).
  - now rewrite <- n, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all, app_nil_r.
  - easy.
  - intros u v p e'. unfold V. apply place_some in e' as ([u' v'] & i & e'). simpl in e'.
    apply andb_prop in e' as [e1 e2]. apply same_spec in e1 as ->, e2 as ->.
    specialize (h _ i). now apply negb_true_iff in h.
  - rewrite e, app_length. simpl. lia.
  - rewrite e. apply lemma_24_pair. unfold V. intros u v. now rewrite has_pair_inside.
Qed.

(** ** STAGE *)

(** What comes behind the normalizer, at the two characters in the normalized text: signs, splits
    and model. *)
Definition pieces_at (t : tokenizer) (a b : N) : bool :=
  match through_all (signs t) a b with
  | Some (x, y) =>
      match row_at (splits t) x y, model_of t with
      | Some true, _ => true
      | Some false, Merges m => model_parts m x y
      | _, _ => false
      end
  | None => false
  end.

(** The ids of a text behind the signs. *)
Definition row_ids (t : tokenizer) (H : text) : list N :=
  flat_map (model_ids (model_of t)) (row_pieces (symbol_of t) (splits t) H).

(** It is enough to look behind the signs. *)
Lemma behind_signs t a b x y L R first : through_all (signs t) a b = Some (x, y) -> beside L R a b ->
  (forall u v, beside u v x y -> row_ids t (u ++ v) = row_ids t u ++ row_ids t v) ->
  piece_ids t first (L ++ R) = piece_ids t first L ++ piece_ids t true R /\
  piece_ids t false R = piece_ids t true R.
Proof.
  intros e sides h. destruct (stages_apart _ a b x y L R first e sides) as (e1 & sides' & e2).
  assert (forall f G, stages_text f (signs t) G <> [] ->
          piece_ids t f G = row_ids t (stages_text f (signs t) G)) as full.
  { intros f G ne. unfold piece_ids. now destruct (stages_text f (signs t) G). }
  destruct sides' as [[l el] [r er]]. split.
  - rewrite !full, e1.
    + apply h. split; [now exists l|now exists r].
    + now rewrite er.
    + rewrite el. now destruct l.
    + rewrite e1, el. now destruct l.
  - now rewrite !full, e2 by (now rewrite ?e2, er).
Qed.

(** What STAGE asks of a model where nothing cuts between the two characters. Any function may have it or not; of
    BPE it is proved, if no token contains the two side by side ([model_apart]). *)
Definition apart_at (m : model) (x y : N) : Prop := forall u v, beside u v x y ->
  model_ids m (u ++ v) = model_ids m u ++ model_ids m v.

(** Theorem 50, behind the normalizer, for any model: the ids of L and R are those of LR, and R has the same ids
    wherever it stands. Where a split cuts, the model is asked for nothing. *)
Theorem theorem_50_any_model : forall (t : tokenizer) (a b x y : N) (L R : text) (first : bool),
  through_all (signs t) a b = Some (x, y) ->
  row_at (splits t) x y = Some true \/ row_at (splits t) x y = Some false /\ apart_at (model_of t) x y ->
  beside L R a b ->
  piece_ids t first (L ++ R) = piece_ids t first L ++ piece_ids t true R /\
  piece_ids t false R = piece_ids t true R.
Proof.
  intros t a b x y L R first e h sides. apply (behind_signs t a b x y L R first e sides). intros u v sides'.
  unfold row_ids. destruct h as [row|[row apart]];
    pose proof (row_at_right (symbol_of t) _ x y u v _ row sides') as d.
  - rewrite d. apply flat_map_app.
  - destruct d as (l & u' & v' & r & -> & -> & -> & sides'').
    rewrite !flat_map_app. cbn [flat_map]. rewrite (apart u' v' sides'').
    now rewrite !app_nil_r, <- !app_assoc.
Qed.

(** What [pieces_at] computes is enough. *)
Theorem theorem_50 : forall (t : tokenizer) (a b : N) (L R : text) (first : bool),
  pieces_at t a b = true -> beside L R a b ->
  piece_ids t first (L ++ R) = piece_ids t first L ++ piece_ids t true R /\
  piece_ids t false R = piece_ids t true R.
Proof.
  intros t a b L R first h. unfold pieces_at in h.
  destruct (through_all (signs t) a b) as [[x y]|] eqn:e; [|easy].
  apply (theorem_50_any_model t a b x y L R first e).
  destruct (row_at (splits t) x y) as [[|]|] eqn:row; [now left|right; split; [easy|]|easy].
  destruct (model_of t) as [m| |]; [|easy|easy]. intros u v. now apply model_apart.
Qed.

(** Nothing of a text that is empty. *)
Lemma stages_text_nil first stages : stages_text first stages [] = [].
Proof. unfold stages_text. induction stages as [|[| | | |] stages IH]; easy. Qed.
Lemma piece_ids_nil t first : piece_ids t first [] = [].
Proof. unfold piece_ids. now rewrite stages_text_nil. Qed.

(** ** The absorbed space in a text with added tokens *)
Section Absorbed.
Variables space word : N -> bool.
Variable tokens : list added_token.
Variable rest : bool -> text -> list N.
Notation parts := (parts space word tokens).
Notation with_tokens := (with_tokens space word tokens).
Notation a_safe := (a_safe space word tokens).

Lemma parts_from_section S ms : forall from a e, In (None, a, e) (parts_from space word S from ms) ->
  a < e /\ (a = from \/ exists s t, In (s, t) ms /\ a = stop_with space S s t) /\
  (e = length S \/ exists s t, In (s, t) ms /\ e = start_with space S a s t).
Proof.
  induction ms as [|[s t] ms IH]; intros from a e i; unfold parts_from in *; simpl in i.
  - unfold section in i. destruct (from <? length S) eqn:lt; [|easy]. apply Nat.ltb_lt in lt.
    destruct i as [i|[]]. injection i as <- <-. auto.
  - destruct (dropped word S s t).
    + destruct (IH from a e i) as (lt & h1 & h2). split; [easy|].
      split; [destruct h1 as [h|(s' & t' & i' & h)]|destruct h2 as [h|(s' & t' & i' & h)]];
        solve [now left|right; exists s', t'; split; [now right|easy]].
    + rewrite <- !app_assoc in i. apply in_app_or in i as [i|i]; [|apply in_app_or in i as [i|i]].
      * unfold section in i. destruct (from <? start_with space S from s t) eqn:lt; [|easy].
        apply Nat.ltb_lt in lt. destruct i as [i|[]]. injection i as <- <-. split; [easy|].
        split; [now left|]. right. exists s, t. split; [now left|easy].
      * unfold token_part in i. destruct (_ =? _) in i; [easy|]. now destruct i as [i|[]].
      * destruct (IH _ a e i) as (lt & h1 & h2). split; [easy|].
        split; [right; destruct h1 as [->|(s' & t' & i' & h)]|destruct h2 as [h|(s' & t' & i' & h)]].
        -- exists s, t. split; [now left|easy].
        -- exists s', t'. split; [now right|easy].
        -- now left.
        -- right. exists s', t'. split; [now right|easy].
Qed.

Lemma with_tokens_same rest1 rest2 first1 first2 S :
  (forall a e, rest1 (first1 && (a =? 0)) (slice S a e) = rest2 (first2 && (a =? 0)) (slice S a e)) ->
  with_tokens rest1 first1 S = with_tokens rest2 first2 S.
Proof.
  intros h. unfold AddedTokens.with_tokens, ids_of_parts. f_equal. apply map_ext.
  intros [[[t|] a] e]; [easy|]. apply h.
Qed.

(** The characters at the places from i to j - 1 stand in no occurrence of a token. *)
Definition untouched (S : text) (i j : nat) : bool :=
  forallb (fun '(s, t) => (j <=? s) || (stop_of s t <=? i)) (occurrences tokens S).

Lemma untouched_spec S i j : untouched S i j = true ->
  forall s t, In t tokens -> occurs S s t -> j <= s \/ stop_of s t <= i.
Proof.
  intros h s t it o. unfold untouched in h. rewrite forallb_forall in h.
  specialize (h (s, t) (proj2 (occurrences_spec tokens S s t) (conj it o))). simpl in h.
  apply orb_prop in h as [h|h]; apply Nat.leb_le in h; auto.
Qed.

Lemma run_back (S : text) s : s <= length S ->
  whole space S (s - run_length space (before S s)) s.
Proof.
  intros le. unfold whole. set (k := run_length space (before S s)).
  assert (k <= s) as lk.
  { unfold k. pose proof (run_length_le space (before S s)) as h. unfold before in *.
    rewrite rev_length, firstn_length in h. lia. }
  assert (slice S (s - k) s = rev (firstn k (before S s))) as ->.
  { unfold before. rewrite firstn_rev, rev_involutive, firstn_length, Nat.min_l by easy.
    unfold slice. now rewrite skipn_firstn_comm. }
  rewrite forallb_forall. intros c i. apply in_rev in i.
  pose proof (run_length_space space (before S s)) as h. rewrite forallb_forall in h. now apply h.
Qed.

(** The section around an untouched space reaches beyond it on both sides. *)
Lemma section_around S p a e b R : a_safe S p -> a_safe S (p + 1) -> untouched S (p - 1) (p + 2) = true ->
  skipn p S = b :: R -> R <> [] -> space b = true ->
  In (None, a, e) (parts S) -> a <= p < e -> a < p /\ p + 1 < e.
Proof.
  intros safe safe' un es ne sb i le. pose proof (untouched_spec _ _ _ un) as h.
  assert (length S = p + 1 + length R) as n.
  { apply (f_equal (@length N)) in es. rewrite skipn_length in es. simpl in es.
    pose proof (proj1 safe). lia. }
  pose proof (proj1 safe) as pos. assert (0 < length R) by (destruct R; [easy|simpl; lia]).
  assert (forall s t, In (s, t) (matches tokens S) -> In t tokens /\ occurs S s t) as found
    by (intros s t; apply search_occurs).
  apply parts_from_section in i as (lt & ha & he). split.
  - destruct ha as [->|(s & t & i & ea)]; [lia|]. destruct (found s t i) as [it o].
    destruct (Nat.eq_dec a p) as [e0|ne0]; [exfalso|lia].
    destruct (proj2 safe s t it o) as [_ (_ & _ & c & _)].
    pose proof (occurs_inside _ _ _ o). unfold stop_with in ea. destruct (rstrip t) eqn:r.
    + assert (starts_in space (skipn p S) = false) as no.
      { apply c; [easy|lia|]. unfold whole, slice.
        replace (p - stop_of s t) with (run_length space (skipn (stop_of s t) S)) by lia.
        apply run_length_space. }
      rewrite es in no. simpl in no. congruence.
    + destruct (h s t it o); lia.
  - destruct he as [->|(s & t & i & ee)]; [lia|]. destruct (found s t i) as [it o].
    destruct (Nat.eq_dec e (p + 1)) as [e0|ne0]; [exfalso|lia].
    destruct (proj2 safe' s t it o) as [_ (_ & _ & _ & d)].
    pose proof (occurs_inside _ _ _ o) as inside. unfold start_with in ee. destruct (lstrip t) eqn:l.
    + assert (s - run_length space (before S s) = p + 1) as e1 by lia.
      assert (starts_in space (before S (p + 1)) = false) as no.
      { apply d; [easy|lia|]. rewrite <- e1. apply run_back. lia. }
      unfold before in no. rewrite <- (firstn_skipn p S), es in no.
      rewrite firstn_app, firstn_length, Nat.min_l in no by lia.
      replace (p + 1 - p) with 1 in no by lia. rewrite rev_app_distr in no. simpl in no. congruence.
    + destruct (h s t it o); lia.
Qed.

(** Theorem 6.4 in a text with added tokens: the space b between L and R is left out. The rest of the
    tokenizer does the same wherever a section stands, and absorbs b behind the last character of L. *)
Theorem theorem_6_4 : forall (l R : text) (a b c : N),
  let S := (l ++ [a]) ++ b :: c :: R in let p := length (l ++ [a]) in
  (forall G, rest false G = rest true G) -> rest true [] = [] ->
  (forall l r, r <> [] -> rest true ((l ++ [a]) ++ b :: r) = rest true (l ++ [a]) ++ rest true r) ->
  a_safe S p -> a_safe S (p + 1) -> untouched S (p - 1) (p + 2) = true ->
  space b = true -> c <> b ->
  with_tokens rest true S = with_tokens rest true (l ++ [a]) ++ with_tokens rest true (c :: R).
Proof.
  intros l R a b c S p same nothing absorb safe safe' un sb ne.
  (* the text from b on, without b *)
  set (F := fun (first : bool) (G : text) =>
    if first then match G with x :: G' => if N.eqb x b then rest true G' else rest true G | [] => [] end
    else rest true G).
  assert (forall f G, rest f G = rest true G) as same' by (intros [] G; auto).
  assert (forall first, F first [] = []) as nothing' by now intros [].
  assert (forall G, with_tokens F false G = with_tokens rest true G) as whole.
  { intros G. apply with_tokens_same. intros x y. symmetry. apply same'. }
  assert (length S = p + 2 + length R) as n by (unfold S, p; rewrite app_length; simpl; lia).
  assert (skipn p S = b :: c :: R) as es by (unfold S, p; now rewrite skipn_app, skipn_all, Nat.sub_diag).
  assert (firstn p S = l ++ [a]) as ef
    by (unfold S, p; now rewrite firstn_app, firstn_all, Nat.sub_diag, app_nil_r).
  rewrite <- (whole S), (theorem_6_1 _ _ _ F S p safe nothing' false).
  - rewrite ef, es, whole. f_equal.
    assert (a_safe ([b] ++ c :: R) 1) as safe1.
    { apply (a_safe_right _ _ _ (l ++ [a]) (b :: c :: R)); [lia|].
      fold S p. exact safe'. }
    change (b :: c :: R) with ([b] ++ c :: R).
    rewrite (theorem_6_1 _ _ _ F ([b] ++ c :: R) 1 safe1 nothing' true).
    + simpl skipn. simpl firstn.
      assert (with_tokens F true [b] = []) as ->.
      { unfold AddedTokens.with_tokens, AddedTokens.parts, parts_from.
        assert (matches tokens [b] = []) as ->.
        { destruct (matches tokens [b]) as [|[s t] ms] eqn:e; [easy|].
          destruct (search_occurs tokens [b] s t) as [it o]; [fold (matches tokens [b]); rewrite e; now left|].
          pose proof (occurs_inside _ _ _ o) as inside. simpl in inside.
          assert (occurs S (p + s) t) as o'.
          { replace s with 0 in * by lia. unfold occurs in *. rewrite Nat.add_0_r, es.
            simpl in o |- *. destruct (content t) as [|x [|y u]]; try easy. simpl in *.
            now rewrite andb_false_r in o. }
          destruct (untouched_spec _ _ _ un _ t it o'); unfold stop_of in *; lia. }
        simpl. unfold ids_of_parts. simpl. now rewrite N.eqb_refl, nothing. }
      simpl. apply with_tokens_same. intros x y. destruct x as [|x]; [|symmetry; apply same'].
      simpl. unfold slice. destruct y as [|y]; [symmetry; apply nothing|]. simpl.
      now rewrite (proj2 (N.eqb_neq c b) ne).
    + intros x y _ le. unfold parted. destruct x as [|[|x]]; [| |lia].
      * destruct y as [|[|y]]; [lia|lia|]. unfold slice. simpl.
        rewrite N.eqb_refl, nothing. now rewrite (proj2 (N.eqb_neq c b) ne).
      * destruct y as [|[|y]]; [lia|lia|]. unfold slice. simpl.
        rewrite nothing. now rewrite (proj2 (N.eqb_neq c b) ne).
  - intros x y i le. destruct (section_around S p x y b (c :: R) safe safe' un es) as [lx ly]; try easy.
    unfold parted. simpl.
    assert (slice S x p = skipn x l ++ [a]) as ->.
    { unfold slice, S. rewrite <- app_assoc, skipn_app. unfold p in lx |- *. rewrite app_length in *. simpl in *.
      replace (x - length l) with 0 by lia. simpl. rewrite firstn_app, skipn_length.
      replace (length l + 1 - x - (length l - x)) with 1 by lia. simpl.
      now rewrite firstn_all2 by (rewrite skipn_length; lia). }
    assert (slice S p y = b :: c :: firstn (y - p - 2) R) as ->.
    { unfold slice. rewrite es. now replace (y - p) with (Datatypes.S (Datatypes.S (y - p - 2))) at 1 by lia. }
    assert (slice S x y = (skipn x l ++ [a]) ++ b :: c :: firstn (y - p - 2) R) as ->.
    { unfold slice, S. rewrite <- app_assoc, skipn_app. unfold p in lx, ly, le |- *. rewrite app_length in *.
      simpl in *. replace (x - length l) with 0 by lia. simpl. rewrite firstn_app, skipn_length.
      rewrite firstn_all2 by (rewrite skipn_length; lia). rewrite <- app_assoc. f_equal.
      now replace (y - x - (length l - x)) with
        (Datatypes.S (Datatypes.S (Datatypes.S (y - (length l + 1) - 2)))) by lia. }
    rewrite absorb by easy. f_equal. now rewrite N.eqb_refl.
Qed.
End Absorbed.

(** ** The pages' counterexamples, and real pipelines *)
Local Open Scope N_scope.

(** Space, the sign of a space; the letters of the examples. *)
Notation sp := 32. Notation sign := 9601.
Definition to_sign : stage := Each [(sp, [sign])].

(** BPE over the letters a (97), b (98), ">" (62), the space and its sign, with one merge. *)
Definition letter_atoms : list (N * nat) := [(97, 256%nat); (98, 257%nat); (62, 258%nat); (sp, 259%nat); (sign, 260%nat)].
Definition one_merge (whole : bool) (u v : list nat) : model := Merges {|
  letters := letter_atoms; merges := [(u, v)]; whole_piece := whole;
  vocabulary_of := (u ++ v, 6) :: map (fun e => ([snd e], N.of_nat (snd e))) letter_atoms |}.
(** Nothing that the examples look at is merged. *)
Definition plain_model : model := one_merge false [257%nat] [257%nat].

Definition staged (normal : list stage) (put : list stage) (row : list split) (m : model) : tokenizer := {|
  spaces := [(9, 13); (sp, sp)]; words := []; raw_tokens := []; normalizer := normal; normalized_tokens := [];
  signs := put; symbols := []; other_symbol := 0; splits := row; model_of := m |}.

(** Whether the cut in front of the p-th character is certified, and whether it is lossless. *)
Definition certified_pair (t : tokenizer) (S : text) (p : nat) : bool :=
  match skipn (p - 1) S with
  | a :: b :: _ =>
      match through_all (normalizer t) a b with Some (x, y) => pieces_at t x y | None => false end
  | _ => false
  end.
Definition same_ids (t : tokenizer) (S L R : text) : bool := same_text (T t S) (T t L ++ T t R).
Definition verdicts (t : tokenizer) (S : text) (p : nat) : bool * bool :=
  (certified_pair t S p, same_ids t S (firstn p S) (skipn p S)).

(** Gemma, Metaspace with and without its split, WhitespaceSplit behind Metaspace's signs: a space, or its
    sign, behind a letter is a cut. With the token ">" sign there is one behind a letter only. *)
Example theorem_50_holds :
  let gemma := staged [to_sign] [] [At sp WithPrevious] in
  let metaspace := staged [] [to_sign; Sign sign true] in
  let text := [97; sp; 98; 62; sp; 97] in
  map (verdicts (gemma (one_merge false [258%nat] [260%nat])) text) [1; 2; 4]%nat = [(true, true); (true, true); (false, false)] /\
  map (verdicts (metaspace [At sign WithNext] plain_model) text) [1; 2; 4]%nat = [(true, true); (false, false); (true, true)] /\
  map (verdicts (metaspace [] plain_model) text) [1; 2; 4]%nat = [(true, true); (false, false); (true, true)] /\
  map (verdicts (staged [] [] [Apart [] [(sp, sp)]] (one_merge false [257%nat] [258%nat])) text) [1; 2; 3]%nat =
    [(true, true); (true, true); (false, false)].
Proof. vm_compute. repeat split; reflexivity. Qed.

Theorem theorem_50_needs_each_condition :
  forallb (fun '(t, w, p) => match verdicts t w p with (false, false) => true | _ => false end)
    [(staged [] [] [Apart [(48, 57)] []] (Longest [([97; sp; 98], 1)] [] 9%nat 0), [97; sp; 98], 1%nat);  (* a stage that cuts *)
     (staged [to_sign] [] [] (one_merge false [258%nat] [260%nat]), [97; 62; sp; 98], 2%nat);             (* a token across *)
     (staged [to_sign] [] [] (one_merge false [260%nat] [260%nat]), [97; sp; sp; 98], 2%nat);             (* two spaces *)
     (staged [] [] [] (one_merge true [256%nat] [259%nat]), [97; sp], 1%nat);                             (* ignore_merges *)
     (staged [] [] [At sp WithPrevious] (Longest [([97; sp], 1); ([98], 2)] [] 9%nat 0), [97; sp; 98], 1%nat);
     (staged [Prepend [sign]] [] [At sp Isolated] plain_model, [97; sp; 98], 1%nat);                      (* Prepend *)
     (staged [] [Sign 98 false] [At sp Isolated] plain_model, [97; sp; 98], 1%nat);                       (* another sign *)
     (staged [] [to_sign; Sign sign false] [] plain_model, [97; 98], 1%nat)]                              (* a sign before R *)
  = true.
Proof. vm_compute. reflexivity. Qed.

(** Llama 2: "a b" cut at the space, which is left out. Each hypothesis of 6.4: the space kept, two
    spaces, nothing behind it, a token across; an added token at the space. *)
Theorem theorem_6_4_needs_each_condition :
  let llama := staged [Prepend [sign]; to_sign] [] [] in
  let across := one_merge false [258%nat] [260%nat] in
  absorbed (normalizer (llama across)) 97 sp = Some (97, sign) /\ pieces_at (llama across) 97 sign = true /\
  pieces_at (llama across) 62 sign = false /\ pieces_at (llama (one_merge false [260%nat] [260%nat])) sign sign = false /\
  same_ids (llama across) [97; sp; 98] [97] [98] = true /\
  same_ids (llama across) [97; sp; 98] [97] [sp; 98] = false /\
  same_ids (llama (one_merge false [260%nat] [260%nat])) [97; sp; sp; 98] [97; sp] [98] = false /\
  same_ids (llama across) [97; sp] [97] [] = false /\
  same_ids (llama across) [62; sp; 98] [62] [98] = false /\
  let b := {| content := [sp; 98]; token_id := 9; lstrip := false; rstrip := false; single_word := false; skipped := false |} in
  untouched [b] [97; sp; 98] 0 3 = false /\
  with_tokens (N.eqb sp) (fun _ => false) [b] (segment_ids (llama across)) true [97; sp; 98] <> T (llama across) [97] ++ T (llama across) [98].
Proof. vm_compute. repeat split; try reflexivity. discriminate. Qed.
