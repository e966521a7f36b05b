(** Patterns and their backtracking search, and the pre-tokenizer that is made of one. *)
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

(** Whether nothing may be consumed; an assertion is taken to hold. *)
Fixpoint nullable (r : regex) : bool :=
  match r with
  | Empty | Look _ | Star _ _ => true
  | Atom _ => false
  | Then r1 r2 => nullable r1 && nullable r2
  | Or r1 r2 => nullable r1 || nullable r2
  | Possessive r1 => nullable r1
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

(** ** No empty match *)

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
