(** Theorem 22, the digit phase: proofs/theorem-22.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns.
Import ListNotations.

Section Digits.
Variable A : Type.
(** What is a number to the engine. *)
Variable number : A -> bool.

(** \p{N}{1,3}, greedy or possessive. *)
Definition numbers_1_3 (possessive : bool) : regex A :=
  let r := times true number 1 3 in if possessive then Possessive r else r.

(** All atoms of a pattern. *)
Fixpoint all_atoms (r : regex A) : list (A -> bool) :=
  match r with
  | Empty | Look _ => []
  | Atom c | Star _ c => [c]
  | Then r1 r2 | Or r1 r2 => all_atoms r1 ++ all_atoms r2
  | Possessive r1 => all_atoms r1
  end.

Definition consumes_no_number (r : regex A) : Prop :=
  forall c, In c (all_atoms r) -> forall d, number d = true -> c d = false.

(** S[t] is there and is a number. *)
Definition number_at (S : list A) (t : nat) : Prop :=
  match nth_error S t with Some d => number d = true | None => False end.

(** [s, e) is a maximal run of numbers in S. *)
Definition maximal_run (S : list A) (s e : nat) : Prop :=
  (forall t, s <= t < e -> number_at S t) /\
  (s = 0 \/ ~ number_at S (s - 1)) /\ ~ number_at S e.

(** ** What stands before the run *)

Lemma firsts_atoms (r : regex A) c : In c (firsts A r) -> In c (all_atoms r).
Proof.
  induction r as [|a|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|g a|r IH]; simpl; auto;
    rewrite !in_app_iff; intros [i|i]; auto.
  destruct (nullable A r1); [auto|easy].
Qed.

Lemma lasts_atoms (r : regex A) c : In c (lasts A r) -> In c (all_atoms r).
Proof.
  induction r as [|a|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|g a|r IH]; simpl; auto;
    rewrite !in_app_iff; intros [i|i]; auto.
  destruct (nullable A r2); [auto|easy].
Qed.

Lemma follows_atoms (r : regex A) a b :
  In (a, b) (follows r) -> In a (all_atoms r) /\ In b (all_atoms r).
Proof.
  induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|g c|r IH]; simpl; try easy.
  - rewrite !in_app_iff. intros [i|[i|i]]; [tauto|tauto|].
    apply in_prod_iff in i as [ia ib].
    split; [left; now apply lasts_atoms|right; now apply firsts_atoms].
  - rewrite !in_app_iff. tauto.
  - intros [e|[]]. injection e as <- <-. auto.
Qed.

Variables before after : list (regex A).
Variable possessive : bool.
Notation pattern := (alternatives (before ++ numbers_1_3 possessive :: after)).

Hypothesis others : forall r, In r (before ++ after) -> consumes_no_number r.
Hypothesis no_empty : no_empty_match pattern.

Lemma follows_alternatives l a b : In (a, b) (follows (alternatives l)) ->
  exists r : regex A, In r l /\ In (a, b) (follows r).
Proof.
  induction l as [|r l IH]; simpl; [easy|]. rewrite in_app_iff. intros [i|i]; [eauto|].
  destruct (IH i) as (r' & i1 & i2). eauto.
Qed.

Lemma numbers_atoms c : In c (all_atoms (numbers_1_3 possessive)) -> c = number.
Proof. unfold numbers_1_3. destruct possessive; simpl; intuition. Qed.

(** A path that has consumed what is no number cannot consume a number next. *)
Lemma no_number_follows x d z1 z2 : number x = false -> number d = true ->
  dead_end A (d :: z1) (d :: z2) x pattern.
Proof.
  intros nx nd. split; [|easy]. intros a b i ax.
  assert (b d = false) as bd; [|now split].
  apply follows_alternatives in i as (r & ir & i). apply follows_atoms in i as [ia ib].
  apply in_app_or in ir as [ir|[<-|ir]].
  - apply (others r); auto. apply in_or_app. now left.
  - apply numbers_atoms in ia as ->. congruence.
  - apply (others r); auto. apply in_or_app. now right.
Qed.

(** ** At a number *)

Lemma consumes_nothing (r : regex A) d w t : consumes_no_number r -> number d = true ->
  In t (ways r (d :: w)) -> t = d :: w.
Proof.
  intros h nd. revert t.
  induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|g c|r IH]; intros t i; simpl in i.
  - now destruct i as [<-|[]].
  - rewrite (h c) in i; [easy|now left|easy].
  - destruct (f (Some d)); [|easy]. now destruct i as [<-|[]].
  - assert (consumes_no_number r1 /\ consumes_no_number r2) as [h1 h2].
    { split; intros c ic; apply h; simpl; apply in_or_app; auto. }
    apply in_flat_map in i as (u & i1 & i2). apply (IH1 h1) in i1 as ->. now apply IH2.
  - assert (consumes_no_number r1 /\ consumes_no_number r2) as [h1 h2].
    { split; intros c ic; apply h; simpl; apply in_or_app; auto. }
    apply in_app_or in i as [i|i]; auto.
  - rewrite (h c) in i; [|now left|easy]. now destruct i as [<-|[]].
  - apply IH; [easy|]. destruct (ways r (d :: w)); [easy|]. destruct i as [<-|[]]. now left.
