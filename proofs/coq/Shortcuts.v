(** The shortcuts of the compiled call: BPE over characters (Lemmas 55 to 58), segments and the table of
    their ids (the corollaries on segments and runs), longest tokens (Theorem 61):
    proofs/compiled-call.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams Ids Pairs Pipeline.
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
End Apart.

(** ** BPE over characters *)

(** The name of a byte: "<0x0A>". *)
Definition hexadecimal (n : nat) : N := N.of_nat (if n <? 10 then 48 + n else 55 + n).
Definition name (b : nat) : list N := [60; 48; 120; hexadecimal (b / 16); hexadecimal (b mod 16); 62]%N.

Section Characters.
(** Whether a string is a token; the settings of the file; the unknown token, if it is set and a token. *)
Variable known : list N -> bool.
Variable byte_fallback fuse_unk : bool.
Variable unk : option (list N).
Definition names (c : N) : list (list N) := map name (utf8 c).
Definition all_named (c : N) : bool := forallb known (names c).

(** The atoms as the engine finds them, one character after the other. [waiting]: an unknown token
    that it has yet to write. *)
Definition written (waiting : bool) : list (list N) :=
  match unk with Some u => if waiting then [u] else [] | None => [] end.
Fixpoint engine_atoms (waiting : bool) (w : list N) : list (list N) :=
  match w with
  | [] => written waiting
  | c :: w' =>
      if known [c] then written waiting ++ [c] :: engine_atoms false w'
      else if byte_fallback && all_named c then names c ++ engine_atoms waiting w'
      else match unk with
           | None => engine_atoms waiting w'
           | Some _ => (if fuse_unk then [] else written waiting) ++ engine_atoms true w'
           end
  end.

(** The atoms of Lemma 55, in the order of the characters. *)
Definition atom_or (unknown : N -> list (list N)) (c : N) : list (list N) :=
  if known [c] then [[c]] else unknown c.
(** One unknown token for each run of unknown characters. *)
Fixpoint runs_fused (u : list N) (in_run : bool) (w : list N) : list (list N) :=
  match w with
  | [] => []
  | c :: w' =>
      if known [c] then [c] :: runs_fused u false w'
      else if in_run then runs_fused u true w' else u :: runs_fused u true w'
  end.
Definition atoms_in_order (w : list N) : list (list N) :=
  if byte_fallback then flat_map (atom_or names) w
  else match unk with
       | Some u => if fuse_unk then runs_fused u false w else flat_map (atom_or (fun _ => [u])) w
       | None => []
       end.

(** The conditions: each unknown character has the names of its bytes; or there is an unknown token. *)
Definition atoms_known (w : list N) : bool :=
  if byte_fallback then forallb (fun c => known [c] || all_named c) w
  else match unk with Some _ => true | None => false end.

(** Lemma 55. *)
Theorem lemma_55 : forall w : list N, atoms_known w = true -> engine_atoms false w = atoms_in_order w.
Proof.
  intros w h. unfold atoms_known, atoms_in_order in *. destruct byte_fallback eqn:fb.
  - assert (written false = []) as none by (unfold written; now destruct unk).
    induction w as [|c w IH]; [easy|]. simpl in h. apply andb_prop in h as [hc h]. simpl.
    unfold atom_or at 1. rewrite none, fb. destruct (known [c]); [now rewrite <- (IH h)|].
    simpl in hc. rewrite hc. simpl. now rewrite <- (IH h).
  - destruct unk as [u|] eqn:ku; [clear h|easy].
    destruct fuse_unk eqn:fu.
    + enough (forall waiting, engine_atoms waiting w =
                (if waiting then [u] else []) ++ runs_fused u waiting w) as e by exact (e false).
      induction w as [|c w IH]; intros waiting; simpl; rewrite ?fb, ?ku, ?fu; unfold written; rewrite ?ku.
      * now rewrite app_nil_r.
      * destruct (known [c]); simpl; rewrite !IH; now destruct waiting.
    + enough (forall waiting, engine_atoms waiting w =
                (if waiting then [u] else []) ++ flat_map (atom_or (fun _ => [u])) w) as e
        by exact (e false).
      induction w as [|c w IH]; intros waiting; simpl; rewrite ?fb, ?ku, ?fu; unfold written; rewrite ?ku.
      * now rewrite app_nil_r.
      * unfold atom_or at 1. destruct (known [c]); simpl; rewrite !IH; now destruct waiting.
Qed.

(** The page's condition of byte fallback: each byte from 128 on has its name, and each ASCII character
    that is no token. *)
Lemma utf8_above c : (128 <= c < 1114112)%N -> forall b, In b (utf8 c) -> 128 <= b < 256.
Proof.
  intros h b i. unfold utf8 in i. apply in_map_iff in i as (n & <- & i).
  assert (128 <= n < 256)%N as hn; [|lia].
  assert (forall a m, m <> 0 -> a mod m < m)%N as small by (intros; now apply N.mod_lt).
  destruct (N.ltb_spec c 128); [lia|].
  destruct (N.ltb_spec c 2048); [|destruct (N.ltb_spec c 65536)]; cbn [In] in i.
  all: repeat match goal with
    | i : _ \/ _ |- _ => destruct i as [i|i]; [subst n|]
    | i : False |- _ => destruct i
    end.
  all: try match goal with
    | |- context [(?a mod 64)%N] =>
        generalize (small a 64%N ltac:(easy)); generalize (a mod 64)%N; lia
    end.
  - assert (c / 64 < 32)%N as q by (apply N.div_lt_upper_bound; lia).
    revert q. generalize (c / 64)%N. lia.
  - assert (c / 4096 < 16)%N as q by (apply N.div_lt_upper_bound; lia).
    revert q. generalize (c / 4096)%N. lia.
  - assert (c / 262144 < 8)%N as q by (apply N.div_lt_upper_bound; lia).
    revert q. generalize (c / 262144)%N. lia.
Qed.

Theorem lemma_55_names :
  byte_fallback = true -> (forall b, 128 <= b < 256 -> known (name b) = true) ->
  (forall c, (c < 128)%N -> known [c] = true \/ known (name (N.to_nat c)) = true) ->
  forall w : list N, (forall c, In c w -> (c < 1114112)%N) -> atoms_known w = true.
Proof.
  intros fb high low w valid. unfold atoms_known. rewrite fb. apply forallb_forall. intros c i.
  apply orb_true_iff. specialize (valid c i). destruct (N.ltb_spec c 128) as [lt|ge].
  - destruct (low c lt) as [k|k]; [now left|right]. unfold all_named, names, utf8.
    destruct (N.ltb_spec c 128); [|lia]. simpl. now rewrite k.
  - right. apply forallb_forall. intros t it. apply in_map_iff in it as (b & <- & ib).
    apply high, (utf8_above c); [lia|easy].
Qed.

(** *** Lemma 57: cuts *)

(** The atoms that are no characters. *)
Definition special (t : list N) : Prop :=
  byte_fallback = true /\ (exists b, t = name b) \/ unk = Some t.

Lemma atoms_last w c : atoms_known (w ++ [c]) = true ->
  exists s t, atoms_in_order (w ++ [c]) = s ++ [t] /\
    if known [c] then t = [c] else special t.
Proof.
  unfold atoms_known, atoms_in_order, special. destruct byte_fallback.
  - intros _. rewrite flat_map_app. simpl. rewrite app_nil_r. unfold atom_or at 2.
    destruct (known [c]); [now exists (flat_map (atom_or names) w), [c]|].
    assert (names c <> []) as ne.
    { unfold names, utf8. destruct (c <? 128)%N, (c <? 2048)%N, (c <? 65536)%N; easy. }
    destruct (exists_last ne) as (s & t & e). exists (flat_map (atom_or names) w ++ s), t.
    rewrite e, app_assoc. split; [easy|left]. split; [easy|].
    assert (In t (names c)) as i by (rewrite e; apply in_elt).
    apply in_map_iff in i as (b & <- & _). eauto.
  - destruct unk as [u|]; [|easy]. intros _. destruct fuse_unk.
    + enough (forall b : bool, exists s t, (if b then [u] else []) ++ runs_fused u b (w ++ [c]) = s ++ [t] /\
                t = if known [c] then [c] else u) as h.
      { destruct (h false) as (s & t & e & ->). exists s, (if known [c] then [c] else u).
        split; [easy|]. destruct (known [c]); auto. }
      induction w as [|a w IH]; intros b; simpl.
      * destruct (known [c]); [now exists (if b then [u] else []), [c]|].
        exists [], u. now destruct b.
      * destruct (known [a]).
        -- destruct (IH false) as (s & t & e & h). simpl in e. rewrite e.
           exists ((if b then [u] else []) ++ [a] :: s), t. now rewrite <- app_assoc.
        -- destruct (IH true) as (s & t & e & h). simpl in e. exists s, t. now destruct b.
    + rewrite flat_map_app. simpl. rewrite app_nil_r. unfold atom_or at 2.
      destruct (known [c]); [now exists (flat_map (atom_or (fun _ => [u])) w), [c]|].
      exists (flat_map (atom_or (fun _ => [u])) w), u. auto.
Qed.

Lemma atoms_first d v : atoms_known (d :: v) = true ->
  exists t s, atoms_in_order (d :: v) = t :: s /\ if known [d] then t = [d] else special t.
Proof.
  unfold atoms_known, atoms_in_order, special. destruct byte_fallback.
  - intros _. simpl. unfold atom_or at 1. destruct (known [d]); [simpl; eauto|].
    destruct (names d) as [|t s] eqn:e.
    { unfold names, utf8 in e. now destruct (d <? 128)%N, (d <? 2048)%N, (d <? 65536)%N. }
    exists t, (s ++ flat_map (atom_or names) v). split; [easy|left]. split; [easy|].
    assert (In t (names d)) as i by (rewrite e; now left).
    apply in_map_iff in i as (b & <- & _). eauto.
  - destruct unk as [u|]; [|easy]. intros _. destruct fuse_unk; simpl;
      [|unfold atom_or at 1]; destruct (known [d]); simpl; eauto.
Qed.

(** One run of unknown characters would be written once. *)
Definition one_run (c d : N) : bool :=
  negb byte_fallback && fuse_unk && negb (known [c]) && negb (known [d]).

Lemma atoms_apart w c d v : one_run c d = false ->
  atoms_in_order ((w ++ [c]) ++ d :: v) = atoms_in_order (w ++ [c]) ++ atoms_in_order (d :: v).
Proof.
  unfold one_run, atoms_in_order. destruct byte_fallback; [intros _; apply flat_map_app|].
  destruct unk as [u|]; [|easy]. destruct fuse_unk; [|intros _; apply flat_map_app].
  intros apart. enough (forall b, runs_fused u b ((w ++ [c]) ++ d :: v) =
    runs_fused u b (w ++ [c]) ++ runs_fused u false (d :: v)) as h by exact (h false).
  induction w as [|a w IH]; intros b; simpl in *.
  - destruct (known [c]); [easy|]. simpl in apart. apply negb_false_iff in apart. rewrite apart.
    now destruct b.
  - destruct (known [a]), b; simpl; now rewrite IH.
Qed.

Lemma atoms_known_app l r : atoms_known (l ++ r) = true ->
  atoms_known l = true /\ atoms_known r = true.
Proof.
  unfold atoms_known. destruct byte_fallback; [|easy]. rewrite forallb_app. apply andb_prop.
Qed.

Lemma atoms_proper_rows w : unk <> Some [] -> proper (atoms_in_order w).
Proof.
  intros ne. assert (forall f : N -> list (list N), (forall c, proper (f c)) -> proper (flat_map f w)) as each.
  { intros f h. induction w as [|c w' IH]; [constructor|]. simpl. now apply proper_app. }
  unfold atoms_in_order. destruct byte_fallback.
  - apply each. intros c. unfold atom_or, names. destruct (known [c]); [constructor; [easy|constructor]|].
    apply Forall_forall. intros t i. now apply in_map_iff in i as (b & <- & _).
  - destruct unk as [u|]; [|constructor]. assert (u <> []) as nu by congruence. destruct fuse_unk.
    + generalize false. clear each. induction w as [|c w' IH]; intros b; [constructor|]. simpl.
      destruct (known [c]), b; try (constructor; [easy|]); apply IH.
    + apply each. intros c. unfold atom_or. destruct (known [c]); (constructor; [easy|constructor]).
Qed.

(** The priority of a pair of tokens: the line of their merge. *)
Variable priority : list N -> list N -> option nat.
(** M(w), as strings. *)
Definition engine_tokens (w : list N) : list (list N) := final priority (engine_atoms false w).

(** (c, d) is in J. *)
Definition joins (c d : N) : Prop :=
  exists x y, priority (x ++ [c]) (d :: y) <> None.

(** Lemma 57: a cut between c and d. Beside an unknown character nothing is asked of J. *)
Theorem lemma_57 : unk <> Some [] ->
  (forall t u, special t -> priority t u = None /\ priority u t = None) ->
  forall (w v : list N) (c d : N), atoms_known ((w ++ [c]) ++ d :: v) = true ->
    (known [c] = true -> known [d] = true -> ~ joins c d) -> one_run c d = false ->
    engine_tokens ((w ++ [c]) ++ d :: v) = engine_tokens (w ++ [c]) ++ engine_tokens (d :: v).
Proof.
  intros ne inert w v c d k apart one. destruct (atoms_known_app _ _ k) as [kl kr].
  unfold engine_tokens. rewrite !lemma_55 by easy.
  destruct (atoms_last w c kl) as (s & t & el & hl). destruct (atoms_first d v kr) as (t' & s' & er & hr).
  pose proof (atoms_proper_rows ((w ++ [c]) ++ d :: v) ne) as pr.
  rewrite (atoms_apart w c d v one) in *. revert pr. rewrite el, er. intros pr.
  destruct (known [c]) eqn:kc; [destruct (known [d]) eqn:kd|].
  - subst t t'. apply final_apart with (Ql := fun s => exists x, concat s = x ++ [c])
                                     (Qr := fun s => exists y, concat s = d :: y); try easy.
    + intros s1 n s2 _ h (x & e). exists x. now rewrite (step_concat _ _ _ _ _ h).
    + intros s1 n s2 _ h (x & e). exists x. now rewrite (step_concat _ _ _ _ _ h).
    + intros l x y r pl p_r (a & e) (b & e').
      apply proper_app in pl as [_ pl]. inversion pl as [|? ? nx _]; subst.
      inversion p_r as [|? ? ny _]; subst.
      destruct (exists_last nx) as (x' & c' & ->). destruct y as [|d' y']; [easy|].
      rewrite concat_app in e. simpl in e, e'. rewrite app_nil_r, app_assoc in e.
      apply app_inj_tail in e as [_ ->]. injection e' as -> _.
      destruct (priority (x' ++ [c]) (d :: y')) as [p|] eqn:q; [|easy].
      destruct (apart eq_refl eq_refl). exists x', y'. now rewrite q.
    + exists (concat s). rewrite concat_app. simpl. easy.
    + now exists (concat s').
  - apply final_apart with (Ql := fun _ => True) (Qr := fun s => exists r, s = t' :: r); try easy.
    + intros s1 n s2 _ h (r & ->). apply definition_1 in h as (l & x & y & b & (e & p & q & _) & _ & ->).
      destruct l as [|a l]; [|injection e as <- _; simpl; eauto].
      injection e as <- _. now rewrite (proj1 (inert t' y hr)) in q.
    + intros l x y r _ _ _ (r' & e). injection e as -> _. now apply inert.
    + eauto.
  - apply final_apart with (Ql := fun s => exists l, s = l ++ [t]) (Qr := fun _ => True); try easy.
    + intros s1 n s2 _ h (r & ->). apply definition_1 in h as (l & x & y & b & (e & p & q & _) & _ & ->).
      destruct b as [|a b _] using rev_ind.
      * change (x :: [y]) with ([x] ++ [y]) in e. rewrite app_assoc in e.
        apply app_inj_tail in e as [_ <-]. now rewrite (proj2 (inert t x hl)) in q.
      * exists (l ++ (x ++ y) :: b). rewrite <- app_assoc. f_equal. simpl. f_equal.
        rewrite !app_comm_cons, app_assoc in e. now apply app_inj_tail in e as [_ <-].
    + intros l x y r _ _ (r' & e) _. apply app_inj_tail in e as [_ ->]. exact (proj1 (inert t y hl)).
    + eauto.
Qed.
End Characters.

(** *** A file *)

Definition string_same (u v : list N) : bool := if list_eq_dec N.eq_dec u v then true else false.

(** A BPE over characters: tokens and ids, merges in their order, the settings, the unknown token. *)
Record char_facts : Type := {
  char_tokens : list (list N * N);
  char_merges : list (list N * list N);
  char_fallback : bool;
  char_fuse : bool;
  char_unk : option (list N)
}.

(** Of equal merges the last one counts. *)
Definition by_lines (merges : list (list N * list N)) (u v : list N) : option nat :=
  option_map (fun k => length merges - k)
    (place (fun m => string_same (fst m) u && string_same (snd m) v) (rev merges)).
Definition char_id (f : char_facts) (t : list N) : option N :=
  option_map snd (find (fun e => string_same (fst e) t) (char_tokens f)).
Definition char_known (f : char_facts) (t : list N) : bool :=
  match char_id f t with Some _ => true | None => false end.

(** The tokens of a piece, and its ids. *)
Definition char_pieces (f : char_facts) : list N -> list (list N) :=
  engine_tokens (char_known f) (char_fallback f) (char_fuse f) (char_unk f) (by_lines (char_merges f)).
Definition char_ids (f : char_facts) (w : list N) : list N :=
  map (fun t => match char_id f t with Some i => i | None => 0%N end) (char_pieces f w).

(** The gate: no merge has the unknown token as a part, nor, with byte fallback, what may be the name of
    a byte. *)
Definition like_name (t : list N) : bool :=
  match t with [60; 48; 120; _; _; 62]%N => true | _ => false end.
Definition is_special (f : char_facts) (t : list N) : bool :=
  char_fallback f && like_name t ||
  match char_unk f with Some u => string_same u t | None => false end.
Definition char_gate (f : char_facts) : bool :=
  match char_unk f with Some [] => false | _ => true end &&
  forallb (fun m => negb (is_special f (fst m)) && negb (is_special f (snd m))) (char_merges f).

(** The pairs J, and the cuts of Lemma 57. *)
Definition in_J (f : char_facts) (c d : N) : bool :=
  existsb (fun m => match rev (fst m), snd m with
                    | x :: _, y :: _ => N.eqb x c && N.eqb y d
                    | _, _ => false
                    end) (char_merges f).
Definition char_cut (f : char_facts) (c d : N) : bool :=
  negb (char_known f [c] && char_known f [d] && in_J f c d) &&
  negb (one_run (char_known f) (char_fallback f) (char_fuse f) c d).

Lemma string_same_spec u v : string_same u v = true <-> u = v.
Proof. unfold string_same. now destruct (list_eq_dec N.eq_dec u v). Qed.

Lemma by_lines_in merges u v : by_lines merges u v <> None -> In (u, v) merges.
Proof.
  unfold by_lines. intros h. apply in_rev. induction (rev merges) as [|[x y] l IH]; [easy|].
  simpl in h. destruct (string_same x u) eqn:ex, (string_same y v) eqn:ey; simpl in h;
    try (apply string_same_spec in ex, ey; subst; now left);
    right; apply IH; intros n; apply h; now destruct (place _ l).
Qed.

(** Lemma 57, for a file: its pairs are computed. *)
Theorem lemma_57_file : forall f : char_facts, char_gate f = true ->
  forall (w v : list N) (c d : N),
    atoms_known (char_known f) (char_fallback f) (char_unk f) ((w ++ [c]) ++ d :: v) = true ->
    char_cut f c d = true ->
    char_ids f ((w ++ [c]) ++ d :: v) = char_ids f (w ++ [c]) ++ char_ids f (d :: v).
Proof.
  intros f gate w v c d k cut. apply andb_prop in gate as [ne gate]. rewrite forallb_forall in gate.
  apply andb_prop in cut as [cut one]. unfold char_ids. rewrite <- map_app. f_equal.
  apply lemma_57; [now intros e; rewrite e in ne| |exact k| |now apply negb_true_iff].
  - assert (forall t, special (char_fallback f) (char_unk f) t -> is_special f t = true) as sp.
    { intros t [[e [b ->]]|e]; unfold is_special; rewrite e; [easy|].
      now rewrite (proj2 (string_same_spec t t) eq_refl), orb_true_r. }
    intros t u h. apply sp in h. split.
    + destruct (by_lines (char_merges f) t u) eqn:e; [|easy].
      assert (In (t, u) (char_merges f)) as i by (apply by_lines_in; now rewrite e).
      apply gate in i. simpl in i. now rewrite h in i.
    + destruct (by_lines (char_merges f) u t) eqn:e; [|easy].
      assert (In (u, t) (char_merges f)) as i by (apply by_lines_in; now rewrite e).
      apply gate in i. simpl in i. rewrite h in i. now rewrite andb_false_r in i.
  - intros kc kd (x & y & h). apply by_lines_in in h. rewrite kc, kd in cut. simpl in cut.
    apply negb_true_iff in cut. unfold in_J in cut.
    assert (existsb (fun m => match rev (fst m), snd m with
              | x :: _, y :: _ => N.eqb x c && N.eqb y d | _, _ => false end) (char_merges f) = true) as i.
    { apply existsb_exists. eexists. split; [exact h|]. simpl. rewrite rev_app_distr. simpl.
      now rewrite !N.eqb_refl. }
    now rewrite i in cut.
Qed.

(** Lemma 58: with [ignore_merges] a piece that is a token is this token. *)
Theorem lemma_58 : forall (V : vocabulary) (priority : list nat -> list nat -> option nat)
  (b : list nat) (i : N), id_in V b = Some i -> encode_piece V priority true b = [i].
Proof. intros V priority b i e. unfold encode_piece. now rewrite e. Qed.

(** So no pair is a cut: "ab" is a token that no merge makes. *)
Example lemma_58_no_cut :
  let V := [([0], 0%N); ([1], 1%N); ([0; 1], 2%N)] in
  encode_piece V (by_pairs []) true [0; 1] = [2%N] /\
  encode_piece V (by_pairs []) true [0] ++ encode_piece V (by_pairs []) true [1] = [0; 1]%N.
Proof. split; vm_compute; reflexivity. Qed.

(** *** A small file, computed *)

(** a, b, ab, abb and the names of all bytes; é is two bytes. *)
Definition some_chars : char_facts := {|
  char_tokens := [([97], 0); ([98], 1); ([97; 98], 2); ([97; 98; 98], 3); ([60; 62], 4)]%N ++
                 map (fun b => (name b, N.of_nat (5 + b))) (List.seq 0 256);
  char_merges := [([97], [98]); ([97; 98], [98])]%N;
  char_fallback := true; char_fuse := false; char_unk := None |}.

Example some_chars_cut :
  char_gate some_chars = true /\ char_cut some_chars 98 97 = true /\ char_cut some_chars 97 98 = false /\
  atoms_known (char_known some_chars) true None [97; 98; 233; 97]%N = true /\
  char_ids some_chars [97; 98; 98; 97; 233; 98]%N = [3; 0; 200; 174; 1]%N.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** The page's table "Each hypothesis is needed". *)
Definition other_chars (merges : list (list N * list N)) (fallback fuse : bool)
    (unk : option (list N)) : char_facts := {|
  char_tokens := [([97], 0); ([98], 1); ([97; 98], 2); ([60; 62], 3); ([60; 62; 97], 4);
                  (name 195, 195); (name 168, 168)]%N;
  char_merges := merges; char_fallback := fallback; char_fuse := fuse; char_unk := unk |}.

(** 55: 0xA9 has no name, so the unknown token of é waits until the bytes of è are written; without an
    unknown token x vanishes, and its neighbours are merged. *)
Example lemma_55_needs_each_condition :
  let ab := [([97], [98])]%N in let u := Some [60; 62]%N in
  char_ids (other_chars [] true false u) [233; 232]%N = [195; 168; 3]%N /\
  char_ids (other_chars ab false false None) [97; 120; 98]%N = [2]%N /\
  char_ids (other_chars ab false false u) [97; 120; 98]%N = [0; 3; 1]%N.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** 56: of the merges (a, b), (b, c), (a, b) the last counts. *)
Example lemma_56_last_of_equal :
  by_lines [([97], [98]); ([98], [99]); ([97], [98])]%N [97]%N [98]%N = Some 3 /\
  by_lines [([97], [98]); ([98], [99]); ([97], [98])]%N [98]%N [99]%N = Some 2.
Proof. split; vm_compute; reflexivity. Qed.

(** 57: the unknown token in a merge; a pair of J; two unknown characters that are one run. *)
Example lemma_57_needs_each_condition :
  let u := Some [60; 62]%N in
  let cut f w c d v := (char_ids f ((w ++ [c]) ++ d :: v), char_ids f (w ++ [c]) ++ char_ids f (d :: v)) in
  cut (other_chars [([60; 62], [97])]%N false false u) [] 120%N 97%N [] = ([4], [3; 0])%N /\
  cut (other_chars [([97], [98])]%N false false u) [] 97%N 98%N [] = ([2], [0; 1])%N /\
  cut (other_chars [] false true u) [] 120%N 120%N [] = ([3], [3; 3])%N.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** ** Segments, and the table of their ids *)
Section Segments.
Variable A Id : Type.
Variable F : list A -> list Id.
(** Where a text is cut: the sure pairs, the pairs that are not in J, the ends of words. *)
Variable cut : A -> A -> bool.
Hypothesis nothing : F [] = [].
Hypothesis lossless : forall l x y r, cut x y = true ->
  F (l ++ x :: y :: r) = F (l ++ [x]) ++ F (y :: r).

(** The corollaries on segments and on runs: the ids are those of all segments, one after the other. A
    run is cut at some of the pairs, so the same holds with fewer of them. *)
Theorem all_segments : forall (fewer : A -> A -> bool),
  (forall x y, fewer x y = true -> cut x y = true) ->
  forall S : list A, F S = concat (map F (pair_pieces A fewer S)).
Proof.
  intros fewer sub S. enough (forall l, F (l ++ S) =
    match pair_pieces A fewer S with
    | [] => F l
    | w :: ws => F (l ++ w) ++ concat (map F ws)
    end) as h.
  { rewrite (h [] : F S = _). now destruct (pair_pieces A fewer S). }
  induction S as [|x [|y S] IH]; intros l; [now rewrite app_nil_r|simpl; now rewrite app_nil_r|].
  rewrite pair_pieces_cons. destruct (fewer x y) eqn:c.
  - rewrite (lossless l x y S) by now apply sub. f_equal. rewrite (IH [] : F (y :: S) = _).
    destruct (pair_pieces_some A fewer y S) as (w & ws & ->). easy.
  - replace (l ++ x :: y :: S) with ((l ++ [x]) ++ y :: S) by now rewrite <- app_assoc.
    rewrite IH. destruct (pair_pieces_some A fewer y S) as (w & ws & ->). simpl.
    now rewrite <- app_assoc.
Qed.

(** *** The table *)

Variable equal : forall a b : A, {a = b} + {a <> b}.
(** A segment is its pre-tokens, each with the ids that the model gives it. *)
Variable pre_tokens : list A -> list (list A).
Variable M : list A -> list Id.
Hypothesis model : forall w, F w = concat (map M (pre_tokens w)).

(** An entry: whether it is a whole segment or one pre-token, its characters, its ids. *)
Definition entries : Type := list (bool * list A * list Id).
Definition entry (whole : bool) (w : list A) (t : entries) : option (list Id) :=
  option_map snd
    (find (fun e => eqb (fst (fst e)) whole && if list_eq_dec equal (snd (fst e)) w then true else false) t).

(** Each entry is the ids of its segment, or of its pre-token. *)
Definition exact (t : entries) : Prop := forall whole w ids,
  In (whole, w, ids) t -> ids = if whole then F w else M w.

(** What the table forgets, at any time. *)
Variable keep : entries -> entries.
Hypothesis forgets : forall t e, In e (keep t) -> In e t.

(** The ids of these pieces, and the table that has learned the new ones. *)
Fixpoint looked_up (whole : bool) (make : list A -> entries -> list Id * entries)
    (ws : list (list A)) (t : entries) : list Id * entries :=
  match ws with
  | [] => ([], t)
  | w :: ws' =>
      let (ids, t1) :=
        match entry whole w t with
        | Some ids => (ids, t)
        | None => let (ids, t1) := make w t in (ids, keep ((whole, w, ids) :: t1))
        end in
      let (rest, t2) := looked_up whole make ws' t1 in (ids ++ rest, t2)
  end.

(** A text: its segments are looked up; the pre-tokens of a new segment are; new ones the model encodes. *)
Definition encode_text (S : list A) (t : entries) : list Id * entries :=
  looked_up true (fun w => looked_up false (fun p t => (M p, t)) (pre_tokens w)) (pair_pieces A cut S) t.
Fixpoint encode_texts (texts : list (list A)) (t : entries) : list (list Id) * entries :=
  match texts with
  | [] => ([], t)
  | w :: texts' =>
      let (ids, t1) := encode_text w t in
      let (rows, t2) := encode_texts texts' t1 in (ids :: rows, t2)
  end.

Lemma entry_in whole w t ids : entry whole w t = Some ids -> In (whole, w, ids) t.
Proof.
  unfold entry. destruct (find _ t) as [[[b u] i]|] eqn:e; [|easy]. intros h. injection h as <-.
  apply find_some in e as [h e]. apply andb_prop in e as [e1 e2]. simpl in *.
  apply eqb_prop in e1 as ->. now destruct (list_eq_dec equal u w) as [->|].
Qed.

Lemma looked_up_exact (whole : bool) make :
  (forall (w : list A) (t : entries), exact t ->
     fst (make w t) = (if whole then F else M) w /\ exact (snd (make w t))) ->
  forall ws t, exact t ->
    fst (looked_up whole make ws t) = concat (map (if whole then F else M) ws) /\
    exact (snd (looked_up whole make ws t)).
Proof.
  intros right ws. induction ws as [|w ws IH]; intros t ex; [easy|]. simpl.
  assert (let (ids, t1) := match entry whole w t with
            | Some ids => (ids, t)
            | None => let (ids, t1) := make w t in (ids, keep ((whole, w, ids) :: t1))
            end in ids = (if whole then F else M) w /\ exact t1) as one.
  { destruct (entry whole w t) as [ids|] eqn:e.
    - split; [|easy]. apply entry_in, ex in e. now destruct whole.
    - specialize (right w t ex). destruct (make w t) as [ids t1].
      simpl in right. destruct right as [-> ex1]. split.
      + now destruct whole.
      + intros b u i h. apply forgets in h as [h|h]; [|now apply ex1].
        injection h as <- <- <-. now destruct whole. }
  destruct (match entry whole w t with Some _ => _ | None => _ end) as [ids t1].
  destruct one as [-> ex1]. specialize (IH t1 ex1). destruct (looked_up whole make ws t1) as [rest t2].
  simpl in *. now destruct IH as [-> ex2].
Qed.

(** Texts one after the other, with one table: each has its own ids, and each entry stays exact. *)
Theorem table_exact : forall (texts : list (list A)) (t : entries), exact t ->
  fst (encode_texts texts t) = map F texts /\ exact (snd (encode_texts texts t)).
Proof.
  assert (forall S t, exact t ->
            fst (encode_text S t) = F S /\ exact (snd (encode_text S t))) as one.
  { intros S t ex. rewrite (all_segments cut (fun _ _ h => h) S).
    apply (looked_up_exact true); [|easy]. intros w t' ex'. rewrite model.
    apply (looked_up_exact false); [|easy]. now intros p t''. }
  intros texts. induction texts as [|S texts IH]; intros t ex; [easy|]. simpl.
  specialize (one S t ex). destruct (encode_text S t) as [ids t1].
  simpl in one. destruct one as [-> ex1].
  specialize (IH t1 ex1). destruct (encode_texts texts t1) as [rows t2]. simpl in *.
  now destruct IH as [-> ex2].
Qed.
End Segments.

(** A segment and a pre-token of the same characters have entries of their own: the segment may be
    several pre-tokens. *)
Example entries_apart :
  let M := fun w : list nat => [length w] in let pre_tokens := map (fun a : nat => [a]) in
  let F := fun w => concat (map M (pre_tokens w)) in F [7; 8] = [1; 1] /\ M [7; 8] = [2].
Proof. split; vm_compute; reflexivity. Qed.
