(** Added tokens: how they are searched, and Theorem 6.1, where a cut leaves the search alone:
    proofs/6.1-added-tokens.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens Ids.
Import ListNotations.

(** A text is a list of code points. *)
Definition text : Type := list N.

Definition same_text (a b : text) : bool := if list_eq_dec N.eq_dec a b then true else false.

Record added_token : Type := {
  content : text;
  token_id : N;
  lstrip : bool;               (* takes the white space before it *)
  rstrip : bool;               (* takes the white space behind it *)
  single_word : bool;          (* is dropped if a word character stands beside it *)
  skipped : bool               (* is found and dropped: special, and encode_special_tokens *)
}.

(** ** The search as a program *)

(** S begins with c. Empty contents are never found. *)
Fixpoint prefix (c S : text) : bool :=
  match c, S with
  | [], _ => true
  | a :: c', b :: S' => N.eqb a b && prefix c' S'
  | _, [] => false
  end.
Definition begins (c S : text) : bool := match c with [] => false | _ => prefix c S end.
Definition occurs (S : text) (s : nat) (t : added_token) : Prop := begins (content t) (skipn s S) = true.
Definition stop_of (s : nat) (t : added_token) : nat := s + length (content t).

Section Search.
(** White space, and word characters, as the engine knows them. *)
Variables space word : N -> bool.
Variable tokens : list added_token.

(** The longest token with which S begins; of several of one length the first of the list. *)
Definition better (S : text) (best : option added_token) (t : added_token) : option added_token :=
  if begins (content t) S then
    match best with
    | Some b => if length (content b) <? length (content t) then Some t else best
    | None => Some t
    end
  else best.
Definition longest (S : text) : option added_token := fold_left (better S) tokens None.

(** The matches: leftmost, then longest, without overlap. [S] is the text from the place [at] on,
    whose first [skip] characters belong to the match before. *)
Fixpoint search (at_ skip : nat) (S : text) : list (nat * added_token) :=
  match S with
  | [] => []
  | _ :: S' =>
      match skip with
      | Datatypes.S k => search (1 + at_) k S'
      | 0 =>
          match longest S with
          | Some t => (at_, t) :: search (1 + at_) (length (content t) - 1) S'
          | None => search (1 + at_) 0 S'
          end
      end
  end.
Definition matches (S : text) : list (nat * added_token) := search 0 0 S.

Definition starts_in (class : N -> bool) (S : text) : bool :=
  match S with a :: _ => class a | [] => false end.
Fixpoint run_length (class : N -> bool) (S : text) : nat :=
  match S with a :: S' => if class a then 1 + run_length class S' else 0 | [] => 0 end.

(** Text before a place, read to the left. *)
Definition before (S : text) (s : nat) : text := rev (firstn s S).

Definition dropped (S : text) (s : nat) (t : added_token) : bool :=
  skipped t ||
  (single_word t && (starts_in word (before S s) || starts_in word (skipn (stop_of s t) S))).

(** Where a match begins and ends with the white space that it strips. [from] is where the match
    before ended. *)
Definition start_with (S : text) (from s : nat) (t : added_token) : nat :=
  if lstrip t then Nat.max (s - run_length space (before S s)) from else s.
Definition stop_with (S : text) (s : nat) (t : added_token) : nat :=
  if rstrip t then stop_of s t + run_length space (skipn (stop_of s t) S) else stop_of s t.

(** A part of a text: a token, or a section between two tokens. *)
Definition part : Type := option added_token * nat * nat.
Definition section (a b : nat) : list part := if a <? b then [(None, a, b)] else [].
(** The white space before a token may have been stripped together with the whole token. The engine
    drops a part that is empty (and panics if a would be greater than b). *)
Definition token_part (t : added_token) (a b : nat) : list part := if a =? b then [] else [(Some t, a, b)].

Fixpoint parts_until (S : text) (from : nat) (ms : list (nat * added_token)) : list part :=
  match ms with
  | [] => []
  | (s, t) :: ms' =>
      if dropped S s t then parts_until S from ms'
      else section from (start_with S from s t) ++
           token_part t (start_with S from s t) (stop_with S s t) ++
           parts_until S (stop_with S s t) ms'
  end.
Fixpoint end_of (S : text) (from : nat) (ms : list (nat * added_token)) : nat :=
  match ms with
  | [] => from
  | (s, t) :: ms' => end_of S (if dropped S s t then from else stop_with S s t) ms'
  end.
Definition parts_from (S : text) (from : nat) (ms : list (nat * added_token)) : list part :=
  parts_until S from ms ++ section (end_of S from ms) (length S).
Definition parts (S : text) : list part := parts_from S 0 (matches S).

(** The ids of a text: each section goes through the rest of the tokenizer alone, [rest]. The rest
    is told whether the section is at the start of a text, as Metaspace with the scheme *first*
    looks at it. *)
Variable rest : bool -> text -> list N.

Definition part_ids (first : bool) (S : text) (p : part) : list N :=
  match p with
  | (Some t, _, _) => [token_id t]
  | (None, a, b) => rest (first && (a =? 0)) (slice S a b)
  end.
Definition ids_of_parts (first : bool) (S : text) (ps : list part) : list N :=
  concat (map (part_ids first S) ps).
Definition with_tokens (first : bool) (S : text) : list N := ids_of_parts first S (parts S).

(** ** The search is leftmost, then longest *)

Lemma begins_length c S : begins c S = true -> 1 <= length c <= length S.
Proof.
  destruct c as [|a c]; [easy|]. unfold begins. revert a S.
  induction c as [|b c IH]; intros a [|d S] h; try easy; simpl in *; [lia|].
  apply andb_prop in h as [_ h]. specialize (IH b S h). simpl in IH. lia.
Qed.

Lemma begins_spec c S : begins c S = true <-> c <> [] /\ exists R, S = c ++ R.
Proof.
  destruct c as [|a c]; [now split|]. unfold begins. split.
  - intros h. split; [easy|]. revert S h. induction (a :: c) as [|b d IH]; intros S h; [now exists S|].
    destruct S as [|e S]; [easy|]. simpl in h. apply andb_prop in h as [e1 h].
    apply N.eqb_eq in e1 as <-. destruct (IH S h) as [R ->]. now exists R.
  - intros [_ [R ->]]. induction (a :: c) as [|b d IH]; [easy|]. simpl. now rewrite N.eqb_refl.
Qed.

Lemma begins_app (c L R : text) : length c <= length L -> begins c (L ++ R) = begins c L.
Proof.
  intros le. apply eq_true_iff_eq. rewrite !begins_spec. split; intros [ne [Q e]]; (split; [easy|]).
  - exists (skipn (length c) L). apply (f_equal (firstn (length c))) in e.
    rewrite firstn_app, firstn_app, !firstn_all, Nat.sub_diag in e.
    replace (length c - length L) with 0 in e by lia. simpl in e. rewrite !app_nil_r in e.
    rewrite <- e at 1. symmetry. apply firstn_skipn.
  - exists (Q ++ R). now rewrite e, app_assoc.
Qed.

Lemma occurs_inside S s t : occurs S s t -> s < stop_of s t <= length S.
Proof.
  unfold occurs, stop_of. intros h. apply begins_length in h. rewrite skipn_length in h. lia.
Qed.

Lemma occurs_spec S s t : occurs S s t <->
  content t <> [] /\ s <= length S /\ exists R, S = firstn s S ++ content t ++ R.
Proof.
  unfold occurs. rewrite begins_spec. split.
  - intros (ne & R & e). split; [easy|]. split; [|now exists R; rewrite <- e, firstn_skipn].
    apply (f_equal (@length N)) in e. rewrite skipn_length, app_length in e.
    destruct (content t); [easy|]. simpl in e. lia.
  - intros (ne & le & R & e). split; [easy|]. exists R.
    rewrite <- (firstn_skipn s S) in e at 1. now apply app_inv_head in e.
Qed.

Lemma longest_spec S : match longest S with
  | Some t => In t tokens /\ begins (content t) S = true /\
              forall u, In u tokens -> begins (content u) S = true ->
                        length (content u) <= length (content t)
  | None => forall u, In u tokens -> begins (content u) S = false
  end.
Proof.
  unfold longest.
  enough (forall l done best,
    match best with
    | Some t => In t done /\ begins (content t) S = true /\
                forall u, In u done -> begins (content u) S = true ->
                          length (content u) <= length (content t)
    | None => forall u, In u done -> begins (content u) S = false
    end ->
    match fold_left (better S) l best with
    | Some t => In t (done ++ l) /\ begins (content t) S = true /\
                forall u, In u (done ++ l) -> begins (content u) S = true ->
                          length (content u) <= length (content t)
    | None => forall u, In u (done ++ l) -> begins (content u) S = false
    end) as H by now apply (H tokens [] None).
  intros l. induction l as [|t l IH]; intros done best h; [simpl; now rewrite app_nil_r|].
  replace (done ++ t :: l) with ((done ++ [t]) ++ l) by now rewrite <- app_assoc.
  simpl. apply IH. unfold better. destruct (begins (content t) S) eqn:b.
  - destruct best as [u|].
    + destruct h as (i & hu & most). destruct (length (content u) <? length (content t)) eqn:lt.
      * apply Nat.ltb_lt in lt. split; [apply in_or_app; right; now left|]. split; [easy|].
        intros v iv bv. apply in_app_or in iv as [iv|[->|[]]]; [|lia].
        specialize (most v iv bv). lia.
      * apply Nat.ltb_ge in lt. split; [apply in_or_app; now left|]. split; [easy|].
        intros v iv bv. apply in_app_or in iv as [iv|[->|[]]]; auto.
    + split; [apply in_or_app; right; now left|]. split; [easy|].
      intros v iv bv. apply in_app_or in iv as [iv|[->|[]]]; [|lia].
      now rewrite h in bv.
  - destruct best as [u|].
    + destruct h as (i & hu & most). split; [apply in_or_app; now left|]. split; [easy|].
      intros v iv bv. apply in_app_or in iv as [iv|[->|[]]]; [auto|]. now rewrite b in bv.
    + intros v iv. apply in_app_or in iv as [iv|[->|[]]]; auto.
Qed.

Lemma longest_same S S' : (forall t, In t tokens -> begins (content t) S = begins (content t) S') ->
  longest S = longest S'.
