(** Restartable pre-tokenizers: Theorem 14 with Lemma 17, and Theorem 15 with its corollary:
    proofs/14-clean-cuts.md and 15-one-true-boundary.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams.
Import ListNotations.

Section PreTokens.
Variable A : Type.

(** The end of the first piece of a text. *)
Variable m : list A -> nat.
Definition ends_first_piece : Prop := forall w, w <> [] -> 1 <= m w <= length w.

(** The pieces of S: each next one depends on the rest of the text only. |S| is room enough. *)
Fixpoint pieces_within (room : nat) (S : list A) : list (list A) :=
  match room, S with
  | 0, _ | _, [] => []
  | Datatypes.S room', _ => firstn (m S) S :: pieces_within room' (skipn (m S) S)
  end.

Definition pieces (S : list A) : list (list A) := pieces_within (length S) S.
Definition P (S : list A) : list nat := boundaries (pieces S).

(** The ids of S, for any function of one piece. *)
Definition T {Id} (encode : list A -> list Id) (S : list A) : list Id :=
  concat (map encode (pieces S)).

(** P(S) = P(L) u (p + P(R)) for L = S[:p] and R = S[p:]. *)
Definition clean (S : list A) (p : nat) : Prop := forall q,
  In q (P S) <-> In q (P (firstn p S)) \/ exists r, In r (P (skipn p S)) /\ q = p + r.

(** Every cut with its left neighbour in c and its right neighbour in d is clean. *)
Definition safe (c d : A -> Prop) : Prop := forall l x y r, c x -> d y ->
  clean ((l ++ [x]) ++ y :: r) (length (l ++ [x])).

Hypothesis restartable : ends_first_piece.

(** ** The rows of pieces *)

Lemma enough_room room S : length S <= room -> pieces_within room S = pieces S.
Proof.
  unfold pieces. remember (length S) as n eqn:e. revert S room e.
  induction n as [n IH] using lt_wf_ind. intros S room e le.
  destruct S as [|a S']; [simpl in e; subst n; now destruct room|]. set (S := a :: S') in *.
  destruct (restartable S) as [lo hi]; [easy|].
  destruct n as [|n]; [discriminate|]. destruct room as [|room]; [lia|].
  simpl. fold S. f_equal.
  assert (length (skipn (m S) S) = Datatypes.S n - m S) as ls by (rewrite skipn_length; lia).
  transitivity (pieces_within (Datatypes.S n - m S) (skipn (m S) S)); [|symmetry]; apply IH; lia.
Qed.

Lemma pieces_step S : S <> [] -> pieces S = firstn (m S) S :: pieces (skipn (m S) S).
Proof.
  intros ne. destruct (restartable S ne) as [lo hi]. unfold pieces at 1.
  destruct S as [|a S']; [easy|]. set (S := a :: S') in *.
  change (length S) with (Datatypes.S (length S')).
  change (firstn (m S) S :: pieces_within (length S') (skipn (m S) S) =
          firstn (m S) S :: pieces (skipn (m S) S)).
  f_equal. apply enough_room. rewrite skipn_length.
  assert (length S = Datatypes.S (length S')) by easy. lia.
Qed.

Lemma skipn_shorter S : S <> [] -> length (skipn (m S) S) < length S.
Proof. intros ne. destruct (restartable S ne). rewrite skipn_length. lia. Qed.

Lemma text_induction (Q : list A -> Prop) :
  (Q []) -> (forall S, S <> [] -> Q (skipn (m S) S) -> Q S) -> forall S, Q S.
Proof.
  intros nil next S. remember (length S) as n eqn:e. revert S e.
  induction n as [n IH] using lt_wf_ind. intros S e.
  destruct S as [|a S]; [easy|]. apply next; [easy|].
  eapply IH; [|reflexivity]. subst n. now apply skipn_shorter.
Qed.

Lemma pieces_concat S : concat (pieces S) = S.
Proof.
  induction S as [|S ne IH] using text_induction; [easy|].
  rewrite (pieces_step S ne). simpl. rewrite IH. apply firstn_skipn.
Qed.

Lemma pieces_size S : size (pieces S) = length S.
Proof. unfold size. now rewrite pieces_concat. Qed.

Lemma pieces_proper S : proper (pieces S).
Proof.
  induction S as [|S ne IH] using text_induction; [constructor|].
  rewrite (pieces_step S ne). constructor; [|easy]. destruct (restartable S ne).
  intros e. apply (f_equal (@length A)) in e. rewrite firstn_length in e. simpl in e. lia.
Qed.

(** The page's definition: p_0 = 0, and p_(k+1) = p_k + m(S[p_k:]). *)
Theorem P_definition : forall S, S <> [] -> P S = 0 :: map (Nat.add (m S)) (P (skipn (m S) S)).
Proof.
  intros S ne. unfold P. rewrite (pieces_step S ne). destruct (restartable S ne).
  simpl. now rewrite firstn_length, Nat.min_l.
Qed.

Lemma P_0 S : In 0 (P S).
Proof. apply boundary_0. Qed.

Lemma P_length S : In (length S) (P S).
Proof. unfold P. rewrite <- pieces_size. apply boundary_size. Qed.

Lemma P_le S p : In p (P S) -> p <= length S.
Proof. rewrite <- pieces_size. apply boundary_le. Qed.

(** From a boundary on, the pieces are those of the rest. *)
Lemma pieces_from S p : In p (P S) -> exists l, pieces S = l ++ pieces (skipn p S) /\ size l = p.
Proof.
  revert p. induction S as [|S ne IH] using text_induction; intros p h.
  - apply P_le in h. simpl in h. replace p with 0 by lia. now exists [].
  - rewrite (P_definition S ne) in h. destruct h as [<-|h]; [now exists []|].
    apply in_map_iff in h as (q & <- & h). destruct (IH q h) as (l & e & z).
    exists (firstn (m S) S :: l). rewrite (pieces_step S ne), e, skipn_add, size_cons, z.
    split; [easy|].
    destruct (restartable S ne). now rewrite firstn_length, Nat.min_l.
Qed.

Lemma P_from S p q : In p (P S) -> p <= q -> (In q (P S) <-> In (q - p) (P (skipn p S))).
Proof.
  intros h le. destruct (pieces_from S p h) as (l & e & <-). unfold P at 1. rewrite e.
  now apply boundaries_app_right.
Qed.

(** The boundary after s is s + m(S[s:]). *)
Lemma P_next S s : In s (P S) -> s < length S ->
  In (s + m (skipn s S)) (P S) /\ forall q, In q (P S) -> s < q -> s + m (skipn s S) <= q.
Proof.
  intros h lt. assert (skipn s S <> []) as ne.
  { intros e. apply (f_equal (@length A)) in e. rewrite skipn_length in e. simpl in e. lia. }
  pose proof (P_definition _ ne) as d. split.
  - apply (P_from S s); [easy|lia|]. replace (s + m (skipn s S) - s) with (m (skipn s S)) by lia.
    rewrite d. right. apply in_map_iff. exists 0. split; [lia|apply P_0].
  - intros q i g. apply (P_from S s) in i; [|easy|lia]. rewrite d in i.
    destruct i as [i|i]; [lia|]. apply in_map_iff in i as (r & i & _). lia.
Qed.

(** ** Theorem 14 *)

(** The right side of the theorem, for L R. *)
Definition undisturbed (L R : list A) : Prop := forall s, In s (P L) -> s < length L ->
  m (skipn s (L ++ R)) = m (skipn s L).

Lemma undisturbed_pieces L R : undisturbed L R -> pieces (L ++ R) = pieces L ++ pieces R.
Proof.
  induction L as [|L ne IH] using text_induction; intros h; [easy|].
  destruct (restartable L ne) as [lo hi].
  assert (m (L ++ R) = m L) as e by (apply (h 0); [apply P_0|lia]).
  assert (L ++ R <> []) as ne' by (now destruct L).
  rewrite (pieces_step _ ne'), (pieces_step L ne), e, firstn_prefix by easy. simpl. f_equal.
  assert (skipn (m L) (L ++ R) = skipn (m L) L ++ R) as es.
  { rewrite skipn_app. now replace (m L - length L) with 0 by lia. }
  rewrite es. apply IH. intros s i lt. rewrite <- es, !skipn_add. apply h.
  - rewrite (P_definition L ne). right. apply in_map_iff. now exists s.
  - rewrite skipn_length in lt. lia.
Qed.

Lemma clean_undisturbed L R : clean (L ++ R) (length L) -> undisturbed L R.
Proof.
  unfold clean. rewrite firstn_prefix, firstn_all, skipn_suffix, Nat.sub_diag by easy. simpl.
  intros c s i lt.
  assert (In s (P (L ++ R))) as i' by (apply c; now left).
  destruct (P_next L s i lt) as [inL leastL].
  destruct (P_next (L ++ R) s i') as [inS leastS]; [rewrite app_length; lia|].
  assert (s + m (skipn s (L ++ R)) <= s + m (skipn s L)) as le1.
  { apply leastS; [apply c; now left|]. assert (skipn s L <> []) as ne.
    { intros e. apply (f_equal (@length A)) in e. rewrite skipn_length in e. simpl in e. lia. }
    pose proof (restartable _ ne). lia. }
  assert (s + m (skipn s L) <= s + m (skipn s (L ++ R))); [|lia].
  assert (s < s + m (skipn s (L ++ R))) as gt.
  { assert (skipn s (L ++ R) <> []) as ne.
    { intros e. apply (f_equal (@length A)) in e. rewrite skipn_length, app_length in e.
      simpl in e. lia. }
    pose proof (restartable _ ne). lia. }
  apply c in inS as [inS|(r & _ & e)]; [now apply leastL|].
  rewrite e. apply P_le in inL. lia.
Qed.

Lemma pieces_clean S p : p <= length S ->
  (clean S p <-> pieces S = pieces (firstn p S) ++ pieces (skipn p S)).
Proof.
  intros le. assert (length (firstn p S) = p) as n by (rewrite firstn_length; lia). split.
  - intros c. rewrite <- (firstn_skipn p S) at 1. apply undisturbed_pieces, clean_undisturbed.
    now rewrite firstn_skipn, n.
  - intros e q. unfold P at 1. rewrite e, boundaries_app, pieces_size, n. unfold P. split.
    + intros [h|[ge h]]; [now left|right]. exists (q - p). split; [easy|lia].
    + intros [h|(r & h & ->)]; [now left|right]. split; [lia|].
      now replace (p + r - p) with r by lia.
Qed.

(** Theorem 14. *)
Theorem theorem_14 : forall (S : list A) (p : nat), 0 < p < length S ->
  let L := firstn p S in
  clean S p <-> forall s, In s (P L) -> s < p -> m (skipn s S) = m (skipn s L).
Proof.
  intros S p h. cbn zeta. assert (length (firstn p S) = p) as n by (rewrite firstn_length; lia).
  assert (undisturbed (firstn p S) (skipn p S) <->
          forall s, In s (P (firstn p S)) -> s < p ->
            m (skipn s S) = m (skipn s (firstn p S))) as <-.
  { unfold undisturbed. now rewrite firstn_skipn, n. }
  split.
  - intros c. apply clean_undisturbed. now rewrite firstn_skipn, n.
  - intros u. apply pieces_clean; [lia|]. rewrite <- (firstn_skipn p S) at 1.
    now apply undisturbed_pieces.
Qed.

(** ... and in that case the cut is lossless. *)
Theorem theorem_14_lossless : forall (S : list A) (p : nat), 0 < p < length S -> clean S p ->
  forall (Id : Type) (encode : list A -> list Id),
    T encode S = T encode (firstn p S) ++ T encode (skipn p S).
Proof.
  intros S p h c Id encode. unfold T. apply pieces_clean in c; [|lia].
  now rewrite c, map_app, concat_app.
Qed.

(** ** Lemma 17 *)

(** Lemma 17. *)
Theorem lemma_17 : forall c d : A -> Prop, safe c d <->
  forall u x y R, c x -> d y -> m ((u ++ [x]) ++ y :: R) = m (u ++ [x]).
Proof.
  intros c d. split.
  - intros h u x y R cx dy. apply (clean_undisturbed _ _ (h u x y R cx dy) 0); [apply P_0|].
    rewrite app_length. simpl. lia.
  - intros h l x y R cx dy. set (L := l ++ [x]).
    assert (length (L ++ y :: R) = length L + S (length R)) as n by (rewrite app_length; easy).
    apply pieces_clean; [lia|].
    rewrite firstn_prefix, firstn_all, skipn_suffix, Nat.sub_diag by easy. simpl skipn.
    apply undisturbed_pieces. intros s _ lt. unfold L in *. rewrite app_length in lt. simpl in lt.
    rewrite !skipn_app. rewrite app_length. simpl.
    replace (s - length l) with 0 by lia. replace (s - (length l + 1)) with 0 by lia.
    now apply h.
Qed.

(** Many cuts at safe pairs at once: each part ends in c, each next one begins in d. *)
Fixpoint parts_meet (c d : A -> Prop) (parts : list (list A)) : Prop :=
  match parts with
  | [] => True
  | L :: rest =>
      match rest with
      | [] => True
      | R :: _ => (exists l x, L = l ++ [x] /\ c x) /\ (exists y r, R = y :: r /\ d y)
      end /\ parts_meet c d rest
  end.

Corollary lemma_17_many : forall c d, safe c d -> forall parts, parts_meet c d parts ->
  pieces (concat parts) = concat (map pieces parts).
Proof.
  intros c d h parts. induction parts as [|L [|R rest] IH]; intros meet; [easy| |].
  - simpl. now rewrite !app_nil_r.
  - destruct meet as [[(l & x & -> & cx) (y & r & -> & dy)] meet].
    change (pieces ((l ++ [x]) ++ concat ((y :: r) :: rest)) =
            pieces (l ++ [x]) ++ concat (map pieces ((y :: r) :: rest))).
    rewrite <- IH by easy. simpl concat. apply undisturbed_pieces, clean_undisturbed.
    now apply h.
Qed.

(** ** Theorem 15 *)

(** Theorem 15. The places of S[a:] are counted from a. *)
Theorem theorem_15 : forall (S : list A) (a p : nat), a <= p ->
  In p (P S) -> In (p - a) (P (skipn a S)) ->
  forall q, p <= q <= length S -> (In q (P S) <-> In (q - a) (P (skipn a S))).
Proof.
  intros S a p le hp ha q h. rewrite (P_from S p q hp) by lia.
  rewrite (P_from (skipn a S) (p - a) (q - a) ha) by lia. rewrite skipn_add.
  replace (a + (p - a)) with p by lia. now replace (q - a - (p - a)) with (q - p) by lia.
Qed.

(** Its corollary: clean cuts stay clean. *)
Theorem theorem_15_clean : forall (S : list A) (q p : nat), q < p <= length S ->
  clean S q -> clean S p ->
  clean (firstn p S) q /\ clean (skipn q S) (p - q) /\
  forall t, q <= t <= p -> (In t (P S) <-> In (t - q) (P (slice S q p))).
Proof.
  intros S q p h cq cp.
  apply pieces_clean in cq; [|lia]. apply pieces_clean in cp; [|lia].
  assert (skipn q (firstn p S) = slice S q p) as middle by apply skipn_firstn_comm.
  assert (In q (P (firstn p S))) as iq.
  { unfold P. apply (boundaries_app_left _ _ (pieces (skipn p S))).
    - rewrite pieces_size, firstn_length. lia.
    - rewrite <- cp, cq. apply boundaries_app_left.
      + rewrite pieces_size, firstn_length. lia.
      + replace q with (size (pieces (firstn q S))) at 1.
        * apply boundary_size.
        * rewrite pieces_size, firstn_length. lia. }
  destruct (pieces_from _ _ iq) as (l & el & sl). rewrite middle in el.
  assert (l = pieces (firstn q S) /\
          pieces (slice S q p) ++ pieces (skipn p S) = pieces (skipn q S))
    as [-> er].
  { apply split_unique.
    - rewrite app_assoc, <- el, <- cp. apply pieces_proper.
    - now rewrite <- cq, app_assoc, <- el.
    - rewrite sl, pieces_size, firstn_length. lia. }
  split; [|split].
  - apply pieces_clean; [rewrite firstn_length; lia|].
    rewrite middle, firstn_firstn, Nat.min_l by lia. easy.
  - apply pieces_clean; [rewrite skipn_length; lia|].
    rewrite skipn_add. replace (q + (p - q)) with p by lia. now rewrite <- er.
  - intros t ht. unfold P.
    rewrite cq, boundaries_app_right by (rewrite pieces_size, firstn_length; lia).
    rewrite pieces_size, firstn_length, Nat.min_l, <- er by lia. apply boundaries_app_left.
    rewrite pieces_size, slice_length; lia.
Qed.

End PreTokens.

Arguments ends_first_piece {A}.
Arguments pieces {A}.
Arguments P {A}.
Arguments T {A} m {Id}.
Arguments clean {A}.
Arguments safe {A}.
