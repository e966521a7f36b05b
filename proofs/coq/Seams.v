(** Theorems 5 and 5', Corollary 7: proofs/5-two-common-boundaries.md and 7-pairs-of-tokens.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging.
Import ListNotations.

Section Seams.
Variable A : Type.
Variable priority : list A -> list A -> option nat.
Notation E := (E priority).
Notation B := (B priority).
Notation step := (step priority).
Notation final := (final priority).

(** ** Theorem 5 *)

(** The first step of the run on l m r that deletes one of the two would be one of the run on l m,
    or of the run on m r. *)
Lemma both_stay l m r : proper (l ++ m ++ r) -> m <> [] ->
  In (size l) (boundaries (final (l ++ m))) -> In (size m) (boundaries (final (m ++ r))) ->
  In (size l) (boundaries (final (l ++ m ++ r))) /\
  In (size l + size m) (boundaries (final (l ++ m ++ r))).
Proof.
  remember (l ++ m ++ r) as s eqn:e. revert l m r e.
  induction s as [s h|s d s' h IH] using (final_induction A priority); intros l m r -> pr nm bi bj.
  - rewrite (final_step _ _ (l ++ m ++ r)), h. split; [apply boundary_of_prefix|].
    rewrite <- size_app, app_assoc. apply boundary_of_prefix.
  - assert (proper (l ++ m) /\ proper (m ++ r)) as [plm pmr].
    { rewrite !proper_app in *. tauto. }
    assert (0 < size m) as pos.
    { destruct m as [|t m]; [easy|]. rewrite <- app_comm_cons in pmr.
      apply proper_token in pmr as [? _]. rewrite size_cons. lia. }
    assert (proper s') as pr' by (eapply step_proper; eauto).
    rewrite (final_step _ _ (l ++ m ++ r)), h.
    pose proof h as h'. rewrite app_assoc in h'.
    pose proof pr as pr2. rewrite app_assoc in pr2.
    (* the step, seen from l (m r), and from (l m) r *)
    destruct (step_app _ _ _ _ _ _ pr h) as [(lt & l' & hl & e)|[eq|(gt & y & hy & e)]];
    destruct (step_app _ _ _ _ _ _ pr2 h') as [(lt2 & x & hx & e2)|[eq2|(gt2 & r' & hr & e2)]];
    rewrite size_app in *; try lia.
    + (* in l *)
      assert (x = l' ++ m) as ->.
      { apply (app_inv_tail r). now rewrite <- e2, e, app_assoc. }
      rewrite <- (step_size _ _ _ _ _ hl) in bi |- *. subst s'.
      apply (IH l' m r); auto. now rewrite (final_step _ _ (l ++ m)), hx in bi.
    + (* deletes i *)
      subst d. now apply final_deletes in hx.
    + (* in m *)
      destruct (step_app _ _ _ _ _ _ plm hx) as [[? _]|[?|(_ & m' & hm & ->)]]; [lia|lia|].
      assert (y = m' ++ r) as ->.
      { apply (app_inv_head l). now rewrite <- e, e2, app_assoc. }
      rewrite (final_step _ _ (l ++ m)), hx in bi. rewrite (final_step _ _ (m ++ r)), hy in bj.
      rewrite <- (step_size _ _ _ _ _ hm) in bj, pos |- *. subst s'.
      apply (IH l m' r); auto. intros ->. rewrite size_nil in pos. lia.
    + (* deletes j *)
      exfalso. apply (final_deletes _ _ _ _ _ pmr) in hy.
      replace (d - size l) with (size m) in hy by lia. contradiction.
    + (* in r *)
      assert (y = m ++ r') as ->.
      { apply (app_inv_head l). now rewrite <- e, e2, app_assoc. }
      rewrite (final_step _ _ (m ++ r)), hy in bj. subst s'. now apply (IH l m r').
Qed.

Lemma firstn_parts (w : list A) i j : i <= j -> firstn j w = firstn i w ++ slice w i j.
Proof.
  intros le. rewrite <- (firstn_skipn i (firstn j w)), firstn_firstn, Nat.min_l by easy.
  f_equal. apply skipn_firstn_comm.
Qed.

Lemma skipn_parts (w : list A) i j : i <= j -> skipn i w = slice w i j ++ skipn j w.
Proof.
  intros le. apply (app_inv_head (firstn i w)). rewrite <- slices by easy. apply firstn_skipn.
Qed.

(** Theorem 5. *)
Theorem theorem_5 : forall (w : list A) (i j : nat), i < j <= length w ->
  (B w i /\ B w j <-> B (firstn j w) i /\ B (skipn i w) (j - i)).
Proof.
  intros w i j h. split.
  - intros [bi bj]. split; [apply B_left|apply B_right]; easy || lia.
  - intros [bi bj]. unfold Merging.B in *. rewrite !E_final in *.
    pose proof (firstn_parts w i j) as e. pose proof (skipn_parts w i j) as e'.
    rewrite e, atoms_app in bi by lia. rewrite e', atoms_app in bj by lia.
    destruct (both_stay (atoms (firstn i w)) (atoms (slice w i j)) (atoms (skipn j w))) as [ci cj].
    + rewrite <- !atoms_app. apply atoms_proper.
    + intros n. apply (f_equal size) in n. rewrite atoms_size, slice_length, size_nil in n; lia.
    + rewrite atoms_size, firstn_length, Nat.min_l by lia. easy.
    + rewrite atoms_size, slice_length by lia. easy.
    + rewrite <- !atoms_app, <- slices in ci, cj by lia.
      rewrite !atoms_size, firstn_length, Nat.min_l in ci, cj by lia.
      rewrite atoms_size, slice_length in cj by lia. now replace (i + (j - i)) with j in cj by lia.
Qed.

(** ** Theorem 5' *)

Lemma up_to_boundary w p : B w p -> up_to p (E w) = E (firstn p w).
Proof.
  intros h. rewrite (lemma_4_parts _ _ w p h).
  assert (size (E (firstn p w)) = p) as e.
  { rewrite E_size, firstn_length, Nat.min_l; [easy|]. now apply B_le in h. }
  rewrite <- e at 1. apply up_to_app. rewrite <- lemma_4_parts by easy. apply E_proper.
Qed.

Lemma from_boundary w p : B w p -> from p (E w) = E (skipn p w).
Proof.
  intros h. rewrite (lemma_4_parts _ _ w p h).
  assert (size (E (firstn p w)) = p) as e.
  { rewrite E_size, firstn_length, Nat.min_l; [easy|]. now apply B_le in h. }
  rewrite <- e at 1. apply from_app. rewrite <- lemma_4_parts by easy. apply E_proper.
Qed.

Lemma firstn_prefix (v x : list A) i : i <= length v -> firstn i (v ++ x) = firstn i v.
Proof. intros h. rewrite firstn_app. replace (i - length v) with 0 by lia. apply app_nil_r. Qed.

Lemma skipn_suffix (y v : list A) i : length y <= i -> skipn i (y ++ v) = skipn (i - length y) v.
Proof. intros h. now rewrite skipn_app, skipn_all2. Qed.

(** Theorem 5', the boundaries. X begins with w[:j] and Y ends with w[i:]; the place p of w is the
    place |y| + (p - i) of Y. *)
Theorem theorem_5'_boundaries : forall (w : list A) (i j : nat) (x y : list A), i < j <= length w ->
  let X := firstn j w ++ x in let Y := y ++ skipn i w in
  B X i -> B X j -> B Y (length y) -> B Y (length y + (j - i)) ->
  B w i /\ B w j /\
  (forall p, p <= j -> (B w p <-> B X p)) /\
  (forall p, i <= p <= length w -> (B w p <-> B Y (length y + (p - i)))).
Proof.
  intros w i j x y h X Y bxi bxj byi byj.
  assert (firstn j X = firstn j w) as ex.
  { unfold X. rewrite firstn_prefix by (rewrite firstn_length; lia).
    now rewrite firstn_firstn, Nat.min_id. }
  assert (skipn (length y) Y = skipn i w) as ey.
  { unfold Y. now rewrite skipn_suffix, Nat.sub_diag. }
  assert (forall p, p <= j -> (B (firstn j w) p <-> B X p)) as left.
  { intros p le. rewrite <- ex. symmetry. now apply B_left. }
  assert (forall p, i <= p -> (B (skipn i w) (p - i) <-> B Y (length y + (p - i)))) as right.
  { intros p le. rewrite <- ey. symmetry.
    rewrite (B_right _ _ Y (length y)) by (easy || lia).
    now replace (length y + (p - i) - length y) with (p - i) by lia. }
  destruct (theorem_5 w i j h) as [_ [bi bj]].
  { split; [apply left|apply right]; easy || lia. }
  repeat split; try easy.
  - intros bp. apply left; [easy|]. now apply B_left.
  - intros bp. apply left in bp; [|easy]. now apply (B_left _ _ w j).
  - intros bp. apply right; [easy|]. now apply B_right.
  - intros bp. apply right in bp; [|easy]. now apply (B_right _ _ w i).
Qed.

(** Theorem 5': E(w) = E(X) up to i, then E(Y) from i; and the same with j in place of i. *)
Theorem theorem_5' : forall (w : list A) (i j : nat) (x y : list A), i < j <= length w ->
  let X := firstn j w ++ x in let Y := y ++ skipn i w in
  B X i -> B X j -> B Y (length y) -> B Y (length y + (j - i)) ->
  E w = up_to i (E X) ++ from (length y) (E Y) /\
  E w = up_to j (E X) ++ from (length y + (j - i)) (E Y).
Proof.
  intros w i j x y h X Y bxi bxj byi byj.
  destruct (theorem_5'_boundaries w i j x y h bxi bxj byi byj) as (bi & bj & _).
  rewrite !up_to_boundary, !from_boundary by easy. unfold X, Y.
  rewrite !firstn_prefix by (rewrite firstn_length; lia).
  rewrite !skipn_suffix, !firstn_firstn, Nat.sub_diag, Nat.min_id, Nat.min_l by lia. simpl.
  replace (length y + (j - i) - length y) with (j - i) by lia. rewrite skipn_add.
  replace (i + (j - i)) with j by lia.
  split; now apply lemma_4_parts.
Qed.

(** ** Corollary 7 *)

Lemma E_app_parts v w a b : proper (a ++ b) -> concat a = v -> concat b = w ->
  E (v ++ w) = a ++ b -> E v = a /\ E w = b.
Proof.
  intros pr ca cb e.
  assert (size a = length v) as n by now rewrite <- ca.
  assert (B (v ++ w) (length v)) as bv.
  { unfold Merging.B. rewrite e, <- n. apply boundary_of_prefix. }
  pose proof (up_to_boundary _ _ bv) as el. pose proof (from_boundary _ _ bv) as er.
  rewrite firstn_prefix, firstn_all in el by easy.
  rewrite skipn_suffix, Nat.sub_diag in er by easy. change (skipn 0 w) with w in er.
  rewrite <- el, <- er, e, <- n. split; [now apply up_to_app|now apply from_app].
Qed.

(** A stretch of an encoding is an encoding. *)
Lemma stretch a b c : E (concat (a ++ b ++ c)) = a ++ b ++ c -> E (concat b) = b.
Proof.
  intros e. pose proof (E_proper _ priority (concat (a ++ b ++ c))) as pr. rewrite e in pr.
  rewrite concat_app in e. apply E_app_parts in e as [_ e]; [|easy|easy|easy].
  apply proper_app in pr as [_ pr]. rewrite concat_app in e. now apply E_app_parts in e as [e _].
Qed.

(** Two encodings that share the tokens v. *)
Lemma overlap l v r : v <> [] -> E (concat (l ++ v)) = l ++ v -> E (concat (v ++ r)) = v ++ r ->
  E (concat (l ++ v ++ r)) = l ++ v ++ r.
Proof.
  intros nv el er.
  pose proof (E_proper _ priority (concat (l ++ v))) as pr. rewrite el in pr.
  assert (E (concat l) = l) as ell.
  { rewrite concat_app in el. now apply E_app_parts in el as [el _]. }
  assert (0 < size v) as pos.
  { apply proper_app in pr as [_ pr]. destruct v as [|t v]; [easy|].
    apply proper_token in pr as [? _]. rewrite size_cons. lia. }
  set (w := concat (l ++ v ++ r)). set (i := size l). set (j := i + size v).
  assert (w = concat l ++ concat v ++ concat r) as ew by (unfold w; now rewrite !concat_app).
  assert (firstn i w = concat l) as eil.
  { rewrite ew, firstn_prefix; [|easy]. now apply firstn_all2. }
  assert (skipn i w = concat (v ++ r)) as ei.
  { rewrite ew, skipn_suffix; [|easy]. unfold i, size. now rewrite Nat.sub_diag, concat_app. }
  assert (firstn j w = concat (l ++ v)) as ej.
  { assert (j = length (concat l ++ concat v)) as n by now rewrite app_length.
    rewrite ew, app_assoc, concat_app, n, firstn_prefix by easy. apply firstn_all. }
  assert (i < j <= length w) as h.
  { rewrite ew, !app_length. unfold j, i, size in *. lia. }
  destruct (theorem_5 w i j h) as [_ [bi bj]].
  - rewrite ej, ei. unfold Merging.B. rewrite el, er. split; [apply boundary_of_prefix|].
    replace (j - i) with (size v) by lia. apply boundary_of_prefix.
  - now rewrite (lemma_4_parts _ _ w i bi), eil, ei, er, ell.
Qed.

Lemma neighbours (t : list (list A)) k : k + 1 < length t ->
  exists a c, t = a ++ [nth k t []; nth (k + 1) t []] ++ c.
Proof.
  revert t. induction k as [|k IH]; intros [|u t] h; simpl in h; try lia.
  - destruct t as [|v c]; [simpl in h; lia|]. now exists [], c.
  - destruct (IH t) as (a & c & e); [lia|]. exists (u :: a), c. simpl. now rewrite e at 1.
Qed.

(** Corollary 7. *)
Theorem corollary_7 : forall t : list (list A), 2 <= length t ->
  (E (concat t) = t <->
   forall k, k + 1 < length t ->
     let u := nth k t [] in let v := nth (k + 1) t [] in E (u ++ v) = [u; v]).
Proof.
  intros t m. split.
  - intros e k lt. cbn zeta.
    destruct (neighbours t k lt) as (a & c & et).
    set (u := nth k t []) in *. set (v := nth (k + 1) t []) in *.
    rewrite et in e. apply stretch in e. simpl in e. now rewrite app_nil_r in e.
  - intros pairs. destruct t as [|u t]; [simpl in m; lia|].
    revert u m pairs. induction t as [|v t IH]; intros u m pairs; [simpl in m; lia|].
    assert (E (concat [u; v]) = [u; v]) as euv.
    { simpl. rewrite app_nil_r. apply (pairs 0). simpl. lia. }
    destruct t as [|x t]; [easy|]. apply (overlap [u] [v] (x :: t)); [easy|easy|].
    apply IH; [simpl; lia|]. intros k lt. apply (pairs (S k)). simpl in *. lia.
Qed.

(** Corollary 7, the check of a seam: t_f .. t_g are the tokens f - 1 .. g - 1, counted from 0. *)
Theorem corollary_7_check : forall (L R : list A) (f g : nat),
  let t := E L ++ E R in let m := length (E L) in
  1 <= f <= m -> m < g <= length t ->
  (E (L ++ R) = E L ++ E R <-> E (concat (slice t (f - 1) g)) = slice t (f - 1) g).
Proof.
  intros L R f g t m hf hg. unfold t in hg. rewrite app_length in hg. fold m in hg.
  set (a := firstn (f - 1) (E L)). set (b := skipn (f - 1) (E L)).
  set (c := firstn (g - m) (E R)). set (d := skipn (g - m) (E R)).
  assert (E L = a ++ b) as eL by (symmetry; apply firstn_skipn).
  assert (E R = c ++ d) as eR by (symmetry; apply firstn_skipn).
  assert (length b = m - (f - 1)) as lb by (unfold b; now rewrite skipn_length).
  assert (slice t (f - 1) g = b ++ c) as middle.
  { unfold slice, t. rewrite skipn_app. fold b m. replace (f - 1 - m) with 0 by lia. simpl.
    rewrite firstn_app, firstn_all2, lb by lia.
    now replace (g - (f - 1) - (m - (f - 1))) with (g - m) by lia. }
  assert (t = a ++ (b ++ c) ++ d) as parts.
  { unfold t. rewrite eL at 1. rewrite eR. now rewrite <- !app_assoc. }
  assert (concat t = L ++ R) as ct by (unfold t; now rewrite concat_app, !E_concat).
  fold t. rewrite <- ct, middle, parts. split; [apply stretch|]. intros e.
  assert (b <> []) as nb by (intros n; rewrite n in lb; simpl in lb; lia).
  assert (c <> []) as nc.
  { intros n. apply (f_equal (@length _)) in n. unfold c in n. rewrite firstn_length in n.
    simpl in n. lia. }
  rewrite <- app_assoc, (app_assoc a). apply overlap; [easy| |].
  - rewrite <- app_assoc. apply overlap; [easy| |easy]. now rewrite <- eL, E_concat.
  - now rewrite <- eR, E_concat.
Qed.

End Seams.

(** ** One common boundary is not enough *)

(** The page's text: "abab", merges (a, b), (ab, ab). Its windows "aba" and "bab" have the
    boundary 2 in common, strictly inside both; the whole is one token. *)
Definition abab_merges : list (list nat * list nat) := [([0], [1]); ([0; 1], [0; 1])].
Definition abab : list nat := [0; 1; 0; 1].

Example abab_encodings :
  E (by_pairs abab_merges) abab = [[0; 1; 0; 1]] /\
  E (by_pairs abab_merges) (slice abab 0 3) = [[0; 1]; [0]] /\
  E (by_pairs abab_merges) (slice abab 1 4) = [[1]; [0; 1]].
Proof. repeat split; vm_compute; reflexivity. Qed.

Theorem one_common_boundary_is_not_enough :
  exists (priority : list nat -> list nat -> option nat) (w : list nat) (a i b : nat),
    a < i < b /\ b <= length w /\
    let X := slice w 0 b in let Y := slice w a (length w) in
    B priority X i /\ B priority Y (i - a) /\
    E priority w <> up_to i (E priority X) ++ from (i - a) (E priority Y).
Proof.
  exists (by_pairs abab_merges), abab, 1, 2, 3.
  split; [lia|]. split; [simpl; lia|]. cbn zeta. split; [vm_compute; tauto|].
  split; [vm_compute; tauto|]. vm_compute. discriminate.
Qed.

(** Each hypothesis of Theorem 5 is needed: the page's texts. *)
Example theorem_5_needs_the_right_side :
  let p := by_pairs [([1], [2]); ([0], [1; 2])] in
  B p [0; 1] 1 /\ ~ B p [0; 1; 2] 1.
Proof. vm_compute. intuition discriminate. Qed.

Example theorem_5_needs_the_left_side :
  let p := by_pairs [([0], [1]); ([0; 1], [2])] in
  B p [1; 2] 1 /\ ~ B p [0; 1; 2] 2.
Proof. vm_compute. intuition discriminate. Qed.

(** A single token need not be its own encoding: Corollary 7 needs two tokens or more. *)
Example corollary_7_needs_two_tokens :
  let p := by_pairs [([0], [1]); ([0], [0]); ([0; 0], [1])] in
  E p [0; 0; 1] = [[0]; [0; 1]].
Proof. vm_compute. reflexivity. Qed.

(** Theorem 5': X begins with w[:j], not only with w[:i]. *)
Example theorem_5'_needs_the_common_stretch :
  let p := by_pairs [([0], [1])] in
  B p [0; 2] 1 /\ B p [0; 2] 2 /\ B p [1] 0 /\ B p [1] 1 /\ ~ B p [0; 1] 1.
Proof. vm_compute. intuition discriminate. Qed.
