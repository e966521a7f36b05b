(** Patterns in use, for computing, and that the hypotheses of Theorem 18 hold of them: U1 (Theorem 20)
    for gpt2 and cl100k. *)
From Coq Require Import List Arith Lia Bool ZifyBool.
From Coq Require String Ascii.
From Tokpar Require Import Merging Seams PreTokens Patterns.
Import ListNotations.

(** \p{N}{1,3}, greedy or possessive. *)
Definition numbers_1_3 (number : nat -> bool) (possessive : bool) : regex nat :=
  let r := times true number 1 3 in if possessive then Possessive r else r.

Section Families.
(** What is \p{L}, \p{N} and \s to the engine. *)
Variables letter number space : nat -> bool.

Definition newline (c : nat) : bool := (c =? 10) || (c =? 13).
Definition other (c : nat) : bool := negb (space c || letter c || number c).
Definition no_word (c : nat) : bool := negb (newline c || letter c || number c).

(** (?!\S), and the end of the text. *)
Definition no_nonspace : regex nat :=
  Look (fun c => match c with Some c => space c | None => true end).
Definition text_end : regex nat := Look (fun c => match c with Some _ => false | None => true end).

Definition literal (c : nat) : regex nat := Atom (Nat.eqb c).
(** What else the engines match for the small letter c in (?i:c), besides its capital: the long s
    U+017F for s, the Kelvin sign U+212A for k. *)
Definition long_s : nat := 383.
Definition kelvin : nat := 65 * 130 + 40.
Definition folds_to (c x : nat) : bool :=
  (c =? 115) && (x =? long_s) || (c =? 107) && (x =? kelvin).
(** (?i:c) for a small letter c: the letter, the capital 32 places before it, what folds to it. *)
Definition any_case (c : nat) : regex nat :=
  Atom (fun x => (x =? c) || (x =? c - 32) || folds_to c x).
Definition blank : regex nat := optional true (literal 32).

