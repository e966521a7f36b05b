(** The normal forms of Unicode (UAX 15) as a program: decompose, order, compose. Where a cut leaves the
    form alone, and the quick check. proofs/normal-forms.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import AddedTokens.
Import ListNotations.

(** The tables of characters. [decompositions] are the full ones, of NFD or NFKD, with those of Hangul;
    [classes]: canonical combining classes that are not 0; [composites]: first, second, both as one.
    NFD and NFKD are the forms without composites. *)
Record characters : Type := {
  decompositions : list (N * text);
  classes : list (N * nat);
  composites : list (N * N * N)
}.

Section Forms.
Variable t : characters.

Definition decomposition (c : N) : text :=
  match find (fun e => (fst e =? c)%N) (decompositions t) with Some (_, w) => w | None => [c] end.
Definition ccc (c : N) : nat :=
  match find (fun e => (fst e =? c)%N) (classes t) with Some (_, n) => n | None => 0 end.
Definition compose (k c : N) : option N :=
  match find (fun '(a, b, _) => (a =? k)%N && (b =? c)%N) (composites t) with
  | Some (_, _, x) => Some x
  | None => None
  end.

(** *** The three steps *)
Definition decompose (S : text) : text := flat_map decomposition S.

(** A character goes behind those right after it that have a lower class, other than 0. *)
Fixpoint put_back (c : N) (w : text) : text :=
  match w with
  | d :: w' => if (0 <? ccc d) && (ccc d <? ccc c) then d :: put_back c w' else c :: w
  | [] => [c]
  end.
Definition order (S : text) : text := fold_right put_back [] S.

(** [k]: the last character of class 0; [passed]: what stands behind it, the class of its last one in [last].
    A character that is not blocked, and makes one with k, takes the place of k. *)
Fixpoint composed (k : N) (passed : text) (last : option nat) (S : text) : text :=
  match S with
  | [] => k :: passed
  | c :: S' =>
      match (if match last with Some l => l <? ccc c | None => true end then compose k c else None) with
      | Some x => composed x passed last S'
      | None =>
          if ccc c =? 0 then k :: passed ++ composed c [] None S'
          else composed k (passed ++ [c]) (Some (ccc c)) S'
      end
  end.
Fixpoint recompose (S : text) : text :=
  match S with
  | [] => []
  | c :: S' => if ccc c =? 0 then composed c [] None S' else c :: recompose S'
  end.

Definition normal (S : text) : text := recompose (order (decompose S)).

(** *** What the tables say of a character *)
Definition is_first (c : N) : bool := existsb (fun '(a, _, _) => (a =? c)%N) (composites t).
Definition is_second (c : N) : bool := existsb (fun '(_, b, _) => (b =? c)%N) (composites t).

(** Nothing before the character changes what becomes of it, and it changes nothing there. *)
Definition begins_anew (c : N) : bool :=
  match decomposition c with s :: _ => (ccc s =? 0) && negb (is_second s) | [] => false end.

Lemma not_second k c : is_second c = false -> compose k c = None.
Proof.
  intros h. unfold compose. destruct (find _ (composites t)) as [[[a b] x]|] eqn:e; [|easy].
  apply find_some in e as [i e]. apply andb_prop in e as [_ e]. exfalso.
  assert (is_second c = true) as h'; [|congruence].
  apply existsb_exists. now exists (a, b, x).
Qed.

Lemma not_first k c : is_first k = false -> compose k c = None.
Proof.
  intros h. unfold compose. destruct (find _ (composites t)) as [[[a b] x]|] eqn:e; [|easy].
  apply find_some in e as [i e]. apply andb_prop in e as [e _]. exfalso.
  assert (is_first k = true) as h'; [|congruence].
  apply existsb_exists. now exists (a, b, x).
Qed.

(** *** A cut in front of a character that begins anew *)
Lemma put_back_starter c w : ccc c = 0 -> put_back c w = c :: w.
Proof. intros h. destruct w as [|d w]; [easy|]. simpl. rewrite h. now rewrite andb_false_r. Qed.

Lemma put_back_app c u s v : ccc s = 0 -> put_back c (u ++ s :: v) = put_back c u ++ s :: v.
Proof.
  intros h. induction u as [|d u IH]; cbn [app put_back].
  - now rewrite h.
  - destruct (_ && _); [now rewrite IH|easy].
Qed.

Lemma order_app u s v : ccc s = 0 -> order (u ++ s :: v) = order u ++ s :: order v.
Proof.
  intros h. induction u as [|c u IH]; [now apply put_back_starter|].
  simpl. fold (order (u ++ s :: v)). rewrite IH. now apply put_back_app.
Qed.

Lemma composed_app s v : ccc s = 0 -> is_second s = false -> forall u k passed last,
  composed k passed last (u ++ s :: v) = composed k passed last u ++ composed s [] None v.
Proof.
  intros h n. induction u as [|c u IH]; intros k passed last; cbn [app composed].
  - rewrite not_second, h by easy. destruct last as [l|]; [now destruct (l <? _)|easy].
  - destruct (if match last with Some l => l <? ccc c | None => true end then compose k c else None); [apply IH|].
    destruct (ccc c =? 0); [|apply IH]. rewrite IH. simpl. now rewrite <- app_assoc.
Qed.

Lemma recompose_app u s v : ccc s = 0 -> is_second s = false ->
  recompose (u ++ s :: v) = recompose u ++ recompose (s :: v).
Proof.
  intros h n. induction u as [|c u IH]; [easy|]. cbn [app recompose].
  destruct (ccc c =? 0); [|now rewrite IH]. rewrite h. now apply composed_app.
Qed.

Lemma begins_anew_spec c : begins_anew c = true ->
  exists s rest, decomposition c = s :: rest /\ ccc s = 0 /\ is_second s = false.
Proof.
  unfold begins_anew. destruct (decomposition c) as [|s rest]; [easy|]. intros h.
  apply andb_prop in h as [h n]. apply Nat.eqb_eq in h. apply negb_true_iff in n. eauto.
Qed.

(** The form of a text is that of its part up to a character that begins anew, then that of the rest. *)
Theorem normal_apart : forall (L R : text) (b : N),
  begins_anew b = true -> normal (L ++ b :: R) = normal L ++ normal (b :: R).
Proof.
  intros L R b h. apply begins_anew_spec in h as (s & rest & e & h & n).
  unfold normal, decompose. rewrite flat_map_app. cbn [flat_map]. rewrite e. cbn [app].
  rewrite order_app, recompose_app by easy. do 2 f_equal. simpl. now rewrite put_back_starter.
Qed.

Lemma composed_keeps k v : is_first k = false -> forall passed last,
  exists w, composed k passed last v = k :: w.
Proof.
  intros n. induction v as [|c v IH]; intros passed last; [now exists passed|]. cbn [composed].
  rewrite not_first by easy. destruct last as [l|]; [destruct (l <? ccc c)|];
    (destruct (ccc c =? 0); [eauto|apply IH]).
Qed.

(** The form of what begins with b begins with the first part of b, if that composes with nothing. *)
Lemma normal_begins b R s : begins_anew b = true -> hd_error (decomposition b) = Some s -> is_first s = false ->
  exists w, normal (b :: R) = s :: w.
Proof.
  intros h e n. apply begins_anew_spec in h as (s' & rest & e' & h & _). rewrite e' in e. injection e as ->.
  unfold normal, decompose. cbn [flat_map]. rewrite e'. cbn [app order fold_right].
  rewrite put_back_starter by easy. cbn [recompose]. rewrite h. simpl. now apply composed_keeps.
Qed.

(** *** The quick check *)

(** Classes that do not fall, but to 0. *)
Fixpoint in_order (S : text) : bool :=
  match S with
  | a :: (b :: _) as S' => ((ccc b =? 0) || (ccc a <=? ccc b)) && in_order S'
  | _ => true
  end.

Fixpoint absorbs (k : N) (rest : text) : option N :=
  match rest with
  | [] => Some k
  | r :: rest' => match compose k r with Some x => absorbs x rest' | None => None end
  end.

(** The number of a character: its class, if the form leaves the character alone and it composes with
    nothing before it; else none. *)
Definition number (c : N) : option nat :=
  match decomposition c with
  | s :: rest =>
      if negb (is_second s) &&
         (if ccc c =? 0
          then (ccc s =? 0) && in_order rest && match absorbs s rest with Some x => (x =? c)%N | None => false end
          else (s =? c)%N && match rest with [] => true | _ => false end)
      then Some (ccc c) else None
  | [] => None
  end.
Definition quick_check (S : text) : bool :=
  forallb (fun c => match number c with Some _ => true | None => false end) S && in_order S.

Lemma number_spec c n : number c = Some n -> n = ccc c /\ exists s rest,
  decomposition c = s :: rest /\ is_second s = false /\
  if ccc c =? 0 then ccc s = 0 /\ in_order rest = true /\ absorbs s rest = Some c else s = c /\ rest = [].
Proof.
  unfold number. destruct (decomposition c) as [|s rest]; [easy|].
  destruct (negb (is_second s)) eqn:n1; [|easy]. apply negb_true_iff in n1. cbn [andb].
  destruct (ccc c =? 0) eqn:z.
  - destruct (ccc s =? 0) eqn:zs; [|easy]. apply Nat.eqb_eq in zs.
    destruct (in_order rest) eqn:o; [|easy].
    destruct (absorbs s rest) as [x|] eqn:a; [|easy]. cbn [andb].
    destruct (x =? c)%N eqn:e; [|easy]. apply N.eqb_eq in e as ->. intros h. injection h as <-.
    split; [easy|]. exists s, rest. auto.
  - destruct (s =? c)%N eqn:e; [|easy]. apply N.eqb_eq in e as ->. destruct rest; [|easy].
    intros h. injection h as <-. split; [easy|]. exists c, []. auto.
Qed.

Lemma number_begins c n : number c = Some n -> ccc c = 0 -> begins_anew c = true.
Proof.
  intros h z. apply number_spec in h as (_ & s & rest & e & n1 & h). rewrite z in h. destruct h as (h & _).
  unfold begins_anew. now rewrite e, h, n1.
Qed.

(** What a character passes when it is placed composes with nothing. *)
Fixpoint passes (r : N) (w : text) : Prop :=
  match w with
  | d :: w' => if (0 <? ccc d) && (ccc d <? ccc r) then is_second d = false /\ passes r w' else True
  | [] => True
  end.

Lemma put_back_in c w d : In d (put_back c w) -> d = c \/ In d w.
Proof.
  induction w as [|x w IH]; simpl; [intros [<-|[]]; now left|].
  destruct (_ && _); simpl; intros [<-|h]; auto. apply IH in h as [->|h]; auto.
Qed.
Lemma order_in w d : In d (order w) -> In d w.
Proof.
  induction w as [|x w IH]; [easy|]. simpl. intros h. apply put_back_in in h as [->|h]; auto.
Qed.

Lemma all_pass r w : (forall d, In d w -> is_second d = false) -> passes r w.
Proof.
  induction w as [|d w IH]; [easy|]. intros h. simpl. destruct (_ && _); [|easy].
  split; [apply h; now left|]. apply IH. intros x i. apply h. now right.
Qed.

Lemma passes_put_back r q w : 0 < ccc q -> ccc r <= ccc q -> passes q w -> passes r (put_back q w).
Proof.
  intros z le. induction w as [|d w IH]; intros h; cbn [put_back].
  - cbn [passes]. replace (ccc q <? ccc r) with false by (symmetry; apply Nat.ltb_ge; lia). rewrite andb_false_r. exact I.
  - cbn [passes] in h. destruct ((0 <? ccc d) && (ccc d <? ccc q)) eqn:e.
    + destruct h as [h h']. cbn [passes]. destruct ((0 <? ccc d) && (ccc d <? ccc r)); [|exact I]. split; [exact h|exact (IH h')].
    + cbn [passes]. replace (ccc q <? ccc r) with false by (symmetry; apply Nat.ltb_ge; lia). rewrite andb_false_r. exact I.
Qed.

Lemma rest_passes ds : (forall d, In d ds -> is_second d = false) ->
  forall rest r, in_order (r :: rest) = true -> passes r (order (rest ++ ds)).
Proof.
  intros free. induction rest as [|q rest IH]; intros r h.
  - apply all_pass. intros d i. now apply free, order_in.
  - cbn [in_order] in h. apply andb_prop in h as [h h']. specialize (IH q h'). cbn [app order fold_right].
    fold (order (rest ++ ds)). destruct (ccc q =? 0) eqn:z.
    + apply Nat.eqb_eq in z. rewrite put_back_starter by easy. cbn [passes]. rewrite z. exact I.
    + apply Nat.eqb_neq in z. simpl in h. apply Nat.leb_le in h. apply passes_put_back; [lia|easy|easy].
Qed.

(** A character that is placed behind some that compose with nothing composes as if it stood before
    them. *)
Lemma composed_put_back r k x v : 0 < ccc r -> compose k r = Some x -> forall w passed last,
  passes r w -> match last with Some l => l <? ccc r | None => true end = true ->
  composed k passed last (put_back r w ++ v) = composed x passed last (w ++ v).
Proof.
  intros z e. induction w as [|d w IH]; intros passed last h free; cbn [put_back app].
  - cbn [composed]. now rewrite free, e.
  - cbn [passes] in h. destruct ((0 <? ccc d) && (ccc d <? ccc r)) eqn:c.
    + destruct h as [n h]. apply andb_prop in c as [c1 c2]. apply Nat.ltb_lt in c1.
      cbn [app composed]. rewrite !(not_second _ d n).
      replace (ccc d =? 0) with false by (symmetry; apply Nat.eqb_neq; lia).
      destruct (match last with Some l => l <? ccc d | None => true end); now apply IH.
    + cbn [app composed]. rewrite free, e. easy.
Qed.

Lemma composed_rest c ds : (forall d, In d ds -> is_second d = false) ->
  forall rest k, in_order rest = true -> absorbs k rest = Some c ->
  composed k [] None (order (rest ++ ds)) = composed c [] None (order ds).
Proof.
  intros free. induction rest as [|r rest IH]; intros k o a.
  - injection a as <-. easy.
  - cbn [absorbs] in a. destruct (compose k r) as [x|] eqn:e; [|easy].
    assert (in_order rest = true) as o'.
    { destruct rest; [easy|]. cbn [in_order] in o. now apply andb_prop in o as [_ o]. }
    cbn [app order fold_right]. fold (order (rest ++ ds)). rewrite <- (IH x o' a).
    destruct (Nat.eq_dec (ccc r) 0) as [z|z].
    + rewrite put_back_starter by easy. cbn [composed]. now rewrite e.
    + pose proof (composed_put_back r k x [] ltac:(lia) e (order (rest ++ ds)) [] None) as h.
      rewrite !app_nil_r in h. apply h; [|easy]. now apply rest_passes.
Qed.

Lemma order_ordered ds : in_order ds = true -> order ds = ds.
Proof.
  induction ds as [|a ds IH]; [easy|]. intros h. simpl. fold (order ds).
  destruct ds as [|b ds]; [easy|]. cbn [in_order] in h. apply andb_prop in h as [h h']. rewrite IH by easy.
  cbn [put_back]. apply orb_prop in h as [h|h].
  - apply Nat.eqb_eq in h. now rewrite h.
  - apply Nat.leb_le in h. replace (ccc b <? ccc a) with false by (symmetry; apply Nat.ltb_ge; lia).
    now rewrite andb_false_r.
Qed.

Lemma composed_free k ds : (forall d, In d ds -> is_second d = false /\ ccc d <> 0) ->
  forall passed last, composed k passed last ds = k :: passed ++ ds.
Proof.
  induction ds as [|d ds IH]; intros h passed last; [cbn; now rewrite app_nil_r|].
  destruct (h d ltac:(now left)) as [n z]. cbn [composed]. rewrite (not_second _ d n).
  replace (ccc d =? 0) with false by (symmetry; now apply Nat.eqb_neq).
  assert (composed k (passed ++ [d]) (Some (ccc d)) ds = k :: passed ++ d :: ds) as ->.
  { rewrite IH by (intros x i; apply h; now right). now rewrite <- app_assoc. }
  destruct last as [l|]; [now destruct (l <? _)|easy].
Qed.

Lemma recompose_free ds : (forall d, In d ds -> ccc d <> 0) -> recompose ds = ds.
Proof.
  induction ds as [|d ds IH]; intros h; [easy|]. cbn [recompose].
  replace (ccc d =? 0) with false by (symmetry; apply Nat.eqb_neq, h; now left).
  f_equal. apply IH. intros x i. apply h. now right.
Qed.

(** A text is some characters of other classes, then nothing or one of class 0. *)
Lemma marks_first (S : text) : exists ds R, S = ds ++ R /\ (forall d, In d ds -> ccc d <> 0) /\
  match R with [] => True | c :: _ => ccc c = 0 end.
Proof.
  induction S as [|c S (ds & R & -> & h & z)]; [now exists [], []|].
  destruct (Nat.eq_dec (ccc c) 0) as [e|e]; [now exists [], (c :: ds ++ R)|].
  exists (c :: ds), R. split; [easy|]. split; [|easy]. intros d [<-|i]; auto.
Qed.

Lemma in_order_app u v : in_order (u ++ v) = true -> in_order u = true /\ in_order v = true.
Proof.
  induction u as [|a u IH]; [easy|]. intros h. destruct u as [|b u].
  - split; [easy|]. destruct v; [easy|]. cbn [app in_order] in h. now apply andb_prop in h as [_ h].
  - cbn [app in_order] in h |- *. apply andb_prop in h as [h h']. destruct (IH h') as [h1 h2].
    now rewrite h.
Qed.

Lemma marks_alone ds : (forall d, In d ds -> number d <> None /\ ccc d <> 0) ->
  decompose ds = ds /\ forall d, In d ds -> is_second d = false.
Proof.
  induction ds as [|d ds IH]; intros h; [easy|].
  destruct IH as [e f]; [intros x i; apply h; now right|].
  destruct (h d ltac:(now left)) as [n z]. destruct (number d) as [m|] eqn:en; [|easy].
  apply number_spec in en as (_ & s & rest & ep & n1 & c).
  replace (ccc d =? 0) with false in c by (symmetry; now apply Nat.eqb_neq). destruct c as [-> ->].
  unfold decompose in *. cbn [flat_map]. rewrite ep, e. split; [easy|]. intros x [<-|i]; auto.
Qed.

Theorem quick_check_right : forall S : text, quick_check S = true -> normal S = S.
Proof.
  intros S h. apply andb_prop in h as [a o]. rewrite forallb_forall in a.
  assert (forall c, In c S -> number c <> None) as known.
  { intros c i e. specialize (a c i). now rewrite e in a. }
  clear a. remember (length S) as n eqn:en. assert (length S <= n) as le by lia. clear en.
  revert S o known le. induction n as [|n IH]; intros S o known le.
  - destruct S; [easy|simpl in le; lia].
  - assert (forall R c, match R with [] => True | d :: _ => ccc d = 0 end -> (forall d, In d R -> number d <> None) ->
            in_order R = true -> length R <= n -> normal (c ++ R) = normal c ++ R) as cut.
    { intros R c z known' o' le'. destruct R as [|d R]; [now rewrite !app_nil_r|].
      rewrite normal_apart; [now rewrite (IH (d :: R))|].
      specialize (known' d ltac:(now left)). destruct (number d) eqn:e; [|easy]. now apply (number_begins _ _ e). }
    destruct (marks_first S) as (ds & R & -> & marks & z). rewrite app_length in le.
    destruct (in_order_app _ _ o) as [o1 o2]. destruct ds as [|d ds].
    + clear o1 marks. cbn [app] in *. destruct R as [|c R]; [easy|].
      destruct (marks_first R) as (ds & R' & -> & marks & z').
      change (c :: ds ++ R') with ((c :: ds) ++ R') in o2 |- *.
      destruct (in_order_app _ _ o2) as [o1 o3]. rewrite cut; try easy.
      * f_equal. specialize (known c ltac:(now left)) as kc. destruct (number c) as [m|] eqn:ec; [|easy].
        apply number_spec in ec as (_ & s & rest & ep & n1 & h). rewrite z in h. destruct h as (zs & or & ab).
        assert (in_order ds = true) as o4 by exact (proj2 (in_order_app [c] ds o1)).
        destruct (marks_alone ds) as [ed free].
        { intros d i. split; [apply known; right; apply in_or_app; now left|now apply marks]. }
        unfold normal. unfold decompose in *. cbn [flat_map]. rewrite ep, ed. cbn [app order fold_right].
        fold (order (rest ++ ds)). rewrite put_back_starter by easy. cbn [recompose]. rewrite zs. simpl Nat.eqb. cbn iota.
        rewrite (composed_rest c ds free rest s or ab), order_ordered by easy.
        apply (composed_free c ds). auto.
      * intros d i. apply known. right. apply in_or_app. now right.
      * cbn [length] in le. rewrite app_length in le. lia.
    + rewrite cut; try easy.
      * f_equal. destruct (marks_alone (d :: ds)) as [ed _].
        { intros x i. split; [apply known, in_or_app; now left|now apply marks]. }
        unfold normal. rewrite ed, order_ordered by easy. now apply recompose_free.
      * intros x i. apply known, in_or_app. now right.
      * simpl in le. lia.
Qed.
End Forms.

(** ** The page's counterexamples *)
Local Open Scope N_scope.

(** "e" and U+0301 are U+E9; U+0316 has the class 220; U+9C7 and U+9BE, both of class 0, are U+9CB. *)
Definition few : characters := {|
  decompositions := [(233, [101; 769]); (2507, [2503; 2494])]; classes := [(769, 230%nat); (790, 220%nat)];
  composites := [(101, 769, 233); (2503, 2494, 2507)] |}.
Definition decomposing : characters :=
  {| decompositions := decompositions few; classes := classes few; composites := [] |}.
Definition apart_at (t : characters) (L R : text) : bool :=
  if list_eq_dec N.eq_dec (normal t (L ++ R)) (normal t L ++ normal t R) then true else false.

Theorem normal_apart_needs_each_condition :
  (* a mark goes back over the cut; a mark, and a character of class 0, compose over the cut *)
  apart_at decomposing [101; 769] [790] = false /\ ccc few 790 = 220%nat /\ is_second decomposing 790 = false /\
  apart_at few [101] [769] = false /\
  apart_at few [2503] [2494] = false /\ ccc few 2494 = 0%nat /\ is_second few 2494 = true /\
  (* what begins anew, and may compose with what follows *)
  apart_at few [101] [101; 769] = true /\ normal few [101; 769] = [233].
Proof. vm_compute. repeat split; reflexivity. Qed.

Theorem quick_check_needs_each_condition :
  let same t S := if list_eq_dec N.eq_dec (normal t S) S then true else false in
  (* out of order; composes; is decomposed; all is well, and a mark stands between an accent's parts *)
  same decomposing [101; 769; 790] = false /\ map (number decomposing) [101; 769; 790] = [Some 0; Some 230; Some 220]%nat /\
  same few [101; 769] = false /\ map (number few) [101; 769] = [Some 0%nat; None] /\
  same decomposing [233] = false /\ number decomposing 233 = None /\
  quick_check few [97; 233; 790; 233] = true /\ order few (decompose few [233; 790]) = [101; 790; 769].
Proof. vm_compute. repeat split; reflexivity. Qed.
