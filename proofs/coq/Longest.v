(** Boundaries that no merge deletes; Theorem 61, longest tokens: proofs/compiled-call.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams Ids.
Import ListNotations.

(** ** Boundaries that no merge deletes *)
Section Apart.
Variable A : Type.
Variable priority : list A -> list A -> option nat.
Notation step := (step priority).
Notation final := (final priority).
Notation E := (E priority).

(** What steps keep, of rows on the left and on the right, and what excludes a merge across. *)
Lemma final_apart (Ql Qr : list (list A) -> Prop) :
  (forall s d s', proper s -> step s = Some (d, s') -> Ql s -> Ql s') ->
  (forall s d s', proper s -> step s = Some (d, s') -> Qr s -> Qr s') ->
  (forall l u v r, proper (l ++ [u]) -> proper (v :: r) ->
     Ql (l ++ [u]) -> Qr (v :: r) -> priority u v = None) ->
  forall l r, proper (l ++ r) -> Ql l -> Qr r -> final (l ++ r) = final l ++ final r.
Proof.
  intros kl kr none l r pr hl hr. remember (l ++ r) as s eqn:e. revert l r e pr hl hr.
  induction s as [s h|s d s' h IH] using (final_induction A priority); intros l r -> pr hl hr.
  - rewrite (final_step _ _ (l ++ r)), h. apply step_app_none in h as [sl sr].
    now rewrite (final_step _ _ l), sl, (final_step _ _ r), sr.
  - pose proof pr as both. apply proper_app in both as [pl p_r].
    assert (proper s') as pr' by (eapply step_proper; eauto). rewrite (final_step _ _ (l ++ r)), h.
    destruct (step_app _ _ _ _ _ _ pr h) as [(_ & l' & sl & ->)|[->|(_ & r' & sr & ->)]].
    + rewrite (final_step _ _ l), sl. apply IH; eauto.
    + exfalso. apply definition_1 in h as (a & u & v & b & (e & p & pp & _) & ed & _).
      destruct (split_unique A l r (a ++ [u]) (v :: b)) as [-> ->]; [easy| |easy|].
      * now rewrite e, <- app_assoc.
      * now rewrite (none a u v b) in pp.
    + rewrite (final_step _ _ r), sr. apply IH; eauto.
Qed.

(** No merge joins an end of the left text with a beginning of the right one. *)
Lemma final_no_merge l r : proper (l ++ r) ->
  (forall a x y b, a ++ x = concat l -> y ++ b = concat r -> x <> [] -> y <> [] -> priority x y = None) ->
  final (l ++ r) = final l ++ final r.
Proof.
  intros pr none.
  apply final_apart with (Ql := fun s => concat s = concat l) (Qr := fun s => concat s = concat r);
    try easy.
  - intros s d s' _ h e. now rewrite (step_concat _ _ _ _ _ h).
  - intros s d s' _ h e. now rewrite (step_concat _ _ _ _ _ h).
  - intros a u v b pl p_r el er. apply (none (concat a) u v (concat b)).
    + rewrite <- el, concat_app. simpl. now rewrite app_nil_r.
    + now rewrite <- er.
    + apply proper_app in pl as [_ pl]. now inversion pl.
    + now inversion p_r.
Qed.

(** ** Theorem 61: longest tokens *)

(** A row of canonical tokens in which each two neighbours stay apart. *)
Fixpoint neighbours_ok (row : list (list A)) : Prop :=
  match row with
  | [] => True
  | [t] => E t = [t]
  | u :: (v :: _) as row' => E (u ++ v) = [u; v] /\ neighbours_ok row'
  end.

(** Theorem 61: such a row is the encoding, whoever found it. *)
Theorem theorem_61 : forall row : list (list A), proper row ->
  neighbours_ok row -> E (concat row) = row.
Proof.
  intros row pr. destruct row as [|t [|v row]]; [easy|intros h; simpl; now rewrite app_nil_r|].
  intros h. apply corollary_7; [simpl; lia|]. revert t v pr h.
  induction row as [|x row IH]; intros t v pr [e h] k lt; simpl in lt.
  - replace k with 0 by lia. exact e.
  - destruct k as [|k]; [exact e|]. inversion pr as [|? ? _ pr']; subst.
    apply (IH v x pr' h k). simpl. lia.
Qed.

(** ... so up to a place there is one such row at most. *)
Theorem theorem_61_unique : forall row row' : list (list A), proper row -> proper row' ->
  neighbours_ok row -> neighbours_ok row' -> concat row = concat row' -> row = row'.
Proof.
  intros row row' pr pr' h h' e. rewrite <- (theorem_61 row pr h), <- (theorem_61 row' pr' h').
  now rewrite e.
Qed.

(** ... and no merge of an end of u with a beginning of v: then E(uv) = [u, v]. *)
Theorem theorem_61_no_rule : forall u v : list A, u <> [] -> v <> [] -> E u = [u] -> E v = [v] ->
  (forall a x y b, a ++ x = u -> y ++ b = v -> x <> [] -> y <> [] -> priority x y = None) ->
  E (u ++ v) = [u; v].
Proof.
  intros u v nu nv eu ev none. rewrite E_final, atoms_app.
  rewrite final_no_merge.
  - now rewrite <- !E_final, eu, ev.
  - rewrite <- atoms_app. apply atoms_proper.
  - now rewrite !atoms_concat.
Qed.

(** *** The search *)

(** The canonical tokens that the search tries, and what it asks of two neighbours. *)
Variable canonical : list A -> bool.
Variable stay_apart : list A -> list A -> bool.
Definition stays (left : option (list A)) (t : list A) : bool :=
  canonical t && match left with Some u => stay_apart u t | None => true end.

(** From the left: the longest token that stays apart from the one before, then shorter ones; back where
    none fits. [failed]: the places, as numbers of characters that are left, where none fits. *)
Fixpoint walk (room : nat) (left : option (list A)) (w : list A) (failed : list nat)
  : option (list (list A)) * list nat :=
  match w, room with
  | [], _ => (Some [], failed)
  | _, 0 => (None, failed)
  | _, S room' =>
      if existsb (Nat.eqb (length w)) failed then (None, failed)
      else
        (fix shorter (k : nat) (failed : list nat) :=
           match k with
           | 0 => (None, length w :: failed)
           | S k' =>
               if stays left (firstn k w) then
                 match walk room' (Some (firstn k w)) (skipn k w) failed with
                 | (Some row, failed') => (Some (firstn k w :: row), failed')
                 | (None, failed') => shorter k' failed'
                 end
               else shorter k' failed
           end) (length w) failed
  end.

(** A row in which each token stays apart from the one before. *)
Fixpoint chain (left : option (list A)) (row : list (list A)) : Prop :=
  match row with [] => True | t :: row' => t <> [] /\ stays left t = true /\ chain (Some t) row' end.

Definition shorter (room : nat) (left : option (list A)) (w : list A) :=
  fix shorter (k : nat) (failed : list nat) :=
    match k with
    | 0 => (None, length w :: failed)
    | S k' =>
        if stays left (firstn k w) then
          match walk room (Some (firstn k w)) (skipn k w) failed with
          | (Some row, failed') => (Some (firstn k w :: row), failed')
          | (None, failed') => shorter k' failed'
          end
        else shorter k' failed
    end.
Lemma walk_unfold room left w failed : w <> [] -> walk (S room) left w failed =
  if existsb (Nat.eqb (length w)) failed then (None, failed) else shorter room left w (length w) failed.
Proof. now destruct w. Qed.

Lemma walk_chain room left w failed row failed' :
  walk room left w failed = (Some row, failed') -> concat row = w /\ chain left row.
Proof.
  revert left w failed row failed'. induction room as [|room IH]; intros left w failed row failed'.
  - destruct w; [|easy]. intros h. now injection h as <- _.
  - destruct w as [|a w]; [intros h; now injection h as <- _|]. set (v := a :: w).
    rewrite walk_unfold by easy. destruct (existsb _ failed); [easy|].
    assert (forall k failed, k <= length v -> shorter room left v k failed = (Some row, failed') ->
              concat row = v /\ chain left row) as each; [|now apply each].
    clear failed. induction k as [|k IHk]; intros failed le; [easy|]. cbn [shorter].
    destruct (stays left (firstn (S k) v)) eqn:s; [|apply IHk; lia].
    destruct (walk room _ _ failed) as [[rest|] failed1] eqn:e; [|apply IHk; lia].
    intros h. assert (row = firstn (S k) v :: rest) as -> by congruence. apply IH in e as [e c].
    split; [cbn [concat]; rewrite e; apply firstn_skipn|now split].
Qed.

Hypothesis canonical_right : forall t, canonical t = true -> E t = [t].
Hypothesis apart_right : forall u v, canonical u = true -> canonical v = true ->
  stay_apart u v = true -> E (u ++ v) = [u; v].

Lemma chain_neighbours row : chain None row -> proper row /\ neighbours_ok row.
Proof.
  enough (forall u row, chain (Some u) row -> canonical u = true -> u <> [] ->
            proper row /\ neighbours_ok (u :: row)) as h.
  { destruct row as [|t row]; [intros _; split; [constructor|easy]|]. intros (ne & s & c). unfold stays in s.
    apply andb_prop in s as [s _]. destruct (h t row c s ne) as [pr ok]. split; [now constructor|easy]. }
  clear row. intros u row. revert u. induction row as [|t row IH]; intros u c cu nu.
  - split; [constructor|]. now apply canonical_right.
  - destruct c as (ne & s & c). unfold stays in s. apply andb_prop in s as [ct s].
    destruct (IH t c ct ne) as [pr ok]. split; [now constructor|]. split; [now apply apart_right|easy].
Qed.

(** What the search finds is the encoding. *)
Theorem theorem_61_search : forall (w : list A) (row : list (list A)) (failed : list nat),
  walk (length w) None w [] = (Some row, failed) -> row = E w.
Proof.
  intros w row failed h. apply walk_chain in h as [<- c]. apply chain_neighbours in c as [pr ok].
  symmetry. now apply theorem_61.
Qed.

(** ... and it finds it, if its tokens and neighbours are known: a place that was noted is none of its
    boundaries, because up to a place there is one row only. *)
Fixpoint last_of (left : option (list A)) (row : list (list A)) : option (list A) :=
  match row with [] => left | t :: row' => last_of (Some t) row' end.
Lemma chain_app left a b : chain left (a ++ b) <-> chain left a /\ chain (last_of left a) b.
Proof.
  revert left. induction a as [|t a IH]; intros left; simpl; [tauto|]. rewrite IH. tauto.
Qed.
Lemma last_of_app left a t : last_of left (a ++ [t]) = Some t.
Proof. revert left. induction a as [|u a IH]; intros left; [easy|]. apply IH. Qed.

Section Complete.
Variable row : list (list A).
Hypothesis row_chain : chain None row.
Definition no_boundary (n : nat) : Prop := forall a b, row = a ++ b -> length (concat b) <> n.

Lemma walk_complete room done w failed :
  length w <= room -> chain None done -> concat done ++ w = concat row ->
  (forall n, In n failed -> no_boundary n) ->
  let (found, failed') := walk room (last_of None done) w failed in
  (forall n, In n failed' -> no_boundary n) /\ (found = None -> no_boundary (length w)).
Proof.
  revert done w failed. induction room as [|room IH]; intros done w failed le cd e fine.
  { destruct w; [|simpl in le; lia]. simpl. split; [easy|discriminate]. }
  destruct w as [|x w]; [simpl; split; [easy|discriminate]|]. set (v := x :: w) in *.
  rewrite walk_unfold by easy. destruct (existsb (Nat.eqb (length v)) failed) eqn:f.
  { split; [easy|]. intros _. apply fine. apply existsb_exists in f as (n & i & q).
    now apply Nat.eqb_eq in q as ->. }
  enough (forall k failed, k <= length v -> (forall n, In n failed -> no_boundary n) ->
    (forall t b, row = done ++ t :: b -> length t <= k) ->
    let (found, failed') := shorter room (last_of None done) v k failed in
    (forall n, In n failed' -> no_boundary n) /\ (found = None -> no_boundary (length v))) as h.
  { apply h; [easy|easy|]. intros t b er. rewrite er, concat_app in e. apply app_inv_head in e.
    rewrite e. simpl. rewrite app_length. lia. }
  clear f failed fine.
  (* a row with a boundary here goes on from the same tokens *)
  assert (forall a b, row = a ++ b -> length (concat b) = length v -> a = done) as one.
  { intros a b er n. rewrite er in row_chain. apply chain_app in row_chain as [ca _].
    destruct (chain_neighbours a ca) as [pa na], (chain_neighbours done cd) as [pd nd].
    apply theorem_61_unique; try easy. rewrite er, concat_app in e.
    apply (f_equal (firstn (length (concat done)))) in e as e'.
    assert (length (concat done) = length (concat a)) as el.
    { apply (f_equal (@length A)) in e. rewrite !app_length in e. lia. }
    rewrite firstn_app, Nat.sub_diag, firstn_all, el, firstn_app, Nat.sub_diag, firstn_all in e'.
    simpl in e'. now rewrite !app_nil_r in e'. }
  induction k as [|k IHk]; intros failed lk fine short.
  - cbn [shorter].
    assert (no_boundary (length v)) as no.
    { intros a b er n. pose proof (one a b er n) as ->. destruct b as [|t b]; [now simpl in n|].
      specialize (short t b er). destruct t; [|simpl in short; lia].
      rewrite er in row_chain. apply chain_app in row_chain as [_ (ne & _)]. easy. }
    split; [|easy]. intros n [<-|i]; [easy|auto].
  - cbn [shorter]. set (t := firstn (S k) v) in *.
    assert (length t = S k) as lt by (unfold t; rewrite firstn_length; lia).
    assert (forall b, row = done ++ t :: b -> stays (last_of None done) t = true) as must.
    { intros b er. rewrite er in row_chain. now apply chain_app in row_chain as [_ (_ & s & _)]. }
    assert ((forall b, row <> done ++ t :: b) ->
            forall u b, row = done ++ u :: b -> length u <= k) as next.
    { intros no u b er. pose proof (short u b er) as lu.
      destruct (Nat.eq_dec (length u) (S k)) as [eu|ne]; [|lia]. destruct (no b). rewrite er. f_equal. f_equal.
      rewrite er, concat_app in e. apply app_inv_head in e. unfold t. rewrite e. cbn [concat].
      rewrite <- eu, firstn_app, Nat.sub_diag, firstn_all. cbn [firstn]. now rewrite app_nil_r. }
    destruct (stays (last_of None done) t) eqn:s.
    + assert (chain None (done ++ [t])) as ct.
      { apply chain_app. split; [easy|]. split; [|easy]. intros n. rewrite n in lt. simpl in lt. lia. }
      pose proof (IH (done ++ [t]) (skipn (S k) v) failed) as go. rewrite last_of_app in go.
      assert (concat (done ++ [t]) ++ skipn (S k) v = concat row) as et.
      { rewrite concat_app. cbn [concat]. rewrite app_nil_r, <- app_assoc. unfold t.
        now rewrite firstn_skipn. }
      specialize (go ltac:(rewrite skipn_length; lia) ct et fine).
      destruct (walk room (Some t) (skipn (S k) v) failed) as [[found|] failed1].
      * split; [tauto|discriminate].
      * destruct go as [fine1 no]. apply IHk; [lia|easy|]. apply next. intros b er.
        apply (no eq_refl (done ++ [t]) b); [now rewrite <- app_assoc|].
        rewrite er, !concat_app in et. cbn [concat] in et. rewrite app_nil_r, <- app_assoc in et.
        apply app_inv_head, app_inv_head in et. now rewrite et.
    + apply IHk; [lia|easy|]. apply next. intros b er. specialize (must b er). congruence.
Qed.
End Complete.

Theorem theorem_61_found : forall w : list A, chain None (E w) ->
  exists failed, walk (length w) None w [] = (Some (E w), failed).
Proof.
  intros w c. pose proof (walk_complete (E w) c (length w) [] w []) as h.
  simpl in h. rewrite E_concat in h. specialize (h (le_n _) I eq_refl (fun _ f => match f with end)).
  destruct (walk (length w) None w []) as [[row|] failed] eqn:e.
  - exists failed. now rewrite (theorem_61_search w row failed e).
  - destruct h as [_ no]. destruct (no eq_refl [] (E w) eq_refl). now rewrite E_concat.
Qed.
End Apart.

(** Theorem 61: the longest token is the wrong one, so the search steps back; "ab" and "c" do not stay
    apart. *)
Example theorem_61_steps_back :
  let p := by_pairs [([1], [2]); ([0], [1])] in
  let canonical t := token_rows_equal (E p t) [t] in
  let apart u v := token_rows_equal (E p (u ++ v)) [u; v] in
  fst (walk nat canonical apart 3 None [0; 1; 2] []) = Some [[0]; [1; 2]] /\
  fst (walk nat canonical (fun _ _ => true) 3 None [0; 1; 2] []) = Some [[0; 1]; [2]].
Proof. split; vm_compute; reflexivity. Qed.