(** 's 't 're 've 'm 'll 'd *)
Definition contractions (spelling : nat -> regex nat) : list (regex nat) :=
  map (fun word => Then (literal 39) (fold_right (fun c r => Then (spelling c) r) Empty word))
      [[115]; [116]; [114; 101]; [118; 101]; [109]; [108; 108]; [100]].

Definition gpt2 : regex nat := alternatives (contractions literal ++
  [ Then blank (plus true letter);
    Then blank (plus true number);
    Then blank (plus true other);
    Then (plus true space) no_nonspace;
    plus true space ]).

Definition cl100k_before : list (regex nat) := contractions any_case ++
  [ Then (optional true (Atom no_word)) (plus true letter) ].
Definition cl100k_after : list (regex nat) :=
  [ Then blank (Then (plus true other) (Star true newline));
    Then (Star true space) (plus true newline);
    Then (plus true space) no_nonspace;
    plus true space ].
Definition cl100k : regex nat :=
  alternatives (cl100k_before ++ numbers_1_3 number false :: cl100k_after).

Definition cl100k_tiktoken_before : list (regex nat) := contractions any_case ++
  [ Then (Possessive (optional true (Atom no_word))) (Possessive (plus true letter)) ].
Definition cl100k_tiktoken_after : list (regex nat) :=
  [ Then blank (Then (Possessive (plus true other)) (Possessive (Star true newline)));
    Then (Possessive (plus true space)) text_end;
    Then (Star true space) (Atom newline);
    Then (plus true space) no_nonspace;
    Atom space ].
Definition cl100k_tiktoken : regex nat :=
  alternatives (cl100k_tiktoken_before ++ numbers_1_3 number true :: cl100k_tiktoken_after).

(** ** What the classes must be like *)

(** "'", the letters of the contractions in both cases, and the two characters that fold to ASCII. *)
Definition contraction_characters : list nat :=
  [39; 115; 116; 114; 101; 118; 109; 108; 100; 83; 84; 82; 69; 86; 77; 76; 68; long_s; kelvin].

Definition sound_classes : Prop :=
  (forall c, letter c = true -> space c = false) /\
  (forall c, number c = true -> space c = false /\ letter c = false) /\
  (forall c, newline c = true -> space c = true) /\ space 32 = true /\
  (forall c, In c contraction_characters -> space c = false /\ number c = false).
Hypothesis sound : sound_classes.

Lemma letter_space c : letter c = true -> space c = false.
Proof. apply sound. Qed.
Lemma number_space c : number c = true -> space c = false.
Proof. apply sound. Qed.
Lemma number_letter c : number c = true -> letter c = false.
Proof. apply sound. Qed.
Lemma newline_space c : newline c = true -> space c = true.
Proof. apply sound. Qed.

Lemma alternative_matches (l : list (regex nat)) (r : regex nat) w t ts :
  In r l -> ways r w = t :: ts -> matches (alternatives l) w.
Proof.
  intros i e. unfold matches, match_length.
  assert (exists t' ts', ways (alternatives l) w = t' :: ts') as (t' & ts' & ->); [|easy].
  induction l as [|r' l IH]; [easy|]. simpl. destruct (ways r' w) as [|t' ts'] eqn:e'.
  - destruct i as [->|i]; [congruence|]. now apply IH.
  - simpl. eauto.
Qed.

Lemma repeated_some greedy (c : nat -> bool) w : exists t ts, repeated nat greedy c w = t :: ts.
Proof.
  induction w as [|x w (t & ts & e)]; simpl; [eauto|].
  destruct (c x), greedy; rewrite ?e; simpl; eauto.
Qed.

Lemma plus_some (c : nat -> bool) x w :
  c x = true -> exists t ts, ways (plus true c) (x :: w) = t :: ts.
Proof.
  intros cx. simpl. rewrite cx. simpl. rewrite app_nil_r. apply repeated_some.
Qed.

Lemma is_contraction c x : In c contraction_characters -> (c =? x) = true -> space x = false.
Proof. intros i e. apply Nat.eqb_eq in e as <-. now apply sound. Qed.

(** That a character is one of a list. *)
Ltac listed := repeat ((left; reflexivity) || right).

Section U1.
Variables x y : nat.
Hypothesis x_nonspace : space x = false.
Hypothesis y_space : space y = true.

Lemma y_letter : letter y = false.
Proof. destruct (letter y) eqn:e; [apply letter_space in e; congruence|easy]. Qed.
Lemma y_number : number y = false.
Proof. destruct (number y) eqn:e; [apply number_space in e; congruence|easy]. Qed.
Lemma y_other : other y = false.
Proof. unfold other. now rewrite y_space. Qed.
Lemma y_contraction c : In c contraction_characters -> (c =? y) = false.
Proof.
  intros i. destruct (c =? y) eqn:e; [|easy]. apply (is_contraction c y i) in e. congruence.
Qed.
Lemma y_contraction' c : In c contraction_characters -> (y =? c) = false.
Proof. rewrite Nat.eqb_sym. apply y_contraction. Qed.
Lemma y_folds c : folds_to c y = false.
Proof.
  unfold folds_to. rewrite 2 y_contraction' by (simpl; tauto). now rewrite !andb_false_r.
Qed.
Lemma x_newline : newline x = false.
Proof. destruct (newline x) eqn:e; [apply newline_space in e; congruence|easy]. Qed.

Ltac dead :=
  intros a b i; unfold contractions, blank, optional, plus in i; cbn -[Nat.eqb folds_to] in i;
  repeat (destruct i as [i|i];
    [apply pair_equal_spec in i as [<- <-]; cbn -[Nat.eqb folds_to];
     rewrite ?y_letter, ?y_number, ?y_other, ?x_nonspace, ?x_newline;
     rewrite ?y_contraction, ?y_contraction' by listed; rewrite ?y_folds;
     (easy || congruence || idtac)|]);
  try contradiction.

(** Theorem 20 for gpt2. *)
Theorem theorem_20_gpt2 : safe (first_end gpt2) (eq x) (eq y).
Proof.
  apply theorem_18.
  - now apply not_nullable.
  - dead.
  - dead.
  - right. intros w. destruct (plus_some space y w y_space) as (t & ts & e).
    eapply alternative_matches; [|exact e]. cbn. tauto.
Qed.

(** Theorem 20 for cl100k: y is no newline. *)
Hypothesis y_newline : newline y = false.

Theorem theorem_20_cl100k : safe (first_end cl100k) (eq x) (eq y).
Proof.
  apply theorem_18.
  - now apply not_nullable.
  - dead.
  - dead.
  - right. intros w. destruct (plus_some space y w y_space) as (t & ts & e).
    eapply alternative_matches; [|exact e]. cbn. tauto.
Qed.

Theorem theorem_20_cl100k_tiktoken : safe (first_end cl100k_tiktoken) (eq x) (eq y).
Proof.
  apply theorem_18.
  - now apply not_nullable.
  - dead.
  - dead.
  - right. intros w. apply (alternative_matches _ (Atom space) _ w []); [cbn; tauto|].
    simpl. now rewrite y_space.
Qed.
End U1.

End Families.

(** ** ASCII, and the two characters that fold to it *)
Definition ascii_letter (c : nat) : bool := (65 <=? c) && (c <=? 90) || (97 <=? c) && (c <=? 122).
Definition ascii_number (c : nat) : bool := (48 <=? c) && (c <=? 57).
Definition ascii_space (c : nat) : bool := (c =? 32) || (9 <=? c) && (c <=? 13).
(** ... and the two letters beyond ASCII that fold to a letter of ASCII. *)
Definition basic_letter (c : nat) : bool := ascii_letter c || (c =? long_s) || (c =? kelvin).

(** There are such classes. *)
Theorem basic_sound : sound_classes basic_letter ascii_number ascii_space.
Proof.
  unfold sound_classes, basic_letter, ascii_letter, ascii_number, ascii_space, newline, long_s, kelvin.
  split; [|split; [|split; [|split]]]; [lia|lia|lia|easy|].
  intros c i. cbn in i. repeat (destruct i as [<-|i]; [easy|]). contradiction.
Qed.

Definition basic_gpt2 : regex nat := gpt2 basic_letter ascii_number ascii_space.
Definition basic_cl100k : regex nat := cl100k basic_letter ascii_number ascii_space.
Definition basic_cl100k_tiktoken : regex nat :=
  cl100k_tiktoken basic_letter ascii_number ascii_space.

(** ** The pages' counterexamples *)
Definition text (s : String.string) : list nat :=
  map Ascii.nat_of_ascii (String.list_ascii_of_string s).
Import String.StringSyntax.
Local Open Scope string_scope.
Notation cut r s := (pieces (first_end r) s).

(** Theorem 14: that p is a boundary of S is not enough. The pattern is ab(?=c)|a|b|c. *)
Definition before_c : regex nat := alternatives
  [ Then (literal 97) (Then (literal 98)
      (Look (fun c => match c with Some c => c =? 99 | None => false end)));
    literal 97; literal 98; literal 99 ].

Example theorem_14_needs_the_left_part :
  cut before_c (text "abc") = [text "ab"; text "c"] /\
  cut before_c (text "ab") = [text "a"; text "b"].
Proof. split; vm_compute; reflexivity. Qed.

(** Theorem 15: a boundary of two parts need not be one of S. *)
Definition newlines : list nat := text "a" ++ [10; 32; 10] ++ text "b".

Example theorem_15_needs_a_boundary_of_S :
  cut basic_cl100k newlines = [text "a"; [10; 32; 10]; text "b"] /\
  cut basic_cl100k (firstn 3 newlines) = [text "a"; [10]; [32]] /\
  cut basic_cl100k (skipn 2 newlines) = [[32; 10]; text "b"].
Proof. repeat split; vm_compute; reflexivity. Qed.

(** Theorem 18, (1). *)
Example theorem_18_needs_dead_pairs :
  cut basic_gpt2 (text "ab") = [text "ab"] /\ dead_pair basic_gpt2 97 98 = false.
Proof. split; vm_compute; reflexivity. Qed.

(** Theorem 18, (2): \s+(?!\S). *)
Example theorem_18_needs_blind_assertions :
  cut basic_gpt2 (text "a  b") = [text "a"; text " "; text " b"] /\
  cut basic_gpt2 (text "a  ") = [text "a"; text "  "].
Proof. split; vm_compute; reflexivity. Qed.

(** Theorem 18, (3): letters only, gaps kept. *)
Example theorem_18_needs_covering :
  let words := plus true ascii_letter in
  cut words (text "a.!b") = [text "a"; text ".!"; text "b"] /\
  dead_pair words 46 33 = true /\ cut words (text "a.") = [text "a"; text "."].
Proof. repeat split; vm_compute; reflexivity. Qed.
