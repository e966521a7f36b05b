(** Sure cuts of a row of Splits: Theorem 60, two characters, proofs/compiled-call.md; Theorem 63, three
    characters, proofs/63-three-characters.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns PatternPairs Rows Tables.
Import ListNotations.

(** ** The conditions, computed *)

(** The states after c of the runs that were in one of these. *)
Definition after (l : list state) (c : nat) : list state :=
  fold_right (fun x found => if in_states x found then found else x :: found) [] (map (fun x => to x c) l).

(** Theorem 60, conditions (b) and (c): each run that has just read c, whatever it read before, dies on d,
    and hits before d exactly if it hits before END. *)
Definition dies_there (m : machine) (c : nat) : nat -> bool :=
  let l := after (states m) c in fun d => forallb (same_at_cut m d) l.
(** Condition (a): the run that begins at c hits before d. *)
Definition hits_there (m : machine) (c d : nat) : bool := hit (to (start m) c) (Some d).

(** (c, d) is sure: (a) in some stage; (b) and (c) in it and in those before. *)
Fixpoint sure_pair (row : list machine) (c : nat) : nat -> bool :=
  match row with
  | [] => fun _ => false
  | m :: rest =>
      let dies := dies_there m c in let behind := sure_pair rest c in fun d =>
      dies d && (hits_there m c d || behind d)
  end.

(** Theorem 63, *last*: each run that has just read a and b, and the run that begins at b, dies on c, and hits
    before c exactly if it hits before END. The run that begins at b hits before c. *)
Definition last_here (m : machine) (a : nat) : nat -> nat -> bool :=
  let l := after (states m) a in fun b =>
  let z := to (start m) b in let l' := z :: after l b in fun c =>
  forallb (same_at_cut m c) l' && hit z (Some c).

(** (a, b | c) is sure: *last* in some stage, and (b) and (c) of Theorem 60 for (b, c) in those before. *)
Fixpoint sure_last (row : list machine) (a : nat) : nat -> nat -> bool :=
  match row with
  | [] => fun _ _ => false
  | m :: rest =>
      let here := last_here m a in let behind := sure_last rest a in fun b =>
      let here := here b in let through := dies_there m b in let behind := behind b in fun c =>
      here c || through c && behind c
  end.

(** Theorem 63, *middle*: each run that has just read a hits before b exactly if it hits before END; if it goes
    on over b, it neither hits before c nor goes on over c; nor does it hit before END, if the text of the
    stage may end there. The run that begins at a hits before b. *)
Definition fades (inner : bool) (m : machine) (c : nat) (y : state) : bool :=
  negb (hit y (Some c)) && in_states (to y c) (dead m) && negb (inner && hit y None).
Definition middle_here (inner : bool) (m : machine) (a : nat) : nat -> nat -> bool :=
  let l := after (states m) a in fun b =>
  let l' := after l b in
  let same := hits_there m a b && forallb (fun x => eqb (hit x None) (hit x (Some b))) l in fun c =>
  same && forallb (fades inner m c) l'.

(** (a | b, c) is sure: *middle* in some stage, and (b) and (c) of Theorem 60 for (a, b) in those before. The
    text of a later stage may end before c, unless no match of the stages before begins with c. *)
Fixpoint sure_middle (inner : bool) (row : list machine) (a : nat) : nat -> nat -> bool :=
  match row with
  | [] => fun _ _ => false
  | m :: rest =>
      let here := middle_here inner m a in let through := dies_there m a in
      let inside := sure_middle true rest a in let whole := sure_middle false rest a in fun b =>
      let here := here b in let through := through b in
      let inside := inside b in let whole := whole b in fun c =>
      here c || through && if inner then inside c else
        if in_states (to (start m) c) (dead m) then whole c else inside c
  end.

Lemma sure_cons m rest c d :
  sure_pair (m :: rest) c d = dies_there m c d && (hits_there m c d || sure_pair rest c d).
Proof. reflexivity. Qed.
Lemma last_cons m rest a b c :
  sure_last (m :: rest) a b c = last_here m a b c || dies_there m b c && sure_last rest a b c.
Proof. reflexivity. Qed.
Lemma middle_cons inner m rest a b c :
  sure_middle inner (m :: rest) a b c = middle_here inner m a b c || dies_there m a b &&
    if inner then sure_middle true rest a b c else
      if in_states (to (start m) c) (dead m) then sure_middle false rest a b c
      else sure_middle true rest a b c.
Proof. simpl. destruct inner; [reflexivity|]. now destruct (in_states (to (start m) c) (dead m)). Qed.

Lemma in_after l c x : In x l -> In (to x c) (after l c).
Proof.
  unfold after. intros i. apply (in_map (fun x => to x c)) in i. revert i.
  generalize (to x c), (map (fun x => to x c) l). intros y l'. induction l' as [|z l' IH]; [easy|].
  intros i. simpl. destruct (in_states z (fold_right _ _ l')) eqn:e.
  - destruct i as [<-|i]; [now apply in_states_spec|auto].
  - destruct i as [<-|i]; [now left|right; auto].
Qed.

(** ** A cut that no match reads over *)
Section Texts.
Variable A : Type.

(** What F gives for both parts is what it gives for the whole. *)
Definition parts {B} (F : list A -> list B) (L R : list A) : Prop := F (L ++ R) = F L ++ F R.
Definition tail_of (L s : list A) : Prop := s <> [] /\ exists v, L = v ++ s.
Definition head_of (R w : list A) : Prop := exists r, R = w ++ r.

Lemma tail_trans L s t : tail_of L s -> tail_of s t -> tail_of L t.
Proof. intros [_ [v ->]] [ne [w ->]]. split; [easy|]. exists (v ++ w). apply app_assoc. Qed.

(** The last piece of L stays, or goes on to the end of the first piece of R, if Q. *)
Lemma divided m (L R : list A) (Q : Prop) : ends_first_piece m -> R <> [] ->
  (forall s, tail_of L s ->
    m (s ++ R) = m s \/ m s = length s /\ m (s ++ R) = length s + m R /\ Q) ->
  parts (pieces m) L R \/
  Q /\ exists l v w r, tail_of L v /\ head_of R w /\ length w = m R /\ pieces m L = l ++ [v] /\
    pieces m R = w :: r /\ pieces m (L ++ R) = l ++ (v ++ w) :: r.
Proof.
  intros restartable ne. remember (length L) as n eqn:e. revert L e.
  induction n as [n IH] using lt_wf_ind. intros L e g.
  assert (L = [] \/ L <> []) as [->|neL] by (destruct L; [now left|now right]); [now left|].
  assert (L ++ R <> []) as ne' by now destruct L.
  destruct (restartable _ neL) as [lo hi].
  pose proof (pieces_step A m restartable _ ne') as step.
  pose proof (pieces_step A m restartable _ neL) as stepL.
  destruct (g L (conj neL (ex_intro _ [] eq_refl))) as [same|(whole & longer & q)].
  - rewrite same, firstn_prefix, skipn_app in step by easy.
    replace (m L - length L) with 0 in step by lia. simpl skipn in step.
    assert (forall v, tail_of (skipn (m L) L) v -> tail_of L v) as longer_tail.
    { intros v [nev [u h]]. split; [easy|]. exists (firstn (m L) L ++ u).
      now rewrite <- app_assoc, <- h, firstn_skipn. }
    destruct (IH (length (skipn (m L) L))) with (L := skipn (m L) L)
      as [p|(q & l & v & w & r & h & hd & k & p & pr & all)].
    + rewrite skipn_length. lia.
    + easy.
    + intros s h. now apply g, longer_tail.
    + left. unfold parts in *. now rewrite step, stepL, p.
    + right. split; [easy|]. exists (firstn (m L) L :: l), v, w, r. rewrite step, stepL, all, p.
      split; [now apply longer_tail|easy].
  - right. split; [easy|]. destruct (restartable R ne) as [lo' hi'].
    exists [], L, (firstn (m R) R), (pieces m (skipn (m R) R)).
    rewrite step, stepL, longer, whole, firstn_all, skipn_all, (pieces_step _ m restartable R ne).
    rewrite firstn_app_2, skipn_app, (skipn_all2 (n := length L + m R) L) by lia.
    replace (length L + m R - length L) with (m R) by lia.
    split; [split; [easy|now exists []]|]. split; [exists (skipn (m R) R); now rewrite firstn_skipn|].
    split; [rewrite firstn_length; lia|easy].
Qed.

Variable symbol : A -> nat.
Variable size : nat.
Hypothesis small : forall a, symbol a < size.
Notation word := (map symbol).

Section Stage.
Variable t : tree.
(** The machine is abstract here: computing it takes long. *)
Variable M : machine.
Hypothesis start_is : start M = [compile t].
Hypothesis machine_fine : machine_ok size M = true.
Hypothesis no_empty : nullable_tree (compile t) = false.
Notation pattern := (tree_regex symbol t).
Notation ended s := (read (start M) (word s)).

(** A run that has read s hits at its end exactly if it does before y, and not behind y. *)
Lemma match_same s y R : hit (ended s) None = hit (ended s) (Some (symbol y)) ->
  first A symbol (to (ended s) (symbol y)) R = None ->
  match_length pattern (s ++ y :: R) = match_length pattern s.
Proof.
  intros h n. rewrite !(length_of A symbol t M start_is), (first_alike A symbol _ _ y R h n).
  destruct (first A symbol (start M) s); [|easy]. simpl. rewrite !app_length. f_equal. lia.
Qed.

Lemma same_there s y R : same_at_cut M (symbol y) (ended s) = true ->
  match_length pattern (s ++ y :: R) = match_length pattern s.
Proof.
  intros h. apply andb_prop in h as [h n]. apply eqb_prop in h. apply in_states_spec in n.
  apply match_same; [easy|]. exact (dead_first A symbol size small M machine_fine _ R n).
Qed.

(** The states after s that ends in a; in a and b. *)
Lemma in_after_one u x : In (ended (u ++ [x])) (after (states M) (symbol x)).
Proof.
  rewrite map_app, read_app. apply in_after, (reached A symbol size small M machine_fine).
  exact (proj1 (fine_parts A symbol size small M machine_fine)).
Qed.
Lemma in_after_two u x y : In (ended (u ++ [x; y])) (after (after (states M) (symbol x)) (symbol y)).
Proof.
  change [x; y] with ([x] ++ [y]). rewrite app_assoc, map_app, read_app. apply in_after, in_after_one.
Qed.

(** If each match that begins in L ends where it does in L alone, a gap may still go on over the cut. *)
Lemma gap_over L R s z s' : R <> [] ->
  (forall s, tail_of L s -> match_length pattern (s ++ R) = match_length pattern s) ->
  s = s' ++ [z] -> tail_of L s ->
  gap A pattern (s ++ R) = gap A pattern s \/
  gap A pattern s = length s /\ gap A pattern (s ++ R) = length s + first_end pattern R /\
  match_length pattern [z] = None /\ match_length pattern R = None.
Proof.
  intros ne alike. revert s. induction s' as [|x s' IH]; intros s -> h; pose proof (alike _ h) as e.
  - cbn [app gap] in *. rewrite e. destruct (match_length pattern [z]) eqn:one; [now left|].
    destruct R as [|y R]; [easy|]. unfold first_end. cbn [gap length].
    destruct (match_length pattern (y :: R)); auto.
  - rewrite <- !app_comm_cons in *. cbn [gap length]. rewrite e.
    destruct (match_length pattern (x :: s' ++ [z])); [now left|].
    destruct (IH _ eq_refl) as [->|(-> & -> & n)].
    + apply (tail_trans L _ _ h). split; [now destruct s'|now exists [x]].
    + now left.
    + now right.
Qed.

(** Then the cut leaves the pieces of the stage as they are, or divides a gap. *)
Lemma cut_or_gap L R u z : R <> [] -> L = u ++ [z] ->
  (forall s, tail_of L s -> match_length pattern (s ++ R) = match_length pattern s) ->
  let m := first_end pattern in
  parts (pieces m) L R \/
  match_length pattern [z] = None /\ match_length pattern R = None /\
  exists l v w r, tail_of L v /\ head_of R w /\ length w = m R /\ pieces m L = l ++ [v] /\
    pieces m R = w :: r /\ pieces m (L ++ R) = l ++ (v ++ w) :: r.
Proof.
  intros ne e alike. cbv zeta.
  pose proof (pattern_pieces A symbol t no_empty) as restartable.
  destruct (divided (first_end pattern) L R
    (match_length pattern [z] = None /\ match_length pattern R = None) restartable ne)
    as [p|[[n n'] g]]; [|now left|right; auto].
  intros s h. unfold first_end at 1 2 3 4. rewrite (alike s h).
  destruct (match_length pattern s); [now left|].
  destruct h as [nes [v h]]. destruct (exists_last nes) as (s' & z' & es).
  assert (z' = z) as -> by (rewrite h, es, app_assoc in e; now apply app_inj_tail in e as [_ ->]).
  destruct (gap_over L R s z s' ne alike es) as [a|(a & b & c)]; [split; [easy|now exists v]|now left|].
  right. auto.
Qed.

Lemma hit_alone z : hit (to (start M) (symbol z)) None = true -> match_length pattern [z] <> None.
Proof.
  intros h. rewrite (length_of A symbol t M start_is), (hit_first A symbol (start M) [z] h). easy.
Qed.
End Stage.

Lemma not_empty t : tree_ok size t = true -> nullable_tree (compile t) = false.
Proof. intros f. apply negb_true_iff. exact (proj1 (andb_prop _ _ f)). Qed.
Lemma pieces_restartable t : tree_ok size t = true -> ends_first_piece (first_end (tree_regex symbol t)).
Proof. intros f. exact (pattern_pieces A symbol t (not_empty t f)). Qed.
Lemma machine_fine_of t : tree_ok size t = true ->
  exists M, M = machine_of size t /\ start M = [compile t] /\ machine_ok size M = true.
Proof. intros f. exists (machine_of size t). exact (conj eq_refl (conj eq_refl (proj2 (andb_prop _ _ f)))). Qed.

(** A stage after which the row has the cut: it has the cut itself, or only a gap goes over it. *)
Lemma row_cut t rest L R u z : tree_ok size t = true -> R <> [] -> L = u ++ [z] ->
  let pattern := tree_regex symbol t in
  (forall s, tail_of L s -> match_length pattern (s ++ R) = match_length pattern s) ->
  match_length pattern [z] <> None \/
  (match_length pattern R = None -> forall v w, tail_of L v -> head_of R w -> length w = first_end pattern R ->
    parts (pieces_of_row (splits_of symbol rest)) v w) ->
  parts (pieces_of_row (splits_of symbol (t :: rest))) L R.
Proof.
  cbv zeta. intros ok ne e alike h.
  change (splits_of symbol (t :: rest))
    with (pieces (first_end (tree_regex symbol t)) :: splits_of symbol rest).
  unfold parts. rewrite !row_cons.
  destruct (cut_or_gap t (not_empty t ok) L R u z ne e alike)
    as [p|(one & right & l & v & w & r & tl & hd & k & p & q & all)].
  - unfold parts in p. now rewrite p, flat_map_app.
  - destruct h as [h|h]; [contradiction|]. specialize (h right v w tl hd k). unfold parts in h.
    rewrite all, p, q, !flat_map_app. cbn [flat_map]. now rewrite h, app_nil_r, <- !app_assoc.
Qed.

(** What a text on the left ends with: a; b, and a before b if there is more. *)
Definition ends_in (a : nat) (L : list A) : Prop := exists u x, symbol x = a /\ L = u ++ [x].
Definition ends_in_both (a b : nat) (L : list A) : Prop := exists y, symbol y = b /\
  (L = [y] \/ exists u x, symbol x = a /\ L = u ++ [x; y]).

Lemma tail_ends a L s : ends_in a L -> tail_of L s -> ends_in a s.
Proof.
  intros (u & x & e & ->) [ne [v h]]. destruct (exists_last ne) as (s' & x' & ->).
  rewrite app_assoc in h. apply app_inj_tail in h as [_ <-]. now exists s', x.
Qed.
Lemma tail_ends_both a b L s : ends_in_both a b L -> tail_of L s -> ends_in_both a b s.
Proof.
  intros (y & ey & h) [ne [v e]]. exists y. split; [easy|].
  destruct (exists_last ne) as (s' & y' & ->). destruct h as [->|(u & x & ex & ->)].
  - destruct v; [|now destruct v, s']. destruct s'; [injection e as <-; now left|now destruct s'].
  - replace (u ++ [x; y]) with ((u ++ [x]) ++ [y]) in e by now rewrite <- app_assoc.
    rewrite app_assoc in e. apply app_inj_tail in e as [e <-].
    destruct s' as [|z s']; [now left|]. right.
    destruct (@exists_last _ (z :: s')) as (s'' & x' & e'); [easy|]. rewrite e' in *.
    rewrite app_assoc in e. apply app_inj_tail in e as [_ <-]. exists s'', x.
    split; [easy|]. now rewrite <- app_assoc.
Qed.

(** Theorem 60: a pre-token ends between the two, and the pre-tokens are those of both parts. *)
Theorem theorem_60 : forall (trees : list tree) (c d : nat),
  forallb (tree_ok size) trees = true -> sure_pair (map (machine_of size) trees) c d = true ->
  pair_parts (pieces_of_row (splits_of symbol trees)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros trees c d fine ok u x y W ex ey.
  assert (ends_in c (u ++ [x])) as left by now exists u, x.
  change (parts (pieces_of_row (splits_of symbol trees)) (u ++ [x]) (y :: W)).
  revert left. generalize (u ++ [x]) as L. clear u x ex. revert W fine ok.
  induction trees as [|t trees IH]; intros W fine ok L left; [discriminate ok|].
  apply andb_prop in fine as [f fine]. destruct (machine_fine_of t f) as (M & eM & sM & fm).
  rewrite map_cons, sure_cons, <- eM in ok.
  apply andb_prop in ok as [dies ok]. unfold dies_there in dies. rewrite forallb_forall in dies.
  pose proof left as (u & x & ex & e).
  apply (row_cut t trees L (y :: W) u x f); [easy|easy| |].
  - intros s h. destruct (tail_ends _ _ _ left h) as (v & x' & ex' & ->).
    apply (same_there t M sM fm). rewrite ey. apply dies. rewrite <- ex'.
    exact (in_after_one M fm v x').
  - apply orb_prop in ok as [ok|ok]; [left|right].
    + apply (hit_alone t M sM). unfold hits_there in ok.
      pose proof (dies _ (in_after _ c _ (proj1 (fine_parts A symbol size small M fm)))) as h.
      apply andb_prop in h as [h _]. apply eqb_prop in h. now rewrite ex, h.
    + intros _ v w tl [r hd] k. assert (w <> []) as ne.
      { pose proof (pieces_restartable t f) as p.
        destruct (p (y :: W)) as [lo _]; [easy|]. intros ->. simpl in k. lia. }
      destruct w as [|y' w]; [easy|]. injection hd as <- _.
      exact (IH w fine ok v (tail_ends _ _ _ left tl)).
Qed.

(** Theorem 63: a pre-token ends between b and c ... *)
Theorem theorem_63_last : forall (trees : list tree) (a b c : nat),
  forallb (tree_ok size) trees = true -> sure_last (map (machine_of size) trees) a b c = true ->
  forall L z W, ends_in_both a b L -> symbol z = c ->
  parts (pieces_of_row (splits_of symbol trees)) L (z :: W).
Proof.
  intros trees a b c fine ok L z W left ez. revert W fine ok L left.
  induction trees as [|t trees IH]; intros W fine ok L left; [discriminate ok|].
  apply andb_prop in fine as [f fine]. destruct (machine_fine_of t f) as (M & eM & sM & fm).
  rewrite map_cons, last_cons, <- eM in ok.
  pose proof left as (y & ey & e).
  assert (exists u, L = u ++ [y]) as [u eL].
  { destruct e as [->|(u & x & _ & ->)]; [now exists []|exists (u ++ [x]); now rewrite <- app_assoc]. }
  assert (forall s, tail_of L s -> exists v, s = v ++ [y]) as ends_y.
  { intros s h. destruct (tail_ends b L s) as (v & y' & ey' & ->); [now exists u, y|easy|].
    destruct h as [_ [p h]]. rewrite eL, app_assoc in h. apply app_inj_tail in h as [_ <-]. now exists v. }
  apply orb_prop in ok as [ok|ok]; apply andb_prop in ok as [dies ok].
  - cbn [forallb] in dies. apply andb_prop in dies as [alone dies]. rewrite forallb_forall in dies.
    apply (row_cut t trees L (z :: W) u y f); [easy|easy| |left].
    + intros s h. apply (same_there t M sM fm). rewrite ez.
      destruct (tail_ends_both _ _ _ _ left h) as (y' & ey' & [->|(v & x' & ex' & ->)]).
      * simpl. now rewrite ey'.
      * apply dies. rewrite <- ex', <- ey'. exact (in_after_two M fm v x' y').
    + apply (hit_alone t M sM). apply andb_prop in alone as [h _]. apply eqb_prop in h.
      now rewrite ey, h.
  - unfold dies_there in dies. rewrite forallb_forall in dies.
    apply (row_cut t trees L (z :: W) u y f); [easy|easy| |right].
    + intros s h. destruct (ends_y s h) as (v & ->). apply (same_there t M sM fm).
      rewrite ez. apply dies. rewrite <- ey. exact (in_after_one M fm v y).
    + intros _ v w tl [r hd] k. assert (w <> []) as ne.
      { pose proof (pieces_restartable t f) as p.
        destruct (p (z :: W)) as [lo _]; [easy|]. intros ->. simpl in k. lia. }
      destruct w as [|z' w]; [easy|]. injection hd as <- _.
      exact (IH w fine ok v (tail_ends_both _ _ _ _ left tl)).
Qed.

(** What follows b on the right: c, or nothing if the text may end there. *)
Definition goes_to (inner : bool) (c : nat) (W : list A) : Prop :=
  W = [] /\ inner = true \/ exists z W', symbol z = c /\ W = z :: W'.

(** ... or between a and b. *)
Lemma middle_parts (trees : list tree) (a b c : nat) (inner : bool) :
  forallb (tree_ok size) trees = true -> sure_middle inner (map (machine_of size) trees) a b c = true ->
  forall L y W, ends_in a L -> symbol y = b -> goes_to inner c W ->
  parts (pieces_of_row (splits_of symbol trees)) L (y :: W).
Proof.
  revert inner. induction trees as [|t trees IH]; intros inner fine ok L y W left ey right; [discriminate ok|].
  apply andb_prop in fine as [f fine]. destruct (machine_fine_of t f) as (M & eM & sM & fm).
  rewrite map_cons, middle_cons, <- eM in ok.
  pose proof left as (u & x & ex & e).
  apply orb_prop in ok as [ok|ok]; apply andb_prop in ok as [same ok].
  - apply andb_prop in same as [alone same]. unfold middle_here in ok. rewrite forallb_forall in same, ok.
    apply (row_cut t trees L (y :: W) u x f); [easy|easy| |left].
    + intros s h. destruct (tail_ends _ _ _ left h) as (v & x' & ex' & ->).
      pose proof (in_after_one M fm v x') as i. rewrite ex' in i.
      apply (match_same t M sM); rewrite ey; [exact (eqb_prop _ _ (same _ i))|].
      pose proof (ok _ (in_after _ b _ i)) as fade. unfold fades in fade.
      apply andb_prop in fade as [fade ends]. apply andb_prop in fade as [quiet die].
      destruct right as [[-> ->]|(z & W' & ez & ->)].
      * rewrite first_nil. now destruct (hit _ None).
      * rewrite first_cons, ez. apply in_states_spec in die.
        rewrite (dead_first A symbol size small M fm _ W' die). now destruct (hit _ (Some c)).
    + apply (hit_alone t M sM). unfold hits_there in alone.
      pose proof (same _ (in_after _ a _ (proj1 (fine_parts A symbol size small M fm)))) as h.
      apply eqb_prop in h. now rewrite ex, h.
  - unfold dies_there in same. rewrite forallb_forall in same.
    apply (row_cut t trees L (y :: W) u x f); [easy|easy| |right].
    + intros s h. destruct (tail_ends _ _ _ left h) as (v & x' & ex' & ->).
      apply (same_there t M sM fm). rewrite ey. apply same. rewrite <- ex'.
      exact (in_after_one M fm v x').
    + intros none v w tl [r hd] k.
      pose proof (pieces_restartable t f) as p.
      destruct (p (y :: W)) as [lo _]; [easy|].
      destruct w as [|y' w]; [simpl in k; lia|]. injection hd as <- hd.
      pose proof (tail_ends _ _ _ left tl) as left'.
      assert (goes_to true c w) as cut_short.
      { destruct w as [|z w]; [now left|]. right. destruct right as [[-> _]|(z' & W' & ez & ->)]; [easy|].
        injection hd as <- _. now exists z', w. }
      destruct inner; [exact (IH true fine ok v y w left' ey cut_short)|].
      destruct (in_states (to (start M) c) (dead M)) eqn:no; [|exact (IH true fine ok v y w left' ey cut_short)].
      apply (IH false fine ok v y w left' ey). destruct cut_short as [[-> _]|there]; [|now right].
      exfalso. destruct right as [[_ [=]]|(z & W' & ez & ->)].
      unfold first_end in k. rewrite none in k. cbn [gap length] in k. rewrite none in k.
      rewrite <- ez in no. apply in_states_spec in no.
      rewrite (dead_start A symbol size small t M sM fm (not_empty t f) z W' no) in k. discriminate k.
Qed.

Theorem theorem_63_middle : forall (trees : list tree) (a b c : nat),
  forallb (tree_ok size) trees = true -> sure_middle false (map (machine_of size) trees) a b c = true ->
  forall u x y z W, symbol x = a -> symbol y = b -> symbol z = c ->
  parts (pieces_of_row (splits_of symbol trees)) (u ++ [x]) (y :: z :: W).
Proof.
  intros trees a b c fine ok u x y z W ex ey ez. apply (middle_parts trees a b c false fine ok); [|easy|].
  - now exists u, x.
  - right. now exists z, W.
Qed.
End Texts.

(** ** Computed *)

(** A row of two Splits with gaps: digits (0) by themselves, then rows of letters (1); 2 is anything else. *)
Definition digits_letters : list tree := [One [0]; Repeated [1] 1 None Greedy].
Definition digits_letters_sure : list (list nat) :=
  let row := map (machine_of 3) digits_letters in
  map (fun c => filter (sure_pair row c) (List.seq 0 3)) (List.seq 0 3).
Example sure_pairs_computed : forallb (tree_ok 3) digits_letters = true /\
  digits_letters_sure = [[0; 1; 2]; [0; 2]; []].
Proof. split; vm_compute; reflexivity. Qed.

(** How many pairs of a stored row are sure; how many triples are *last*, and how many *middle*, whose pair at
    the cut is not sure. *)
Definition counts (stored : family) : list nat :=
  let '(size, trees, _) := stored in
  let row := map (machine_of size) trees in let all := List.seq 0 size in
  let sum f := fold_right (fun a n => f a + n) 0 all in let none := fun _ => false in
  let pairs := map (sure_pair row) all in
  [sum (fun a => length (filter (nth a pairs none) all));
   sum (fun a => let at_a := sure_last row a in sum (fun b =>
     let at_b := at_a b in let pair := nth b pairs none in
     length (filter (fun c => if pair c then false else at_b c) all)));
   sum (fun a => let at_a := sure_middle false row a in let pair := nth a pairs none in
     sum (fun b => if pair b then 0 else length (filter (at_a b) all)))].
Definition stored_counts : list (list nat) :=
  [[75; 144; 87]; [54; 81; 66]; [63; 162; 114]; [86; 52; 72]; [62; 40; 54]; [62; 36; 18]; [62; 36; 18];
   [87; 52; 72]; [253; 294; 517]; [44; 59; 54]; [110; 108; 46]].
Theorem sure_cuts_of_stored_rows : map counts families = stored_counts.
Proof. vm_cast_no_check (eq_refl stored_counts). Qed.

(** For the pages' tables "Each hypothesis is needed": the pieces of two texts in one and by themselves. *)
Definition both_ways (trees : list tree) (L R : list nat) :=
  let pieces := pieces_of_row (splits_of (fun a => a) trees) in
  (pieces (L ++ R), pieces L ++ pieces R).
(** (a): in a gap of all stages; (b): a run goes on over the cut; (c): a hit at END only. *)
Example theorem_60_needs_each_condition :
  both_ways [One [0]] [2] [2] = ([[2; 2]], [[2]; [2]]) /\
  both_ways [Repeated [1] 1 None Greedy] [1] [1] = ([[1; 1]], [[1]; [1]]) /\
  both_ways [Alt (Seq (Repeated [1] 2 (Some 2) Greedy) (Ahead [] true)) (One [0; 1; 2])] [1; 1] [2] =
    ([[1]; [1]; [2]], [[1; 1]; [2]]).
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Theorem 63, a 0, b 1, c 2, anything else 3. *)
Notation a_b := (Seq (One [0]) (One [1])).
Notation one := (One [0; 1; 2; 3]).
(** *last*: b in a gap; a run over a and b goes on, or hits before c only; the run that begins at b goes on, or
    hits before c only; an earlier stage reads over the cut; an earlier stage begins anew at b. *)
Theorem theorem_63_last_needs_each_condition :
  both_ways [One [3]] [0; 1] [2] = ([[0; 1; 2]], [[0; 1]; [2]]) /\
  both_ways [Alt (Seq a_b (One [2])) one] [0; 1] [2] = ([[0; 1; 2]], [[0]; [1]; [2]]) /\
  both_ways [Alt (Seq a_b (Ahead [2] false)) one] [0; 1] [2] = ([[0; 1]; [2]], [[0]; [1]; [2]]) /\
  both_ways [Alt (Seq (One [1]) (One [2])) one] [0; 1] [2] = ([[0]; [1; 2]], [[0]; [1]; [2]]) /\
  both_ways [Seq (One [1]) (Ahead [2] false)] [0; 1] [2] = ([[0]; [1]; [2]], [[0; 1]; [2]]) /\
  both_ways [Alt (Seq a_b (One [2])) one; Alt a_b one] [0; 1] [2] = ([[0; 1]; [2]], [[0]; [1]; [2]]) /\
  both_ways [One [0]; Alt a_b (Repeated [1; 2] 1 None Greedy)] [0; 1] [2] = ([[0]; [1; 2]], [[0]; [1]; [2]]).
Proof. repeat split; vm_compute; reflexivity. Qed.
(** *middle*: a in a gap; a run that has read a hits before b only; a run over b hits before c, or goes on; an
    earlier stage reads over the cut; an earlier stage ends the text behind b. *)
Theorem theorem_63_middle_needs_each_condition :
  both_ways [One [3]] [0] [1; 2] = ([[0; 1; 2]], [[0]; [1; 2]]) /\
  both_ways [Alt (Seq (One [3]) (Seq (One [0]) (Ahead [1] false))) one] [3; 0] [1; 2] =
    ([[3; 0]; [1]; [2]], [[3]; [0]; [1]; [2]]) /\
  both_ways [Alt a_b one] [0] [1; 2] = ([[0; 1]; [2]], [[0]; [1]; [2]]) /\
  both_ways [Alt (Seq a_b (One [2])) one] [0] [1; 2] = ([[0; 1; 2]], [[0]; [1]; [2]]) /\
  both_ways [Alt (Seq (One [3]) a_b) one; Alt (Seq (One [3]) (One [0])) one] [3; 0] [1; 2] =
    ([[3; 0]; [1]; [2]], [[3]; [0]; [1]; [2]]) /\
  both_ways [One [2]; Alt (Seq a_b (Ahead [0; 1; 3] true)) one] [0] [1; 2] =
    ([[0; 1]; [2]], [[0]; [1]; [2]]).
Proof. repeat split; vm_compute; reflexivity. Qed.