Proof.
  unfold longest. generalize (@None added_token). induction tokens as [|t l IH]; intros best h; [easy|].
  simpl. unfold better at 2 4. rewrite (h t (or_introl eq_refl)). apply IH. intros u i. apply h. now right.
Qed.

Lemma search_at a skip S : search a skip S = map (fun '(s, t) => (a + s, t)) (search 0 skip S).
Proof.
  enough (forall S a b skip, search (a + b) skip S =
          map (fun '(s, t) => (a + s, t)) (search b skip S)) as H
    by (rewrite <- H; now rewrite Nat.add_0_r).
  clear. intros S. induction S as [|c S IH]; intros a b skip; [easy|]. simpl.
  replace (Datatypes.S (a + b)) with (a + Datatypes.S b) by lia.
  destruct skip; [|apply IH]. destruct (longest (c :: S)); simpl; now rewrite IH.
Qed.

Lemma search_skip a skip S : skip <= length S -> search a skip S = search (a + skip) 0 (skipn skip S).
Proof.
  revert a S. induction skip as [|k IH]; intros a S le; [now rewrite Nat.add_0_r|].
  destruct S as [|c S]; [easy|]. simpl in *. rewrite IH by lia. f_equal. lia.
Qed.

(** From the place q on: nothing is found if no token occurs there. Else the match is the longest
    token at the leftmost place, and the search goes on at its end. *)
Theorem search_is_leftmost_longest : forall (S : text) (q : nat), q <= length S ->
  match search q 0 (skipn q S) with
  | [] => forall s t, q <= s -> In t tokens -> ~ occurs S s t
  | (s, t) :: others =>
      q <= s /\ In t tokens /\ occurs S s t /\
      (forall s' t', q <= s' -> In t' tokens -> occurs S s' t' -> s <= s') /\
      (forall t', In t' tokens -> occurs S s t' -> length (content t') <= length (content t)) /\
      others = search (stop_of s t) 0 (skipn (stop_of s t) S)
  end.
Proof.
  intros S q le. unfold occurs. remember (skipn q S) as R eqn:e. revert q le e.
  induction R as [|c R IH]; intros q le e.
  - intros s t ge i h. apply begins_length in h. rewrite skipn_length in h.
    apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia.
  - assert (q < length S) as lt.
    { apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia. }
    assert (R = skipn (1 + q) S) as eR.
    { change R with (skipn 1 (c :: R)). now rewrite e, skipn_add, Nat.add_comm. }
    simpl. pose proof (longest_spec (c :: R)) as L. destruct (longest (c :: R)) as [t|].
    + destruct L as (it & bt & most). pose proof (begins_length _ _ bt) as [l1 l2]. simpl in l2.
      rewrite e in bt, most. repeat split; auto.
      rewrite search_skip by lia. unfold stop_of. rewrite eR, skipn_add.
      replace (1 + q + (length (content t) - 1)) with (q + length (content t)) by lia.
      now replace (Datatypes.S q + (length (content t) - 1)) with (q + length (content t)) by lia.
    + rewrite e in L. specialize (IH (1 + q) lt eR). simpl in IH.
      destruct (search (Datatypes.S q) 0 R) as [|[s t] others].
      * intros s t ge i h. destruct (Nat.eq_dec s q) as [->|ne]; [now rewrite L in h|].
        apply (IH s t); [lia|easy|easy].
      * destruct IH as (ge & it & bt & least & most & go). repeat split; auto; [lia|].
        intros s' t' ge' i' b'. destruct (Nat.eq_dec s' q) as [->|ne]; [now rewrite L in b'|].
        apply (least s' t'); [lia|easy|easy].
Qed.

(** ** Theorem 6.1 *)

(** A cut at p leaves the search alone. An occurrence is any place where the content of a token
    stands. *)
Definition whole (c : N -> bool) (S : text) (i j : nat) : Prop := forallb c (slice S i j) = true.
Definition overlooks (S : text) (p s : nat) (t : added_token) : Prop :=
  (single_word t = true -> stop_of s t = p -> starts_in word (skipn p S) = false) /\
  (single_word t = true -> s = p -> starts_in word (before S p) = false) /\
  (rstrip t = true -> stop_of s t <= p -> whole space S (stop_of s t) p ->
   starts_in space (skipn p S) = false) /\
  (lstrip t = true -> p <= s -> whole space S p s -> starts_in space (before S p) = false).
Definition a_safe (S : text) (p : nat) : Prop :=
  0 < p < length S /\
  forall s t, In t tokens -> occurs S s t -> ~ s < p < stop_of s t /\ overlooks S p s t.

(** The search in two parts, if no occurrence lies across the cut. *)
Lemma search_app a skip L R : skip <= length L ->
  (forall s t, In t tokens -> occurs (L ++ R) s t -> ~ s < length L < stop_of s t) ->
  search a skip (L ++ R) = search a skip L ++ search (a + length L) 0 R.
Proof.
  revert a skip. induction L as [|c L IH]; intros a skip le none.
  - simpl in *. replace skip with 0 by lia. now rewrite Nat.add_0_r.
  - assert (forall s t, In t tokens -> occurs (L ++ R) s t -> ~ s < length L < stop_of s t) as none'.
    { intros s t i o h. apply (none (1 + s) t i o). unfold stop_of in *. simpl. lia. }
    simpl. replace (a + Datatypes.S (length L)) with (Datatypes.S a + length L) by lia.
    destruct skip as [|k]; [|apply IH; [simpl in le; lia|easy]].
    assert (longest (c :: L ++ R) = longest (c :: L)) as e.
    { apply longest_same. intros t i. change (c :: L ++ R) with ((c :: L) ++ R).
      destruct (length (content t) <=? length (c :: L)) eqn:lt.
      - apply Nat.leb_le in lt. now apply begins_app.
      - apply Nat.leb_gt in lt. destruct (begins (content t) ((c :: L) ++ R)) eqn:b.
        + exfalso. apply (none 0 t i b). unfold stop_of. simpl in *. lia.
        + destruct (begins (content t) (c :: L)) eqn:b'; [|easy]. apply begins_length in b'. lia. }
    rewrite e. destruct (longest (c :: L)) as [t|] eqn:l.
    + simpl. f_equal. apply IH; [|easy]. pose proof (longest_spec (c :: L)) as h. rewrite l in h.
      destruct h as (_ & b & _). apply begins_length in b. simpl in b. lia.
    + apply IH; [lia|easy].
Qed.

Lemma search_occurs S s t : In (s, t) (matches S) -> In t tokens /\ occurs S s t.
Proof.
  unfold matches. enough (forall q R, q <= length S -> R = skipn q S -> forall k, k <= length R ->
    In (s, t) (search q k R) -> In t tokens /\ occurs S s t) as H by (apply (H 0 S); simpl; auto with arith).
  intros q R. revert q. induction R as [|c R IH]; intros q le e k lk i; [easy|].
  assert (q < length S) as lt.
  { apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia. }
  assert (R = skipn (1 + q) S) as eR.
  { change R with (skipn 1 (c :: R)). now rewrite e, skipn_add, Nat.add_comm. }
  simpl in i, lk. destruct k as [|k]; [|apply (IH (1 + q) lt eR k); [lia|easy]].
  pose proof (longest_spec (c :: R)) as h. destruct (longest (c :: R)) as [u|].
  - destruct h as (iu & b & _). destruct i as [i|i].
    + injection i as <- <-. split; [easy|]. unfold occurs. now rewrite <- e.
    + apply (IH (1 + q) lt eR (length (content u) - 1)); [|easy].
      apply begins_length in b. simpl in b. lia.
  - apply (IH (1 + q) lt eR 0); [lia|easy].
Qed.

(** What a match sees to its left, and to its right. *)
Lemma before_left (L R : text) s : s <= length L -> before (L ++ R) s = before L s.
Proof.
  intros le. unfold before. rewrite firstn_app. replace (s - length L) with 0 by lia.
  simpl. now rewrite app_nil_r.
Qed.

Lemma before_right (L R : text) s : before (L ++ R) (length L + s) = before R s ++ rev L.
Proof.
  unfold before. rewrite firstn_app, firstn_all2 by lia.
  replace (length L + s - length L) with s by lia. now rewrite rev_app_distr.
Qed.

Lemma skipn_left (L R : text) s : s <= length L -> skipn s (L ++ R) = skipn s L ++ R.
Proof. intros le. rewrite skipn_app. now replace (s - length L) with 0 by lia. Qed.

Lemma skipn_right (L R : text) s : skipn (length L + s) (L ++ R) = skipn s R.
Proof. rewrite skipn_app, skipn_all2 by lia. simpl. f_equal. lia. Qed.

Lemma run_length_le c S : run_length c S <= length S.
Proof. induction S as [|a S IH]; simpl; [lia|]. destruct (c a); lia. Qed.

(** A run that ends before the end of u, or at it because of what follows. *)
Lemma run_length_app (c : N -> bool) (u v : text) : (forallb c u = true -> starts_in c v = false) ->
  run_length c (u ++ v) = run_length c u.
Proof.
  induction u as [|a u IH]; intros h; simpl in *.
  - destruct v as [|b v]; [easy|]. simpl. now rewrite (h eq_refl : c b = false).
  - destruct (c a); [|easy]. f_equal. now apply IH.
Qed.

Lemma holds_first_app (c : N -> bool) (u v : text) : (u = [] -> starts_in c v = false) ->
  starts_in c (u ++ v) = starts_in c u.
Proof. destruct u; [|easy]. intros h. now apply h. Qed.

Section Cut.
Variables L R : text.
Hypothesis safe : a_safe (L ++ R) (length L).

Lemma sides : L <> [] /\ R <> [].
Proof.
  destruct safe as [[h1 h2] _]. rewrite app_length in h2. split.
  - intros ->. simpl in h1. lia.
  - intros ->. simpl in h2. lia.
Qed.

Lemma search_cut : matches (L ++ R) = matches L ++ map (fun '(s, t) => (length L + s, t)) (matches R).
Proof.
  unfold matches. rewrite search_app.
  - f_equal. simpl. rewrite search_at. reflexivity.
  - lia.
  - intros s t i o. now apply (proj2 safe).
Qed.

Lemma occurs_left s t : occurs L s t -> occurs (L ++ R) s t.
Proof.
  intros o. pose proof (occurs_inside _ _ _ o). unfold occurs in *. rewrite skipn_left by lia.
  rewrite begins_app; [easy|]. now apply begins_length in o.
Qed.

Lemma occurs_right s t : occurs R s t -> occurs (L ++ R) (length L + s) t.
Proof. unfold occurs. now rewrite skipn_right. Qed.

Lemma skipn_cut : skipn (length L) (L ++ R) = R.
Proof. rewrite <- (Nat.add_0_r (length L)). now rewrite skipn_right. Qed.

Lemma before_cut : before (L ++ R) (length L) = rev L.
Proof. rewrite before_left by lia. unfold before. now rewrite firstn_all. Qed.

Lemma dropped_left s t : In t tokens -> occurs L s t -> dropped (L ++ R) s t = dropped L s t.
Proof.
  intros i o. pose proof (occurs_inside _ _ _ o).
  destruct (proj2 safe s t i (occurs_left s t o)) as (_ & b & _).
  unfold dropped. f_equal. destruct (single_word t) eqn:w; [|easy]. simpl. f_equal.
  - now rewrite before_left by lia.
  - rewrite skipn_left by lia. apply holds_first_app. intros e.
    apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e.
    rewrite <- skipn_cut. apply b; [easy|lia].
Qed.

Lemma stop_left s t : In t tokens -> occurs L s t -> stop_with (L ++ R) s t = stop_with L s t.
Proof.
  intros i o. pose proof (occurs_inside _ _ _ o).
  destruct (proj2 safe s t i (occurs_left s t o)) as (_ & _ & _ & c & _).
  unfold stop_with. destruct (rstrip t) eqn:r; [|easy]. f_equal.
  rewrite skipn_left by lia. apply run_length_app. intros w.
  rewrite <- skipn_cut at 1. apply c; [easy|lia|].
  unfold whole, slice. rewrite skipn_left by lia.
  rewrite firstn_app, skipn_length, Nat.sub_diag, firstn_all2 by (rewrite skipn_length; lia).
  simpl. now rewrite app_nil_r.
Qed.

Lemma start_left from s t : s <= length L -> start_with (L ++ R) from s t = start_with L from s t.
Proof. intros le. unfold start_with. now rewrite before_left. Qed.

Lemma dropped_right s t : In t tokens -> occurs R s t ->
  dropped (L ++ R) (length L + s) t = dropped R s t.
Proof.
  intros i o. pose proof (occurs_inside _ _ _ o).
  destruct (proj2 safe _ t i (occurs_right s t o)) as (_ & _ & b & _).
  unfold dropped. f_equal. destruct (single_word t) eqn:w; [|easy]. simpl. f_equal.
  - rewrite before_right. apply holds_first_app. intros e.
    apply (f_equal (@length N)) in e. unfold before in e. rewrite rev_length, firstn_length in e.
    simpl in e. rewrite <- before_cut. apply b; [easy|lia].
  - unfold stop_of. now rewrite <- Nat.add_assoc, skipn_right.
Qed.

Lemma stop_right s t : stop_with (L ++ R) (length L + s) t = length L + stop_with R s t.
Proof.
  unfold stop_with, stop_of. rewrite <- !Nat.add_assoc, skipn_right. destruct (rstrip t); lia.
Qed.

Lemma start_right from s t : In t tokens -> occurs R s t -> from <= length L ->
  start_with (L ++ R) from (length L + s) t = length L + start_with R 0 s t.
Proof.
  intros i o le. pose proof (occurs_inside _ _ _ o).
  destruct (proj2 safe _ t i (occurs_right s t o)) as (_ & _ & _ & _ & d).
  unfold start_with. destruct (lstrip t) eqn:l; [|easy].
  rewrite before_right, run_length_app.
  - pose proof (run_length_le space (before R s)) as h. unfold before in h at 2.
    rewrite rev_length, firstn_length in h. lia.
  - intros w. rewrite <- before_cut. apply d; [easy|lia|]. unfold whole.
    replace (slice (L ++ R) (length L) (length L + s)) with (firstn s R)
      by (unfold slice; rewrite skipn_cut; f_equal; lia).
    unfold before in w. rewrite forallb_forall in w |- *. intros x ix. apply w. now apply in_rev in ix.
Qed.

(** *** The parts of L and of R *)

Definition shifted (ms : list (nat * added_token)) : list (nat * added_token) :=
  map (fun '(s, t) => (length L + s, t)) ms.
Definition found_in (S : text) (ms : list (nat * added_token)) : Prop :=
  forall s t, In (s, t) ms -> In t tokens /\ occurs S s t.

Lemma found_tail S m ms : found_in S (m :: ms) -> found_in S ms.
Proof. intros h s t i. apply h. now right. Qed.

Lemma ids_app first S ps qs :
  ids_of_parts first S (ps ++ qs) = ids_of_parts first S ps ++ ids_of_parts first S qs.
Proof. unfold ids_of_parts. now rewrite map_app, concat_app. Qed.

Lemma ids_section first S a b : a <= b ->
  ids_of_parts first S (section a b) = if a <? b then rest (first && (a =? 0)) (slice S a b) else [].
Proof.
  intros le. unfold section. destruct (a <? b); [|easy]. unfold ids_of_parts. simpl. apply app_nil_r.
Qed.

Lemma ids_token first S t a b :
  ids_of_parts first S (token_part t a b) = if a =? b then [] else [token_id t].
Proof. unfold token_part. now destruct (a =? b). Qed.

Lemma eqb_shifted k a b : (k + a =? k + b) = (a =? b).
Proof. apply eq_true_iff_eq. rewrite !Nat.eqb_eq. lia. Qed.

Lemma slice_left (X Y : text) a b : b <= length X -> slice (X ++ Y) a b = slice X a b.
Proof.
  intros le. unfold slice. destruct (Nat.le_gt_cases a (length X)) as [h|h].
  - rewrite skipn_left by lia. rewrite firstn_app, skipn_length.
    replace (b - a - (length X - a)) with 0 by lia. simpl. now rewrite app_nil_r.
  - now replace (b - a) with 0 by lia.
Qed.

Lemma slice_right a b : slice (L ++ R) (length L + a) (length L + b) = slice R a b.
Proof. unfold slice. rewrite skipn_right. f_equal. lia. Qed.

Lemma slice_from (S : text) a : slice S a (length S) = skipn a S.
Proof. unfold slice. apply firstn_all2. rewrite skipn_length. lia. Qed.

Lemma start_le S from s t : from <= length S -> s <= length S -> start_with S from s t <= length S.
Proof. unfold start_with. destruct (lstrip t); lia. Qed.

Lemma stop_le S s t : occurs S s t -> 0 < stop_with S s t <= length S.
Proof.
  intros o. apply occurs_inside in o. unfold stop_with. destruct (rstrip t); [|lia].
  pose proof (run_length_le space (skipn (stop_of s t) S)) as h. rewrite skipn_length in h. lia.
Qed.

Lemma left_parts first ms : forall from, from <= length L -> found_in L ms ->
  ids_of_parts first (L ++ R) (parts_until (L ++ R) from ms) =
  ids_of_parts first L (parts_until L from ms) /\
  end_of (L ++ R) from ms = end_of L from ms /\ end_of L from ms <= length L.
Proof.
  induction ms as [|[s t] ms IH]; intros from le h; [easy|].
  destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
  pose proof (occurs_inside _ _ _ o) as inside. simpl. rewrite dropped_left by easy.
  destruct (dropped L s t); [now apply IH|]. rewrite start_left, stop_left by (easy || lia).
  destruct (IH (stop_with L s t)) as (e1 & e2 & e3); [apply stop_le, o|easy|].
  split; [|easy]. rewrite !ids_app, e1, !ids_token. f_equal.
  pose proof (start_le L from s t le ltac:(lia)).
  unfold section. destruct (from <? start_with L from s t); [|easy].
  unfold ids_of_parts. simpl. now rewrite slice_left.
Qed.

Lemma right_parts first first' ms : forall from, 0 < from -> found_in R ms ->
  ids_of_parts first (L ++ R) (parts_from (L ++ R) (length L + from) (shifted ms)) =
  ids_of_parts first' R (parts_from R from ms).
Proof.
  assert (forall from b, 0 < from -> ids_of_parts first (L ++ R) (section (length L + from) (length L + b)) =
          ids_of_parts first' R (section from b)) as sec.
  { intros from b lt. unfold section.
    replace (length L + from <? length L + b) with (from <? b)
      by (apply eq_true_iff_eq; rewrite !Nat.ltb_lt; lia).
    destruct (from <? b); [|easy]. unfold ids_of_parts. simpl. rewrite slice_right.
    replace (length L + from =? 0) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (from =? 0) with false by (symmetry; apply Nat.eqb_neq; lia). now rewrite !andb_false_r. }
  induction ms as [|[s t] ms IH]; intros from lt h; unfold parts_from.
  - simpl. rewrite app_length. now apply sec.
  - destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
    simpl. rewrite dropped_right by easy. destruct (dropped R s t); [now apply IH|].
    rewrite stop_right. specialize (IH (stop_with R s t) (proj1 (stop_le _ _ _ o)) h).
    unfold parts_from in IH. rewrite <- !app_assoc.
    rewrite !(ids_app _ _ (section _ _)), !(ids_app _ _ (token_part _ _ _)), !ids_token, IH.
    replace (start_with (L ++ R) (length L + from) (length L + s) t)
      with (length L + start_with R from s t).
    + rewrite eqb_shifted. f_equal. now apply sec.
    + pose proof (start_right 0 s t i o ltac:(lia)) as e. unfold start_with in *.
      destruct (lstrip t); [|easy]. lia.
Qed.

(** Where the section that begins at [from] ends. *)
Fixpoint section_end (S : text) (from : nat) (ms : list (nat * added_token)) : nat :=
  match ms with
  | [] => length S
  | (s, t) :: ms' => if dropped S s t then section_end S from ms' else start_with S from s t
  end.

(** The rest of the tokenizer takes the section around the cut in two. *)
Definition parted (first : bool) (S : text) (p a b : nat) : Prop :=
  rest (first && (a =? 0)) (slice S a b) =
  rest (first && (a =? 0)) (slice S a p) ++ rest true (slice S p b).

Hypothesis nothing : forall first, rest first [] = [].

Lemma cut_section first from b : from <= length L -> from < length L + b ->
  (0 < b -> parted first (L ++ R) (length L) from (length L + b)) ->
  ids_of_parts first (L ++ R) (section from (length L + b)) =
  ids_of_parts first (L ++ R) (section from (length L)) ++ ids_of_parts true R (section 0 b).
Proof.
  intros le lt h. rewrite !ids_section by lia.
  replace (from <? length L + b) with true by (symmetry; now apply Nat.ltb_lt).
  destruct b as [|b].
  - rewrite Nat.add_0_r in *. replace (from <? length L) with true by (symmetry; now apply Nat.ltb_lt).
    simpl. now rewrite app_nil_r.
  - rewrite h by lia. rewrite <- (slice_right 0 (Datatypes.S b)), Nat.add_0_r.
    simpl (if 0 <? _ then _ else _). f_equal.
    destruct (from <? length L) eqn:e; [easy|]. apply Nat.ltb_ge in e.
    unfold slice. replace (length L - from) with 0 by lia. apply nothing.
Qed.

Lemma tail_parts first from ms : from <= length L -> found_in R ms ->
  (length L < section_end (L ++ R) from (shifted ms) ->
   parted first (L ++ R) (length L) from (section_end (L ++ R) from (shifted ms))) ->
  ids_of_parts first (L ++ R) (parts_from (L ++ R) from (shifted ms)) =
  ids_of_parts first (L ++ R) (section from (length L)) ++ ids_of_parts true R (parts_from R 0 ms).
Proof.
  intros le. induction ms as [|[s t] ms IH]; intros h cut; unfold parts_from in *.
  - simpl in *. rewrite app_length in *. pose proof (proj2 sides). apply cut_section; [lia| |].
    + destruct R; [easy|simpl; lia].
    + intros lt. apply cut. lia.
  - destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
    simpl in *. rewrite dropped_right in * by easy. destruct (dropped R s t); [now apply IH|].
    rewrite start_right in * by easy. rewrite stop_right, <- !app_assoc.
    rewrite !(ids_app _ _ (section _ _)), !(ids_app _ _ (token_part _ _ _)), !ids_token, eqb_shifted.
    pose proof (right_parts first true ms (stop_with R s t) (proj1 (stop_le _ _ _ o)) h) as e.
    unfold parts_from in e. rewrite e.
    rewrite (app_assoc (ids_of_parts first (L ++ R) (section from (length L)))). f_equal.
    set (b := start_with R 0 s t) in *. destruct (Nat.eq_dec from (length L + b)) as [e0|ne].
    + subst from. replace b with 0 by lia. rewrite !ids_section by lia.
      rewrite Nat.add_0_r, !Nat.ltb_irrefl. easy.
    + apply cut_section; [lia|lia|]. intros lt. apply cut. lia.
Qed.

Lemma parts_app S ms1 ms2 : forall from, parts_from S from (ms1 ++ ms2) =
  parts_until S from ms1 ++ parts_from S (end_of S from ms1) ms2.
Proof.
  induction ms1 as [|[s t] ms1 IH]; intros from; [easy|]. unfold parts_from in *. simpl.
  destruct (dropped S s t); [apply IH|]. rewrite <- !app_assoc. do 2 f_equal. apply IH.
Qed.

Lemma section_listed S ms : forall from, from < section_end S from ms ->
  In (None, from, section_end S from ms) (parts_from S from ms).
Proof.
  induction ms as [|[s t] ms IH]; intros from lt; unfold parts_from in *; simpl in *.
  - unfold section. rewrite (proj2 (Nat.ltb_lt _ _) lt). now left.
  - destruct (dropped S s t); [now apply IH|]. unfold section at 1.
    rewrite (proj2 (Nat.ltb_lt _ _) lt). now left.
Qed.

(** A cut inside the section that begins at the end of the last match in L. *)
Lemma cut_parts first :
  let from := end_of L 0 (matches L) in
  let b := section_end (L ++ R) from (shifted (matches R)) in
  (length L < b -> parted first (L ++ R) (length L) from b) ->
  with_tokens first (L ++ R) = with_tokens first L ++ with_tokens true R.
Proof.
  intros from b h. unfold with_tokens, parts. rewrite search_cut. fold (shifted (matches R)).
  rewrite parts_app, ids_app.
  destruct (left_parts first (matches L) 0) as (e1 & e2 & e3); [lia|intros s t; apply search_occurs|].
  rewrite e1, e2. fold from in e3 |- *. rewrite tail_parts; [|easy|intros s t; apply search_occurs|exact h].
  unfold parts_from at 2. rewrite ids_app, <- app_assoc. f_equal. f_equal. fold from.
  rewrite !ids_section by easy. now rewrite slice_left.
Qed.

End Cut.

(** Theorem 6.1. p may lie in one section [a, b), or at its start. Of the rest of the tokenizer the
    theorem asks that it takes this section in two; if there is none, it asks nothing. *)
Theorem theorem_6_1 : forall (S : text) (p : nat), a_safe S p -> (forall first, rest first [] = []) ->
  forall first, (forall a b, In (None, a, b) (parts S) -> a <= p < b -> parted first S p a b) ->
  with_tokens first S = with_tokens first (firstn p S) ++ with_tokens true (skipn p S).
Proof.
  intros S p safe nothing first h. pose proof (proj1 safe) as le.
  assert (length (firstn p S) = p) as n by (rewrite firstn_length; lia).
  assert (a_safe (firstn p S ++ skipn p S) (length (firstn p S))) as safe' by now rewrite firstn_skipn, n.
  rewrite <- (firstn_skipn p S) at 1. apply cut_parts; [easy|easy|]. rewrite firstn_skipn, n. intros lt.
  destruct (left_parts _ _ safe' first (matches (firstn p S)) 0) as (_ & e & le');
    [lia|intros s t; apply search_occurs|].
  rewrite firstn_skipn in e. rewrite n in le'.
  pose proof (search_cut _ _ safe') as m. rewrite firstn_skipn in m.
  apply h; [|easy]. unfold parts. rewrite m, parts_app, e. apply in_or_app. right.
  apply section_listed. fold (shifted (firstn p S) (matches (skipn p S))). lia.
Qed.

(** *** Pairs of characters *)

(** The rest of the tokenizer takes every section in two between two such characters. *)
Definition parted_at (c d : N -> Prop) : Prop :=
  (forall first l x y r, c x -> d y ->
     rest first ((l ++ [x]) ++ y :: r) = rest first (l ++ [x]) ++ rest true (y :: r)) /\
  (forall y r, d y -> rest false (y :: r) = rest true (y :: r)).

(** Rule PAIR in a text with added tokens: an A-safe place between two such characters. *)
Theorem theorem_6_1_pair : forall (c d : N -> Prop), parted_at c d ->
  (forall first, rest first [] = []) ->
  forall (l r : text) (x y : N), c x -> d y ->
  a_safe ((l ++ [x]) ++ y :: r) (length (l ++ [x])) ->
  forall first, with_tokens first ((l ++ [x]) ++ y :: r) =
                with_tokens first (l ++ [x]) ++ with_tokens true (y :: r).
Proof.
  intros c d [two one] nothing l r x y cx dy safe first.
  pose proof (theorem_6_1 _ _ safe nothing first) as h.
  rewrite firstn_app, firstn_all, Nat.sub_diag, (skipn_cut (l ++ [x]) (y :: r)) in h.
  simpl (firstn 0 _) in h. rewrite app_nil_r in h. apply h. clear h.
  intros a b _ le. unfold parted, slice. set (L := l ++ [x]) in *.
  rewrite (skipn_left L) by lia. rewrite !firstn_app, !skipn_length, (skipn_cut L (y :: r)).
  replace (length L - a - (length L - a)) with 0 by lia.
  rewrite firstn_all2 by (rewrite skipn_length; lia).
  rewrite (firstn_all2 (n := length L - a)) by (rewrite skipn_length; lia).
  simpl (firstn 0 _). rewrite app_nil_r. replace (b - a - (length L - a)) with (b - length L) by lia.
  destruct (b - length L) as [|k] eqn:e; [lia|]. simpl (firstn (Datatypes.S k) _).
  destruct (Nat.eq_dec a (length L)) as [->|ne].
  - rewrite skipn_all. simpl. rewrite nothing. simpl.
    assert (0 < length L) by (unfold L; rewrite app_length; simpl; lia).
    replace (length L =? 0) with false by (symmetry; apply Nat.eqb_neq; lia).
    rewrite andb_false_r. now apply one.
  - unfold L in *. rewrite app_length in *. simpl in *. rewrite skipn_app.
    replace (a - length l) with 0 by lia. simpl (skipn 0 _). now apply two.
Qed.

(** *** The conditions as programs *)

Definition occurrences (S : text) : list (nat * added_token) :=
  filter (fun '(s, t) => begins (content t) (skipn s S)) (list_prod (seq 0 (length S)) tokens).
Definition overlooks_ok (S : text) (p s : nat) (t : added_token) : bool :=
  negb (single_word t && (stop_of s t =? p) && starts_in word (skipn p S)) &&
  negb (single_word t && (s =? p) && starts_in word (before S p)) &&
  negb (rstrip t && (stop_of s t <=? p) && forallb space (slice S (stop_of s t) p) &&
        starts_in space (skipn p S)) &&
  negb (lstrip t && (p <=? s) && forallb space (slice S p s) && starts_in space (before S p)).
Definition a_safe_ok (S : text) (p : nat) : bool :=
  (0 <? p) && (p <? length S) &&
  forallb (fun '(s, t) => negb ((s <? p) && (p <? stop_of s t)) && overlooks_ok S p s t) (occurrences S).

Lemma occurrences_spec S s t : In (s, t) (occurrences S) <-> In t tokens /\ occurs S s t.
Proof.
  unfold occurrences. rewrite filter_In, in_prod_iff, in_seq. split; [easy|].
  intros [i o]. pose proof (occurs_inside _ _ _ o). repeat split; (easy || lia).
Qed.

Lemma overlooks_spec S p s t : overlooks_ok S p s t = true <-> overlooks S p s t.
Proof.
  unfold overlooks_ok, overlooks, whole. rewrite !andb_true_iff, !negb_true_iff, <- !not_true_iff_false.
  rewrite !andb_true_iff, !Nat.eqb_eq, !Nat.leb_le. tauto.
Qed.

Theorem a_safe_computed : forall (S : text) (p : nat), a_safe_ok S p = true <-> a_safe S p.
Proof.
  intros S p. unfold a_safe_ok, a_safe. rewrite !andb_true_iff, !Nat.ltb_lt, forallb_forall.
  split; intros [lt h]; (split; [easy|]).
  - intros s t i o. specialize (h (s, t) (proj2 (occurrences_spec S s t) (conj i o))). simpl in h.
    rewrite andb_true_iff, negb_true_iff, <- not_true_iff_false, andb_true_iff, !Nat.ltb_lt,
      overlooks_spec in h.
    tauto.
  - intros [s t] i. apply occurrences_spec in i as [i o]. specialize (h s t i o).
    rewrite andb_true_iff, negb_true_iff, <- not_true_iff_false, andb_true_iff, !Nat.ltb_lt, overlooks_spec.
    tauto.
Qed.

(** *** Sections and tokens add up to the text *)

Definition part_text (S : text) (p : part) : text := let '(_, a, b) := p in slice S a b.

(** No token begins with white space that another one could strip. *)
Definition strips_no_token : Prop := forall t u, In t tokens -> In u tokens ->
  rstrip t = true -> starts_in space (content u) = false.

Lemma slices_add (S : text) a b : a <= b -> slice S a b ++ skipn b S = skipn a S.
Proof.
  intros le. unfold slice. rewrite <- (firstn_skipn (b - a) (skipn a S)) at 2.
  rewrite skipn_add. now replace (a + (b - a)) with b by lia.
Qed.

Lemma run_length_space c S : forallb c (firstn (run_length c S) S) = true.
Proof. induction S as [|a S IH]; [easy|]. simpl. destruct (c a) eqn:e; [|easy]. simpl. now rewrite e. Qed.

Theorem sections_add_up : strips_no_token -> forall S : text,
  concat (map (part_text S) (parts S)) = S.
Proof.
  intros clear S.
  enough (forall R q k from, q <= length S -> R = skipn q S -> k <= length R -> from <= length S ->
    (from <= q + k \/ ((exists t, In t tokens /\ rstrip t = true) /\ whole space S (q + k) from)) ->
    concat (map (part_text S) (parts_from S from (search q k R))) = skipn from S) as H.
  { unfold parts, matches. apply (H S 0 0 0); auto with arith. }
  assert (forall a b, a <= b -> concat (map (part_text S) (section a b)) = slice S a b) as sec.
  { intros a b le. unfold section. destruct (a <? b) eqn:e; simpl; [apply app_nil_r|].
    apply Nat.ltb_ge in e. unfold slice. now replace (b - a) with 0 by lia. }
  induction R as [|c R IH]; intros q k from le e lk le' inv.
  - simpl. unfold parts_from. simpl. rewrite sec by easy. apply slice_from.
  - assert (q < length S) as lt.
    { apply (f_equal (@length N)) in e. rewrite skipn_length in e. simpl in e. lia. }
    assert (R = skipn (1 + q) S) as eR.
    { change R with (skipn 1 (c :: R)). now rewrite e, skipn_add, Nat.add_comm. }
    simpl in lk. simpl (search _ _ _). destruct k as [|k].
    + pose proof (longest_spec (c :: R)) as h. destruct (longest (c :: R)) as [t|].
      * destruct h as (i & b & _). pose proof (begins_length _ _ b) as len. simpl in len.
        assert (occurs S q t) as o by (unfold occurs; now rewrite <- e).
        assert (from <= q) as low.
        { destruct inv as [h|((u & iu & r) & w)]; [lia|]. destruct (Nat.le_gt_cases from q) as [h|h]; [easy|].
          specialize (clear u t iu i r). apply begins_spec in b as (ne & X & b).
          destruct (content t) as [|d ds]; [easy|]. injection b as -> _.
          unfold whole, slice in w. rewrite Nat.add_0_r, <- e in w.
          destruct (from - q) as [|m] eqn:z; [lia|]. simpl in w, clear. now rewrite clear in w. }
        unfold parts_from. cbn [parts_until end_of]. destruct (dropped S q t).
        { fold (parts_from S from (search (Datatypes.S q) (length (content t) - 1) R)).
          apply IH; [lia|easy|lia|lia|left; lia]. }
        set (st := start_with S from q t). set (en := stop_with S q t).
        assert (from <= st <= q) as hs by (unfold st, start_with; destruct (lstrip t); lia).
        pose proof (stop_le S q t o) as he. fold en in he.
        assert (q <= en) as hq by (unfold en, stop_with, stop_of; destruct (rstrip t); lia).
        rewrite <- !app_assoc, !(map_app _ (section _ _)), !(map_app _ (token_part _ _ _)), !concat_app, sec by lia.
        assert (concat (map (part_text S) (token_part t st en)) = slice S st en) as ->.
        { unfold token_part. destruct (st =? en) eqn:z; simpl; [|apply app_nil_r].
          apply Nat.eqb_eq in z as ->. unfold slice. now rewrite Nat.sub_diag. }
        fold (parts_from S en (search (Datatypes.S q) (length (content t) - 1) R)).
        rewrite (IH (Datatypes.S q) (length (content t) - 1) en); try (easy || lia).
        -- rewrite slices_add by lia. apply slices_add. lia.
        -- unfold en, stop_with, stop_of.
           replace (Datatypes.S q + (length (content t) - 1)) with (q + length (content t)) by lia.
           destruct (rstrip t) eqn:r; [|left; lia]. right. split; [now exists t|].
           unfold whole, slice. replace (q + length (content t) + _ - _)
             with (run_length space (skipn (q + length (content t)) S)) by lia. apply run_length_space.
      * apply IH; try (easy || lia). destruct inv as [h1|(h1 & w)]; [left; lia|].
        destruct (Nat.le_gt_cases from (1 + q + 0)) as [g|g]; [now left|]. right. split; [easy|].
        unfold whole, slice in *. rewrite Nat.add_0_r in *. rewrite <- e in w.
        change (Datatypes.S q) with (1 + q). rewrite <- eR.
        destruct (from - q) as [|m] eqn:z; [lia|]. replace (from - (1 + q)) with m by lia.
        simpl in w. now apply andb_prop in w as [_ w].
    + apply IH; try (easy || lia). replace (Datatypes.S q + k) with (q + Datatypes.S k) by lia. exact inv.
Qed.

End Search.

(** ** Each condition is needed *)

(** Merges of any two neighbours, and a white space 0; letters are below 10. *)
Fixpoint two (w : text) : text := match w with a :: b :: w' => (100 + 10 * a + b)%N :: two w' | _ => w end.
Definition space_0 : N -> bool := N.eqb 0.
Definition word_10 (c : N) : bool := (0 <? c)%N && (c <? 10)%N.
Definition added (c : text) : added_token := {| content := c; token_id := 1000; lstrip := false;
  rstrip := false; single_word := false; skipped := false |}.
Definition with_lstrip (c : text) : added_token := {| content := c; token_id := 1001; lstrip := true;
  rstrip := false; single_word := false; skipped := false |}.
Definition with_rstrip (c : text) : added_token := {| content := c; token_id := 1002; lstrip := false;
  rstrip := true; single_word := false; skipped := false |}.
Definition with_single_word (c : text) : added_token := {| content := c; token_id := 1003; lstrip := false;
  rstrip := false; single_word := true; skipped := false |}.
Definition no_first (_ : bool) : text -> text := two.
(** As Metaspace with the scheme *first*: a mark 9 before the first section of a text. *)
Definition mark_first (first : bool) (w : text) : text :=
  match w with [] => [] | _ => two (if first then 9%N :: w else w) end.

Definition lossless (rest : bool -> text -> text) (tokens : list added_token) (S : text) (p : nat) : bool :=
  let T := with_tokens space_0 word_10 tokens rest true in
  same_text (T S) (T (firstn p S) ++ T (skipn p S)).

Local Open Scope N_scope.
Theorem theorem_6_1_needs_each_condition :
  forallb (fun '(tokens, w, p) => negb (a_safe_ok space_0 word_10 tokens w p) &&
                                  negb (lossless (fun _ w => w) tokens w p))
    [([added [1; 1]], [1; 1; 1], 1%nat);                             (* (a) *)
     ([with_single_word [1; 2]], [1; 2; 3], 2%nat);                  (* (b) *)
     ([with_rstrip [11; 12]], [11; 12; 0; 0; 3], 3%nat);             (* (c) *)
     ([with_lstrip [11; 12]], [3; 0; 0; 11; 12], 2%nat)] = true.     (* (d) *)
Proof. now vm_compute. Qed.

(** Without [strips_no_token] the engine encodes a part of the text twice: the white space that one
    token strips is another token, behind which the next section begins. *)
Theorem sections_may_overlap :
  map (fun '(_, a, b) => (a, b)) (parts space_0 word_10 [with_rstrip [1]; added [0; 0]] [1; 0; 0; 0; 2]) =
  [(0, 4); (1, 3); (3, 5)]%nat.
Proof. now vm_compute. Qed.
