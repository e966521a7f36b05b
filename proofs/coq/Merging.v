(** Greedy merging (Definition 1), Lemma 3 and Lemma 4: proofs/3-restriction.md and 4-consistency.md.

    A text is a list of atoms of any type.
    A state of the run on w is a row of tokens, which together
    are w: this is the page's set of boundaries, see [boundaries]. *)
From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Definition slice {A} (w : list A) (i j : nat) : list A := firstn (j - i) (skipn i w).

(** ** Places in a row of tokens *)

Definition size {A} (s : list (list A)) : nat := length (concat s).

Fixpoint boundaries {A} (s : list (list A)) : list nat :=
  0 :: match s with
       | [] => []
       | t :: s' => map (Nat.add (length t)) (boundaries s')
       end.

(** The tokens of s up to the boundary p, and those from the boundary p on. *)
Fixpoint up_to {A} (p : nat) (s : list (list A)) : list (list A) :=
  match s with
  | [] => []
  | t :: s' => if length t <=? p then t :: up_to (p - length t) s' else []
  end.

Fixpoint from {A} (p : nat) (s : list (list A)) : list (list A) :=
  match s, p with
  | [], _ | _, 0 => s
  | t :: s', _ => from (p - length t) s'
  end.

(** No token is empty. *)
Definition proper {A} (s : list (list A)) : Prop := Forall (fun t => t <> []) s.

(** ** Definition 1 *)
Section Merging.
Variable A : Type.
(** The priority of a pair of strings, less is better, or none: it depends on the two alone. *)
Variable priority : list A -> list A -> option nat.

(** Of the pairs of neighbours in s the one of least (priority, position): its priority, and how
    many tokens stand before it. *)
Fixpoint least (s : list (list A)) : option (nat * nat) :=
  match s with
  | u :: s' =>
      match s' with
      | v :: _ =>
          match priority u v, least s' with
          | Some p, Some (q, k) => if p <=? q then Some (p, 0) else Some (q, S k)
          | Some p, None => Some (p, 0)
          | None, Some (q, k) => Some (q, S k)
          | None, None => None
          end
      | [] => None
      end
  | [] => None
  end.

Fixpoint merge_at (k : nat) (s : list (list A)) : list (list A) :=
  match k, s with
  | 0, u :: v :: s' => (u ++ v) :: s'
  | S k', t :: s' => t :: merge_at k' s'
  | _, _ => s
  end.

(** One step: the place in the text of the boundary it deletes, and the next state. *)
Definition step (s : list (list A)) : option (nat * list (list A)) :=
  match least s with
  | Some (_, k) => Some (size (firstn (S k) s), merge_at k s)
  | None => None
  end.

(** The state after k steps, or at the end if there are fewer. *)
Fixpoint run (k : nat) (s : list (list A)) : list (list A) :=
  match k with
  | 0 => s
  | S k' => match step s with Some (_, s') => run k' s' | None => s end
  end.

(** The boundaries that the first k steps delete, in their order. *)
Fixpoint deleted (k : nat) (s : list (list A)) : list nat :=
  match k with
  | 0 => []
  | S k' => match step s with Some (d, s') => d :: deleted k' s' | None => [] end
  end.

(** In the beginning every atom is a token. *)
Definition atoms (w : list A) : list (list A) := map (fun a => [a]) w.

(** Each step takes one token away, so |w| steps are enough: [final_stops]. *)
Definition E (w : list A) : list (list A) := run (length w) (atoms w).

(** p is in B(w). *)
Definition B (w : list A) (p : nat) : Prop := In p (boundaries (E w)).

(** ** Rows of tokens *)

Lemma size_app (l r : list (list A)) : size (l ++ r) = size l + size r.
Proof. unfold size. now rewrite concat_app, app_length. Qed.

Lemma size_cons (t : list A) (s : list (list A)) : size (t :: s) = length t + size s.
Proof. unfold size. simpl. now rewrite app_length. Qed.

Lemma size_nil : size (@nil (list A)) = 0.
Proof. reflexivity. Qed.

Lemma in_boundaries (s : list (list A)) p :
  In p (boundaries s) <-> exists l r, s = l ++ r /\ size l = p.