Qed.

(** Only \p{N}{1,3} can begin with a number: any other way would be an empty match. *)
Lemma ways_at_number d w : number d = true -> exists l,
  ways pattern (d :: w) = ways (numbers_1_3 possessive) (d :: w) ++ l.
Proof.
  intros nd.
  assert (forall l, (forall r, In r l -> In r before) -> forall rest,
            ways (alternatives (l ++ rest)) (d :: w) = ways (alternatives rest) (d :: w) \/
            exists l', ways (alternatives (l ++ rest)) (d :: w) = (d :: w) :: l') as skip.
  { induction l as [|r l IH]; intros sub rest; [now left|].
    destruct (ways r (d :: w)) as [|t ts] eqn:e.
    - simpl. rewrite e. simpl. apply IH. intros r' i. apply sub. now right.
    - right. assert (t = d :: w) as ->.
      { apply (consumes_nothing r); [|easy|rewrite e; now left].
        apply others, in_or_app. left. apply sub. now left. }
      simpl. rewrite e. simpl. eauto. }
  destruct (skip before) with (rest := numbers_1_3 possessive :: after) as [e|[l' e]]; [auto| |].
  - rewrite e. simpl. eauto.
  - exfalso. apply (no_empty (d :: w)). unfold match_length. rewrite e. now rewrite Nat.sub_diag.
Qed.

Lemma match_at_number d w : number d = true -> match_length pattern (d :: w) <> None.
Proof.
  intros nd. destruct (ways_at_number d w nd) as [l e]. unfold match_length. rewrite e.
  unfold numbers_1_3. destruct possessive; cbn; rewrite nd; destruct w as [|d2 w]; cbn; try easy;
    destruct (number d2); cbn; try easy; destruct w as [|d3 w]; cbn; try easy;
    destruct (number d3); cbn; easy.
Qed.

Lemma gap_at_number d w : number d = true -> gap A pattern (d :: w) = 0.
Proof.
  intros nd. simpl gap. pose proof (match_at_number d w nd) as h.
  now destruct (match_length pattern (d :: w)).
Qed.

(** The alternative takes three. *)
Lemma three_at_numbers d1 d2 d3 w : number d1 = true -> number d2 = true -> number d3 = true ->
  first_end pattern (d1 :: d2 :: d3 :: w) = 3.
Proof.
  intros n1 n2 n3. destruct (ways_at_number d1 (d2 :: d3 :: w) n1) as [l e].
  assert (exists l', ways (numbers_1_3 possessive) (d1 :: d2 :: d3 :: w) = w :: l') as [l' e'].
  { unfold numbers_1_3. destruct possessive; cbn; rewrite n1; cbn; rewrite n2; cbn; rewrite n3; cbn;
      eauto. }
  unfold first_end, match_length. rewrite e, e'. cbn [app length]. lia.
Qed.

(** ** The pieces *)

Let restartable : ends_first_piece (first_end pattern) := pattern_restartable A _ no_empty.

(** Up to the run the pieces do not depend on what stands behind its first number. *)
Lemma pieces_before u d z1 z2 :
  number d = true -> (u = [] \/ exists v x, u = v ++ [x] /\ number x = false) ->
  exists l, pieces (first_end pattern) (u ++ d :: z1) = l ++ pieces (first_end pattern) (d :: z1) /\
            pieces (first_end pattern) (u ++ d :: z2) = l ++ pieces (first_end pattern) (d :: z2).
Proof.
  intros nd. remember (length u) as n eqn:e. revert u e.
  induction n as [n IH] using lt_wf_ind. intros u -> [->|(v & x & -> & nx)]; [now exists []|].
  set (u := v ++ [x]) in *.
  destruct (first_end_alike A (d :: z1) (d :: z2) x pattern v) as [same le];
    [now apply no_number_follows|now apply gap_at_number|now apply gap_at_number|].
    fold u in same, le.
  assert (forall z, u ++ d :: z <> []) as ne by (intros z; unfold u; now destruct v).
  pose proof (restartable (u ++ d :: z1) (ne z1)) as [lo _].
  set (k := first_end pattern (u ++ d :: z1)) in *.
  assert (length (skipn k u) < length u) as shorter by (rewrite skipn_length; lia).
  destruct (IH _ shorter (skipn k u) eq_refl) as (l & e1 & e2).
  - destruct (Nat.eq_dec k (length u)) as [ek|nk]; [left; rewrite ek; apply skipn_all|].
    right. exists (skipn k v), x. split; [|easy]. unfold u in *. rewrite app_length in *.
    simpl in *.
    rewrite skipn_app. now replace (k - length v) with 0 by lia.
  - exists (firstn k u :: l).
    rewrite (pieces_step A _ restartable _ (ne z1)), (pieces_step A _ restartable _ (ne z2)).
    rewrite <- same. fold k. rewrite !firstn_prefix, !skipn_app by easy.
    replace (k - length u) with 0 by lia. cbn [skipn]. rewrite e1, e2. now split.
Qed.

(** Inside the run they are three numbers each. *)
Lemma pieces_inside k D z : length D = 3 * k -> Forall (fun d => number d = true) D ->
  pieces (first_end pattern) (D ++ z) =
  pieces (first_end pattern) D ++ pieces (first_end pattern) z.
Proof.
  revert D. induction k as [|k IH]; intros D n h.
  - destruct D; [easy|discriminate].
  - destruct D as [|d1 [|d2 [|d3 D]]]; simpl in n; try lia.
    inversion h as [|? ? n1 h1]. inversion h1 as [|? ? n2 h2]. inversion h2 as [|? ? n3 h3]. subst.
    rewrite (pieces_step A _ restartable (d1 :: d2 :: d3 :: D)) by easy.
    rewrite (pieces_step A _ restartable (_ ++ z)) by easy. cbn [app].
    rewrite !three_at_numbers by easy. cbn [firstn skipn app]. f_equal. apply IH; [lia|easy].
Qed.

Lemma numbers_between S s e : (forall t, s <= t < e -> number_at S t) ->
  Forall (fun d => number d = true) (slice S s e).
Proof.
  intros h. apply Forall_forall. intros d i. apply In_nth_error in i as [t i].
  assert (t < length (slice S s e)) as lt by (apply nth_error_Some; congruence).
  unfold slice in *. rewrite firstn_length, skipn_length in lt.
  assert (nth_error S (s + t) = Some d) as i'.
  { rewrite <- i. rewrite <- (firstn_skipn s S) at 1.
    rewrite nth_error_app2; rewrite firstn_length; [|lia].
    replace (s + t - Nat.min s (length S)) with t by lia.
    rewrite <- (firstn_skipn (e - s) (skipn s S)) at 1. apply nth_error_app1.
    rewrite firstn_length, skipn_length. lia. }
  specialize (h (s + t)). unfold number_at in h. rewrite i' in h. apply h. lia.
Qed.

(** Theorem 22, see below. *)
Lemma phase S s e k : let p := s + 3 * k in maximal_run S s e ->
  1 <= k -> p <= e -> 0 < p < length S -> clean (first_end pattern) S p.
Proof.
  cbn zeta. intros (run & left & _) k1 pe pn. set (p := s + 3 * k) in *.
  apply pieces_clean; [exact restartable|lia|].
  set (u := firstn s S). set (D := slice S s p). set (z := skipn p S).
  assert (S = u ++ D ++ z) as eS by (apply slices; lia).
  assert (firstn p S = u ++ D) as eL by (apply firstn_parts; lia).
  assert (length D = 3 * k) as nD by (unfold D; rewrite slice_length; lia).
  assert (Forall (fun d => number d = true) D) as hD.
  { apply numbers_between. intros t h. apply run. lia. }
  assert (u = [] \/ exists v x, u = v ++ [x] /\ number x = false) as hu.
  { destruct left as [->|left]; [now left|]. destruct s as [|s']; [now left|]. right.
    replace (Datatypes.S s' - 1) with s' in left by lia.
    destruct (nth_error S s') as [x|] eqn:ex.
    - exists (firstn s' S), x. split.
      + unfold u. clear - ex. revert S ex.
        induction s' as [|n IH]; intros [|a S] ex; try discriminate.
        * injection ex as ->. easy.
        * cbn [firstn app]. f_equal. now apply IH.
      + unfold number_at in left. rewrite ex in left. now destruct (number x).
    - apply nth_error_None in ex. lia. }
  rewrite eL. rewrite eS at 1. destruct D as [|d D']; [simpl in nD; lia|].
  assert (number d = true) as nd by (now inversion hD).
  destruct (pieces_before u d (D' ++ z) D' nd hu) as (l & e1 & e2).
  cbn [app]. rewrite e1, e2, <- app_assoc. f_equal.
  rewrite app_comm_cons. now apply (pieces_inside k).
Qed.

End Digits.

Arguments numbers_1_3 {A}.
Arguments consumes_no_number {A}.
Arguments maximal_run {A}.

(** Theorem 22. The pattern is one of Theorem 18; its only alternative that can consume a number is
    \p{N}{1,3}. *)
Theorem theorem_22 : forall (A : Type) (number : A -> bool)
    (before after : list (regex A)) (possessive : bool),
  let pattern := alternatives (before ++ numbers_1_3 number possessive :: after) in
  (forall r, In r (before ++ after) -> consumes_no_number number r) -> no_empty_match pattern ->
  forall (S : list A) (s e k : nat), let p := s + 3 * k in
  maximal_run number S s e -> 1 <= k -> p <= e -> 0 < p < length S ->
  clean (first_end pattern) S p.
Proof. intros A number before after possessive pattern. apply phase. Qed.
