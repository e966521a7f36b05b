(** Theorem 29: rule EDGE, a cut at an edge of an added token: proofs/29-added-token-edges.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens Ids AddedTokens.
Import ListNotations.

Section Edges.
Variables space word : N -> bool.
Variable tokens : list added_token.
Variable rest : bool -> text -> list N.

Local Notation longest := (longest tokens).
Local Notation search := (search tokens).
Local Notation matches := (matches tokens).
Local Notation dropped := (dropped word).
Local Notation start_with := (start_with space).
Local Notation stop_with := (stop_with space).
Local Notation end_of := (end_of space word).
Local Notation with_tokens := (with_tokens space word tokens rest).
Local Notation overlooks := (overlooks space word).
Local Notation overlooks_ok := (overlooks_ok space word).
Local Notation a_safe := (a_safe space word tokens).
Local Notation occurrences := (occurrences tokens).
Local Notation longest_spec := (longest_spec tokens).
Local Notation search_app := (search_app tokens).
Local Notation search_skip := (search_skip tokens).
Local Notation occurrences_spec := (occurrences_spec tokens).
Local Notation parted := (parted rest).

(** ** Theorem 29: rule EDGE *)

(** (a) Whatever shares a character with this occurrence lies inside it. *)
Definition alone (S : text) (s : nat) (t : added_token) : Prop := occurs S s t /\
  forall s' t', In t' tokens -> occurs S s' t' -> s' < stop_of s t -> s < stop_of s' t' ->
    s <= s' /\ stop_of s' t' <= stop_of s t.
(** (b) No flag, no other token with this content, and the engine does not step over it. *)
Definition plain (t : added_token) : Prop := In t tokens /\
  lstrip t = false /\ rstrip t = false /\ single_word t = false /\ skipped t = false /\
  forall u, In u tokens -> content u = content t -> u = t.
(** (e) The first section of a text is as any other. *)
Definition placeless : Prop := forall w, rest false w = rest true w.

Definition edge (S : text) (p : nat) : Prop := exists s t,
  0 < p < length S /\ plain t /\ alone S s t /\ (p = s \/ p = stop_of s t /\ placeless) /\
  forall s' t', In t' tokens -> occurs S s' t' -> overlooks S p s' t'.

Lemma edge_safe S p : edge S p -> a_safe S p.
Proof.
  intros (s & t & lt & _ & (o & al) & e & d). split; [easy|]. intros s' t' i o'.
  split; [|now apply d]. intros h. pose proof (occurs_inside _ _ _ o).
  destruct (al s' t' i o'); destruct e as [e|[e _]]; lia.
Qed.

(** The token at the beginning of a text is the first match, if nothing longer is there. *)
Lemma token_first R t : plain t -> begins (content t) R = true ->
  (forall u, In u tokens -> begins (content u) R = true -> length (content u) <= length (content t)) ->
  forall a, exists ms, search a 0 R = (a, t) :: ms /\
    (length (content t) = length R -> ms = []).
Proof.
  intros (i & _ & _ & _ & _ & only) b most a. pose proof (begins_length _ _ b) as len.
  assert (longest R = Some t) as e.
  { pose proof (longest_spec R) as h. destruct (longest R) as [u|].
    - destruct h as (iu & bu & long). f_equal. apply only; [easy|].
      specialize (long t i b). specialize (most u iu bu).
      apply begins_spec in b as (_ & X & ->). apply begins_spec in bu as (_ & Y & e).
      assert (length (content u) = length (content t)) as same by lia.
      assert (forall c Z : text, firstn (length c) (c ++ Z) = c) as begin.
      { intros c Z. rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. apply app_nil_r. }
      rewrite <- (begin (content u) Y), <- e, same. apply begin.
    - now rewrite h in b. }
  destruct R as [|c R]; [simpl in len; lia|]. simpl. rewrite e. eexists. split; [reflexivity|].
  intros l. simpl in l. rewrite search_skip by lia. rewrite l. simpl.
  rewrite Nat.sub_0_r, skipn_all. reflexivity.
Qed.

Lemma plain_kept S s t : plain t -> dropped S s t = false /\
  (forall from, start_with S from s t = s) /\ stop_with S s t = stop_of s t.
Proof.
  intros (_ & l & r & w & sp & _). unfold dropped, start_with, stop_with. now rewrite l, r, w, sp.
Qed.

(** Theorem 29: an edge of a token is a lossless cut, for every rest of a tokenizer. *)
Theorem theorem_29 : forall (S : text) (p : nat), edge S p -> (forall first, rest first [] = []) ->
  forall first, with_tokens first S = with_tokens first (firstn p S) ++ with_tokens true (skipn p S).
Proof.
  intros S p e nothing first. pose proof (edge_safe S p e) as safe.
  destruct e as (s & t & lt & pl & (o & al) & e & _). pose proof (occurs_inside _ _ _ o) as inside.
  assert (length (firstn p S) = p) as n by (rewrite firstn_length; lia).
  assert (a_safe (firstn p S ++ skipn p S) (length (firstn p S))) as safe' by now rewrite firstn_skipn, n.
  rewrite <- (firstn_skipn p S) at 1.
  apply cut_parts; [easy|easy|]. rewrite n. destruct e as [-> | [-> less]].
  - (* the start: the first match of R is at its beginning *)
    destruct (token_first (skipn s S) t pl o) with (a := 0) as (ms & e & _).
    { intros u i b. destruct (al s u i b) as [_ h]; try (unfold stop_of in *; lia).
      apply begins_length in b. unfold stop_of. lia. }
    unfold matches at 2 3, shifted. rewrite e. simpl.
    destruct (plain_kept (firstn s S ++ skipn s S) (length (firstn s S) + 0) t pl) as (d & st & _).
    rewrite d, st, n. lia.
  - (* the end: L ends with the last match *)
    set (p := stop_of s t) in *. set (L := firstn p S) in *.
    assert (L = firstn s S ++ content t) as eL.
    { apply occurs_spec in o as (_ & le & X & e). unfold L. rewrite e at 1.
      rewrite app_assoc, firstn_app, firstn_all2
        by (rewrite app_length, firstn_length; unfold p, stop_of; lia).
      replace (p - length (firstn s S ++ content t)) with 0
        by (rewrite app_length, firstn_length; unfold p, stop_of; lia).
      simpl. apply app_nil_r. }
    assert (length (firstn s S) = s) as ns by (rewrite firstn_length; lia).
    assert (forall s' u, occurs L s' u -> occurs S s' u) as up.
    { intros s' u h. rewrite <- (firstn_skipn p S). now apply occurs_left. }
    destruct (token_first (content t) t pl) with (a := s) as (ms & e & none).
    { apply begins_spec. apply occurs_spec in o as (ne & _). split; [easy|].
      exists []. now rewrite app_nil_r. }
    { intros u _ b. now apply begins_length in b. }
    rewrite none in e by easy.
    assert (matches L = search 0 0 (firstn s S) ++ [(s, t)]) as m.
    { unfold matches. rewrite eL, search_app; [now rewrite ns, <- e|lia|].
      rewrite ns. intros s' u i h h'. rewrite <- eL in h. pose proof (occurs_inside _ _ _ h) as ins.
      destruct (al s' u i (up s' u h)); lia. }
    assert (end_of L 0 (matches L) = p) as e0.
    { rewrite m. generalize (search 0 0 (firstn s S)) as l. intros l. generalize 0 as from.
      induction l as [|[s' t'] l IH]; intros from.
      - cbn [app end_of]. destruct (plain_kept L s t pl) as (d & _ & st). now rewrite d, st.
      - simpl. apply IH. }
    rewrite e0. intros _. unfold parted. replace (p =? 0) with false by (symmetry; apply Nat.eqb_neq; lia).
    rewrite andb_false_r. unfold slice at 2. now rewrite Nat.sub_diag, nothing, less.
Qed.

(** *** Cuts of rule EDGE compose *)

Lemma before_first L R p class : 0 < p <= length R ->
  starts_in class (before (L ++ R) (length L + p)) = starts_in class (before R p).
Proof.
  intros le. rewrite before_right. apply holds_first_app. intros e.
  apply (f_equal (@length N)) in e. unfold before in e. rewrite rev_length, firstn_length in e.
  simpl in e. lia.
Qed.

Lemma overlooks_right L R p s t : 0 < p <= length R ->
  overlooks (L ++ R) (length L + p) (length L + s) t -> overlooks R p s t.
Proof.
  unfold overlooks, whole, stop_of. intros le. rewrite before_first, skipn_right, before_first by easy.
  rewrite <- Nat.add_assoc, !slice_right. intros (b1 & b2 & c & d).
  repeat split; intros; [apply b1|apply b2|apply c|apply d]; (easy || lia).
Qed.

Lemma a_safe_right L R p : 0 < p -> a_safe (L ++ R) (length L + p) -> a_safe R p.
Proof.
  intros lt [inside h]. rewrite app_length in inside. split; [lia|]. intros s t i o.
  destruct (h (length L + s) t i (occurs_right L R s t o)) as [a o']. split.
  - unfold stop_of in *. lia.
  - apply (overlooks_right L); [lia|easy].
Qed.

Lemma edge_right L R p : 0 < p -> a_safe (L ++ R) (length L) -> edge (L ++ R) (length L + p) -> edge R p.
Proof.
  intros lt safe e. pose proof (edge_safe _ _ e) as safe'.
  destruct e as (s & t & inside & pl & (o & al) & e & d). rewrite app_length in inside.
  assert (length L <= s) as ge.
  { destruct pl as [i _]. destruct (proj2 safe s t i o) as [a _].
    destruct e as [e|[e _]]; lia. }
  assert (exists s', s = length L + s') as (s' & ->) by (exists (s - length L); lia).
  exists s', t. split; [lia|]. split; [easy|]. split; [|split].
  - split; [unfold occurs in *; now rewrite skipn_right in o|]. intros v u i o' h1 h2.
    destruct (al (length L + v) u i (occurs_right L R v u o')); unfold stop_of in *; lia.
  - unfold stop_of in *. destruct e as [e|[e less]]; [left|right; split; [|easy]]; lia.
  - intros v u i o'. apply (overlooks_right L); [lia|]. apply d; [easy|]. now apply occurs_right.
Qed.

(** Any cuts of rule EDGE at once. *)
Theorem theorem_29_many : forall (S : text) (cuts : list nat),
  ascending 0 cuts (length S) = true -> (forall c, In c cuts -> edge S c) ->
  (forall first, rest first [] = []) ->
  with_tokens true S = concat (map (with_tokens true) (segments cuts S)).
Proof.
  intros S cuts asc h nothing. unfold segments.
  enough (forall f R, ascending f cuts (f + length R) = true -> (forall c, In c cuts -> edge R (c - f)) ->
    with_tokens true R = concat (map (with_tokens true) (segments_from N f cuts R))) as H.
  { apply H; [easy|]. intros c i. rewrite Nat.sub_0_r. auto. }
  clear S asc h. induction cuts as [|c cuts' IH]; intros f R asc h; [simpl; now rewrite app_nil_r|].
  pose proof (ascending_above _ _ _ c asc (or_introl eq_refl)) as above.
  assert (edge R (c - f)) as e by (apply h; now left).
  simpl in asc |- *. apply andb_prop in asc as [_ asc].
  rewrite (theorem_29 R (c - f) e nothing true). f_equal.
  assert (length (firstn (c - f) R) = c - f) as n by (rewrite firstn_length; lia).
  apply IH.
  - rewrite skipn_length. now replace (c + (length R - (c - f))) with (f + length R) by lia.
  - intros d i. pose proof (ascending_above _ _ _ d asc i).
    apply (edge_right (firstn (c - f) R)); [lia| |]; rewrite firstn_skipn, n.
    + now apply edge_safe.
    + replace (c - f + (d - c)) with (d - f) by lia. apply h. now right.
Qed.

(** *** The condition as a program *)

Definition plain_ok (t : added_token) : bool :=
  negb (lstrip t || rstrip t || single_word t || skipped t) &&
  (length (filter (fun u => same_text (content u) (content t)) tokens) =? 1).
Definition alone_ok (S : text) (s : nat) (t : added_token) : bool :=
  forallb (fun '(v, u) => negb ((v <? stop_of s t) && (s <? stop_of v u)) ||
                          ((s <=? v) && (stop_of v u <=? stop_of s t))) (occurrences S).
(** [ends]: whether the ends of tokens are cuts, too. *)
Definition edge_ok (ends : bool) (S : text) (p : nat) : bool :=
  (0 <? p) && (p <? length S) &&
  existsb (fun '(s, t) => plain_ok t && alone_ok S s t && ((p =? s) || (ends && (p =? stop_of s t))))
          (occurrences S) &&
  forallb (fun '(s, t) => overlooks_ok S p s t) (occurrences S).

Lemma plain_spec t : In t tokens -> plain_ok t = true -> plain t.
Proof.
  unfold plain_ok, plain. rewrite andb_true_iff, negb_true_iff, Nat.eqb_eq, !orb_false_iff.
  intros i [[[[l r] w] sp] one]. repeat split; try easy. intros u iu e.
  destruct (filter _ tokens) as [|x [|y ys]] eqn:f; try easy.
  assert (forall v, In v tokens -> content v = content t -> v = x) as only.
  { intros v iv ev. assert (In v [x]) as h.
    { rewrite <- f. apply filter_In. split; [easy|]. unfold same_text. now destruct (list_eq_dec _ _ _). }
    destruct h as [h|[]]. now rewrite h. }
  now rewrite (only u iu e), (only t i eq_refl).
Qed.

Theorem edge_computed : forall (ends : bool) (S : text) (p : nat), (ends = true -> placeless) ->
  edge_ok ends S p = true -> edge S p.
Proof.
  intros ends S p less h. unfold edge_ok in h.
  rewrite !andb_true_iff, !Nat.ltb_lt, existsb_exists, forallb_forall in h.
  destruct h as [[lt ([s t] & i & h)] d]. apply occurrences_spec in i as [i o].
  rewrite !andb_true_iff, orb_true_iff, andb_true_iff, !Nat.eqb_eq in h. destruct h as [[pl al] e].
  exists s, t. split; [easy|]. split; [now apply plain_spec|]. split; [split; [easy|]|split].
  - intros v u iu o' h1 h2. unfold alone_ok in al. rewrite forallb_forall in al.
    specialize (al (v, u) (proj2 (occurrences_spec S v u) (conj iu o'))). simpl in al.
    rewrite orb_true_iff, negb_true_iff, <- not_true_iff_false, !andb_true_iff, !Nat.ltb_lt,
      !Nat.leb_le in al.
    tauto.
  - destruct e as [e|[e1 e2]]; [now left|right; auto].
  - intros v u iu o'. apply overlooks_spec.
    exact (d (v, u) (proj2 (occurrences_spec S v u) (conj iu o'))).
Qed.

End Edges.

Local Open Scope N_scope.
Theorem theorem_29_needs_each_condition :
  forallb (fun '(tokens, w, p) => negb (edge_ok space_0 word_10 tokens true w p) &&
                                  negb (lossless no_first tokens w p))
    [([added [3; 11]; added [11; 1; 12]], [3; 11; 1; 12], 1%nat);                  (* (a): left *)
     ([added [11; 1; 12]; added [11; 1; 12; 2]], [11; 1; 12; 2], 3%nat);           (* (a): longer *)
     ([added [1; 1]], [1; 1; 1], 1%nat);                                           (* (a): itself *)
     ([with_lstrip [11; 1; 12]], [3; 0; 0; 11; 1; 12], 3%nat);                     (* (b) *)
     ([with_rstrip [11; 1; 12]], [11; 1; 12; 0; 0; 3], 3%nat);
     ([with_single_word [3; 1]], [3; 1; 2], 2%nat);
     ([with_single_word [3; 1]; added [2; 11]], [3; 1; 2; 11], 2%nat)] = true /\   (* (d) *)
  (* (e) *)
  edge_ok space_0 word_10 [added [11; 1; 12]] true [1; 11; 1; 12; 2] 4 = true /\
  lossless mark_first [added [11; 1; 12]] [1; 11; 1; 12; 2] 4 = false.
Proof. now vm_compute. Qed.

(** The conditions hold in a text like those of chats: [11; 1; 12] at 0 and at 5. *)
Example edges_of_a_chat :
  let ok := edge_ok space_0 word_10 [added [11; 1; 12]; with_rstrip [11; 2; 12]] true in
  map (ok [11; 1; 12; 3; 0; 11; 1; 12; 4; 11; 2; 12; 0]) (seq 0 14) =
  [false; false; false; true; false; true; false; false; true; false; false; false; false; false].
Proof. now vm_compute. Qed.