Proof.
  revert p. induction s as [|t s IH]; intros p; simpl.
  - split.
    + intros [<-|[]]. now exists [], [].
    + intros (l & r & e & <-). symmetry in e. apply app_eq_nil in e as [-> ->]. now left.
  - rewrite in_map_iff. split.
    + intros [<-|(q & <- & h)].
      * now exists [], (t :: s).
      * apply IH in h as (l & r & -> & <-). exists (t :: l), r. now rewrite size_cons.
    + intros (l & r & e & <-). destruct l as [|t' l]; [now left|].
      injection e as <- ->. right. exists (size l). rewrite size_cons. split; [easy|].
      apply IH. now exists l, r.
Qed.

Lemma boundary_0 (s : list (list A)) : In 0 (boundaries s).
Proof. destruct s; now left. Qed.

Lemma boundary_of_prefix (l r : list (list A)) : In (size l) (boundaries (l ++ r)).
Proof. apply in_boundaries. now exists l, r. Qed.

Lemma boundary_size (s : list (list A)) : In (size s) (boundaries s).
Proof. rewrite <- (app_nil_r s) at 2. apply boundary_of_prefix. Qed.

Lemma boundary_le (s : list (list A)) p : In p (boundaries s) -> p <= size s.
Proof. intros h. apply in_boundaries in h as (l & r & -> & <-). rewrite size_app. lia. Qed.

Lemma boundaries_app (l r : list (list A)) p :
  In p (boundaries (l ++ r)) <->
  In p (boundaries l) \/ size l <= p /\ In (p - size l) (boundaries r).
Proof.
  revert p. induction l as [|t l IH]; intros p.
  - simpl. rewrite size_nil, Nat.sub_0_r. split; [intros h; right; split; [lia|easy]|].
    intros [[<-|[]]|[_ h]]; [apply boundary_0|easy].
  - simpl. rewrite !in_map_iff, size_cons. split.
    + intros [<-|(q & <- & h)]; [now left; left|]. apply IH in h as [h|[h1 h2]].
      * left. right. now exists q.
      * right. split; [lia|].
        now replace (length t + q - (length t + size l)) with (q - size l) by lia.
    + intros [[<-|(q & <- & h)]|[h1 h2]]; [now left| |].
      * right. exists q. rewrite IH. auto.
      * right. exists (p - length t). split; [lia|]. apply IH. right. split; [lia|].
        now replace (p - length t - size l) with (p - (length t + size l)) by lia.
Qed.

Lemma boundaries_app_left (l r : list (list A)) p :
  p <= size l -> (In p (boundaries (l ++ r)) <-> In p (boundaries l)).
Proof.
  intros le. rewrite boundaries_app. split; [|auto]. intros [h|[ge _]]; [easy|].
  replace p with (size l) by lia. apply boundary_size.
Qed.

Lemma boundaries_app_right (l r : list (list A)) p :
  size l <= p -> (In p (boundaries (l ++ r)) <-> In (p - size l) (boundaries r)).
Proof.
  intros le. rewrite boundaries_app. split; [|auto]. intros [h|[_ h]]; [|easy].
  apply boundary_le in h. replace (p - size l) with 0 by lia. apply boundary_0.
Qed.

Lemma proper_app (l r : list (list A)) : proper (l ++ r) <-> proper l /\ proper r.
Proof. apply Forall_app. Qed.

Lemma proper_token (t : list A) (s : list (list A)) :
  proper (t :: s) -> 0 < length t /\ proper s.
Proof. intros h. inversion h as [|? ? ne ?]. destruct t; [easy|]. simpl. split; [lia|easy]. Qed.

Lemma proper_size (s : list (list A)) : proper s -> size s = 0 -> s = [].
Proof.
  destruct s as [|t s]; [easy|]. intros h. apply proper_token in h as [h _].
  rewrite size_cons. lia.
Qed.

(** In a proper row a boundary parts the tokens in one way. *)
Lemma split_unique (l r l' r' : list (list A)) :
  proper (l ++ r) -> l ++ r = l' ++ r' -> size l = size l' -> l = l' /\ r = r'.
Proof.
  revert l'. induction l as [|t l IH]; intros l' h e z.
  - simpl in e, h. subst r. assert (l' = []) as ->; [|auto].
    apply proper_size; [|now rewrite <- z]. now apply proper_app in h.
  - destruct l' as [|t' l'].
    + apply proper_token in h as [h _]. rewrite size_cons, size_nil in z. lia.
    + injection e as <- e. rewrite !size_cons in z.
      apply proper_token in h as [_ h]. destruct (IH l' h e) as [-> ->]; [lia|auto].
Qed.

Lemma up_to_app (l r : list (list A)) : proper (l ++ r) -> up_to (size l) (l ++ r) = l.
Proof.
  induction l as [|t l IH]; intros h; simpl.
  - destruct r as [|t r]; [easy|]. apply proper_token in h as [h _]. simpl.
    rewrite size_nil. destruct (Nat.leb_spec (length t) 0); [lia|easy].
  - apply proper_token in h as [_ h]. rewrite size_cons.
    destruct (Nat.leb_spec (length t) (length t + size l)); [|lia].
    replace (length t + size l - length t) with (size l) by lia. now rewrite IH.
Qed.

Lemma from_app (l r : list (list A)) : proper (l ++ r) -> from (size l) (l ++ r) = r.
Proof.
  induction l as [|t l IH]; intros h; simpl.
  - rewrite size_nil. now destruct r.
  - apply proper_token in h as [pos h]. rewrite size_cons.
    destruct (length t + size l) eqn:e; [lia|].
    replace (S n - length t) with (size l) by lia. now apply IH.
Qed.

(** ** What a step does: the sentence of Definition 1 *)

(** (u, v), behind the tokens l, has the priority p, and (p, position) is least. *)
Definition takes (s l : list (list A)) (u v : list A) (r : list (list A)) : Prop :=
  s = l ++ u :: v :: r /\
  exists p, priority u v = Some p /\
    forall l' u' v' r' p', s = l' ++ u' :: v' :: r' -> priority u' v' = Some p' ->
      p < p' \/ p = p' /\ length l <= length l'.

Lemma least_spec s :
  match least s with
  | Some (p, k) => exists l u v r,
      s = l ++ u :: v :: r /\ k = length l /\ priority u v = Some p /\
      forall l' u' v' r' p', s = l' ++ u' :: v' :: r' -> priority u' v' = Some p' ->
        p < p' \/ p = p' /\ length l <= length l'
  | None => forall l u v r, s = l ++ u :: v :: r -> priority u v = None
  end.
Proof.
  induction s as [|u s IH]; [intros [|? ?] ? ? ?; discriminate|].
  destruct s as [|v s].
  { intros [|? [|? ?]] ? ? ?; discriminate. }
  simpl least in *. destruct (priority u v) as [p|] eqn:puv.
  - destruct (match s with [] => None | _ :: _ => _ end) as [[q k]|].
    + destruct IH as (l & a & b & r & e & -> & pab & least_ab).
      destruct (Nat.leb_spec p q) as [le|gt].
      * exists [], u, v, s. repeat split; [easy|]. intros [|t l'] u' v' r' p' e' pr.
        -- injection e' as <- <- <-. right. split; [congruence|simpl; lia].
        -- injection e' as <- e'. destruct (least_ab _ _ _ _ _ e' pr); simpl; lia.
      * exists (u :: l), a, b, r. repeat split; [simpl; congruence|easy|].
        intros [|t l'] u' v' r' p' e' pr.
        -- injection e' as <- <- <-. left. congruence.
        -- injection e' as <- e'. destruct (least_ab _ _ _ _ _ e' pr); simpl; lia.
    + exists [], u, v, s. repeat split; [easy|]. intros [|t l'] u' v' r' p' e' pr.
      * injection e' as <- <- <-. right. split; [congruence|simpl; lia].
      * injection e' as <- e'. specialize (IH _ _ _ _ e'). congruence.
  - destruct (match s with [] => None | _ :: _ => _ end) as [[q k]|].
    + destruct IH as (l & a & b & r & e & -> & pab & least_ab).
      exists (u :: l), a, b, r. repeat split; [simpl; congruence|easy|].
      intros [|t l'] u' v' r' p' e' pr.
      * injection e' as <- <- <-. congruence.
      * injection e' as <- e'. destruct (least_ab _ _ _ _ _ e' pr); simpl; lia.
    + intros [|t l'] u' v' r' e'.
      * now injection e' as <- <- <-.
      * injection e' as <- e'. eauto.
Qed.

Lemma merge_at_app l u v r : merge_at (length l) (l ++ u :: v :: r) = l ++ (u ++ v) :: r.
Proof. induction l; simpl; congruence. Qed.

Lemma firstn_before l (u : list A) r : firstn (S (length l)) (l ++ u :: r) = l ++ [u].
Proof.
  induction l as [|t l IH]; [easy|]. cbn in *. now rewrite IH.
Qed.

Lemma takes_unique s l u v r l' u' v' r' :
  takes s l u v r -> takes s l' u' v' r' -> l = l' /\ u = u' /\ v = v' /\ r = r'.
Proof.
  intros (e & p & pr & lo) (e' & p' & pr' & lo').
  assert (length l = length l') as n.
  { destruct (lo _ _ _ _ _ e' pr'), (lo' _ _ _ _ _ e pr); lia. }
  rewrite e in e'. clear -n e'. revert l' n e'.
  induction l as [|t l IH]; intros [|t' l'] n e; try discriminate.
  - now injection e as <- <- <-.
  - injection e as <- e. injection n as n. destruct (IH l' n e) as (-> & -> & -> & ->). auto.
Qed.

(** Definition 1: a step takes the pair of least (priority, position) and deletes the boundary
    between the two. *)
Theorem definition_1 s d s' :
  step s = Some (d, s') <->
  exists l u v r, takes s l u v r /\ d = size (l ++ [u]) /\ s' = l ++ (u ++ v) :: r.
Proof.
  unfold step. pose proof (least_spec s) as spec. destruct (least s) as [[p k]|].
  - destruct spec as (l & u & v & r & -> & -> & pr & lo).
    rewrite merge_at_app, firstn_before. split.
    + intros e. injection e as <- <-. exists l, u, v, r. split; [|auto].
      split; [easy|]. now exists p.
    + intros (l' & u' & v' & r' & t & -> & ->).
      destruct (takes_unique (l ++ u :: v :: r) l u v r l' u' v' r') as (-> & -> & -> & ->);
        [split; [easy|now exists p]|easy|easy].
  - split; [discriminate|]. intros (l & u & v & r & (e & p & pr & _) & _).
    rewrite (spec _ _ _ _ e) in pr. discriminate.
Qed.

(** ... and there is none only if no pair has a priority. *)
Theorem definition_1_end s :
  step s = None <-> forall l u v r, s = l ++ u :: v :: r -> priority u v = None.
Proof.
  unfold step. pose proof (least_spec s) as spec. destruct (least s) as [[p k]|].
  - split; [discriminate|]. destruct spec as (l & u & v & r & e & _ & pr & _).
    intros h. rewrite (h _ _ _ _ e) in pr. discriminate.
  - easy.
Qed.

Lemma step_concat s d s' : step s = Some (d, s') -> concat s' = concat s.
Proof.
  intros h. apply definition_1 in h as (l & u & v & r & (-> & _) & _ & ->).
  rewrite !concat_app. simpl. now rewrite <- app_assoc.
Qed.

Lemma step_size s d s' : step s = Some (d, s') -> size s' = size s.
Proof. intros h. unfold size. now rewrite (step_concat _ _ _ h). Qed.

Lemma step_length s d s' : step s = Some (d, s') -> length s = S (length s').
Proof.
  intros h. apply definition_1 in h as (l & u & v & r & (-> & _) & _ & ->).
  rewrite !app_length. simpl. lia.
Qed.

Lemma step_proper s d s' : step s = Some (d, s') -> proper s -> proper s'.
Proof.
  intros h. apply definition_1 in h as (l & u & v & r & (-> & _) & _ & ->).
  intros h. apply proper_app in h as [hl h]. apply proper_app. split; [easy|].
  inversion h as [|? ? ne h']. inversion h'. constructor; [|easy]. now destruct u.
Qed.

(** The boundaries after a step are those before it without the deleted one. *)
Lemma step_boundaries s d s' p : proper s -> step s = Some (d, s') ->
  (In p (boundaries s') <-> In p (boundaries s) /\ p <> d).
Proof.
  intros pr h. apply definition_1 in h as (l & u & v & r & (-> & _) & -> & ->).
  apply proper_app in pr as [_ pr]. apply proper_token in pr as [lu pr].
  apply proper_token in pr as [lv _].
  rewrite !boundaries_app, size_app, size_cons, size_nil.
  assert (forall (t : list A) s p, In p (boundaries (t :: s)) <->
            p = 0 \/ exists q : nat, length t + q = p /\ In q (boundaries s)) as cons.
  { intros t s q. simpl. rewrite in_map_iff. intuition. }
  rewrite !cons, app_length. split.
  - intros [h|[ge [h|(q & e & h)]]].
    + split; [auto|]. apply boundary_le in h. lia.
    + split; [right; split; [easy|auto]|lia].
    + split; [|lia]. right. split; [easy|]. right. exists (length v + q). split; [lia|].
      apply cons. right. now exists q.
  - intros [[h|[ge [h|(q & e & h)]]] ne]; [auto|auto|]. right. split; [easy|]. right.
    apply cons in h as [->|(q' & <- & h)]; [lia|]. exists q'. split; [lia|easy].
Qed.

(** ** Steps in one of two neighbouring rows *)

(** The heart of Lemma 3: a step on l r is the step on l, or the step on r, or deletes the boundary
    between the two. *)
Lemma step_app l r d s' : proper (l ++ r) -> step (l ++ r) = Some (d, s') ->
  (d < size l /\ exists l', step l = Some (d, l') /\ s' = l' ++ r) \/
  d = size l \/
  (size l < d /\ exists r', step r = Some (d - size l, r') /\ s' = l ++ r').
Proof.
  intros pr h. apply definition_1 in h as (a & u & v & b & (e & p & pp & lo) & -> & ->).
  rewrite e in pr. apply proper_app in pr as [_ pr]. apply proper_token in pr as [lu pr].
  apply proper_token in pr as [lv _].
  apply app_eq_app in e as (x & [[-> ex]|[-> ->]]).
  - destruct x as [|u' x].
    + right; right. rewrite app_nil_r in *. simpl in ex. subst r.
      rewrite size_app, size_cons, size_nil.
      split; [lia|]. exists ((u ++ v) :: b). split; [|easy]. apply definition_1.
      exists [], u, v, b. split; [|simpl; rewrite size_cons, size_nil; split; [lia|easy]].
      split; [easy|]. exists p. split; [easy|]. intros l' u' v' r' p' e' pr'.
      destruct (lo (a ++ l') u' v' r' p') as [?|[? ?]]; auto;
        [now rewrite e', app_assoc|]. right. rewrite app_length in *. simpl. lia.
    + injection ex as <- ex. destruct x as [|v' x].
      * right; left. easy.
      * injection ex as <- ->. left.
        rewrite !size_app, !size_cons, size_nil. split; [lia|].
        exists (a ++ (u ++ v) :: x). split; [|now rewrite <- app_assoc].
        apply definition_1. exists a, u, v, x.
        split; [|rewrite size_app, size_cons, size_nil; auto].
        split; [easy|]. exists p. split; [easy|]. intros l' u' v' r' p' e' pr'.
        apply (lo l' u' v' (r' ++ r) p'); [|easy]. now rewrite e', <- app_assoc.
  - right; right. rewrite !size_app, size_cons, size_nil. split; [lia|].
    exists (x ++ (u ++ v) :: b). split; [|now rewrite app_assoc].
    apply definition_1. exists x, u, v, b.
    split; [|rewrite size_app, size_cons, size_nil; split; [lia|easy]].
    split; [easy|]. exists p. split; [easy|]. intros l' u' v' r' p' e' pr'.
    destruct (lo (l ++ l') u' v' r' p') as [?|[? ?]]; auto;
      [now rewrite e', app_assoc|]. right. rewrite !app_length in *. lia.
Qed.

Lemma step_app_none l r : step (l ++ r) = None -> step l = None /\ step r = None.
Proof.
  rewrite !definition_1_end. intros h. split; intros l' u v r' ->.
  - apply (h l' u v (r' ++ r)). now rewrite <- app_assoc.
  - apply (h (l ++ l') u v r'). now rewrite <- app_assoc.
Qed.

(** ** The whole run *)

Definition final (s : list (list A)) : list (list A) := run (length s) s.

Lemma final_step s : final s = match step s with Some (_, s') => final s' | None => s end.
Proof.
  unfold final. destruct (step s) as [[d s']|] eqn:e.
  - rewrite (step_length _ _ _ e). simpl. now rewrite e.
  - destruct (length s); simpl; [easy|]. now rewrite e.
Qed.

Lemma final_induction (P : list (list A) -> Prop) :
  (forall s, step s = None -> P s) ->
  (forall s d s', step s = Some (d, s') -> P s' -> P s) -> forall s, P s.
Proof.
  intros stop go s. remember (length s) as n eqn:e. revert s e.
  induction n as [|n IH]; intros s e; destruct (step s) as [[d s']|] eqn:h; eauto;
    apply step_length in h as l; [lia|]. eapply go; [eassumption|]. apply IH. lia.
Qed.

(** When |w| steps have been taken no pair has a priority any more. *)
Lemma final_stops s : step (final s) = None.
Proof.
  induction s as [s h|s d s' h IH] using final_induction; rewrite final_step, h; easy.
Qed.

Lemma final_concat s : concat (final s) = concat s.
Proof.
  induction s as [s h|s d s' h IH] using final_induction; rewrite final_step, h; [easy|].
  now rewrite IH, (step_concat _ _ _ h).
Qed.

Lemma final_size s : size (final s) = size s.
Proof. unfold size. now rewrite final_concat. Qed.

Lemma final_proper s : proper s -> proper (final s).
Proof.
  induction s as [s h|s d s' h IH] using final_induction; rewrite final_step, h; [easy|].
  intros pr. apply IH. eapply step_proper; eauto.
Qed.

(** Boundaries are only ever deleted. *)
Lemma final_boundaries s p : proper s -> In p (boundaries (final s)) -> In p (boundaries s).
Proof.
  induction s as [s h|s d s' h IH] using final_induction; rewrite final_step, h; [easy|].
  intros pr i. apply IH in i; [|eapply step_proper; eauto].
  now apply (step_boundaries _ _ _ _ pr h) in i.
Qed.

Lemma final_deletes s d s' : proper s -> step s = Some (d, s') -> ~ In d (boundaries (final s)).
Proof.
  intros pr h i. rewrite final_step, h in i.
  apply final_boundaries in i; [|eapply step_proper; eauto].
  now apply (step_boundaries _ _ _ _ pr h) in i.
Qed.

(** Lemma 4 for states: a boundary of the result parts the result. *)
Lemma final_app l r : proper (l ++ r) ->
  In (size l) (boundaries (final (l ++ r))) -> final (l ++ r) = final l ++ final r.
Proof.
  remember (l ++ r) as s eqn:e. revert l r e.
  induction s as [s h|s d s' h IH] using final_induction; intros l r -> pr i.
  - rewrite final_step, h. apply step_app_none in h as [hl hr].
    now rewrite (final_step l), hl, (final_step r), hr.
  - pose proof (final_deletes _ _ _ pr h) as gone.
    assert (proper s') as pr' by (eapply step_proper; eauto).
    rewrite final_step, h in i |- *. rewrite final_step, h in gone.
    destruct (step_app _ _ _ _ pr h) as [(_ & l' & hl & ->)|[->|(_ & r' & hr & ->)]].
    + rewrite (final_step l), hl. apply IH; [easy|easy|]. now rewrite (step_size _ _ _ hl).
    + contradiction.
    + rewrite (final_step r), hr. now apply IH.
Qed.

(** ** Texts *)

Lemma atoms_app v w : atoms (v ++ w) = atoms v ++ atoms w.
Proof. apply map_app. Qed.

Lemma atoms_concat w : concat (atoms w) = w.
Proof. induction w; simpl; congruence. Qed.

Lemma atoms_size w : size (atoms w) = length w.
Proof. unfold size. now rewrite atoms_concat. Qed.

Lemma atoms_proper w : proper (atoms w).
Proof.
  unfold proper, atoms. apply Forall_forall. intros t h.
  now apply in_map_iff in h as (a & <- & _).
Qed.

Lemma E_final w : E w = final (atoms w).
Proof. unfold E, final, atoms. now rewrite map_length. Qed.

(** The tokens of E(w) are w. *)
Lemma E_concat w : concat (E w) = w.
Proof. now rewrite E_final, final_concat, atoms_concat. Qed.

Lemma E_size w : size (E w) = length w.
Proof. unfold size. now rewrite E_concat. Qed.

Lemma E_proper w : proper (E w).
Proof. rewrite E_final. apply final_proper, atoms_proper. Qed.

(** At the end no pair of neighbours has a priority. *)
Lemma E_stops w : forall l u v r, E w = l ++ u :: v :: r -> priority u v = None.
Proof. apply definition_1_end. rewrite E_final. apply final_stops. Qed.

Lemma B_0 w : B w 0.
Proof. apply boundary_0. Qed.

Lemma B_length w : B w (length w).
Proof. unfold B. rewrite <- E_size. apply boundary_size. Qed.

Lemma B_le w p : B w p -> p <= length w.
Proof. intros h. apply boundary_le in h. now rewrite E_size in h. Qed.

(** ** Lemma 3 *)

Lemma deleted_inside k l m r :
  proper (l ++ m ++ r) -> let i := size l in let j := size l + size m in
  ~ In i (deleted k (l ++ m ++ r)) -> ~ In j (deleted k (l ++ m ++ r)) ->
  let inside := filter (fun d => (i <? d) && (d <? j)) (deleted k (l ++ m ++ r)) in
  inside = map (Nat.add i) (deleted (length inside) m).
Proof.
  cbn zeta. revert l m r. induction k as [|k IH]; intros l m r pr ni nj; [easy|].
  simpl in *. destruct (step (l ++ m ++ r)) as [[d s']|] eqn:h; [|easy]. simpl in ni, nj.
  assert (proper s') as pr' by (eapply step_proper; eauto).
  destruct (step_app _ _ _ _ pr h) as [(lt & l' & hl & ->)|[->|(gt & y & hy & ->)]]; [|tauto|].
  - simpl. destruct (Nat.ltb_spec (size l) d); [lia|]. simpl.
    rewrite <- (step_size _ _ _ hl) in ni, nj |- *. apply IH; tauto.
  - assert (proper (m ++ r)) as prm by now apply proper_app in pr.
    destruct (step_app _ _ _ _ prm hy) as [(lt & m' & hm & ->)|[e|(gt' & r' & hr & ->)]].
    + simpl. destruct (Nat.ltb_spec (size l) d); [|lia].
      destruct (Nat.ltb_spec d (size l + size m)); [|lia]. simpl. rewrite hm. simpl.
      f_equal; [lia|]. rewrite <- (step_size _ _ _ hm) in nj |- *. apply IH; tauto.
    + exfalso. apply nj. left. lia.
    + simpl. destruct (Nat.ltb_spec d (size l + size m)); [lia|]. rewrite andb_false_r.
      apply IH; tauto.
Qed.

Lemma skipn_add (w : list A) i k : skipn k (skipn i w) = skipn (i + k) w.
Proof.
  revert w. induction i as [|i IH]; intros w; [easy|].
  destruct w as [|a w]; simpl; [now rewrite skipn_nil|apply IH].
Qed.

Lemma slices (w : list A) i j : i <= j -> w = firstn i w ++ slice w i j ++ skipn j w.
Proof.
  intros le. unfold slice. rewrite <- (firstn_skipn i w) at 1. f_equal.
  rewrite <- (firstn_skipn (j - i) (skipn i w)) at 1. f_equal.
  rewrite skipn_add. f_equal. lia.
Qed.

Lemma slice_length (w : list A) i j : i <= j <= length w -> length (slice w i j) = j - i.
Proof. intros h. unfold slice. rewrite firstn_length, skipn_length. lia. Qed.

(** Lemma 3 (restriction). Those of the first k steps of the run on w that happen between i and j
    are, in order, the first steps of the run on w[i:j]. A step is known by the boundary it
    deletes. *)
Theorem lemma_3 : forall (w : list A) (i j k : nat), i < j <= length w ->
  ~ In i (deleted k (atoms w)) -> ~ In j (deleted k (atoms w)) ->
  let inside := filter (fun d => (i <? d) && (d <? j)) (deleted k (atoms w)) in
  inside = map (Nat.add i) (deleted (length inside) (atoms (slice w i j))).
Proof.
  intros w i j k h.
  assert (atoms w = atoms (firstn i w) ++ atoms (slice w i j) ++ atoms (skipn j w)) as e.
  { rewrite <- !atoms_app, <- slices; [easy|lia]. }
  pose proof (deleted_inside k (atoms (firstn i w)) (atoms (slice w i j)) (atoms (skipn j w))) as d.
  rewrite <- e, !atoms_size, firstn_length, slice_length, Nat.min_l in d by lia.
  replace (i + (j - i)) with j in d by lia. apply d, atoms_proper.
Qed.

(** ** Lemma 4 *)

(** Lemma 4, "in particular": if p is in B(w), then E(w) = E(w[:p]) E(w[p:]). *)
Theorem lemma_4_parts : forall (w : list A) (p : nat), B w p ->
  E w = E (firstn p w) ++ E (skipn p w).
Proof.
  intros w p h. pose proof (B_le w p h) as le. unfold B in h.
  rewrite !E_final in *. rewrite <- (firstn_skipn p w) in h at 1 |- * at 1.
  rewrite atoms_app in *. apply final_app.
  - rewrite <- atoms_app. apply atoms_proper.
  - rewrite atoms_size, firstn_length, Nat.min_l; easy.
Qed.

Lemma B_left w p q : B w p -> q <= p -> (B w q <-> B (firstn p w) q).
Proof.
  intros h le. unfold B at 1. rewrite (lemma_4_parts w p h). apply boundaries_app_left.
  rewrite E_size, firstn_length, Nat.min_l; [easy|]. now apply B_le.
Qed.

Lemma B_right w p q : B w p -> p <= q -> (B w q <-> B (skipn p w) (q - p)).
Proof.
  intros h le. unfold B at 1. rewrite (lemma_4_parts w p h).
  assert (size (E (firstn p w)) = p) as e.
  { rewrite E_size, firstn_length, Nat.min_l; [easy|]. now apply B_le. }
  rewrite boundaries_app_right; rewrite e; easy.
Qed.

(** Lemma 4 (consistency). B(w) and [i, j] have in common what i + B(w[i:j]) is. *)
Theorem lemma_4 : forall (w : list A) (i j : nat), i < j -> B w i -> B w j ->
  forall p, (i <= p <= j /\ B w p) <-> (exists q, B (slice w i j) q /\ p = i + q).
Proof.
  intros w i j lt bi bj.
  assert (B (skipn i w) (j - i)) as bj' by (apply B_right; [easy|lia|easy]).
  assert (forall q, q <= j - i -> (B (slice w i j) q <-> B w (i + q))) as same.
  { intros q le. unfold slice. rewrite <- B_left by (easy || lia).
    rewrite (B_right w i (i + q)) by (easy || lia). now replace (i + q - i) with q by lia. }
  intros p. split.
  - intros [le bp]. exists (p - i). split; [|lia]. apply same; [lia|].
    now replace (i + (p - i)) with p by lia.
  - intros (q & bq & ->). pose proof (B_le _ _ bq) as le.
    rewrite slice_length in le by (split; [lia|now apply B_le]).
    split; [lia|]. apply same; easy.
Qed.

End Merging.

Arguments least {A}.
Arguments merge_at {A}.
Arguments step {A}.
Arguments run {A}.
Arguments deleted {A}.
Arguments atoms {A}.
Arguments E {A}.
Arguments B {A}.
Arguments final {A}.

(** ** The vocabularies in use, for computing: atoms are numbers *)

Definition same (u v : list nat) : bool := if list_eq_dec Nat.eq_dec u v then true else false.

(** The number of the first element that is wanted. *)
Fixpoint place {T} (wanted : T -> bool) (l : list T) : option nat :=
  match l with
  | [] => None
  | x :: l' => if wanted x then Some 0 else option_map S (place wanted l')
  end.

(** HF: the line of the pair in the list of merges. *)
Definition by_pairs (merges : list (list nat * list nat)) (u v : list nat) : option nat :=
  place (fun m => same (fst m) u && same (snd m) v) merges.

(** tiktoken: the rank of uv; SentencePiece: the order of its score, which others may share. *)
Definition by_string (ranks : list (list nat * nat)) (u v : list nat) : option nat :=
  option_map snd (find (fun r => same (fst r) (u ++ v)) ranks).

(** Lemma 3: neither i nor j is deleted. *)
Example lemma_3_needs_both_boundaries :
  let p := by_pairs [([0], [1]); ([0; 1], [2])] in
  deleted p 2 (atoms [0; 1; 2]) = [1; 2] /\ deleted p 2 (atoms (slice [0; 1; 2] 1 3)) = [].
Proof. split; vm_compute; reflexivity. Qed.
