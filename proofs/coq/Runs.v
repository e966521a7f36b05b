(** Theorem 11, runs of one atom: proofs/theorem-11.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams.
Import ListNotations.

Section Runs.
Variable A : Type.
Variable priority : list A -> list A -> option nat.
Notation E := (E priority).
Variable c : A.
Variables L n0 : nat.
Notation run n := (repeat c n).
Notation t := (run L).
Hypothesis twice : E (t ++ t) = [t; t].
Hypothesis long : L <= n0.
Hypothesis first_token : forall m, n0 <= m < n0 + L -> hd_error (E (run m)) = Some t.

Lemma token_length : 0 < L.
Proof.
  pose proof (E_proper _ priority (t ++ t)) as pr. rewrite twice in pr.
  apply proper_token in pr as [pos _]. now rewrite repeat_length in pos.
Qed.

Lemma run_parts m n : m <= n -> run n = run m ++ run (n - m).
Proof. intros le. rewrite <- repeat_app. f_equal. lia. Qed.

(** From n0 on every run begins with the token t, and goes on as the shorter one. *)
Lemma one_token n : n0 <= n -> E (run n) = t :: E (run (n - L)).
Proof.
  induction n as [n IH] using lt_wf_ind. intros le. pose proof token_length as pos.
  destruct (Nat.lt_ge_cases n (n0 + L)) as [near|far].
  - pose proof (first_token n (conj le near)) as h.
    destruct (E (run n)) as [|u r] eqn:e; [discriminate|]. injection h as ->. f_equal.
    rewrite (run_parts L n) in e by lia.
    destruct (E_app_parts _ priority t (run (n - L)) [t] r) as [_ er];
      [|apply app_nil_r| |easy|easy].
    + cbn [app]. rewrite <- e. apply E_proper.
    + pose proof (f_equal (@concat A) e) as ce. rewrite E_concat in ce.
      now apply app_inv_head in ce.
  - specialize (IH (n - L) ltac:(lia) ltac:(lia)).
    set (r := E (run (n - L - L))) in *.
    assert (concat (t :: r) = run (n - L)) as cr by (rewrite <- IH; apply E_concat).
    rewrite IH. replace (run n) with (concat ([t] ++ [t] ++ r)).
    + apply overlap; [easy| |].
      * cbn. now rewrite app_nil_r.
      * change (E (concat (t :: r)) = t :: r). now rewrite cr.
    + change (t ++ concat (t :: r) = run n). rewrite cr. symmetry. apply run_parts. lia.
Qed.

Lemma all_lengths n k : k * L <= n -> n0 <= n - k * L + L -> n0 <= n ->
  E (run n) = repeat t k ++ E (run (n - k * L)).
Proof.
  revert n. induction k as [|k IH]; intros n le short long'.
  - simpl. now rewrite Nat.sub_0_r.
  - cbn [Nat.mul] in *. rewrite (one_token n) by easy. cbn [repeat app]. f_equal.
    replace (n - (L + k * L)) with (n - L - k * L) in * by lia.
    destruct k as [|k]; [simpl; now rewrite Nat.sub_0_r|]. apply IH; cbn [Nat.mul] in *; lia.
Qed.
End Runs.

(** Theorem 11. t = c^L; that n - kL >= n0 - L is written without subtracting L. *)
Theorem theorem_11 : forall (A : Type) (priority : list A -> list A -> option nat)
    (c : A) (L n0 : nat),
  let t := repeat c L in
  E priority (t ++ t) = [t; t] -> L <= n0 ->
  (forall m, n0 <= m < n0 + L -> hd_error (E priority (repeat c m)) = Some t) ->
  forall n k, n0 <= n -> k * L <= n -> n0 <= n - k * L + L ->
  E priority (repeat c n) = repeat t k ++ E priority (repeat c (n - k * L)).
Proof.
  intros A priority c L n0 t h1 h2 h3 n k hn hk hr. now apply (all_lengths A priority c L n0).
Qed.

(** Its hypotheses are needed: the page's texts. *)
Example theorem_11_needs_the_pair :
  let p := by_pairs [([0], [0]); ([0; 0], [0; 0])] in
  E p (repeat 0 2) = [[0; 0]] /\ E p (repeat 0 3) = [[0; 0]; [0]] /\
  E p (repeat 0 4) = [repeat 0 4].
Proof. repeat split; vm_compute; reflexivity. Qed.

Example theorem_11_needs_all_lengths :
  let p := by_pairs [([0], [0]); ([0; 0], [0])] in
  E p (repeat 0 2) = [[0; 0]] /\ E p (repeat 0 4) = [[0; 0]; [0; 0]] /\
  E p (repeat 0 3) = [repeat 0 3].
Proof. repeat split; vm_compute; reflexivity. Qed.
