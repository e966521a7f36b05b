(** Tables for windows of every width: proofs/theorem-40.md.

    tokpar stores two small automata for a pattern: one reads the left part of a window, one the right
    part. [wide_ok] checks them against the machine of Windows.v; [theorem_40_wide] says that every
    window that they accept is safe, however wide. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns Windows.
Import ListNotations.

(** ** The tables *)

(** Rows of numbers: [left] and [right] the next set behind a symbol, [cut] the set of the right part
    if the cut is here and the symbol follows; 0 in [cut] and [right]: refuted. [certain]: nothing is
    left that could happen. *)
Record tables : Type := {
  left_sets : list (list nat);
  cut_sets : list (list nat);
  right_sets : list (list nat);
  certain : list bool
}.

Definition entry (rows : list (list nat)) (i c : nat) : nat := nth c (nth i rows []) 0.

(** Whether the tables accept a window. Set 0 of the left part, anything, accepts none. *)
Definition holds (d : tables) (window : list nat * list nat) : bool :=
  match snd window with
  | [] => false
  | y :: right' =>
      let here := fold_left (entry (left_sets d)) (fst window) 0 in
      negb (here =? 0) &&
      nth (fold_left (entry (right_sets d)) right' (entry (cut_sets d) here y)) (certain d) false
  end.

(** ** The machine in numbers, for speed *)

Record numbered : Type := {
  begin : nat;
  goes : list (list nat);
  hits : list (list bool);
  hits_end : list bool;
  deads : list bool
}.

Definition go (k : numbered) (n c : nat) : nat := entry (goes k) n c.
Definition hits_at (k : numbered) (n c : nat) : bool := nth c (nth n (hits k) []) false.
Definition ends (k : numbered) (n : nat) : bool := nth n (hits_end k) false.
Definition is_dead (k : numbered) (n : nat) : bool := nth n (deads k) false.
Definition numbered_state (m : machine) (n : nat) : state := nth n (states m) [].

Definition number_of (m : machine) (x : state) : nat :=
  match place (state_same x) (states m) with Some n => n | None => 0 end.
Definition numbered_of (size : nat) (m : machine) : numbered := {|
  begin := number_of m (start m);
  goes := map (fun x => map (fun c => number_of m (to x c)) (List.seq 0 size)) (states m);
  hits := map (fun x => map (fun c => hit x (Some c)) (List.seq 0 size)) (states m);
  hits_end := map (fun x => hit x None) (states m);
  deads := map (fun x => in_states x (dead m)) (states m)
|}.

Definition numbered_ok (size : nat) (m : machine) (k : numbered) : bool :=
  let count := length (states m) in
  (begin k <? count) && state_same (numbered_state m (begin k)) (start m) &&
  forallb (fun n =>
    let x := numbered_state m n in
    eqb (hit x None) (ends k n) && implb (is_dead k n) (in_states x (dead m)) &&
    forallb (fun c =>
      (go k n c <? count) && state_same (to x c) (numbered_state m (go k n c)) &&
      eqb (hit x (Some c)) (hits_at k n c)) (List.seq 0 size)) (List.seq 0 count).

(** ** Items *)

(** An attempt in this state, if the attempts in the list never match again in the left part. *)
Definition item : Type := nat * list nat.

Definition add (n : nat) (l : list nat) : list nat := if mem n l then l else n :: l.
Definition owe (k : numbered) (n : nat) (l : list nat) : list nat := if is_dead k n then l else add n l.
Definition owed_behind (k : numbered) (owed : list nat) (c : nat) : list nat :=
  fold_right (fun n l => owe k (go k n c) l) [] owed.

Definition next_items (k : numbered) (i : item) (c : nat) : list item :=
  let (n, owed) := i in
  if existsb (fun o => hits_at k o c) owed then []
  else
    let owed' := owed_behind k owed c in
    (go k n c, owed') ::
    (if hits_at k n c then [(go k (begin k) c, owe k (go k n c) owed')] else []).

Definition among_items (i : item) (l : list item) : bool :=
  existsb (fun j => (fst j =? fst i) && forallb (fun o => mem o (snd i)) (snd j)) l.

Fixpoint put {X} (n : nat) (x : X) (rows : list (list X)) : list (list X) :=
  match rows, n with
  | [], _ => []
  | r :: rows', 0 => (x :: r) :: rows'
  | r :: rows', S n' => r :: put n' x rows'
  end.

(** The items of each set of the left part. *)
Fixpoint fill (room size : nat) (k : numbered) (d : tables) (known : list (list item))
    (todo : list (nat * item)) : list (list item) :=
  match room, todo with
  | 0, _ | _, [] => known
  | S room', (h, i) :: todo' =>
      if among_items i (nth h known []) then fill room' size k d known todo'
      else fill room' size k d (put h i known)
        (flat_map (fun c => map (fun j => (entry (left_sets d) h c, j)) (next_items k i c))
                  (List.seq 0 size) ++ todo')
  end.

Definition live (k : numbered) (n : nat) (l : list nat) : bool := is_dead k n || mem n l.

(** The states of each set of the right part, of which one more match would refute the window. *)
Fixpoint fill_right (room size : nat) (k : numbered) (d : tables) (known : list (list nat))
    (todo : list (nat * nat)) : list (list nat) :=
  match room, todo with
  | 0, _ | _, [] => known
  | S room', (h, n) :: todo' =>
      if (h =? 0) || live k n (nth h known []) then fill_right room' size k d known todo'
      else fill_right room' size k d (put h n known)
        (map (fun c => (entry (right_sets d) h c, go k n c)) (List.seq 0 size) ++ todo')
  end.

Definition void (k : numbered) (i : item) : bool := existsb (ends k) (snd i).

Definition items_of (size : nat) (m : machine) (k : numbered) (d : tables) : list (list item) :=
  fill (600 * 600) size k d (map (fun _ => []) (left_sets d))
       (map (fun n => (0, (n, []))) (List.seq 0 (length (states m)))).
Definition threats_of (size : nat) (k : numbered) (d : tables) (items : list (list item)) :
    list (list nat) :=
  fill_right (600 * 600) size k d (map (fun _ => []) (right_sets d))
    (flat_map (fun h =>
       flat_map (fun i => if void k i then [] else
         map (fun c => (entry (cut_sets d) h c, go k (fst i) c)) (List.seq 0 size)) (nth h items []))
       (List.seq 1 (length (left_sets d) - 1))).

Definition left_ok (size : nat) (m : machine) (k : numbered) (d : tables) (items : list (list item)) :=
  forallb (fun n => among_items (n, []) (nth 0 items [])) (List.seq 0 (length (states m))) &&
  forallb (fun h => forallb (fun i => forallb (fun c =>
      forallb (fun j => among_items j (nth (entry (left_sets d) h c) items [])) (next_items k i c))
    (List.seq 0 size)) (nth h items [])) (List.seq 0 (length items)).

Definition cut_ok (size : nat) (k : numbered) (d : tables) (items : list (list item))
    (threats : list (list nat)) : bool :=
  forallb (fun h => forallb (fun i => void k i || forallb (fun c =>
      let h' := entry (cut_sets d) h c in
      (h' =? 0) || eqb (ends k (fst i)) (hits_at k (fst i) c) &&
                   live k (go k (fst i) c) (nth h' threats []))
    (List.seq 0 size)) (nth h items [])) (List.seq 1 (length items - 1)).

Definition right_ok (size : nat) (k : numbered) (d : tables) (threats : list (list nat)) : bool :=
  forallb (fun h => forallb (fun n => forallb (fun c =>
      let h' := entry (right_sets d) h c in
      (h' =? 0) || negb (hits_at k n c) && live k (go k n c) (nth h' threats []))
    (List.seq 0 size)) (nth h threats [])) (List.seq 0 (length threats)) &&
  forallb (Nat.eqb 0) (nth 0 (right_sets d) []) && negb (nth 0 (certain d) false) &&
  forallb (fun h => negb (nth h (certain d) false) || match nth h threats [] with [] => true | _ => false end)
          (List.seq 0 (length (certain d))).

Definition wide_ok (size : nat) (t : tree) (d : tables) : bool :=
  let m := machine_of size t in
  let k := numbered_of size m in
  let items := items_of size m k d in
  let threats := threats_of size k d items in
  negb (nullable_tree (compile t)) && machine_ok size m && numbered_ok size m k &&
  left_ok size m k d items && cut_ok size k d items threats && right_ok size k d threats.

(** ** It is right *)
Section Wide.
Variable A : Type.
Variable symbol : A -> nat.
Variable size : nat.
Hypothesis small : forall a, symbol a < size.
Variable t : tree.
Variable M : machine.
Hypothesis start_is : start M = [compile t].
Hypothesis fine : machine_ok size M = true.
Hypothesis no_empty : nullable_tree (compile t) = false.
Variable k : numbered.
Hypothesis numbers : numbered_ok size M k = true.
Variable d : tables.
Variable items : list (list item).
Variable threats : list (list nat).
Hypothesis lefts : left_ok size M k d items = true.
Hypothesis cuts : cut_ok size k d items threats = true.
Hypothesis rights : right_ok size k d threats = true.
Notation word := (map symbol).
Notation first := (first A symbol).
Notation st := (numbered_state M).
Notation pattern := (tree_regex symbol t).
Notation m := (first_end pattern).
Notation count := (length (states M)).

Lemma mem_In c l : mem c l = true <-> In c l.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros (x & i & e). apply Nat.eqb_eq in e. now subst.
  - intros i. exists c. split; [easy|apply Nat.eqb_refl].
Qed.

Lemma numbers_parts : begin k < count /\ st (begin k) = start M /\ forall n, n < count ->
  hit (st n) None = ends k n /\ (is_dead k n = true -> In (st n) (dead M)) /\
  forall a, go k n (symbol a) < count /\ to (st n) (symbol a) = st (go k n (symbol a)) /\
            hit (st n) (Some (symbol a)) = hits_at k n (symbol a).
Proof.
  unfold numbered_ok in numbers. apply andb_prop in numbers as [b h].
  apply andb_prop in b as [b1 b2]. apply Nat.ltb_lt in b1. apply state_same_spec in b2.
  split; [easy|]. split; [easy|]. intros n lt. rewrite forallb_forall in h.
  specialize (h n ltac:(apply in_seq; lia)). apply andb_prop in h as [h1 h2].
  apply andb_prop in h1 as [h1 h3]. apply eqb_prop in h1. split; [easy|]. split.
  - intros e. rewrite e in h3. now apply in_states_spec.
  - intros a. rewrite forallb_forall in h2. specialize (h2 _ (in_symbols A symbol size small a)).
    apply andb_prop in h2 as [h2 h4]. apply andb_prop in h2 as [h2 h5].
    apply Nat.ltb_lt in h2. apply state_same_spec in h5. apply eqb_prop in h4. auto.
Qed.

Lemma dead_never n w : n < count -> is_dead k n = true -> first (st n) w = None.
Proof.
  intros lt e. apply (dead_first A symbol size small M fine). now apply numbers_parts.
Qed.

Lemma first_le x w v : first x w = Some v -> length v <= length w.
Proof.
  revert x. induction w as [|a w IH]; intros x e.
  - rewrite first_nil in e. destruct (hit x None); [|easy]. injection e as <-. easy.
  - rewrite first_cons in e. destruct (first (to x (symbol a)) w) as [v'|] eqn:e'.
    + injection e as <-. apply IH in e'. simpl. lia.
    + destruct (hit x (Some (symbol a))); [|easy]. injection e as <-. easy.
Qed.

Lemma first_from x u w v : first x (u ++ w) = Some v -> length v <= length w ->
  first (read x (word u)) w = Some v.
Proof.
  revert x. induction u as [|a u IH]; intros x e le; [easy|]. simpl in *.
  rewrite first_cons in e. destruct (first (to x (symbol a)) (u ++ w)) as [v'|] eqn:e'.
  - injection e as ->. now apply IH.
  - destruct (hit x (Some (symbol a))); [|easy]. injection e as <-. simpl in le.
    rewrite app_length in le. lia.
Qed.

(** A boundary other than 0 is where the piece of an earlier one ends. *)
Lemma predecessor S s : In s (P m S) -> 0 < s ->
  exists s', In s' (P m S) /\ s' < s /\ s' + m (skipn s' S) = s.
Proof.
  revert s. induction S as [|S ne IH] using (text_induction A m (pattern_pieces A symbol t no_empty));
    intros s i pos.
  - apply (P_le A m (pattern_pieces A symbol t no_empty)) in i. simpl in i. lia.
  - pose proof (pattern_pieces A symbol t no_empty S ne) as some.
    rewrite (P_definition A m (pattern_pieces A symbol t no_empty) S ne) in i.
    destruct i as [<-|i]; [lia|]. apply in_map_iff in i as (r & <- & i).
    destruct r as [|r].
    + exists 0. split; [apply P_0|]. change (skipn 0 S) with S. lia.
    + destruct (IH (Datatypes.S r) i) as (s' & i' & lt & e); [lia|].
      exists (m S + s'). split; [|split; [lia|]].
      * rewrite (P_definition A m (pattern_pieces A symbol t no_empty) S ne). right.
        apply in_map_iff. now exists s'.
      * rewrite <- skipn_add. lia.
Qed.

(** *** The right part *)

Lemma refuted_stays w : fold_left (entry (right_sets d)) w 0 = 0.
Proof.
  induction w as [|c w IH]; [easy|]. simpl. assert (entry (right_sets d) 0 c = 0) as ->; [|easy].
  unfold right_ok in rights. apply andb_prop in rights as [r _]. apply andb_prop in r as [r _].
  apply andb_prop in r as [_ r]. rewrite forallb_forall in r. unfold entry.
  destruct (nth_in_or_default c (nth 0 (right_sets d) []) 0) as [i|e]; [|easy].
  specialize (r _ i). now apply Nat.eqb_eq in r.
Qed.

Lemma zero_uncertain : nth 0 (certain d) false = false.
Proof.
  unfold right_ok in rights. apply andb_prop in rights as [r _]. apply andb_prop in r as [_ r].
  now apply negb_true_iff.
Qed.

Lemma in_row {X} (rows : list (list X)) h x : In x (nth h rows []) -> In h (List.seq 0 (length rows)).
Proof.
  intros i. apply in_seq. destruct (le_lt_dec (length rows) h) as [le|lt]; [|lia].
  now rewrite nth_overflow in i.
Qed.

Lemma right_quiet n h w W : n < count -> live k n (nth h threats []) = true ->
  nth (fold_left (entry (right_sets d)) (word w) h) (certain d) false = true ->
  first (st n) (w ++ W) = None.
Proof.
  revert n h. induction w as [|a w IH]; intros n h lt l c; apply orb_prop in l as [l|l];
    try (now apply dead_never).
  - simpl in c. exfalso. unfold right_ok in rights. apply andb_prop in rights as [_ r].
    rewrite forallb_forall in r.
    assert (h < length (certain d)) as hl.
    { destruct (le_lt_dec (length (certain d)) h) as [le|?]; [|easy].
      now rewrite nth_overflow in c. }
    specialize (r h ltac:(apply in_seq; lia)). rewrite c in r. apply mem_In in l.
    now destruct (nth h threats []).
  - simpl in c. apply mem_In in l.
    assert (entry (right_sets d) h (symbol a) <> 0) as ne.
    { intros e. rewrite e, refuted_stays, zero_uncertain in c. easy. }
    pose proof rights as r. unfold right_ok in r. apply andb_prop in r as [r _].
    apply andb_prop in r as [r _]. apply andb_prop in r as [r _]. rewrite forallb_forall in r.
    specialize (r h (in_row _ _ _ l)). rewrite forallb_forall in r. specialize (r n l).
    rewrite forallb_forall in r. specialize (r _ (in_symbols A symbol size small a)).
    apply orb_prop in r as [r|r]; [now apply Nat.eqb_eq in r|]. apply andb_prop in r as [r1 r2].
    apply negb_true_iff in r1.
    destruct (proj2 (proj2 numbers_parts) n lt) as (_ & _ & go_). destruct (go_ a) as (g1 & g2 & g3).
    simpl. rewrite first_cons, g2, g3, r1, (IH _ _ g1 r2 c). easy.
Qed.

(** *** The left part *)
Section Left.
Variables U left : list A.
Notation L := (U ++ left).

(** The attempt that begins at s is one of the items h behind pre. *)
Definition shown (h : nat) (pre rest : list A) (s : nat) : Prop :=
  exists n owed, In (n, owed) (nth h items []) /\ n < count /\
    st n = read (start M) (word (skipn s pre)) /\
    forall o, In o owed -> o < count /\ first (st o) rest = None.

Definition all_shown (h : nat) (pre rest : list A) : Prop := forall s,
  In s (P m L) -> s < length L -> s < length pre \/ s <= length U -> s <= length pre ->
  shown h pre rest s.

Lemma among_items_spec n owed l : among_items (n, owed) l = true ->
  exists owed', In (n, owed') l /\ forall o, In o owed' -> In o owed.
Proof.
  intros h. apply existsb_exists in h as ([n' owed'] & i & h). simpl in h.
  apply andb_prop in h as [e h]. apply Nat.eqb_eq in e as ->. exists owed'. split; [easy|].
  rewrite forallb_forall in h. intros o io. now apply mem_In, h.
Qed.

Lemma left_base : all_shown 0 U left.
Proof.
  intros s i lt _ le. pose proof lefts as l. unfold left_ok in l. apply andb_prop in l as [l _].
  rewrite forallb_forall in l.
  pose proof (reached A symbol size small M fine (start M) (skipn s U)
                (proj1 (fine_parts A symbol size small M fine))) as r.
  apply (In_nth _ _ []) in r as (n & ln & e).
  specialize (l n ltac:(apply in_seq; split; [lia|exact ln])).
  apply among_items_spec in l as (owed & io & sub).
  exists n, owed. split; [easy|]. split; [easy|]. split; [exact e|].
  intros o h. now apply sub in h.
Qed.

Lemma owed_behind_spec owed a rest : (forall o, In o owed -> o < count /\ first (st o) (a :: rest) = None) ->
  forall o, In o (owed_behind k owed (symbol a)) -> o < count /\ first (st o) rest = None.
Proof.
  intros h o i. induction owed as [|p owed IH]; [easy|]. simpl in i.
  assert (forall q, In q owed -> q < count /\ first (st q) (a :: rest) = None) as h'
    by (intros q j; apply h; now right).
  unfold owe, add in i.
  destruct (is_dead k (go k p (symbol a))); [now apply IH|].
  destruct (mem _ _); [now apply IH|]. destruct i as [<-|i]; [|now apply IH].
  destruct (h p (or_introl eq_refl)) as [lp e].
  destruct (proj2 (proj2 numbers_parts) p lp) as (_ & _ & go_). destruct (go_ a) as (g1 & g2 & _).
  split; [easy|]. rewrite first_cons, g2 in e. now destruct (first (st (go k p (symbol a))) rest).
Qed.

Lemma not_void owed a rest : (forall o, In o owed -> o < count /\ first (st o) (a :: rest) = None) ->
  existsb (fun o => hits_at k o (symbol a)) owed = false.
Proof.
  intros h. destruct (existsb _ owed) eqn:e; [|easy]. apply existsb_exists in e as (o & i & e).
  destruct (h o i) as [lo n]. destruct (proj2 (proj2 numbers_parts) o lo) as (_ & _ & go_).
  destruct (go_ a) as (_ & _ & g3). rewrite first_cons, g3, e in n.
  now destruct (first (to (st o) (symbol a)) rest).
Qed.

(** What one item becomes is shown by an item of the next set. *)
Lemma next_shown h n owed n' owed' a : In (n, owed) (nth h items []) ->
  In (n', owed') (next_items k (n, owed) (symbol a)) ->
  exists owed'', In (n', owed'') (nth (entry (left_sets d) h (symbol a)) items []) /\
    forall o, In o owed'' -> In o owed'.
Proof.
  intros i j. pose proof lefts as l. unfold left_ok in l. apply andb_prop in l as [_ l].
  rewrite forallb_forall in l. specialize (l h (in_row _ _ _ i)). rewrite forallb_forall in l.
  specialize (l _ i). rewrite forallb_forall in l.
  specialize (l _ (in_symbols A symbol size small a)). rewrite forallb_forall in l.
  specialize (l _ j). now apply among_items_spec.
Qed.

Lemma go_spec n a : n < count -> go k n (symbol a) < count /\
  to (st n) (symbol a) = st (go k n (symbol a)) /\ hit (st n) (Some (symbol a)) = hits_at k n (symbol a).
Proof. intros lt. now apply numbers_parts. Qed.

Lemma left_step h pre a rest : L = pre ++ a :: rest -> length U <= length pre ->
  all_shown h pre (a :: rest) ->
  all_shown (entry (left_sets d) h (symbol a)) (pre ++ [a]) rest.
Proof.
  intros eL longer all s i lt early le. rewrite app_length in early. simpl in early.
  assert (forall n owed, In (n, owed) (nth h items []) ->
    (forall o, In o owed -> o < count /\ first (st o) (a :: rest) = None) ->
    forall n' owed', In (n', owed') (next_items k (n, owed) (symbol a)) ->
    n' < count -> st n' = read (start M) (word (skipn s (pre ++ [a]))) ->
    (forall o, In o owed' -> o < count /\ first (st o) rest = None) ->
    shown (entry (left_sets d) h (symbol a)) (pre ++ [a]) rest s) as next.
  { intros n owed io _ n' owed' j ln' e' o_.
    destruct (next_shown h n owed n' owed' a io j) as (owed'' & io' & sub).
    exists n', owed''. split; [exact io'|]. split; [exact ln'|]. split; [exact e'|].
    intros o j'. apply o_, sub, j'. }
  destruct (Nat.eq_dec s (length pre)) as [->|ne]; [destruct (le_lt_dec (length pre) (length U))|].
  - destruct (all (length pre) i lt (or_intror l) (le_n _)) as (n & owed & io & ln & e & o_).
    apply (next n owed io o_ (go k n (symbol a)) (owed_behind k owed (symbol a))).
    + simpl. rewrite (not_void owed a rest o_). now left.
    + now apply go_spec.
    + destruct (go_spec n a ln) as (_ & g & _). rewrite <- g, e, skipn_all, skipn_app, skipn_all, Nat.sub_diag.
      reflexivity.
    + now apply owed_behind_spec.
  - destruct (predecessor L (length pre) i ltac:(lia)) as (s' & i' & lt' & e').
    destruct (all s' i' ltac:(lia) (or_introl lt') ltac:(lia)) as (n & owed & io & ln & e & o_).
    assert (length L = length pre + S (length rest)) as nL by (rewrite eL, app_length; easy).
    assert (skipn s' L <> []) as ne.
    { intros z. apply (f_equal (@length A)) in z. rewrite skipn_length in z. simpl in z. lia. }
    destruct (end_of A symbol size small t M start_is fine no_empty _ ne) as (v & f & shorter & mv).
    rewrite mv, skipn_length in e'. rewrite skipn_length in shorter.
    assert (length v = S (length rest)) as lv by lia.
    rewrite eL, skipn_app in f. replace (s' - length pre) with 0 in f by lia.
    apply first_from in f; [|simpl; lia]. rewrite <- e in f. simpl in f. rewrite first_cons in f.
    destruct (go_spec n a ln) as (g1 & g2 & g3). rewrite g2, g3 in f.
    destruct (first (st (go k n (symbol a))) rest) as [v'|] eqn:f'.
    { injection f as ->. apply first_le in f'. lia. }
    destruct (hits_at k n (symbol a)) eqn:hn; [|easy].
    destruct numbers_parts as (lb & eb & _). destruct (go_spec (begin k) a lb) as (b1 & b2 & _).
    apply (next n owed io o_ (go k (begin k) (symbol a))
             (owe k (go k n (symbol a)) (owed_behind k owed (symbol a)))).
    + simpl. rewrite (not_void owed a rest o_), hn. right. now left.
    + exact b1.
    + rewrite <- b2, eb, skipn_app, skipn_all, Nat.sub_diag. reflexivity.
    + intros o io'. unfold owe, add in io'.
      destruct (is_dead k (go k n (symbol a))); [now apply (owed_behind_spec owed a rest o_)|].
      destruct (mem _ _); [now apply (owed_behind_spec owed a rest o_)|].
      destruct io' as [<-|io']; [easy|now apply (owed_behind_spec owed a rest o_)].
  - assert (s < length pre) as before by lia.
    destruct (all s i lt (or_introl before) ltac:(lia)) as (n & owed & io & ln & e & o_).
    apply (next n owed io o_ (go k n (symbol a)) (owed_behind k owed (symbol a))).
    + simpl. rewrite (not_void owed a rest o_). now left.
    + now apply go_spec.
    + destruct (go_spec n a ln) as (_ & g & _). rewrite <- g, e, skipn_app.
      replace (s - length pre) with 0 by lia. now rewrite map_app, read_app.
    + now apply owed_behind_spec.
Qed.

Lemma left_all rest : forall h pre, L = pre ++ rest -> length U <= length pre -> all_shown h pre rest ->
  all_shown (fold_left (entry (left_sets d)) (word rest) h) L [].
Proof.
  induction rest as [|a rest IH]; intros h pre e le all; [now rewrite app_nil_r in e; subst pre|].
  simpl. apply (IH _ (pre ++ [a])).
  - now rewrite <- app_assoc.
  - rewrite app_length. lia.
  - now apply left_step.
Qed.

Variables right W : list A.
Hypothesis accepted : holds d (word left, word right) = true.

Lemma wide_clean : clean m (L ++ right ++ W) (length L).
Proof.
  pose proof (pattern_pieces A symbol t no_empty) as re.
  apply pieces_clean; [exact re|rewrite !app_length; lia|].
  rewrite firstn_prefix, firstn_all, skipn_suffix, Nat.sub_diag by easy. simpl skipn.
  apply undisturbed_pieces; [exact re|]. intros s i lt.
  destruct right as [|y right']; [easy|]. unfold holds in accepted. simpl in accepted.
  set (h := fold_left (entry (left_sets d)) (word left) 0) in *.
  apply andb_prop in accepted as [h0 accepted']. apply negb_true_iff, Nat.eqb_neq in h0.
  destruct (left_all left 0 U eq_refl (le_n _) left_base s i lt (or_introl lt) ltac:(lia))
    as (n & owed & io & ln & e & o_). fold h in io.
  rewrite skipn_app. replace (s - length L) with 0 by lia.
  change (skipn 0 ((y :: right') ++ W)) with (y :: right' ++ W).
  set (u := skipn s L) in *.
  assert (u <> []) as ne.
  { intros z. apply (f_equal (@length A)) in z. unfold u in z. rewrite skipn_length in z.
    simpl in z. lia. }
  pose proof cuts as c. unfold cut_ok in c. rewrite forallb_forall in c.
  pose proof (in_row _ _ _ io) as hi. apply in_seq in hi.
  assert (h < length items) as hl by exact (proj2 hi).
  specialize (c h ltac:(apply in_seq; lia)). rewrite forallb_forall in c. specialize (c _ io).
  apply orb_prop in c as [c|c].
  { unfold void in c. apply existsb_exists in c as (o & j & c). simpl in j.
    destruct (o_ o j) as [lo f]. rewrite first_nil in f.
    destruct (proj2 (proj2 numbers_parts) o lo) as (g & _). rewrite g, c in f. easy. }
  rewrite forallb_forall in c. specialize (c _ (in_symbols A symbol size small y)).
  apply orb_prop in c as [c|c].
  { apply Nat.eqb_eq in c. rewrite c, refuted_stays, zero_uncertain in accepted'. easy. }
  simpl in c. apply andb_prop in c as [c1 c2]. apply eqb_prop in c1.
  destruct (go_spec n y ln) as (g1 & g2 & g3).
  destruct (proj2 (proj2 numbers_parts) n ln) as (g4 & _).
  assert (first (st (go k n (symbol y))) (right' ++ W) = None) as quiet_
    by exact (right_quiet _ _ right' W g1 c2 accepted').
  destruct (end_of A symbol size small t M start_is fine no_empty u ne) as (v & f & shorter & ->).
  assert (u ++ y :: right' ++ W <> []) as ne' by (now destruct u).
  destruct (end_of A symbol size small t M start_is fine no_empty _ ne') as (v' & f' & shorter' & ->).
  rewrite (first_alike A symbol), f in f'.
  - injection f' as <-. rewrite !app_length. lia.
  - rewrite <- e, g4, g3. exact c1.
  - rewrite <- e, g2. exact quiet_.
Qed.
End Left.
End Wide.

(** Theorem 40 for all widths: what accepted tables accept is safe. *)
Theorem theorem_40_wide : forall (size : nat) (t : tree) (d : tables), wide_ok size t d = true ->
  forall (A : Type) (symbol : A -> nat), (forall a, symbol a < size) ->
    ends_first_piece (first_end (tree_regex symbol t)) /\
    forall window, holds d window = true -> safe_window symbol (first_end (tree_regex symbol t)) window.
Proof.
  intros size t d h A symbol small. unfold wide_ok in h.
  apply andb_prop in h as [h h6]. apply andb_prop in h as [h h5]. apply andb_prop in h as [h h4].
  apply andb_prop in h as [h h3]. apply andb_prop in h as [h1 h2]. apply negb_true_iff in h1.
  split; [now apply pattern_pieces|]. intros [l r] a U left right W el er. simpl in el, er. subst l r.
  exact (wide_clean A symbol size small t (machine_of size t) eq_refl h2 h1
           (numbered_of size (machine_of size t)) h3 d _ _ h4 h5 h6 U left right W a).
Qed.
