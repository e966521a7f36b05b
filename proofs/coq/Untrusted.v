(** Texts with untrusted parts, Definition 62: proofs/untrusted.md. The control tokens among the ids
    of such a text are those that its trusted runs spell. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens AddedTokens.
Import ListNotations.

(** A text in parts, each trusted or not. *)
Definition source : Type := list (bool * text).
Definition whole_text (parts : source) : text := concat (map snd parts).

(** Neighbours of one kind as one part: the maximal runs. *)
Fixpoint runs (parts : source) : source :=
  match parts with
  | [] => []
  | (_, []) :: parts' => runs parts'
  | (trusted, w) :: parts' =>
      match runs parts' with
      | (trusted', v) :: others =>
          if Bool.eqb trusted trusted' then (trusted, w ++ v) :: others
          else (trusted, w) :: (trusted', v) :: others
      | [] => [(trusted, w)]
      end
  end.

Definition token_dec (t u : added_token) : {t = u} + {t <> u}.
Proof. decide equality; try apply bool_dec; [apply N.eq_dec|apply (list_eq_dec N.eq_dec)]. Defined.

Definition is_in (c : N) (w : text) : bool := existsb (N.eqb c) w.

Section Names.
Variables space word : N -> bool.
Variable tokens : list added_token.
Variable control : added_token -> bool.

(** The name of a control token: a mark of its own, and what stands beside it. *)
Variable mark : added_token -> N.
Variables left right : added_token -> text.
Definition name (t : added_token) : text := left t ++ mark t :: right t.

(** ** The text with names *)

Inductive piece : Type := Plain (w : text) | Name (t : added_token).
Definition with_names (ps : list piece) : text :=
  concat (map (fun p => match p with Plain w => w | Name t => name t end) ps).
Definition without_names (ps : list piece) : text :=
  concat (map (fun p => match p with Plain w => w | Name t => content t end) ps).
Definition names (ps : list piece) : list added_token :=
  flat_map (fun p => match p with Plain _ => [] | Name t => [t] end) ps.

(** A run w that is searched alone; [seen] is the text before it, read to the left, [after] the text
    behind it. *)
Section Run.
Variables seen w after : text.

(** A control token counts; but not a [single_word] token beside a word character of the whole text. *)
Definition counts (s : nat) (t : added_token) : bool :=
  control t &&
  negb (single_word t && (starts_in word (before w s ++ seen) ||
                          starts_in word (skipn (stop_of s t) w ++ after))).

Fixpoint run_pieces (from : nat) (ms : list (nat * added_token)) : list piece :=
  match ms with
  | [] => [Plain (skipn from w)]
  | (s, t) :: ms' =>
      if counts s t then Plain (slice w from s) :: Name t :: run_pieces (stop_of s t) ms'
      else run_pieces from ms'
  end.
End Run.

Fixpoint pieces_of (seen : text) (parts : source) : list piece :=
  match parts with
  | [] => []
  | (true, w) :: parts' =>
      run_pieces seen w (whole_text parts') 0 (matches tokens w) ++ pieces_of (rev w ++ seen) parts'
  | (false, w) :: parts' => Plain w :: pieces_of (rev w ++ seen) parts'
  end.

(** The control tokens that the trusted runs spell, in their order. *)
Definition spelled (parts : source) : list added_token := names (pieces_of [] (runs parts)).

(** The engine for texts with names steps over the old spellings, and knows the names with the flags
    and ids of their tokens. *)
Definition stepped (t : added_token) : added_token :=
  {| content := content t; token_id := token_id t; lstrip := lstrip t; rstrip := rstrip t;
     single_word := single_word t; skipped := control t |}.
Definition named (t : added_token) : added_token :=
  {| content := name t; token_id := token_id t; lstrip := lstrip t; rstrip := rstrip t;
     single_word := single_word t; skipped := false |}.
Definition named_tokens : list added_token := map stepped tokens ++ map named (filter control tokens).

Variable rest : bool -> text -> list N.

(** Definition 62: the ids of a text with untrusted parts. *)
Definition untrusted_ids (parts : source) : list N :=
  with_tokens space word named_tokens rest true (with_names (pieces_of [] (runs parts))).

Definition is_control (i : N) : bool := existsb (fun t => control t && (token_id t =? i)%N) tokens.

(** The engine cannot mistake the names. *)
Definition good_names_ok : bool :=
  let all := filter control tokens in
  forallb (fun t =>
    forallb (fun u => forallb (fun c => negb (is_in c (content u))) (name t)) tokens &&
    forallb (fun u => negb (is_in (mark t) (left u)) && negb (is_in (mark t) (right u)) &&
                      (negb (mark t =? mark u)%N || if token_dec t u then true else false)) all &&
    Bool.eqb (starts_in word (name t)) (starts_in word (content t)) &&
    Bool.eqb (starts_in word (rev (name t))) (starts_in word (rev (content t))) &&
    negb (starts_in space (name t))) all.

(** ** Names are found where they are written, and only there *)

Definition controls (t : added_token) : Prop := In t tokens /\ control t = true.
(** Which names the engine cannot mistake. *)
Definition good_names : Prop := forall t, controls t ->
  (forall u c, In u tokens -> In c (name t) -> ~ In c (content u)) /\
  (forall u, controls u -> ~ In (mark t) (left u) /\ ~ In (mark t) (right u) /\
                           (mark t = mark u -> t = u)) /\
  starts_in word (name t) = starts_in word (content t) /\
  starts_in word (rev (name t)) = starts_in word (rev (content t)) /\
  starts_in space (name t) = false.
Definition unmarked (w : text) : Prop := forall t, controls t -> ~ In (mark t) w.

Hypothesis good : good_names.
Hypothesis not_empty : forall t, In t tokens -> content t <> [].
Hypothesis apart : forall t u, In t tokens -> control t = false -> controls u -> token_id t <> token_id u.

Definition proper_piece (p : piece) : Prop :=
  match p with Plain w => unmarked w | Name t => controls t end.

Lemma name_length t : length (name t) = length (left t) + Datatypes.S (length (right t)).
Proof. unfold name. now rewrite app_length. Qed.

Lemma named_listed u : In u named_tokens ->
  (exists t, In t tokens /\ u = stepped t) \/ (exists t, controls t /\ u = named t).
Proof.
  unfold named_tokens. intros i. apply in_app_or in i as [i|i]; apply in_map_iff in i as (t & <- & i).
  - left. now exists t.
  - right. apply filter_In in i. now exists t.
Qed.

Lemma name_listed t : controls t -> In (named t) named_tokens.
Proof. intros [i c]. apply in_or_app. right. apply in_map. now apply filter_In. Qed.

Lemma mark_in_name t u i : controls t -> controls u ->
  nth_error (name u) i = Some (mark t) -> t = u /\ i = length (left u).
Proof.
  intros ct cu e. destruct (good t ct) as (_ & m & _). destruct (m u cu) as (l & r & same).
  unfold name in e. destruct (Nat.lt_ge_cases i (length (left u))) as [h|h].
  - rewrite nth_error_app1 in e by easy. apply nth_error_In in e. easy.
  - rewrite nth_error_app2 in e by easy. destruct (i - length (left u)) as [|k] eqn:z.
    + injection e as e. split; [now apply same|lia].
    + simpl in e. apply nth_error_In in e. easy.
Qed.

(** A mark stands in a name only. *)
Lemma mark_place t ps : controls t -> Forall proper_piece ps -> forall i,
  nth_error (with_names ps) i = Some (mark t) ->
  exists pre post, ps = pre ++ Name t :: post /\ i = length (with_names pre) + length (left t).
Proof.
  intros ct. induction 1 as [|p ps pp pps IH]; intros i e; [now destruct i|].
  unfold with_names in e. simpl in e. fold (with_names ps) in e.
  set (w := match p with Plain w => w | Name t => name t end) in *.
  destruct (Nat.lt_ge_cases i (length w)) as [h|h].
  - rewrite nth_error_app1 in e by easy. destruct p as [v|u]; simpl in *.
    + apply nth_error_In in e. now apply pp in e.
    + destruct (mark_in_name t u i ct pp e) as [-> ->]. now exists [], ps.
  - rewrite nth_error_app2 in e by easy. destruct (IH _ e) as (pre & post & -> & z).
    exists (p :: pre), post. split; [easy|]. unfold with_names in *. simpl. fold w.
    rewrite app_length. lia.
Qed.

Lemma nth_occurs S s t i : occurs S s t -> i < length (content t) ->
  nth_error S (s + i) = nth_error (content t) i.
Proof.
  intros o lt. apply occurs_spec in o as (_ & le & R & e). rewrite e.
  rewrite nth_error_app2 by (rewrite firstn_length; lia).
  replace (s + i - length (firstn s S)) with i by (rewrite firstn_length; lia).
  now rewrite nth_error_app1.
Qed.

(** Where a name is found, it was written. *)
Lemma name_written t ps s : controls t -> Forall proper_piece ps -> occurs (with_names ps) s (named t) ->
  exists pre post, ps = pre ++ Name t :: post /\ s = length (with_names pre).
Proof.
  intros ct pp o. assert (nth_error (with_names ps) (s + length (left t)) = Some (mark t)) as e.
  { rewrite (nth_occurs _ _ _ _ o) by (simpl; rewrite name_length; lia).
    simpl. unfold name. rewrite nth_error_app2 by lia. now rewrite Nat.sub_diag. }
  destruct (mark_place t ps ct pp _ e) as (pre & post & -> & z). exists pre, post. split; [easy|lia].
Qed.

Lemma with_names_app ps qs : with_names (ps ++ qs) = with_names ps ++ with_names qs.
Proof. unfold with_names. now rewrite map_app, concat_app. Qed.

(** No occurrence of any token lies across an end of a written name. *)
Lemma no_old_over u t S s i : In u tokens -> controls t -> occurs S s (stepped u) ->
  s <= i < stop_of s (stepped u) -> (exists c, nth_error S i = Some c /\ In c (name t)) -> False.
Proof.
  intros iu ct o lt (c & e & ic). destruct (good t ct) as (f & _). apply (f u c iu ic).
  replace i with (s + (i - s)) in e by lia. unfold stop_of in lt. simpl in lt.
  rewrite (nth_occurs _ _ _ _ o) in e by (simpl; lia). now apply nth_error_In in e.
Qed.

Lemma no_occurrence_across ps t qs :
  Forall proper_piece (ps ++ Name t :: qs) -> forall cut,
  (cut = length (with_names ps) \/ cut = length (with_names (ps ++ [Name t]))) ->
  forall s u, In u named_tokens -> occurs (with_names (ps ++ Name t :: qs)) s u ->
  ~ s < cut < stop_of s u.
Proof.
  intros pp cut hcut s u iu o lt.
  assert (controls t) as ct by (rewrite Forall_app in pp; destruct pp as [_ pp]; now inversion pp).
  assert (length (with_names (ps ++ [Name t])) = length (with_names ps) + length (name t)) as n.
  { rewrite with_names_app, app_length. unfold with_names at 2. simpl. now rewrite app_nil_r. }
  assert (forall k, k < length (name t) ->
    nth_error (with_names (ps ++ Name t :: qs)) (length (with_names ps) + k) = nth_error (name t) k) as at_.
  { intros k lk. rewrite with_names_app, nth_error_app2 by lia.
    replace (length (with_names ps) + k - length (with_names ps)) with k by lia.
    unfold with_names at 1. simpl. now rewrite nth_error_app1. }
  assert (0 < length (name t)) as pos by (rewrite name_length; lia).
  destruct (named_listed u iu) as [(v & iv & ->)|(v & cv & ->)].
  - destruct hcut as [-> | ->].
    + apply (no_old_over v t _ s (length (with_names ps)) iv ct o); [lia|].
      specialize (at_ 0 pos). rewrite Nat.add_0_r in at_.
      destruct (nth_error (name t) 0) as [c|] eqn:e; [|apply nth_error_None in e; lia].
      exists c. split; [easy|]. now apply nth_error_In in e.
    + apply (no_old_over v t _ s (length (with_names ps) + (length (name t) - 1)) iv ct o); [lia|].
      specialize (at_ (length (name t) - 1) ltac:(lia)).
      destruct (nth_error (name t) (length (name t) - 1)) as [c|] eqn:e; [|apply nth_error_None in e; lia].
      exists c. split; [easy|]. now apply nth_error_In in e.
  - destruct (name_written v _ s cv pp o) as (pre & post & e & ->).
    unfold stop_of in lt. simpl in lt.
    assert (forall a b, a ++ Name v :: b = ps ++ Name t :: qs ->
      length (with_names a) < cut < length (with_names a) + length (name v) -> False) as no.
    { assert (forall p l, length (with_names (p :: l)) =
                          length (with_names [p]) + length (with_names l)) as step.
      { intros p l. change (p :: l) with ([p] ++ l). now rewrite with_names_app, app_length. }
      assert (forall x, length (with_names [Name x]) = length (name x)) as one.
      { intros x. unfold with_names. simpl. now rewrite app_nil_r. }
      rewrite n in hcut. clear -hcut step one. revert cut hcut.
      induction ps as [|p ps IH]; intros cut hcut a b e lt.
      - change (length (with_names [])) with 0 in hcut. destruct a as [|p a]; injection e as e1 e2.
        + change (length (with_names [])) with 0 in lt. subst v. lia.
        + subst p. rewrite step, one in lt. lia.
      - destruct a as [|p' a]; injection e as e1 e2.
        + change (length (with_names [])) with 0 in lt. subst p. rewrite step, one in hcut. lia.
        + subst p'. rewrite step in hcut, lt. set (k := length (with_names [p])) in *.
          apply (IH (cut - k)) with (a := a) (b := b); (easy || lia). }
    now apply (no pre post).
Qed.

(** ** Which control tokens the search finds *)

(** The control ids of matches that the engine does not step over. *)
Definition kept (ms : list (nat * added_token)) : list N :=
  filter is_control (map (fun m => token_id (snd m)) (filter (fun m => negb (skipped (snd m))) ms)).

Lemma kept_app ms ms' : kept (ms ++ ms') = kept ms ++ kept ms'.
Proof. unfold kept. now rewrite filter_app, map_app, filter_app. Qed.

Lemma kept_at a S : kept (search named_tokens a 0 S) = kept (matches named_tokens S).
Proof.
  rewrite search_at. unfold matches. induction (search named_tokens 0 0 S) as [|[s t] ms IH]; [easy|].
  unfold kept in *. simpl. destruct (skipped t); simpl; [easy|].
  destruct (is_control (token_id t)); now rewrite IH.
Qed.

Lemma kept_none ms : (forall s u, In (s, u) ms -> skipped u = true \/ is_control (token_id u) = false) ->
  kept ms = [].
Proof.
  induction ms as [|[s u] ms IH]; intros h; [easy|]. unfold kept in *. simpl.
  specialize (IH (fun s' u' i => h s' u' (or_intror i))).
  destruct (h s u (or_introl eq_refl)) as [e|e]; destruct (skipped u); simpl; rewrite ?e; auto; easy.
Qed.

Lemma is_control_spec t : controls t -> is_control (token_id t) = true.
Proof.
  intros [i c]. apply existsb_exists. exists t. split; [easy|]. now rewrite c, N.eqb_refl.
Qed.

(** The copy of a token is skipped, or has no control id. *)
Lemma stepped_kept t : In t tokens -> skipped (stepped t) = true \/ is_control (token_id (stepped t)) = false.
Proof.
  intros i. simpl. destruct (control t) eqn:c; [now left|right].
  apply not_true_iff_false. intros h. apply existsb_exists in h as (u & iu & h).
  apply andb_prop in h as [cu e]. apply N.eqb_eq in e. now apply (apart t u i c (conj iu cu)).
Qed.

Lemma kept_plain W : unmarked W -> kept (matches named_tokens W) = [].
Proof.
  intros un. apply kept_none. intros s u i. apply search_occurs in i as [i o].
  destruct (named_listed u i) as [(v & iv & ->)|(v & cv & ->)]; [now apply stepped_kept|].
  exfalso. apply (un v cv). apply (nth_error_In W (s + length (left v))).
  rewrite (nth_occurs _ _ _ _ o) by (simpl; rewrite name_length; lia).
  simpl. unfold name. rewrite nth_error_app2 by lia. now rewrite Nat.sub_diag.
Qed.

Lemma begins_whole c : c <> [] -> begins c c = true.
Proof. intros ne. apply begins_spec. split; [easy|]. exists []. now rewrite app_nil_r. Qed.

Lemma name_not_empty t : name t <> [].
Proof. unfold name. now destruct (left t). Qed.

(** A name alone is found. *)
Lemma kept_name t : controls t -> kept (matches named_tokens (name t)) = [token_id t].
Proof.
  intros ct. pose proof (longest_spec named_tokens (name t)) as h.
  destruct (longest named_tokens (name t)) as [u|] eqn:e.
  - destruct h as (iu & b & most). pose proof (begins_length _ _ b) as len.
    specialize (most (named t) (name_listed t ct) (begins_whole _ (name_not_empty t))). simpl in most.
    apply begins_spec in b as (_ & R & b).
    assert (R = []) as ->.
    { apply (f_equal (@length N)) in b. rewrite app_length in b. destruct R; [easy|simpl in b; lia]. }
    rewrite app_nil_r in b.
    assert (u = named t) as ->.
    { destruct (named_listed u iu) as [(v & iv & ->)|(v & cv & ->)].
      - exfalso. destruct (good t ct) as (f & _). apply (f v (mark t) iv).
        + unfold name. apply in_or_app. right. now left.
        + simpl in b. rewrite <- b. unfold name. apply in_or_app. right. now left.
      - f_equal. symmetry. simpl in b. apply (mark_in_name t v (length (left t)) ct cv).
        rewrite <- b. unfold name. rewrite nth_error_app2 by lia. now rewrite Nat.sub_diag. }
    unfold matches. destruct (name t) as [|c w] eqn:n; [now apply name_not_empty in n|].
    simpl. rewrite e. rewrite search_skip by (simpl; rewrite n; simpl; lia).
    simpl. rewrite n. simpl. rewrite Nat.sub_0_r, skipn_all. unfold kept. simpl.
    now rewrite (is_control_spec t ct).
  - specialize (h (named t) (name_listed t ct)). simpl in h.
    now rewrite (begins_whole _ (name_not_empty t)) in h.
Qed.

Lemma unmarked_app u v : unmarked u -> unmarked v -> unmarked (u ++ v).
Proof. intros hu hv t c i. apply in_app_or in i as [i|i]; [now apply (hu t)|now apply (hv t)]. Qed.

(** Of the control tokens exactly the written names are found, in order. *)
Lemma kept_pieces ps : Forall proper_piece ps -> forall W, unmarked W ->
  kept (matches named_tokens (W ++ with_names ps)) = map token_id (names ps).
Proof.
  induction 1 as [|p ps pp pps IH]; intros W un.
  - unfold with_names. simpl. rewrite app_nil_r. now apply kept_plain.
  - destruct p as [w|t]; unfold with_names; simpl; fold (with_names ps).
    + rewrite app_assoc. apply IH. now apply unmarked_app.
    + assert (Forall proper_piece ([] ++ Name t :: ps)) as h0 by now constructor.
      assert (Forall proper_piece ([Plain W] ++ Name t :: ps)) as h1 by now constructor.
      pose proof (no_occurrence_across _ _ _ h0 _ (or_intror eq_refl)) as no0.
      pose proof (no_occurrence_across _ _ _ h1 _ (or_introl eq_refl)) as no1.
      unfold with_names in no0, no1. simpl in no0, no1. rewrite !app_nil_r in no0, no1.
      fold (with_names ps) in no0, no1.
      unfold matches. rewrite search_app; [|lia|intros s u i o; apply no1; easy].
      rewrite kept_app. fold (matches named_tokens W). rewrite kept_plain by easy. simpl.
      rewrite kept_at. unfold matches. rewrite search_app; [|lia|intros s u i o; now apply no0].
      rewrite kept_app. fold (matches named_tokens (name t)). rewrite kept_name by easy. simpl. f_equal.
      rewrite kept_at. apply (IH []). intros u _ [].
Qed.

(** ** What becomes of them *)

(** Matches do not overlap. *)
Definition in_order : list (nat * added_token) -> Prop :=
  ForallOrdPairs (fun m m' => stop_of (fst m) (snd m) <= fst m').

Lemma run_length_before c S k : starts_in c (skipn k S) = false -> k < length S -> run_length c S <= k.
Proof.
  revert k. induction S as [|a S IH]; intros k h lt; simpl in *; [lia|].
  destruct (c a) eqn:e; [|lia]. destruct k as [|k]; [simpl in h; congruence|].
  simpl in h. specialize (IH k h ltac:(lia)). lia.
Qed.

Definition matters (u : added_token) : Prop := skipped u = false /\ is_control (token_id u) = true.

Lemma ids_kept first S ms : (forall b w i, In i (rest b w) -> is_control i = false) ->
  in_order ms -> (forall s u, In (s, u) ms -> occurs S s u) ->
  (forall s u, In (s, u) ms -> matters u ->
     dropped word S s u = false /\ starts_in space (skipn s S) = false) ->
  forall from, (forall s u, In (s, u) ms -> matters u -> from <= s) ->
  filter is_control (ids_of_parts rest first S (parts_from space word S from ms)) = kept ms.
Proof.
  intros model order occ fine.
  assert (forall b w, filter is_control (rest b w) = []) as none.
  { intros b w. specialize (model b w). induction (rest b w) as [|i l IH]; [easy|]. simpl.
    rewrite (model i (or_introl eq_refl)). apply IH. intros j ij. apply model. now right. }
  assert (forall a b, filter is_control (ids_of_parts rest first S (section a b)) = []) as sec.
  { intros a b. unfold section. destruct (a <? b); [|easy]. unfold ids_of_parts. simpl.
    rewrite app_nil_r. apply none. }
  induction ms as [|[s u] ms IH]; intros from low; unfold parts_from in *.
  - simpl. apply sec.
  - inversion order as [|? ? next order']; subst.
    specialize (IH order' (fun s' u' i => occ s' u' (or_intror i)) (fun s' u' i => fine s' u' (or_intror i))).
    assert (kept ((s, u) :: ms) =
      (if negb (skipped u) && is_control (token_id u) then [token_id u] else []) ++ kept ms) as k.
    { unfold kept. simpl. destruct (skipped u); simpl; [easy|]. now destruct (is_control (token_id u)). }
    rewrite k. clear k. simpl. destruct (dropped word S s u) eqn:d.
    + rewrite IH by (intros s' u' i; apply low; now right).
      destruct (negb (skipped u) && is_control (token_id u)) eqn:m; [|easy].
      apply andb_prop in m as [m1 m2]. apply negb_true_iff in m1.
      destruct (fine s u (or_introl eq_refl) (conj m1 m2)). congruence.
    + assert (skipped u = false) as sk by (unfold dropped in d; now apply orb_false_iff in d).
      rewrite <- !app_assoc, !(ids_app _ _ _ (section _ _)), !(ids_app _ _ _ (token_part _ _ _)), ids_token.
      rewrite !filter_app, sec, IH.
      * simpl. f_equal. rewrite sk. simpl. destruct (is_control (token_id u)) eqn:c.
        -- assert (from <= s) as le by (apply (low s u); [now left|easy]).
           pose proof (occ s u (or_introl eq_refl)) as o. apply occurs_inside in o.
           assert (start_with space S from s u < stop_with space S s u) as lt.
           { unfold start_with, stop_with. destruct (lstrip u), (rstrip u); lia. }
           replace (_ =? _) with false by (symmetry; apply Nat.eqb_neq; lia). simpl. now rewrite c.
        -- destruct (_ =? _); [easy|]. simpl. now rewrite c.
      * intros s' u' i m. rewrite Forall_forall in next. specialize (next (s', u') i). simpl in next.
        destruct (fine s' u' (or_intror i) m) as [_ f].
        pose proof (occ s' u' (or_intror i)) as o. apply occurs_inside in o.
        unfold stop_with. destruct (rstrip u); [|easy].
        pose proof (run_length_before space (skipn (stop_of s u) S) (s' - stop_of s u)) as r.
        rewrite skipn_add, skipn_length in r. replace (stop_of s u + (s' - stop_of s u)) with s' in r by lia.
        specialize (r f ltac:(lia)). lia.
Qed.

Lemma search_in_order ts S : forall a k, in_order (search ts a k S).
Proof.
  assert (forall S a k s u, In (s, u) (search ts a k S) -> a + k <= s) as from.
  { clear. induction S as [|c S IH]; intros a k s u i; [easy|]. simpl in i. destruct k as [|k].
    - destruct (longest ts (c :: S)) as [t|].
      + destruct i as [i|i]; [injection i as <- _; lia|]. apply IH in i. lia.
      + apply IH in i. lia.
    - apply IH in i. lia. }
  induction S as [|c S IH]; intros a k; [constructor|]. simpl. destruct k as [|k]; [|apply IH].
  pose proof (longest_spec ts (c :: S)) as h. destruct (longest ts (c :: S)) as [t|]; [|apply IH].
  destruct h as (_ & b & _). apply begins_length in b. constructor; [|apply IH].
  apply Forall_forall. intros [s u] i. apply from in i. simpl. unfold stop_of. lia.
Qed.

(** ** The text with names is the text, and no name is dropped *)

Lemma without_names_app ps qs : without_names (ps ++ qs) = without_names ps ++ without_names qs.
Proof. unfold without_names. now rewrite map_app, concat_app. Qed.

(** [seen]: what stands before the pieces, read to the left; [after]: what stands behind them. *)
Definition fits (seen after : text) (ps : list piece) : Prop := forall pre t post,
  ps = pre ++ Name t :: post -> controls t /\
  (single_word t = true -> starts_in word (rev (without_names pre) ++ seen) = false /\
                           starts_in word (without_names post ++ after) = false).

Lemma slice_start (w : text) a b : firstn a w ++ slice w a b = firstn (Nat.max a b) w.
Proof.
  unfold slice. destruct (Nat.le_gt_cases a b) as [h|h].
  - rewrite Nat.max_r by easy. rewrite <- (firstn_skipn a (firstn b w)), firstn_firstn, Nat.min_l by easy.
    now rewrite skipn_firstn_comm.
  - replace (b - a) with 0 by lia. rewrite Nat.max_l by lia. simpl. apply app_nil_r.
Qed.

Lemma occurs_slice (w : text) s t : occurs w s t -> slice w s (stop_of s t) = content t.
Proof.
  unfold slice, occurs, stop_of. intros o. apply begins_spec in o as (_ & R & e). rewrite e.
  replace (s + length (content t) - s) with (length (content t)) by lia.
  rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. apply app_nil_r.
Qed.

Lemma run_fits seen w after ms : in_order ms ->
  (forall s t, In (s, t) ms -> In t tokens /\ occurs w s t) ->
  forall from, from <= length w -> (forall s t, In (s, t) ms -> from <= s) ->
  without_names (run_pieces seen w after from ms) = skipn from w /\
  fits (rev (firstn from w) ++ seen) after (run_pieces seen w after from ms).
Proof.
  intros order occ. induction ms as [|[s t] ms IH]; intros from le low.
  - simpl. split; [unfold without_names; simpl; apply app_nil_r|].
    intros pre t post e. destruct pre as [|? [|? ?]]; easy.
  - inversion order as [|? ? next order']; subst.
    specialize (IH order' (fun s' t' i => occ s' t' (or_intror i))).
    destruct (occ s t (or_introl eq_refl)) as [it o]. pose proof (occurs_inside _ _ _ o) as inside.
    pose proof (low s t (or_introl eq_refl)) as ge. simpl.
    destruct (counts seen w after s t) eqn:c;
      [|apply IH; [easy|intros s' t' i; apply (low s' t'); now right]].
    rewrite Forall_forall in next.
    destruct (IH (stop_of s t)) as [whole fit]; [lia|intros s' t' i; now apply (next (s', t'))|].
    split.
    + unfold without_names in *. simpl. rewrite whole, <- (occurs_slice w s t o), slices_add by lia.
      apply slices_add. lia.
    + intros pre u post e. unfold counts in c. apply andb_prop in c as [c1 c2]. apply negb_true_iff in c2.
      destruct pre as [|p [|q pre]]; [easy| |]; injection e as e1 e2 e3; subst p.
      * subst u post. split; [now split|]. intros sw. rewrite sw in c2. simpl in c2.
        apply orb_false_iff in c2 as [b a].
        rewrite whole. split; [|easy]. unfold without_names. simpl.
        rewrite app_nil_r, app_assoc, <- rev_app_distr.
        rewrite slice_start, Nat.max_r by lia. exact b.
      * subst q. destruct (fit pre u post e3) as [cu su]. split; [easy|]. intros sw.
        destruct (su sw) as [b a]. split; [|easy].
        change (Plain (slice w from s) :: Name t :: pre) with ([Plain (slice w from s); Name t] ++ pre).
        rewrite without_names_app, rev_app_distr, <- app_assoc.
        replace (without_names [Plain (slice w from s); Name t]) with (slice w from s ++ content t)
          by (unfold without_names; simpl; now rewrite app_nil_r).
        assert (rev (slice w from s ++ content t) ++ rev (firstn from w) = rev (firstn (stop_of s t) w)) as r.
        { rewrite <- rev_app_distr, app_assoc, slice_start, Nat.max_r by lia.
          rewrite <- (occurs_slice w s t o), slice_start, Nat.max_r by lia. easy. }
        rewrite (app_assoc (rev (slice w from s ++ content t))), r. exact b.
Qed.

Lemma app_cons_split {X} (a b pre post : list X) x : a ++ b = pre ++ x :: post ->
  (exists l, a = pre ++ x :: l /\ post = l ++ b) \/ (exists l, pre = a ++ l /\ b = l ++ x :: post).
Proof.
  revert pre. induction a as [|y a IH]; intros pre e; simpl in e.
  - right. now exists pre.
  - destruct pre as [|z pre]; injection e as e1 e2; subst y.
    + left. now exists a.
    + destruct (IH pre e2) as [(l & -> & ->)|(l & -> & ->)]; [left|right]; now exists l.
Qed.

Lemma pieces_fit parts : forall seen,
  without_names (pieces_of seen parts) = whole_text parts /\ fits seen [] (pieces_of seen parts).
Proof.
  induction parts as [|[trusted w] parts IH]; intros seen.
  - split; [easy|]. intros pre t post e. now destruct pre.
  - destruct (IH (rev w ++ seen)) as [whole fit]. unfold whole_text. simpl. fold (whole_text parts).
    destruct trusted.
    + destruct (run_fits seen w (whole_text parts) (matches tokens w)) with (from := 0) as [rw rf];
        [apply search_in_order|intros s t; apply search_occurs|lia|lia|].
      split; [now rewrite without_names_app, rw, whole|]. intros pre t post e.
      apply app_cons_split in e as [(l & e & ->)|(l & -> & e)].
      * destruct (rf pre t l e) as [ct st]. split; [easy|]. intros sw.
        now rewrite without_names_app, whole, app_nil_r; apply st.
      * destruct (fit l t post e) as [ct st]. split; [easy|]. intros sw.
        rewrite without_names_app, rw, rev_app_distr, <- app_assoc. now apply st.
    + change (Plain w :: ?ps) with ([Plain w] ++ ps). split.
      * simpl. unfold without_names in *. simpl. now rewrite whole.
      * intros pre t post e. destruct pre as [|p pre]; [easy|]. injection e as e1 e2. subst p.
        destruct (fit pre t post e2) as [ct st]. split; [easy|]. intros sw.
        change (Plain w :: pre) with ([Plain w] ++ pre).
        rewrite without_names_app, rev_app_distr, <- app_assoc.
        unfold without_names at 2. simpl. rewrite app_nil_r. now apply st.
Qed.

Lemma runs_whole parts : whole_text (runs parts) = whole_text parts.
Proof.
  unfold whole_text. induction parts as [|[b w] parts IH]; [easy|]. simpl. rewrite <- IH.
  destruct w as [|c w]; [easy|].
  destruct (runs parts) as [|[b' v] others]; [easy|]. simpl.
  destruct (Bool.eqb b b'); simpl; [now rewrite app_assoc|easy].
Qed.

Lemma pieces_proper seen after ps :
  unmarked (without_names ps) -> fits seen after ps -> Forall proper_piece ps.
Proof.
  intros un fit. apply Forall_forall. intros p i. apply in_split in i as (pre & post & ->).
  destruct p as [w|t]; simpl.
  - intros t ct i. apply (un t ct). rewrite without_names_app. apply in_or_app. right.
    unfold without_names. simpl. apply in_or_app. now left.
  - now apply (fit pre t post).
Qed.

(** Names begin and end as their contents do. *)
Lemma same_first ps : Forall proper_piece ps ->
  starts_in word (with_names ps) = starts_in word (without_names ps).
Proof.
  induction 1 as [|p ps pp pps IH]; [easy|]. unfold with_names, without_names in *. simpl.
  destruct p as [[|c w]|t]; [easy|easy|]. destruct (good t pp) as (_ & _ & e & _).
  pose proof (name_not_empty t). pose proof (not_empty t (proj1 pp)).
  destruct (name t) as [|c w]; [easy|]. destruct (content t); [easy|]. exact e.
Qed.

Lemma same_last ps : Forall proper_piece ps ->
  starts_in word (rev (with_names ps)) = starts_in word (rev (without_names ps)).
Proof.
  intros pp. induction ps as [|p ps IH] using rev_ind; [easy|].
  rewrite with_names_app, without_names_app, !rev_app_distr. apply Forall_app in pp as [pps pp].
  inversion pp as [|? ? pp' _]; subst. unfold with_names at 1, without_names at 1. simpl. rewrite !app_nil_r.
  destruct p as [w|t].
  - destruct (rev w); [now apply IH|easy].
  - destruct (good t pp') as (_ & _ & _ & e & _).
    assert (rev (name t) <> []) as n1.
    { intros h. apply (f_equal (@rev N)) in h. rewrite rev_involutive in h. now apply name_not_empty in h. }
    assert (rev (content t) <> []) as n2.
    { intros h. apply (f_equal (@rev N)) in h. rewrite rev_involutive in h.
      exact (not_empty t (proj1 pp') h). }
    destruct (rev (name t)); [easy|]. destruct (rev (content t)); [easy|]. exact e.
Qed.

(** A text with untrusted parts in which no name of a control token is written, before a rest of the
    tokenizer that gives no control token: the control tokens among its ids are those that its trusted
    runs spell, in their order. *)
Theorem control_tokens_are_trusted : forall parts : source, unmarked (whole_text parts) ->
  (forall first w i, In i (rest first w) -> is_control i = false) ->
  filter is_control (untrusted_ids parts) = map token_id (spelled parts).
Proof.
  intros parts un model. unfold untrusted_ids, spelled.
  destruct (pieces_fit (runs parts) []) as [whole fit]. set (ps := pieces_of [] (runs parts)) in *.
  rewrite runs_whole in whole. rewrite <- whole in un. pose proof (pieces_proper _ _ ps un fit) as pp.
  unfold with_tokens, AddedTokens.parts.
  pose proof (kept_pieces ps pp [] (fun t _ i => i)) as k. simpl in k. rewrite <- k.
  apply ids_kept; [easy|apply search_in_order|intros s u i; now apply search_occurs in i| |lia].
  intros s u i [sk ic]. apply search_occurs in i as [i o].
  destruct (named_listed u i) as [(v & iv & ->)|(t & ct & ->)].
  { destruct (stepped_kept v iv); congruence. }
  destruct (name_written t ps s ct pp o) as (pre & post & e & ->).
  destruct (fit pre t post e) as [_ st]. rewrite e in *. apply Forall_app in pp as [p1 p2].
  inversion p2 as [|? ? _ p3]; subst. clear i o.
  assert (with_names (Name t :: post) = name t ++ with_names post) as n by reflexivity.
  rewrite with_names_app, n. split.
  - unfold dropped, stop_of. simpl. destruct (single_word t) eqn:sw; [|easy]. destruct (st eq_refl) as [b a].
    rewrite !app_nil_r in b, a. simpl. apply orb_false_iff. split.
    + unfold before. rewrite firstn_app, firstn_all, Nat.sub_diag. simpl. rewrite app_nil_r.
      now rewrite same_last.
    + rewrite skipn_right. rewrite skipn_app, skipn_all, Nat.sub_diag. simpl. now rewrite same_first.
  - rewrite <- (Nat.add_0_r (length (with_names pre))), skipn_right. simpl.
    destruct (good t ct) as (_ & _ & _ & _ & f). pose proof (name_not_empty t).
    destruct (name t); [easy|exact f].
Qed.

(** Untrusted text alone spells none. *)
Theorem untrusted_text_has_no_control_token : forall w : text, unmarked w ->
  (forall first v i, In i (rest first v) -> is_control i = false) ->
  filter is_control (untrusted_ids [(false, w)]) = [].
Proof.
  intros w un model. rewrite control_tokens_are_trusted; [now destruct w| |easy].
  unfold whole_text. simpl. now rewrite app_nil_r.
Qed.

End Names.

Lemma is_in_spec c w : is_in c w = false -> ~ In c w.
Proof.
  intros h i. enough (is_in c w = true) by congruence. apply existsb_exists. exists c.
  split; [easy|apply N.eqb_refl].
Qed.

Theorem good_names_computed : forall space word tokens control mark left right,
  good_names_ok space word tokens control mark left right = true ->
  good_names space word tokens control mark left right.
Proof.
  intros space word tokens control mark left right h t [it ct]. unfold good_names_ok in h.
  rewrite forallb_forall in h. specialize (h t (proj2 (filter_In _ _ _) (conj it ct))).
  rewrite !andb_true_iff, !eqb_true_iff, negb_true_iff, !forallb_forall in h.
  destruct h as [[[[h1 h2] h3] h4] h5]. repeat split; try easy.
  - intros u c iu ic. specialize (h1 u iu). rewrite forallb_forall in h1.
    specialize (h1 c ic). apply negb_true_iff in h1. now apply is_in_spec.
  - specialize (h2 u (proj2 (filter_In _ _ _) H)). rewrite !andb_true_iff, !negb_true_iff in h2.
    now apply is_in_spec.
  - specialize (h2 u (proj2 (filter_In _ _ _) H)). rewrite !andb_true_iff, !negb_true_iff in h2.
    now apply is_in_spec.
  - intros e. specialize (h2 u (proj2 (filter_In _ _ _) H)).
    rewrite !andb_true_iff, orb_true_iff, !negb_true_iff, N.eqb_neq in h2.
    destruct h2 as [_ [h2|h2]]; [easy|]. now destruct (token_dec t u).
Qed.

(** ** A chat, and each hypothesis is needed *)

Local Open Scope N_scope.
(** Marks from 50 on, and the letter 9 beside a name whose content begins or ends with a letter. *)
Definition mark_50 (t : added_token) : N := 50 + token_id t.
Definition letter_9 (t : added_token) : text := if starts_in word_10 (content t) then [9] else [].
Definition letter_9_last (t : added_token) : text := if starts_in word_10 (rev (content t)) then [9] else [].
Definition token_of (id : N) (single : bool) (c : text) : added_token := {| content := c; token_id := id;
  lstrip := false; rstrip := false; single_word := single; skipped := false |}.
Definition unknown (_ : bool) (w : text) : list N := match w with [] => [] | _ => [0] end.

(** Tokens with an id below 10 are control tokens. *)
Definition below_10 (t : added_token) : bool := token_id t <? 10.
Definition chat_ids (tokens : list added_token) : source -> list N :=
  untrusted_ids space_0 word_10 tokens below_10 mark_50 letter_9 letter_9_last unknown.
Definition chat_names (tokens : list added_token) : bool :=
  good_names_ok space_0 word_10 tokens below_10 mark_50 letter_9 letter_9_last.

(** [11; 1; 12] ends a turn. The user writes it, and halves of it between trusted halves. *)
Theorem a_chat :
  let tokens := [token_of 1 false [11; 1; 12]; token_of 20 false [2; 2]] in
  chat_names tokens = true /\
  chat_ids tokens [(true, [11; 1; 12]); (false, [3; 11; 1; 12; 2; 2]); (true, [11; 1; 12])] = [1; 0; 20; 1] /\
  chat_ids tokens [(true, [11; 1]); (true, [12])] = [1] /\
  chat_ids tokens [(true, [11]); (false, [1]); (true, [12])] = [0].
Proof. now vm_compute. Qed.

Theorem names_need_each_condition :
  let sep := token_of 1 true [1; 2] in
  let is_lost tokens := negb (chat_names tokens) &&
    negb (same_text (filter (fun i => i <? 10) (chat_ids tokens [(true, [11; 1; 2; 11])])) [1]) in
  (* a token that ends with the letter of the names, [11; 9], would take it *)
  is_lost [sep; token_of 20 false [11; 9]] = true /\
  (* a mark that is written in untrusted text: the name is the token *)
  chat_ids [sep] [(false, [11; 9; 51; 9; 11])] = [0; 1; 0] /\
  (* without letters, a [single_word] token beside a name is found that is none in the text *)
  let tokens := [token_of 1 false [1; 2]; token_of 20 true [3]] in
  chat_ids tokens [(true, [1; 2; 3])] = [1; 0] /\
  untrusted_ids space_0 word_10 tokens below_10 mark_50 (fun _ => []) (fun _ => []) unknown
    [(true, [1; 2; 3])] = [1; 20].
Proof. now vm_compute. Qed.
