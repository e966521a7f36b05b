(** Patterns and their backtracking search; Theorem 18 (dead pairs): proofs/theorem-18.md. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens.
Import ListNotations.

(** ** Syntax and search *)
Section Patterns.
Variable A : Type.
Implicit Types s t u w z : list A.

(** One-character classes (atoms), assertions about the next character or the end of the text,
    sequences, ordered alternatives, repetitions of one class, and the commitment that makes a
    quantifier possessive. *)
Inductive regex : Type :=
| Empty
| Atom (c : A -> bool)
| Look (f : option A -> bool)
| Then (r1 r2 : regex)
| Or (r1 r2 : regex)
| Star (greedy : bool) (c : A -> bool)
| Possessive (r : regex).

Fixpoint repeated (greedy : bool) (c : A -> bool) (s : list A) : list (list A) :=
  match s with
  | [] => [s]
  | x :: s' =>
      if c x then if greedy then repeated greedy c s' ++ [s] else s :: repeated greedy c s' else [s]
  end.

(** All ways to match at the beginning of s, the one that the search tries first in front. Each is
    given by the text it leaves. *)
Fixpoint ways (r : regex) (s : list A) : list (list A) :=
  match r with
  | Empty => [s]
  | Atom c => match s with x :: s' => if c x then [s'] else [] | [] => [] end
  | Look f => if f (hd_error s) then [s] else []
  | Then r1 r2 => flat_map (ways r2) (ways r1 s)
  | Or r1 r2 => ways r1 s ++ ways r2 s
  | Star greedy c => repeated greedy c s
  | Possessive r1 => firstn 1 (ways r1 s)
  end.

(** The other quantifiers: ?, +, {least,most}. *)
Definition optional (greedy : bool) (r : regex) : regex :=
  if greedy then Or r Empty else Or Empty r.
Definition plus (greedy : bool) (c : A -> bool) : regex := Then (Atom c) (Star greedy c).
Fixpoint up_to_times (greedy : bool) (c : A -> bool) (n : nat) : regex :=
  match n with
  | 0 => Empty
  | S n' => optional greedy (Then (Atom c) (up_to_times greedy c n'))
  end.
Fixpoint times (greedy : bool) (c : A -> bool) (least most : nat) : regex :=
  match least with
  | 0 => up_to_times greedy c most
  | S l => Then (Atom c) (times greedy c l (most - 1))
  end.

Definition nothing : regex := Atom (fun _ => false).
Definition alternatives (l : list regex) : regex := fold_right Or nothing l.

(** ** The pre-tokenizer of a pattern *)

(** The length of the match at the beginning, if there is one. *)
Definition match_length (r : regex) (w : list A) : option nat :=
  match ways r w with t :: _ => Some (length w - length t) | [] => None end.

Definition matches (r : regex) (w : list A) : Prop := match_length r w <> None.

(** Where the first match begins, or |w|. *)
Fixpoint gap (r : regex) (w : list A) : nat :=
  match w with
  | [] => 0
  | _ :: w' => match match_length r w with Some _ => 0 | None => S (gap r w') end
  end.

(** The end of the first piece: of the match at the beginning, or of the gap. *)
Definition first_end (r : regex) (w : list A) : nat :=
  match match_length r w with Some n => n | None => gap r w end.

Definition no_empty_match (r : regex) : Prop := forall w, match_length r w <> Some 0.
Definition covering (r : regex) : Prop := forall w, w <> [] -> matches r w.

(** ** What can follow what *)

(** Whether nothing may be consumed; an assertion is taken to hold. *)
Fixpoint nullable (r : regex) : bool :=
  match r with
  | Empty | Look _ | Star _ _ => true
  | Atom _ => false
  | Then r1 r2 => nullable r1 && nullable r2
  | Or r1 r2 => nullable r1 || nullable r2
  | Possessive r1 => nullable r1
  end.

