(** Lemma 56, that the engine's queue of merges is greedy merging: proofs/compiled-call.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging.
Import ListNotations.

Section Queue.
Variable A : Type.
Variable priority : list A -> list A -> option nat.
(** The id of what a merge makes, which the engine compares in place of the two tokens. *)
Variable id_of : list A -> N.

(** A token and its place; an entry of the queue: priority, place, id. *)
Definition placed : Type := nat * list A.
Definition entry_of (x y : placed) : list (nat * nat * N) :=
  match priority (snd x) (snd y) with
  | Some k => [(k, fst x, id_of (snd x ++ snd y))]
  | None => []
  end.
Definition new_entries (left : option placed) (x : placed) (row : list placed) : list (nat * nat * N) :=
  match left with Some l => entry_of l x | None => [] end ++
  match row with y :: _ => entry_of x y | [] => [] end.

(** The least entry by (priority, place), and the others. *)
Definition sooner (e f : nat * nat * N) : bool :=
  let '(k, p, _) := e in let '(k', p', _) := f in (k <? k') || (k =? k') && (p <=? p').
Fixpoint pop (q : list (nat * nat * N)) : option ((nat * nat * N) * list (nat * nat * N)) :=
  match q with
  | [] => None
  | e :: q' =>
      match pop q' with
      | Some (f, rest) => if sooner e f then Some (e, q') else Some (f, e :: rest)
      | None => Some (e, [])
      end
  end.

(** The token at the place p is merged with the next one if the two give this id; also the entries of
    the new token and its neighbours. *)
Fixpoint merge_here (p : nat) (new : N) (left : option placed) (row : list placed)
  : option (list placed * list (nat * nat * N)) :=
  match row with
  | [] => None
  | x :: rest =>
      if fst x =? p then
        match rest with
        | y :: r =>
            match priority (snd x) (snd y) with
            | Some _ =>
                if N.eqb (id_of (snd x ++ snd y)) new then
                  let z := (fst x, snd x ++ snd y) in Some (z :: r, new_entries left z r)
                else None
            | None => None
            end
        | [] => None
        end
      else option_map (fun res => (x :: fst res, snd res)) (merge_here p new (Some x) rest)
  end.

(** An entry that no longer fits is passed over. Each step takes an entry, or makes two and removes a
    token, so there is an end. *)
Fixpoint by_queue (room : nat) (row : list placed) (q : list (nat * nat * N)) : list placed :=
  match room, pop q with
  | S room', Some ((_, p, new), q') =>
      match merge_here p new None row with
      | Some (row', more) => by_queue room' row' (more ++ q')
      | None => by_queue room' row q'
      end
  | _, _ => row
  end.

Fixpoint numbered (i : nat) (s : list (list A)) : list placed :=
  match s with [] => [] | t :: s' => (i, t) :: numbered (1 + i) s' end.
Fixpoint all_entries (row : list placed) : list (nat * nat * N) :=
  match row with x :: ((y :: _) as row') => entry_of x y ++ all_entries row' | _ => [] end.
Definition engine_merging (s : list (list A)) : list (list A) :=
  let row := numbered 0 s in
  map snd (by_queue (3 * length row) row (all_entries row)).

(** Two merges that give one id give one string. *)
Hypothesis one_string : forall u v u' v', priority u v <> None -> priority u' v' <> None ->
  id_of (u ++ v) = id_of (u' ++ v') -> u ++ v = u' ++ v'.

Fixpoint rising (row : list placed) : Prop :=
  match row with
  | x :: ((y :: _) as row') => fst x < fst y /\ rising row'
  | _ => True
  end.

(** Each pair that can merge has an entry. *)
Definition noted (row : list placed) (q : list (nat * nat * N)) : Prop :=
  forall l x y r k, row = l ++ x :: y :: r -> priority (snd x) (snd y) = Some k ->
    In (k, fst x, id_of (snd x ++ snd y)) q.
(** Each entry was made for two tokens u0 v0, which still stand there or have grown. *)
Definition grown (row : list placed) (e : nat * nat * N) : Prop :=
  let '(k, p, new) := e in exists u0 v0, priority u0 v0 = Some k /\ id_of (u0 ++ v0) = new /\
    forall l x y r, row = l ++ x :: y :: r -> fst x = p ->
      snd x = u0 /\ (exists v', snd y = v0 ++ v') \/ length u0 + length v0 <= length (snd x).

Lemma pop_spec q : match pop q with
  | None => q = []
  | Some (e, rest) => In e q /\ (forall f, In f q -> sooner e f = true) /\
      (forall f, In f rest -> In f q) /\ (forall f, In f q -> f = e \/ In f rest) /\
      length q = S (length rest)
  end.
Proof.
  assert (forall e, sooner e e = true) as refl.
  { intros [[k p] i]. simpl. rewrite Nat.eqb_refl, Nat.leb_refl. apply orb_true_r. }
  assert (forall e f g, sooner e f = true -> sooner f g = true -> sooner e g = true) as trans.
  { intros [[k p] i] [[k' p'] i'] [[k'' p''] i'']. simpl.
    rewrite !orb_true_iff, !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq, !Nat.leb_le. lia. }
  assert (forall e f, sooner e f = false -> sooner f e = true) as total.
  { intros [[k p] i] [[k' p'] i']. simpl.
    rewrite orb_false_iff, andb_false_iff, orb_true_iff, andb_true_iff, !Nat.ltb_lt, Nat.ltb_ge,
      !Nat.eqb_eq, Nat.eqb_neq, Nat.leb_le, Nat.leb_gt. lia. }
  induction q as [|e q IH]; [easy|]. simpl. destruct (pop q) as [[f rest]|].
  - destruct IH as (i & least & sub & sup & n). destruct (sooner e f) eqn:b.
    + split; [now left|]. split; [intros g [<-|ig]; eauto|]. split; [now right|].
      split; [|easy]. intros g [<-|ig]; auto.
    + split; [now right|]. split; [intros g [<-|ig]; eauto|].
      split; [intros g [<-|ig]; [now left|right; auto]|]. split; [|simpl; lia].
      intros g [<-|ig]; [right; now left|]. destruct (sup g ig); [now left|right; now right].
  - subst q. split; [now left|]. split; [intros g [<-|[]]; apply refl|].
    split; [easy|]. split; [|easy]. intros g [<-|[]]. now left.
Qed.

Lemma rising_app (l : list placed) x r : rising (l ++ x :: r) ->
  (forall y, In y l -> fst y < fst x) /\ rising (x :: r) /\ (forall y, In y r -> fst x < fst y).
Proof.
  intros h. assert (rising (x :: r)) as hr.
  { induction l as [|a l IH]; [easy|]. apply IH. simpl in h. now destruct (l ++ x :: r). }
  split; [|split; [easy|]].
  - revert h. induction l as [|a l IH]; intros h y i; [easy|].
    destruct l as [|b l]; simpl in *.
    + destruct i as [<-|[]]. tauto.
    + destruct h as [ab h]. specialize (IH h). destruct i as [<-|i]; [|now apply IH].
      specialize (IH b (or_introl eq_refl)). lia.
  - clear h l. revert x hr. induction r as [|z r IH]; intros x hr y i; [easy|].
    destruct hr as [lt hr]. destruct i as [<-|i]; [easy|]. specialize (IH z hr y i). lia.
Qed.

Lemma rising_split (l : list placed) x r l' x' r' : rising (l ++ x :: r) -> l ++ x :: r = l' ++ x' :: r' ->
  fst x = fst x' -> l = l' /\ x = x' /\ r = r'.
Proof.
  revert l'. induction l as [|a l IH]; intros l' h e p.
  - destruct l' as [|b l']; [now injection e as -> ->|]. injection e as -> ->.
    apply (rising_app [] b) in h as (_ & _ & h). specialize (h x' ltac:(apply in_elt)). lia.
  - destruct l' as [|b l'].
    + injection e as -> <-. apply (rising_app [] x') in h as (_ & _ & h).
      specialize (h x ltac:(apply in_elt)). lia.
    + injection e as -> e.
      destruct (IH l' ltac:(simpl in h; now destruct (l ++ x :: r)) e p) as (-> & -> & ->). easy.
Qed.

Lemma merge_here_spec p new left row row' more : merge_here p new left row = Some (row', more) ->
  exists l x y r k, row = l ++ x :: y :: r /\ fst x = p /\ priority (snd x) (snd y) = Some k /\
    id_of (snd x ++ snd y) = new /\ row' = l ++ (p, snd x ++ snd y) :: r /\
    more = new_entries (match rev l with a :: _ => Some a | [] => left end) (p, snd x ++ snd y) r.
Proof.
  revert left row' more. induction row as [|x rest IH]; intros left row' more h; [easy|]. simpl in h.
  destruct (Nat.eqb_spec (fst x) p) as [<-|ne].
  - destruct rest as [|y r]; [easy|]. destruct (priority (snd x) (snd y)) as [k|] eqn:pk; [|easy].
    destruct (N.eqb_spec (id_of (snd x ++ snd y)) new) as [e|]; [|easy]. injection h as <- <-.
    exists [], x, y, r, k. auto 10.
  - destruct (merge_here p new (Some x) rest) as [[rest' es]|] eqn:e; [|easy]. injection h as <- <-.
    apply IH in e as (l & a & y & r & k & -> & pa & pk & ei & -> & ->).
    exists (x :: l), a, y, r, k. simpl. repeat (split; [easy|]).
    destruct (rev l) as [|b m] eqn:er; [easy|]. now rewrite <- app_comm_cons.
Qed.

Lemma merge_here_none p new left (l : list placed) x y r k : rising (l ++ x :: y :: r) -> fst x = p ->
  priority (snd x) (snd y) = Some k -> id_of (snd x ++ snd y) = new ->
  merge_here p new left (l ++ x :: y :: r) <> None.
Proof.
  intros h <- pk <-. revert left h. induction l as [|a l IH]; intros left h.
  - simpl. now rewrite Nat.eqb_refl, pk, N.eqb_refl.
  - assert (rising (l ++ x :: y :: r)) as h' by (simpl in h; now destruct (l ++ x :: y :: r)).
    apply (rising_app [] a) in h as (_ & _ & lt). specialize (lt x ltac:(apply in_elt)).
    simpl. destruct (Nat.eqb_spec (fst a) (fst x)); [lia|]. specialize (IH (Some a) h').
    now destruct (merge_here (fst x) _ (Some a) _).
Qed.

Lemma rising_merge (l : list placed) x y r p z : fst x = p ->
  rising (l ++ x :: y :: r) -> rising (l ++ (p, z) :: r).
Proof.
  intros <-. induction l as [|a l IH]; intros h.
  - simpl in *. destruct r as [|b r]; [easy|]. destruct h as (h1 & h2 & h3). split; [lia|easy].
  - destruct l as [|b l]; simpl in *; destruct h as [h1 h2]; (split; [easy|]); now apply IH.
Qed.

(** Two neighbours in the row after a merge. *)
Lemma after_merge (l : list placed) x y r p a b l' r' : rising (l ++ x :: y :: r) -> fst x = p ->
  l ++ (p, snd x ++ snd y) :: r = l' ++ a :: b :: r' ->
  l' = l /\ a = (p, snd x ++ snd y) /\ r = b :: r' \/
  fst a <> p /\ exists l2 b2 m, l ++ x :: y :: r = l2 ++ a :: b2 :: m /\
    (b = b2 \/ l = l' ++ [a] /\ b2 = x /\ b = (p, snd x ++ snd y)).
Proof.
  intros up px e. destruct (Nat.eq_dec (fst a) p) as [pa|pa].
  - left. destruct (rising_split l (p, snd x ++ snd y) r l' a (b :: r')) as (<- & <- & ->); try easy.
    exact (rising_merge l x y r p _ px up).
  - right. split; [easy|]. apply app_eq_app in e as (m & [[-> e]|[-> e]]).
    + destruct m as [|c m]; [injection e as -> _; now destruct pa|]. injection e as <- e.
      destruct m as [|d m].
      * injection e as <- ->. exists l', x, (y :: r). split; [now rewrite <- app_assoc|auto].
      * injection e as <- ->. exists l', b, (m ++ x :: y :: r). split; [now rewrite <- app_assoc|auto].
    + destruct m as [|c m]; [injection e as <- _; now destruct pa|]. injection e as <- ->.
      exists (l ++ x :: y :: m), b, r'. split; [now rewrite <- app_assoc|auto].
Qed.

(** An entry that was just made. *)
Lemma entry_grown l x y r e : rising (l ++ x :: y :: r) -> In e (entry_of x y) ->
  grown (l ++ x :: y :: r) e.
Proof.
  intros up ie. unfold entry_of in ie. destruct (priority (snd x) (snd y)) as [k|] eqn:pk; [|easy].
  destruct ie as [<-|[]]. exists (snd x), (snd y). split; [easy|]. split; [easy|].
  intros l' a b r' e pa. left.
  destruct (rising_split l x (y :: r) l' a (b :: r') up e (eq_sym pa)) as (<- & <- & er).
  injection er as <- <-. split; [easy|]. exists []. now rewrite app_nil_r.
Qed.

Lemma new_entries_grown l z r e : rising (l ++ z :: r) ->
  In e (new_entries (match rev l with a :: _ => Some a | [] => None end) z r) -> grown (l ++ z :: r) e.
Proof.
  intros up ie. apply in_app_or in ie as [ie|ie].
  - destruct l as [|a l _] using rev_ind; [easy|]. rewrite rev_app_distr in ie. simpl in ie.
    rewrite <- app_assoc in *. now apply entry_grown.
  - destruct r as [|y r]; [easy|]. now apply entry_grown.
Qed.

Lemma by_queue_final room row q : rising row -> proper (map snd row) -> noted row q ->
  (forall e, In e q -> grown row e) -> length q + 2 * length row <= room ->
  map snd (by_queue room row q) = final priority (map snd row).
Proof.
  revert row q. induction room as [|room IH]; intros row q up pr all each n.
  { destruct row; [|simpl in n; lia]. easy. }
  simpl. pose proof (pop_spec q) as spec. destruct (pop q) as [[[[k p] new] q']|].
  2:{ subst q. rewrite final_step. destruct (step priority (map snd row)) as [[d s']|] eqn:st; [|easy].
      apply definition_1 in st as (l & u & v & r & (e & k & pk & _) & _).
      assert (exists l' x y r', row = l' ++ x :: y :: r' /\ snd x = u /\ snd y = v) as
        (l' & x & y & r' & er & <- & <-).
      { apply map_eq_app in e as (l' & r' & -> & <- & e). apply map_eq_cons in e as (x & r2 & -> & <- & e).
        apply map_eq_cons in e as (y & r3 & -> & <- & <-). exists l', x, y, r3. auto. }
      destruct (all l' x y r' k er pk). }
  destruct spec as (i & least & sub & sup & nq).
  destruct (merge_here p new None row) as [[row' more]|] eqn:m.
  - apply merge_here_spec in m as (l & x & y & r & k' & -> & px & pk & ei & -> & em).
    pose proof (each _ i) as (u0 & v0 & p0 & i0 & g).
    assert (snd y <> []) as ny.
    { rewrite map_app in pr. apply proper_app in pr as [_ pr]. inversion pr as [|? ? _ pr'].
      now inversion pr'. }
    assert (k' = k) as ->.
    { assert (u0 ++ v0 = snd x ++ snd y) as same.
      { apply one_string; [now rewrite p0|now rewrite pk|congruence]. }
      destruct (g l x y r eq_refl px) as [[<- _]|le].
      - apply app_inv_head in same. congruence.
      - apply (f_equal (@length A)) in same. rewrite !app_length in same.
        destruct (snd y); [easy|]. simpl in same. lia. }
    assert (step priority (map snd (l ++ x :: y :: r)) =
            Some (size (map snd l ++ [snd x]), map snd (l ++ (p, snd x ++ snd y) :: r))) as st.
    { apply definition_1. exists (map snd l), (snd x), (snd y), (map snd r). rewrite !map_app.
      split; [|easy]. split; [easy|]. exists k. split; [easy|]. intros l' u' v' r' p' e pr'.
      change (map snd l ++ map snd (x :: y :: r) = l' ++ u' :: v' :: r') in e. rewrite <- map_app in e.
      apply map_eq_app in e as (l2 & r2 & er & <- & e). apply map_eq_cons in e as (x' & r3 & -> & <- & e).
      apply map_eq_cons in e as (y' & r4 & -> & <- & <-).
      pose proof (least _ (all l2 x' y' r4 p' er pr')) as b. simpl in b.
      rewrite orb_true_iff, andb_true_iff, Nat.ltb_lt, Nat.eqb_eq, Nat.leb_le in b.
      destruct b as [lt|[-> le]]; [now left|right]. split; [easy|]. rewrite !map_length.
      destruct (Nat.le_gt_cases (length l) (length l2)) as [|gt]; [easy|exfalso].
      apply app_eq_app in er as (m & [[-> em']|[-> em']]).
      - destruct m as [|c m]; [rewrite app_nil_r in gt; unfold placed in gt; lia|]. injection em' as <- _.
        rewrite <- app_assoc in up. simpl in up. apply rising_app in up as (_ & _ & lt).
        specialize (lt x ltac:(apply in_elt)). rewrite px in lt. lia.
      - rewrite app_length in gt. unfold placed in gt. lia. }
    rewrite final_step, st. apply IH.
    + exact (rising_merge l x y r p _ px up).
    + eapply step_proper; eauto.
    + intros l' a b r' k2 e pk2. rewrite em. apply in_or_app.
      destruct (after_merge l x y r p a b l' r' up px e)
        as [(-> & -> & ->)|(pa & l2 & b2 & m2 & eo & [<-|(-> & -> & ->)])].
      * left. unfold new_entries. apply in_or_app. right. unfold entry_of. rewrite pk2. now left.
      * right. destruct (sup _ (all _ _ _ _ _ eo pk2)) as [q2|]; [congruence|easy].
      * left. unfold new_entries. rewrite rev_app_distr. simpl. apply in_or_app. left. unfold entry_of.
        rewrite pk2. now left.
    + intros e ie. rewrite em in ie. apply in_app_or in ie as [ie|ie].
      * apply new_entries_grown with (l := l) (r := r); [|easy]. exact (rising_merge l x y r p _ px up).
      * apply sub in ie. pose proof (each e ie) as ge. destruct e as [[k2 p2] i2].
        destruct ge as (u1 & v1 & p1 & i1 & g1). exists u1, v1. split; [easy|]. split; [easy|].
        intros l' a b r' e pa2.
        destruct (after_merge l x y r p a b l' r' up px e)
        as [(-> & -> & ->)|(pa & l2 & b2 & m2 & eo & [<-|(-> & -> & ->)])].
        -- right. simpl in *. rewrite app_length.
           destruct (g1 l x y (b :: r') eq_refl) as [[<- [w ->]]|le]; [congruence| |lia].
           rewrite app_length. lia.
        -- now apply (g1 l2 a b m2).
        -- destruct (g1 l2 a x m2 eo pa2) as [[<- [w ew]]|le]; [left|now right].
           split; [easy|]. exists (w ++ snd y). simpl. now rewrite ew, <- app_assoc.
    + rewrite em, app_length. unfold new_entries. rewrite !app_length in *. simpl in n |- *.
      assert (forall c d, length (entry_of c d) <= 1) as one.
      { intros c d. unfold entry_of. destruct (priority (snd c) (snd d)); simpl; lia. }
      assert (length (match match rev l with [] => None | a :: _ => Some a end with
                      | Some l => entry_of l (p, snd x ++ snd y) | None => [] end) <= 1).
      { destruct (rev l); [simpl; lia|apply one]. }
      assert (length (match r with [] => [] | y0 :: _ => entry_of (p, snd x ++ snd y) y0 end) <= 1).
      { destruct r; [simpl; lia|apply one]. }
      lia.
  - apply IH; try easy.
    + intros l x y r k2 e pk2. destruct (sup _ (all l x y r k2 e pk2)) as [q2|]; [|easy].
      injection q2 as -> <- <-. subst row.
      now apply (merge_here_none (fst x) (id_of (snd x ++ snd y)) None l x y r k) in up.
    + auto.
    + lia.
Qed.

Lemma all_entries_noted row : noted row (all_entries row).
Proof.
  intros l x y r k -> pk. induction l as [|a l IH].
  - simpl. unfold entry_of at 1. rewrite pk. now left.
  - simpl. destruct l as [|b l]; simpl in *; apply in_or_app; right; exact IH.
Qed.

Lemma all_entries_grown row : rising row -> forall e, In e (all_entries row) -> grown row e.
Proof.
  intros up e i. assert (exists l x y r, row = l ++ x :: y :: r /\ In e (entry_of x y)) as
    (l & x & y & r & -> & ie).
  { clear up. induction row as [|x [|y row] IH]; [easy|easy|]. simpl in i. apply in_app_or in i as [i|i].
    - now exists [], x, y, row.
    - destruct (IH i) as (l & a & b & r & er & ie). exists (x :: l), a, b, r. now rewrite er. }
  now apply (entry_grown l x y r).
Qed.

Lemma numbered_rising i s : rising (numbered i s).
Proof.
  revert i. induction s as [|t [|u s] IH]; intros i; [easy|easy|]. split; [simpl; lia|]. apply IH.
Qed.
Lemma numbered_snd i s : map snd (numbered i s) = s.
Proof. revert i. induction s as [|t s IH]; intros i; [easy|]. simpl. now rewrite IH. Qed.

(** Lemma 56: the queue makes the steps of greedy merging. *)
Theorem lemma_56 : forall s : list (list A), proper s -> engine_merging s = final priority s.
Proof.
  intros s pr. unfold engine_merging. rewrite by_queue_final.
  - now rewrite numbered_snd.
  - apply numbered_rising.
  - now rewrite numbered_snd.
  - apply all_entries_noted.
  - apply all_entries_grown, numbered_rising.
  - assert (forall row, length (all_entries row) <= length row) as le.
    { intros row. induction row as [|x [|y row] IH]; [easy|simpl; lia|].
      change (length (entry_of x y ++ all_entries (y :: row)) <= length (x :: y :: row)).
      rewrite app_length. unfold entry_of. simpl length in *.
      destruct (priority (snd x) (snd y)); simpl in *; lia. }
    specialize (le (numbered 0 s)). lia.
Qed.
End Queue.

(** One id for two strings: of "ab" and "abc". The entry of (a, b) is stale, and the engine takes it for
    that of (a, bc). *)
Example lemma_56_needs_one_string :
  let p := by_pairs [([1], [2]); ([0], [1]); ([1; 2], [3]); ([0], [1; 2])] in
  let shared t := match t with [0; 1] | [0; 1; 2] => 10%N | [1; 2] => 11%N | _ => 12%N end in
  engine_merging nat p shared (atoms [0; 1; 2; 3]) = [[0; 1; 2]; [3]] /\
  final p (atoms [0; 1; 2; 3]) = [[0]; [1; 2; 3]].
Proof. split; vm_compute; reflexivity. Qed.
