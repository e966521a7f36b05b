(** Firm cuts: what sessions, streams and chunks rest on. A cut that a window of the text allows, whatever stands
    before and behind the window, is allowed in each text that has the window: proofs/35-stable-cuts.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams AddedTokens Skipped Edges Pipeline Stages EndToEnd.
Import ListNotations.

(** ** Occurrences of added tokens in a text that has the window *)
Section Window.
Variables space word : N -> bool.
Variable tokens : list added_token.
Notation size t := (length (content t)).

(** The token may end d characters behind the beginning of W, and may begin before W or end behind W. *)
Definition fits (W : text) (t : added_token) (d : nat) : bool :=
  agree (skipn (size t - d) (content t)) (skipn (d - size t) W).
(** All tokens and the places where they may end: at the beginning of W, or up to where one begins at its end. *)
Definition placements (W : text) : list (added_token * nat) :=
  filter (fun '(t, d) => fits W t d)
    (flat_map (fun t => map (pair t) (seq 0 (1 + length W + size t))) tokens).

(** Each occurrence in Z W X is one of these, or lies before W or behind W. *)
Lemma placed Z W X s t : In t tokens -> occurs (Z ++ W ++ X) s t ->
  exists d, In (t, d) (placements W) /\ d <= length W + size t /\
    (s + size t = length Z + d \/ s + size t < length Z /\ d = 0 \/ length Z + length W < s /\ d = length W + size t).
Proof.
  intros it o.
  assert (forall d, d <= length W + size t -> fits W t d = true -> In (t, d) (placements W)) as listed.
  { intros d le f. unfold placements. apply filter_In. split; [|exact f]. apply in_flat_map. exists t.
    split; [easy|]. apply in_map, in_seq. lia. }
  destruct (le_lt_dec (length Z) (s + size t)) as [l1|l1]; [destruct (le_lt_dec s (length Z + length W)) as [l2|l2]|].
  - exists (s + size t - length Z). split; [|split; [lia|left; lia]]. apply listed; [lia|]. unfold fits, occurs in *.
    destruct (le_lt_dec (length Z) s) as [l|l].
    + replace (size t - (s + size t - length Z)) with 0 by lia.
      replace (s + size t - length Z - size t) with (s - length Z) by lia.
      rewrite skipn_app, skipn_all2, skipn_app in o by lia. simpl in o.
      rewrite <- (app_nil_l (skipn (s - length Z) W ++ _)) in o. now apply begins_agree in o.
    + replace (s + size t - length Z - size t) with 0 by lia.
      replace (size t - (s + size t - length Z)) with (length (skipn s Z)) by (rewrite skipn_length; lia).
      rewrite skipn_app in o. replace (s - length Z) with 0 in o by lia. simpl skipn in o |- *.
      now apply begins_agree in o.
  - exists (length W + size t). split; [|split; [lia|right; right; lia]]. apply listed; [lia|]. unfold fits.
    replace (length W + size t - size t) with (length W) by lia. rewrite skipn_all. apply agree_nil.
  - exists 0. split; [|split; [lia|right; left; lia]]. apply listed; [lia|]. unfold fits. rewrite Nat.sub_0_r, skipn_all. easy.
Qed.

(** ** The conditions, for all places where a token may stand *)

Definition firm_overlooks (W : text) (k : nat) : bool :=
  (0 <? k) && (k <? length W) && forallb (fun '(t, d) =>
    negb (single_word t && (d =? k) && starts_in word (skipn k W)) &&
    negb (single_word t && (d =? k + size t) && starts_in word (before W k)) &&
    negb (rstrip t && (d <=? k) && forallb space (slice W d k) && starts_in space (skipn k W)) &&
    negb (lstrip t && (k + size t <=? d) && forallb space (slice W k (d - size t)) && starts_in space (before W k)))
  (placements W).
Definition firm_safe (W : text) (k : nat) : bool :=
  firm_overlooks W k && forallb (fun '(t, d) => negb ((d <? k + size t) && (k <? d))) (placements W).

(** No token touches the character behind the cut and its neighbours. *)
Definition firm_untouched (W : text) (k : nat) : bool :=
  forallb (fun '(t, d) => (k + 2 + size t <=? d) || (d <=? k - 1)) (placements W).
(** The cut is the start of a token in W, or its end, and no other token can stand across an end of it. *)
Definition firm_edge (ends : bool) (W : text) (k : nat) : bool :=
  firm_overlooks W k && existsb (fun '(s, t) => plain_ok tokens t &&
    forallb (fun '(u, d) => negb ((d <? s + size t + size u) && (s <? d)) ||
                            ((s + size u <=? d) && (d <=? s + size t))) (placements W) &&
    ((k =? s) || (ends && (k =? s + size t)))) (occurrences tokens W).

Section Around.
Variables Z W X : text.
Notation S := (Z ++ W ++ X).

Lemma behind_window k : k < length W -> forall c, starts_in c (skipn (length Z + k) S) = starts_in c (skipn k W).
Proof.
  intros lt c. rewrite skipn_app, skipn_all2, skipn_app by lia.
  replace (length Z + k - length Z) with k by lia. simpl.
  destruct (skipn k W) eqn:e; [|easy]. apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia.
Qed.

Lemma before_window k : 0 < k <= length W -> forall c, starts_in c (before S (length Z + k)) = starts_in c (before W k).
Proof.
  intros lt c. unfold before. rewrite firstn_app, firstn_all2, firstn_app by lia.
  replace (length Z + k - length Z) with k by lia. replace (k - length W) with 0 by lia.
  simpl. rewrite app_nil_r, rev_app_distr. destruct (rev (firstn k W)) eqn:e; [|easy].
  apply (f_equal (@length N)) in e. rewrite rev_length, firstn_length in e. simpl in e. lia.
Qed.

Lemma slice_window i j : i <= j <= length W -> slice S (length Z + i) (length Z + j) = slice W i j.
Proof.
  intros le. unfold slice. replace (length Z + j - (length Z + i)) with (j - i) by lia.
  rewrite skipn_app, skipn_all2, skipn_app by lia. replace (length Z + i - length Z) with i by lia. simpl.
  rewrite firstn_app, skipn_length. replace (j - i - (length W - i)) with 0 by lia. simpl. apply app_nil_r.
Qed.

(** A part of white space is white space. *)
Lemma in_firstn (l : text) m n c : m <= n -> In c (firstn m l) -> In c (firstn n l).
Proof.
  intros le i. rewrite <- (firstn_skipn m (firstn n l)), firstn_firstn, Nat.min_l by easy.
  apply in_or_app. now left.
Qed.
Lemma whole_inside i i' j' j : i <= i' -> i' <= j' <= j -> whole space S i j -> whole space S i' j'.
Proof.
  unfold whole, slice. intros l1 [l2 l3] h. rewrite forallb_forall in *. intros c i0. apply h.
  rewrite <- (firstn_skipn (i' - i) (firstn (j - i) (skipn i S))), skipn_firstn_comm, skipn_add.
  apply in_or_app. right. replace (i + (i' - i)) with i' by lia. replace (j - i - (i' - i)) with (j - i') by lia.
  apply (in_firstn _ (j' - i')); [lia|easy].
Qed.

Lemma firm_overlooks_right k : firm_overlooks W k = true ->
  0 < length Z + k < length S /\
  forall s t, In t tokens -> occurs S s t -> overlooks space word S (length Z + k) s t.
Proof.
  intros h. unfold firm_overlooks in h. rewrite !andb_true_iff, !Nat.ltb_lt, forallb_forall in h.
  destruct h as [[l1 l2] h]. split; [rewrite !app_length; lia|]. intros s t it o.
  destruct (placed Z W X s t it o) as (d & i & le & e). specialize (h (t, d) i). simpl in h.
  rewrite !andb_true_iff, !negb_true_iff, <- !not_true_iff_false, !andb_true_iff, !Nat.eqb_eq, !Nat.leb_le in h.
  destruct h as [[[h1 h2] h3] h4]. unfold overlooks, stop_of.
  rewrite behind_window, behind_window, before_window, before_window by lia.
  repeat split; intros flag; [intros stop|intros start|intros stop w|intros start w];
    apply not_true_iff_false; intros bad.
  - apply h1. repeat split; try easy. lia.
  - apply h2. repeat split; try easy. lia.
  - apply h3. repeat split; try easy; [lia|]. rewrite <- (slice_window d k) by lia.
    apply (whole_inside (s + size t) _ _ (length Z + k)); [idtac|idtac|exact w]; lia.
  - apply h4. repeat split; try easy; [lia|]. rewrite <- (slice_window k (d - size t)) by lia.
    apply (whole_inside (length Z + k) _ _ s); [lia|lia|exact w].
Qed.

Lemma firm_safe_right k : firm_safe W k = true -> a_safe space word tokens S (length Z + k).
Proof.
  intros h. apply andb_prop in h as [h across]. destruct (firm_overlooks_right k h) as [lt ov].
  split; [exact lt|]. intros s t it o. split; [|now apply ov].
  destruct (placed Z W X s t it o) as (d & i & le & e). rewrite forallb_forall in across.
  specialize (across (t, d) i). simpl in across.
  rewrite negb_true_iff, <- not_true_iff_false, andb_true_iff, !Nat.ltb_lt in across.
  unfold stop_of. unfold firm_overlooks in h. rewrite !andb_true_iff, !Nat.ltb_lt in h. lia.
Qed.

Lemma firm_untouched_right k : 0 < k -> k + 2 <= length W -> firm_untouched W k = true ->
  untouched tokens S (length Z + k - 1) (length Z + k + 2) = true.
Proof.
  intros l1 l2 h. unfold untouched, firm_untouched in *. rewrite forallb_forall in *. intros [s t] i.
  apply occurrences_spec in i as [it o]. destruct (placed Z W X s t it o) as (d & i & le & e).
  specialize (h (t, d) i). simpl in h. unfold stop_of.
  rewrite orb_true_iff, !Nat.leb_le in *. lia.
Qed.

Lemma firm_edge_right ends k : firm_edge ends W k = true -> edge_ok space word tokens ends S (length Z + k) = true.
Proof.
  intros h. unfold firm_edge in h. apply andb_prop in h as [ov h]. destruct (firm_overlooks_right k ov) as [lt all].
  unfold edge_ok. rewrite !andb_true_iff, !Nat.ltb_lt, existsb_exists, forallb_forall. split; [split|].
  - exact lt.
  - apply existsb_exists in h as ([s t] & i & h). apply occurrences_spec in i as [it o].
    rewrite !andb_true_iff in h. destruct h as [[pl al] e]. exists (length Z + s, t). split.
    + apply occurrences_spec. split; [easy|]. unfold occurs in *. apply begins_spec in o as [ne [R o]].
      apply begins_spec. split; [easy|]. exists (R ++ X).
      rewrite skipn_app, skipn_all2, skipn_app by lia. replace (length Z + s - length Z) with s by lia.
      assert (s <= length W) as le.
      { destruct (le_lt_dec s (length W)) as [|gt]; [easy|]. rewrite skipn_all2 in o by lia. now destruct (content t). }
      replace (s - length W) with 0 by lia. simpl. now rewrite o, <- app_assoc.
    + rewrite !andb_true_iff. split; [split; [exact pl|]|].
      * unfold alone_ok. rewrite forallb_forall in *. intros [v u] i'. apply occurrences_spec in i' as [iu o'].
        pose proof (occurs_inside _ _ _ o) as inside.
        destruct (placed Z W X v u iu o') as (d & i' & le & pos). specialize (al (u, d) i'). simpl in al.
        unfold stop_of in *.
        rewrite orb_true_iff, negb_true_iff, <- not_true_iff_false, !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le in *. lia.
      * unfold stop_of. rewrite orb_true_iff, andb_true_iff, !Nat.eqb_eq in *.
        destruct e as [->|[-> ->]]; [now left|right; split; [easy|lia]].
  - intros [s t] i. apply occurrences_spec in i as [it o]. apply overlooks_spec. now apply all.
Qed.
End Around.
End Window.

(** ** Firm cuts of a tokenizer *)
Section Firm.
Variable f : facts.
Notation t := (tokenizer_of f).
Notation space := (inside (spaces t)).
Notation word := (inside (words t)).
Notation tokens := (searched_tokens (raw_tokens t)).

(** The rule allows the cut behind the first k characters of W, whatever stands before W and behind W. *)
Definition firm (r : rule) (W : text) (k : nat) : bool :=
  match r, skipn (k - 1) W with
  | Between, a :: b :: _ =>
      firm_safe space word tokens W k &&
      match through_all (normalizer t) a b with
      | Some (x, y) => second_search_ok f x y && parted_between f x y
      | None => false
      end
  | Absorbing, a :: b :: c :: _ =>
      firm_safe space word tokens W k && firm_safe space word tokens W (k + 1) && firm_untouched tokens W k &&
      space b && negb (c =? b)%N && placeless_ok f &&
      match absorbed (normalizer t) a b with
      | Some (x, y) => second_search_ok f x y && parted_between f x y
      | None => false
      end
  | Edge, _ => firm_edge space word tokens (placeless_ok f) W k
  | _, _ => false
  end.

Lemma from_window (Z W X : text) k : 0 < k -> skipn (length Z + k - 1) (Z ++ W ++ X) = skipn (k - 1) W ++ skipn (k - 1 - length W) X.
Proof.
  intros l. rewrite skipn_app, skipn_all2, skipn_app by lia. now replace (length Z + k - 1 - length Z) with (k - 1) by lia.
Qed.

Lemma firm_inside r W k : firm r W k = true -> 0 < k < length W.
Proof.
  intros h. unfold firm in h. assert (firm_overlooks space word tokens W k = true -> 0 < k < length W) as inside.
  { unfold firm_overlooks. rewrite !andb_true_iff, !Nat.ltb_lt. tauto. }
  destruct r.
  - destruct (skipn (k - 1) W) as [|a [|b R]]; [easy|easy|]. apply inside.
    apply andb_prop in h as [h _]. now apply andb_prop in h as [h _].
  - destruct (skipn (k - 1) W) as [|a [|b [|c R]]]; [easy|easy|easy|]. apply inside.
    rewrite !andb_true_iff in h. unfold firm_safe in h. rewrite !andb_true_iff in h. tauto.
  - apply inside. unfold firm_edge in h. now apply andb_prop in h as [h _].
Qed.

(** Lemma 35, last sentence: a cut that is firm in W is allowed in each text Z W X ... *)
Theorem firm_cut_allowed : forall (r : rule) (Z W X : text) (k : nat), firm r W k = true ->
  cut_allowed f r (Z ++ W ++ X) (length Z + k) = true.
Proof.
  intros r Z W X k h. pose proof (firm_inside r W k h) as l.
  unfold cut_allowed. rewrite from_window by lia. unfold firm in h. destruct r.
  - destruct (skipn (k - 1) W) as [|a [|b R]]; [easy|easy|]. cbn [app].
    apply andb_prop in h as [safe h]. apply andb_true_intro. split; [|exact h].
    apply a_safe_computed. now apply firm_safe_right.
  - destruct (skipn (k - 1) W) as [|a [|b [|c R]]] eqn:e; [easy|easy|easy|]. cbn [app].
    assert (k + 2 <= length W) as l2.
    { apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia. }
    apply andb_prop in h as [h' h]. apply andb_true_intro. split; [|exact h].
    rewrite !andb_true_iff in *. destruct h' as [[[[[s1 s2] un] sb] ne] pl].
    replace (length Z + k + 1) with (length Z + (k + 1)) by lia.
    repeat split; try easy; try (apply a_safe_computed; now apply firm_safe_right).
    apply firm_untouched_right; (easy || lia).
  - now apply firm_edge_right.
Qed.

(** ... so the ids before the cut and those behind it are the ids of two texts, each by itself: for every Z and X. *)
Hypothesis fine : facts_ok f = true.
Theorem firm_cut_right : forall (r : rule) (Z W X : text) (k : nat), firm r W k = true ->
  T t (Z ++ W ++ X) = T t (Z ++ firstn k W) ++ T t (behind r k W ++ X).
Proof.
  intros r Z W X k h. rewrite (cut_right f fine r _ _ (firm_cut_allowed r Z W X k h)).
  pose proof (firm_inside r W k h) as l.
  assert (forall j, j <= length W -> skipn (length Z + j) (Z ++ W ++ X) = skipn j W ++ X) as rest.
  { intros j le. rewrite skipn_app, skipn_all2, skipn_app by lia.
    replace (length Z + j - length Z) with j by lia. now replace (j - length W) with 0 by lia. }
  f_equal; f_equal.
  - rewrite firstn_app, firstn_all2, firstn_app by lia. replace (length Z + k - length Z) with k by lia.
    replace (k - length W) with 0 by lia. simpl. now rewrite app_nil_r.
  - destruct r; cbn [behind]; try (apply rest; lia).
    replace (Datatypes.S (length Z + k)) with (length Z + Datatypes.S k) by lia. apply rest. lia.
Qed.

(** Streams: the ids before a firm cut are those of every text that goes on. *)
Corollary ids_before_are_final : forall (r : rule) (Z W : text) (k : nat), firm r W k = true ->
  exists later, forall X, T t (Z ++ W ++ X) = T t (Z ++ firstn k W) ++ later X.
Proof. intros r Z W k h. exists (fun X => T t (behind r k W ++ X)). intros X. now apply firm_cut_right. Qed.

(** Sessions and chunks: between two firm cuts a text has the ids that it has alone, and an edit there leaves those
    before and behind it as they are. *)
Corollary ids_between_firm_cuts : forall (r r' : rule) (Z V Y W X : text) (k k' : nat),
  firm r V k = true -> firm r' W k' = true ->
  T t (Z ++ V ++ Y ++ W ++ X) =
  T t (Z ++ firstn k V) ++ T t ((behind r k V ++ Y) ++ firstn k' W) ++ T t (behind r' k' W ++ X).
Proof.
  intros r r' Z V Y W X k k' h h'. rewrite (firm_cut_right r Z V (Y ++ W ++ X) k h). f_equal.
  rewrite app_assoc. now apply firm_cut_right.
Qed.

Corollary ids_of_a_slice : forall (r r' : rule) (Z V Y W X : text) (k k' : nat),
  firm r V k = true -> firm r' W k' = true ->
  exists before after, T t (Z ++ V ++ Y ++ W ++ X) = before ++ T t ((behind r k V ++ Y) ++ firstn k' W) ++ after.
Proof.
  intros r r' Z V Y W X k k' h h'. exists (T t (Z ++ firstn k V)), (T t (behind r' k' W ++ X)).
  exact (ids_between_firm_cuts r r' Z V Y W X k k' h h').
Qed.

(** *** Many cuts: the windows may overlap *)

(** What is allowed in a text is allowed behind a place that no token stands across. *)
Lemma allowed_behind r (L R : text) n : 0 < n ->
  (forall s u, In u tokens -> occurs (L ++ R) s u -> ~ s < length L < stop_of s u) ->
  cut_allowed f r (L ++ R) (length L + n) = true -> cut_allowed f r R n = true.
Proof.
  intros pos across h. unfold cut_allowed in *.
  assert (skipn (length L + n - 1) (L ++ R) = skipn (n - 1) R) as e.
  { rewrite skipn_app, skipn_all2 by lia. now replace (length L + n - 1 - length L) with (n - 1) by lia. }
  rewrite e in h. destruct r.
  - destruct (skipn (n - 1) R) as [|a [|b R']]; [easy|easy|].
    apply andb_prop in h as [safe h]. apply andb_true_intro. split; [|exact h]. apply a_safe_computed in safe.
    apply a_safe_computed. now apply (a_safe_right _ _ _ L R n pos).
  - destruct (skipn (n - 1) R) as [|a [|b [|c R']]]; [easy|easy|easy|].
    apply andb_prop in h as [h' h]. apply andb_true_intro. split; [|exact h].
    rewrite !andb_true_iff in *. destruct h' as [[[[[s1 s2] un] sb] ne] pl]. apply a_safe_computed in s1, s2.
    repeat split; try easy.
    + apply a_safe_computed. now apply (a_safe_right _ _ _ L R n pos).
    + apply a_safe_computed. apply (a_safe_right _ _ _ L); [lia|]. now replace (length L + (n + 1)) with (length L + n + 1) by lia.
    + unfold untouched in *. rewrite forallb_forall in *. intros [s u] i. apply occurrences_spec in i as [iu o].
      specialize (un (length L + s, u) (proj2 (occurrences_spec _ _ _ _) (conj iu (occurs_right L R s u o)))).
      simpl in un. unfold stop_of in *. rewrite orb_true_iff, !Nat.leb_le in *. lia.
  - unfold edge_ok in *. rewrite !andb_true_iff, !Nat.ltb_lt, existsb_exists, !forallb_forall in *.
    destruct h as [[[l1 l2] ([s u] & i & h)] ov]. rewrite app_length in l2.
    apply occurrences_spec in i as [iu o]. rewrite !andb_true_iff in h. destruct h as [[pl al] at_].
    pose proof (across s u iu o) as no. pose proof (occurs_inside _ _ _ o) as inside.
    rewrite orb_true_iff, andb_true_iff, !Nat.eqb_eq in at_.
    assert (length L <= s) as le by lia.
    assert (occurs R (s - length L) u) as o'.
    { unfold occurs in *. rewrite skipn_app, skipn_all2 in o by lia. exact o. }
    split; [split; [lia|]|].
    + exists (s - length L, u). split; [now apply occurrences_spec|]. rewrite !andb_true_iff. split; [split; [exact pl|]|].
      * unfold alone_ok in *. rewrite forallb_forall in *. intros [v w] i. apply occurrences_spec in i as [iw ow].
        specialize (al (length L + v, w) (proj2 (occurrences_spec _ _ _ _) (conj iw (occurs_right L R v w ow)))).
        simpl in al. unfold stop_of in *.
        rewrite orb_true_iff, negb_true_iff, <- not_true_iff_false, !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le in *. lia.
      * unfold stop_of in *. rewrite orb_true_iff, andb_true_iff, !Nat.eqb_eq. destruct at_ as [a|[a1 a2]]; [left; lia|right; split; [easy|lia]].
    + intros [s' u'] i. apply occurrences_spec in i as [iu' ou'].
      specialize (ov (length L + s', u') (proj2 (occurrences_spec _ _ _ _) (conj iu' (occurs_right L R s' u' ou')))).
      apply overlooks_spec in ov. apply overlooks_spec. apply (overlooks_right _ _ L); [lia|exact ov].
Qed.

(** How many characters are left out behind a cut. *)
Definition left_out (r : rule) : nat := match r with Absorbing => 1 | _ => 0 end.

Lemma allowed_across r S p : cut_allowed f r S p = true -> p + left_out r <= length S /\
  forall s u, In u tokens -> occurs S s u -> ~ s < p + left_out r < stop_of s u.
Proof.
  intros h. unfold cut_allowed in h. destruct r; simpl left_out.
  - rewrite Nat.add_0_r. destruct (skipn (p - 1) S) as [|a [|b R']]; [easy|easy|].
    apply andb_prop in h as [safe _]. apply a_safe_computed in safe as [l safe]. split; [lia|]. intros s u iu o. now apply safe.
  - destruct (skipn (p - 1) S) as [|a [|b [|c R']]]; [easy|easy|easy|].
    apply andb_prop in h as [h _]. rewrite !andb_true_iff in h.
    destruct h as [[[[[_ safe] _] _] _] _]. apply a_safe_computed in safe as [l safe]. split; [lia|].
    intros s u iu o. now apply safe.
  - rewrite Nat.add_0_r. apply (edge_computed _ _ _ (segment_ids t)) in h; [|intros e; now apply placeless_segments].
    apply edge_safe in h as [l safe]. split; [lia|]. intros s u iu o. now apply safe.
Qed.

(** Each cut of a certificate is firm in a window of S. The windows may overlap. *)
Fixpoint all_firm (S : text) (done : nat) (cert : certificate) : Prop :=
  match cert with
  | [] => True
  | (n, r) :: cert' =>
      0 < n /\ (exists Z W X k, S = Z ++ W ++ X /\ length Z + k = done + n /\ firm r W k = true) /\
      all_firm S (done + n + left_out r) cert'
  end.

(** Theorem 36: such a certificate is allowed, so its segments have their own ids. *)
Theorem firm_cuts_allowed : forall (S : text) (cert : certificate),
  all_firm S 0 cert -> cuts_allowed f S cert = true.
Proof.
  intros S cert.
  enough (forall L R, S = L ++ R -> (forall s u, In u tokens -> occurs S s u -> ~ s < length L < stop_of s u) ->
    all_firm S (length L) cert -> cuts_allowed f R cert = true) as h.
  { intros firm. apply (h [] S); [easy| |exact firm]. intros s u _ _. simpl. lia. }
  induction cert as [|[n r] cert IH]; intros L R e across firm_; [easy|].
  destruct firm_ as (pos & (Z & W & X & k & eS & place & firm_) & rest). cbn [cuts_allowed].
  pose proof (firm_cut_allowed r Z W X k firm_) as here. rewrite <- eS, place in here.
  destruct (allowed_across r S _ here) as [le no]. rewrite e, app_length in le.
  rewrite e in here, across. pose proof (allowed_behind r L R n pos across here) as cut. rewrite cut. simpl andb.
  assert (behind r n R = skipn (n + left_out r) R) as ->
    by (destruct r; simpl; now rewrite ?Nat.add_0_r, ?Nat.add_1_r).
  assert (length (L ++ firstn (n + left_out r) R) = length L + n + left_out r) as size
    by (rewrite app_length, firstn_length; lia).
  apply (IH (L ++ firstn (n + left_out r) R)); rewrite ?size.
  - now rewrite <- app_assoc, firstn_skipn.
  - exact no.
  - exact rest.
Qed.
End Firm.

(** ** Lemma 35 needs each condition *)

Local Open Scope N_scope.
Definition flagged (c : text) (l r w : bool) : added_token := {|
  content := c; token_id := 9; lstrip := l; rstrip := r; single_word := w; skipped := false |}.
(** Spaces (32) are pieces; small letters are word characters. *)
Definition with_token (t : added_token) : facts := {|
  tokenizer_of := {| spaces := [(32, 32)]; words := [(97, 122)]; raw_tokens := [t]; normalizer := [];
    normalized_tokens := []; signs := []; symbols := []; other_symbol := 0; splits := [At 32 Isolated];
    model_of := AnyModel (fun w => w) |};
  size := 1; pairs := [] |}.

(** The cut after the first character of W is allowed in W, but not firm, and not allowed in Z W X. *)
Theorem firm_needs_each_condition :
  forallb (fun '(t, Z, W, X) => let f := with_token t in
      cut_allowed f Between W 1 && negb (firm f Between W 1) &&
      negb (cut_allowed f Between (Z ++ W ++ X) (length Z + 1)))
    [(flagged [98; 32; 99] false false false, [], [98; 32], [99]);    (* (a) across, begins in W *)
     (flagged [32; 120] false false true, [], [98; 32], [120]);       (* (b) single_word, begins at the cut *)
     (flagged [60; 61] true false false, [], [32; 32], [60; 61]);     (* (d) lstrip, begins behind W *)
     (flagged [99; 98; 32] false false false, [99], [98; 32], []);    (* (a) across, begins before W *)
     (flagged [60; 32] false false true, [60], [32; 98], []);         (* (b) single_word, ends at the cut *)
     (flagged [62] false true false, [62], [32; 32], [])] = true /\   (* (c) rstrip, ends before W *)
  firm (with_token (flagged [98; 32; 99] false false false)) Between [98; 32; 98] 1 = true /\
  firm (with_token (flagged [60; 61] false false false)) Edge [98; 60; 61; 98] 1 = true.
Proof. vm_compute. repeat split; reflexivity. Qed.