(** The atoms that can consume the first character, and the last one. *)
Fixpoint firsts (r : regex) : list (A -> bool) :=
  match r with
  | Empty | Look _ => []
  | Atom c | Star _ c => [c]
  | Then r1 r2 => firsts r1 ++ if nullable r1 then firsts r2 else []
  | Or r1 r2 => firsts r1 ++ firsts r2
  | Possessive r1 => firsts r1
  end.

Fixpoint lasts (r : regex) : list (A -> bool) :=
  match r with
  | Empty | Look _ => []
  | Atom c | Star _ c => [c]
  | Then r1 r2 => lasts r2 ++ if nullable r2 then lasts r1 else []
  | Or r1 r2 => lasts r1 ++ lasts r2
  | Possessive r1 => lasts r1
  end.

(** The assertions that can be evaluated before anything is consumed. *)
Fixpoint looks (r : regex) : list (option A -> bool) :=
  match r with
  | Empty | Atom _ | Star _ _ => []
  | Look f => [f]
  | Then r1 r2 => looks r1 ++ if nullable r1 then looks r2 else []
  | Or r1 r2 => looks r1 ++ looks r2
  | Possessive r1 => looks r1
  end.

(** (a, b): the atom b can directly follow the atom a in one match. *)
Fixpoint follows (r : regex) : list ((A -> bool) * (A -> bool)) :=
  match r with
  | Empty | Look _ | Atom _ => []
  | Star _ c => [(c, c)]
  | Then r1 r2 => follows r1 ++ follows r2 ++ list_prod (lasts r1) (firsts r2)
  | Or r1 r2 => follows r1 ++ follows r2
  | Possessive r1 => follows r1
  end.

(** (a, f): the assertion f can be evaluated directly after the atom a. *)
Fixpoint looks_after (r : regex) : list ((A -> bool) * (option A -> bool)) :=
  match r with
  | Empty | Look _ | Atom _ | Star _ _ => []
  | Then r1 r2 => looks_after r1 ++ looks_after r2 ++ list_prod (lasts r1) (looks r2)
  | Or r1 r2 => looks_after r1 ++ looks_after r2
  | Possessive r1 => looks_after r1
  end.

(** ** The search leaves an end of the text *)

Lemma repeated_suffix greedy c s t : In t (repeated greedy c s) -> exists v, s = v ++ t.
Proof.
  induction s as [|x s IH]; simpl.
  - intros [<-|[]]. now exists [].
  - assert (In t (repeated greedy c s) -> exists v, x :: s = v ++ t) as h.
    { intros i. destruct (IH i) as [v e]. exists (x :: v). now rewrite e. }
    destruct (c x), greedy; [intros i; apply in_app_or in i as [i|[<-|[]]]|intros [<-|i]|
      intros [<-|[]]|intros [<-|[]]]; auto; now exists [].
Qed.

Lemma ways_suffix r s t : In t (ways r s) -> exists v, s = v ++ t.
Proof.
  revert s t. induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|greedy c|r IH]; intros s t; simpl.
  - intros [<-|[]]. now exists [].
  - destruct s as [|x s]; [easy|]. destruct (c x); [|easy]. intros [<-|[]]. now exists [x].
  - destruct (f (hd_error s)); [|easy]. intros [<-|[]]. now exists [].
  - intros i. apply in_flat_map in i as (u & i1 & i2).
    destruct (IH1 _ _ i1) as [v ->]. destruct (IH2 _ _ i2) as [v' ->]. exists (v ++ v').
    apply app_assoc.
  - intros i. apply in_app_or in i as [i|i]; auto.
  - apply repeated_suffix.
  - intros i. apply IH. destruct (ways r s) as [|u l]; [easy|]. destruct i as [<-|[]]. now left.
Qed.

Lemma match_length_le r w n : match_length r w = Some n -> n <= length w.
Proof. unfold match_length. destruct (ways r w); [easy|]. intros e. injection e as <-. lia. Qed.

Lemma gap_le r w : gap r w <= length w.
Proof.
  induction w as [|x w IH]; [easy|]. simpl. destruct (match_length r (x :: w)); simpl; lia.
Qed.

(** A pattern that looks only to the right is restartable. *)
Theorem pattern_restartable : forall r, no_empty_match r -> ends_first_piece (first_end r).
Proof.
  intros r h w ne. unfold first_end. destruct (match_length r w) as [n|] eqn:e.
  - apply match_length_le in e as le. split; [|easy]. destruct n; [now apply h in e|lia].
  - split; [|apply gap_le]. destruct w as [|x w]; [easy|]. simpl. rewrite e. lia.
Qed.

(** ** Two texts that differ behind x only *)
Section Behind.
Variables z1 z2 : list A.

(** The two rows of ways are the same but for the ends z1 and z2 of what they leave. *)
Definition alike (Q : list A -> Prop) (l1 l2 : list (list A)) : Prop :=
  exists ts, l1 = map (fun t => t ++ z1) ts /\ l2 = map (fun t => t ++ z2) ts /\ Forall Q ts.

Lemma alike_none Q : alike Q [] [].
Proof. now exists []. Qed.

Lemma alike_one (Q : list A -> Prop) t : Q t -> alike Q [t ++ z1] [t ++ z2].
Proof. exists [t]. auto. Qed.

Lemma alike_app Q l1 l2 l1' l2' :
  alike Q l1 l2 -> alike Q l1' l2' -> alike Q (l1 ++ l1') (l2 ++ l2').
Proof.
  intros (ts & -> & -> & q) (ts' & -> & -> & q'). exists (ts ++ ts').
  rewrite !map_app. split; [easy|]. split; [easy|]. now apply Forall_app.
Qed.

Lemma alike_first Q l1 l2 : alike Q l1 l2 -> alike Q (firstn 1 l1) (firstn 1 l2).
Proof.
  intros ([|t ts] & -> & -> & q); [apply alike_none|]. simpl. apply alike_one. now inversion q.
Qed.

Lemma alike_weaker (Q Q' : list A -> Prop) l1 l2 :
  (forall t, Q t -> Q' t) -> alike Q l1 l2 -> alike Q' l1 l2.
Proof.
  intros h (ts & e1 & e2 & q). exists ts. split; [easy|]. split; [easy|]. eapply Forall_impl; eauto.
Qed.

Lemma alike_each (Q Q' : list A -> Prop) g l1 l2 : alike Q l1 l2 ->
  (forall t, Q t -> alike Q' (g (t ++ z1)) (g (t ++ z2))) ->
  alike Q' (flat_map g l1) (flat_map g l2).
Proof.
  intros (ts & -> & -> & q) h. induction q as [|t ts q _ IH]; [apply alike_none|].
  simpl. apply alike_app; auto.
Qed.

(** c consumes neither what z1 nor what z2 begins with. *)
Definition stuck (c : A -> bool) : Prop :=
  match hd_error z1 with Some y => c y = false | None => True end /\
  match hd_error z2 with Some y => c y = false | None => True end.

Definition blind (f : option A -> bool) : Prop := f (hd_error z1) = f (hd_error z2).

(** At z1 and z2 the search is stuck: nothing is consumed, and assertions agree. *)
Lemma ways_at_end r :
  (forall c, In c (firsts r) -> stuck c) -> (forall f, In f (looks r) -> blind f) ->
  alike (fun t => t = [] /\ nullable r = true) (ways r z1) (ways r z2).
Proof.
  induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|greedy c|r IH]; intros hc hf; simpl in *.
  - now apply (alike_one _ []).
  - destruct (hc c) as [s1 s2]; [auto|].
    destruct z1, z2; simpl in *; rewrite ?s1, ?s2; apply alike_none.
  - rewrite <- (hf f) by auto.
    destruct (f (hd_error z1)); [now apply (alike_one _ [])|apply alike_none].
  - eapply alike_each; [apply IH1|]; intros.
    + apply hc, in_or_app. now left.
    + apply hf, in_or_app. now left.
    + destruct H as [-> n1]. rewrite n1 in *. simpl. apply IH2; intros.
      * apply hc, in_or_app. now right.
      * apply hf, in_or_app. now right.
  - apply alike_app; [eapply alike_weaker; [|apply IH1]|eapply alike_weaker; [|apply IH2]];
      try (intros t [-> ->]; split; [easy|]; auto using orb_true_r); intros;
      (apply hc, in_or_app || apply hf, in_or_app); auto.
  - destruct (hc c) as [s1 s2]; [auto|].
    assert (repeated greedy c z1 = [z1]) as ->.
    { destruct z1; simpl in *; [easy|]. now rewrite s1. }
    assert (repeated greedy c z2 = [z2]) as ->.
    { destruct z2; simpl in *; [easy|]. now rewrite s2. }
    now apply (alike_one _ []).
  - now apply alike_first, IH.
Qed.

Variable x : A.

(** What is left ends in x, or nothing is and an atom of [lasts r] consumed x. *)
Definition left_over (r : regex) (t : list A) : Prop :=
  (exists u, t = u ++ [x]) \/ t = [] /\ exists a, In a (lasts r) /\ a x = true.

(** (1) and (2) of the theorem. *)
Definition dead_end (r : regex) : Prop :=
  (forall a b, In (a, b) (follows r) -> a x = true -> stuck b) /\
  (forall a f, In (a, f) (looks_after r) -> a x = true -> blind f).

Lemma repeated_alike greedy c u : (c x = true -> stuck c) ->
  alike (left_over (Star greedy c)) (repeated greedy c ((u ++ [x]) ++ z1))
        (repeated greedy c ((u ++ [x]) ++ z2)).
Proof.
  intros h. induction u as [|a u IH].
  - cbn [app repeated]. destruct (c x) eqn:cx.
    + destruct (h eq_refl) as [s1 s2].
      assert (repeated greedy c z1 = [z1]) as ->.
      { destruct z1; simpl in *; [easy|]. now rewrite s1. }
      assert (repeated greedy c z2 = [z2]) as ->.
      { destruct z2; simpl in *; [easy|]. now rewrite s2. }
      assert (alike (left_over (Star greedy c)) [x :: z1] [x :: z2]) as whole.
      { apply (alike_one _ [x]). left. now exists []. }
      assert (alike (left_over (Star greedy c)) [z1] [z2]) as rest.
      { apply (alike_one _ []). right. split; [easy|]. exists c. now split; [left|]. }
      destruct greedy; [now apply alike_app|]. now apply (alike_app _ [_] [_]).
    + apply (alike_one _ [x]). left. now exists [].
  - rewrite <- !app_comm_cons. cbn [repeated]. destruct (c a).
    + assert (forall z, a :: (u ++ [x]) ++ z = ((a :: u) ++ [x]) ++ z) as e by easy.
      assert (left_over (Star greedy c) ((a :: u) ++ [x])) as whole by (left; now exists (a :: u)).
      destruct greedy; rewrite !e.
      * apply alike_app; [easy|]. now apply alike_one.
      * apply (alike_app _ [_] [_]); [|easy]. now apply alike_one.
    + apply (alike_one _ ((a :: u) ++ [x])). left. now exists (a :: u).
Qed.

(** The two trees of choices are equal, node by node. *)
Lemma ways_alike r u : dead_end r ->
  alike (left_over r) (ways r ((u ++ [x]) ++ z1)) (ways r ((u ++ [x]) ++ z2)).
Proof.
  revert u. induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|greedy c|r IH];
    intros u [hc hf]; simpl in *.
  - apply alike_one. left. now exists u.
  - destruct u as [|a u]; simpl.
    + destruct (c x) eqn:cx; [|apply alike_none]. apply (alike_one _ []). right.
      split; [easy|]. exists c. now split; [left|].
    + destruct (c a); [|apply alike_none]. apply alike_one. left. now exists u.
  - assert (forall z, hd_error ((u ++ [x]) ++ z) = hd_error (u ++ [x])) as h by (now destruct u).
    rewrite !h. destruct (f (hd_error (u ++ [x]))); [|apply alike_none].
    apply alike_one. left. now exists u.
  - assert (dead_end r1 /\ dead_end r2) as [d1 d2].
    { split; split; intros a b i ax; (eapply hc || eapply hf); try exact ax;
        rewrite !in_app_iff; eauto. }
    eapply alike_each; [now apply IH1|].
    intros t [[u' ->]|[-> (a & ia & ax)]].
    + eapply alike_weaker; [|now apply IH2]. intros t [h|[-> (b & ib & bx)]]; [now left|].
      right. split; [easy|]. exists b. simpl. now split; [apply in_or_app; left|].
    + simpl. eapply alike_weaker; [|apply ways_at_end].
      * intros t [-> n2]. right. split; [easy|]. exists a. simpl. rewrite n2.
        now split; [apply in_or_app; right|].
      * intros c ic. apply (hc a c); [|easy]. rewrite !in_app_iff. right; right. now apply in_prod.
      * intros f jf. apply (hf a f); [|easy]. rewrite !in_app_iff. right; right. now apply in_prod.
  - assert (dead_end r1 /\ dead_end r2) as [d1 d2].
    { split; split; intros a b i ax; (eapply hc || eapply hf); try exact ax;
        rewrite !in_app_iff; eauto. }
    apply alike_app; [eapply alike_weaker; [|now apply IH1]|eapply alike_weaker; [|now apply IH2]];
      (intros t [h|[-> (b & ib & bx)]]; [now left|]; right; split; [easy|]; exists b; simpl;
       split; [apply in_or_app; auto|easy]).
  - apply repeated_alike. apply hc. now left.
  - apply alike_first. now apply IH.
Qed.

Lemma match_length_alike r u : dead_end r ->
  match_length r ((u ++ [x]) ++ z1) = match_length r ((u ++ [x]) ++ z2) /\
  forall n, match_length r ((u ++ [x]) ++ z1) = Some n -> n <= length (u ++ [x]).
Proof.
  intros d. unfold match_length. destruct (ways_alike r u d) as (ts & -> & -> & _).
  destruct ts as [|t ts]; simpl; [easy|]. rewrite !(app_length _ z1), !(app_length _ z2). split.
  - f_equal. lia.
  - intros n e. injection e as <-. lia.
Qed.

Lemma gap_alike r u : dead_end r -> gap r z1 = 0 -> gap r z2 = 0 ->
  gap r ((u ++ [x]) ++ z1) = gap r ((u ++ [x]) ++ z2) /\
  gap r ((u ++ [x]) ++ z1) <= length (u ++ [x]).
Proof.
  intros d g1 g2. induction u as [|a u IH].
  - destruct (match_length_alike r [] d) as [e _]. simpl in *. rewrite <- e, g1, g2.
    destruct (match_length r (x :: z1)); auto.
  - destruct (match_length_alike r (a :: u) d) as [e _]. simpl in *. rewrite <- e.
    destruct (match_length r (a :: (u ++ [x]) ++ z1)); lia.
Qed.

(** The first piece of u x z1 is that of u x z2. *)
Lemma first_end_alike r u : dead_end r -> gap r z1 = 0 -> gap r z2 = 0 ->
  first_end r ((u ++ [x]) ++ z1) = first_end r ((u ++ [x]) ++ z2) /\
  first_end r ((u ++ [x]) ++ z1) <= length (u ++ [x]).
Proof.
  intros d g1 g2. unfold first_end. destruct (match_length_alike r u d) as [e le].
  rewrite <- e. destruct (match_length r ((u ++ [x]) ++ z1)) as [n|]; [auto|]. now apply gap_alike.
Qed.
End Behind.

(** ** Theorem 18 *)

(** Theorem 18 (dead pairs). *)
Theorem theorem_18 : forall (r : regex) (x y : A), no_empty_match r ->
  (* 1. no atom that can consume y can directly follow an atom that consumed x *)
  (forall a b, In (a, b) (follows r) -> a x = true -> b y = false) ->
  (* 2. an assertion directly after an atom that consumed x: the same at the end as before y *)
  (forall a f, In (a, f) (looks_after r) -> a x = true -> f None = f (Some y)) ->
  (* 3. covering, or every text that begins with y has a match at its beginning *)
  (covering r \/ forall w, matches r (y :: w)) ->
  safe (first_end r) (eq x) (eq y).
Proof.
  intros r x y ne h1 h2 h3. apply lemma_17; [now apply pattern_restartable|].
  intros u x' y' R <- <-. rewrite <- (app_nil_r (u ++ [x])) at 2.
  apply first_end_alike; [split| |easy].
  - intros a b i ax. split; simpl; [eauto|easy].
  - intros a f i ax. unfold blind. simpl. symmetry. eauto.
  - assert (matches r (y :: R)) as m by (destruct h3 as [h|h]; [now apply h|apply h]).
    unfold matches in m. simpl. now destruct (match_length r (y :: R)).
Qed.

(** (1) and (2) can be computed. *)
Definition dead_pair (r : regex) (x y : A) : bool :=
  forallb (fun '(a, b) => negb (a x && b y)) (follows r) &&
  forallb (fun '(a, f) => negb (a x) || eqb (f None) (f (Some y))) (looks_after r).

Lemma nullable_way r w : In w (ways r w) -> nullable r = true.
Proof.
  revert w. induction r as [|c|f|r1 IH1 r2 IH2|r1 IH1 r2 IH2|greedy c|r IH];
    intros w i; simpl in *; auto.
  - destruct w as [|x w]; [easy|]. destruct (c x); [|easy]. destruct i as [e|[]].
    apply (f_equal (@length A)) in e. simpl in e. lia.
  - apply in_flat_map in i as (t & i1 & i2).
    destruct (ways_suffix _ _ _ i1) as [v ->]. destruct (ways_suffix _ _ _ i2) as [v' e].
    assert (v = [] /\ v' = []) as [-> ->].
    { apply (f_equal (@length A)) in e. rewrite !app_length in e.
      split; apply length_zero_iff_nil; lia. }
    simpl in *. now rewrite (IH1 _ i1), (IH2 _ i2).
  - apply in_app_or in i as [i|i]; [now rewrite (IH1 _ i)|rewrite (IH2 _ i); apply orb_true_r].
  - apply (IH w). destruct (ways r w); [easy|]. destruct i as [<-|[]]. now left.
Qed.

Lemma not_nullable r : nullable r = false -> no_empty_match r.
Proof.
  intros n w e. unfold match_length in e. destruct (ways r w) as [|t l] eqn:ew; [easy|].
  assert (In t (ways r w)) as i by (rewrite ew; now left).
  destruct (ways_suffix _ _ _ i) as [v ->]. injection e as e. rewrite app_length in e.
  replace v with (@nil A) in i by (symmetry; apply length_zero_iff_nil; lia).
  apply nullable_way in i. congruence.
Qed.

Corollary theorem_18_computed : forall (r : regex) (x y : A),
  nullable r = false -> dead_pair r x y = true ->
  (covering r \/ forall w, matches r (y :: w)) -> safe (first_end r) (eq x) (eq y).
Proof.
  intros r x y n d. apply andb_prop in d as [d1 d2]. rewrite forallb_forall in d1, d2.
  apply theorem_18; [now apply not_nullable| |].
  - intros a b i ax. specialize (d1 _ i). simpl in d1. rewrite ax in d1. now destruct (b y).
  - intros a f i ax. specialize (d2 _ i). simpl in d2. rewrite ax in d2. now apply eqb_prop.
Qed.

End Patterns.

Arguments Empty {A}.
Arguments Atom {A}.
Arguments Look {A}.
Arguments Then {A}.
Arguments Or {A}.
Arguments Star {A}.
Arguments Possessive {A}.
Arguments optional {A}.
Arguments plus {A}.
Arguments times {A}.
Arguments alternatives {A}.
Arguments ways {A}.
Arguments match_length {A}.
Arguments first_end {A}.
Arguments no_empty_match {A}.
Arguments covering {A}.
Arguments matches {A}.
Arguments follows {A}.
Arguments looks_after {A}.
Arguments dead_pair {A}.
