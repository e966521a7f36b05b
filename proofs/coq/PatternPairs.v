(** The pairs of one Split, decided, for one character on either side of the cut:
    proofs/40-windows.md, and 41-windows-and-gaps.md for a Split that leaves gaps.

    A pattern is a tree over symbols: numbers of characters that no class of the pattern tells
    apart. The machine is made of the tree by computing; [table_ok] is the checker, [theorem_41] says
    what it proves. *)
From Coq Require Import List Arith Lia Bool.
From Tokpar Require Import Merging Seams PreTokens Patterns.
Import ListNotations.

(** ** Trees *)

Inductive mode := Greedy | Lazy | Possessively.

(** Symbols of a class; what stands next: a symbol of the list, or the end; a class that is repeated
    from [low] to [high] times, without limit if that is None. *)
Inductive tree : Type :=
| Nothing
| One (symbols : list nat)
| Ahead (symbols : list nat) (at_end : bool)
| Seq (t1 t2 : tree)
| Alt (t1 t2 : tree)
| Repeated (symbols : list nat) (low : nat) (high : option nat) (how : mode).

Definition mem (c : nat) (l : list nat) : bool := existsb (Nat.eqb c) l.

(** The trees without counts and possessive repeats: those look at the next symbol instead. *)
Inductive plain : Type :=
| PNil
| POne (l : list nat)
| PAhead (outside : bool) (l : list nat) (at_end : bool)
| PSeq (p1 p2 : plain)
| PAlt (p1 p2 : plain)
| PStar (greedy : bool) (l : list nat).

Fixpoint upto (greedy : bool) (l : list nat) (n : nat) : plain :=
  match n with
  | 0 => PNil
  | S n' =>
      let more := PSeq (POne l) (upto greedy l n') in
      if greedy then PAlt more PNil else PAlt PNil more
  end.
Fixpoint counted (greedy : bool) (l : list nat) (low high : nat) : plain :=
  match low with
  | 0 => upto greedy l high
  | S low' => PSeq (POne l) (counted greedy l low' (high - 1))
  end.

(** A possessive repeat goes on while the class is there. *)
Fixpoint upto_possessive (l : list nat) (n : nat) : plain :=
  match n with
  | 0 => PNil
  | S n' => PAlt (PSeq (POne l) (upto_possessive l n')) (PAhead true l true)
  end.
Fixpoint counted_possessive (l : list nat) (low high : nat) : plain :=
  match low with
  | 0 => upto_possessive l high
  | S low' => PSeq (POne l) (counted_possessive l low' (high - 1))
  end.
Fixpoint at_least (p : plain) (l : list nat) (low : nat) : plain :=
  match low with 0 => p | S low' => PSeq (POne l) (at_least p l low') end.

Fixpoint compile (t : tree) : plain :=
  match t with
  | Nothing => PNil
  | One l => POne l
  | Ahead l e => PAhead false l e
  | Seq t1 t2 => PSeq (compile t1) (compile t2)
  | Alt t1 t2 => PAlt (compile t1) (compile t2)
  | Repeated l low (Some high) Possessively => counted_possessive l low high
  | Repeated l low None Possessively =>
      at_least (PSeq (PStar true l) (PAhead true l true)) l low
  | Repeated l low (Some high) how =>
      counted (match how with Lazy => false | _ => true end) l low high
  | Repeated l low None how => at_least (PStar (match how with Lazy => false | _ => true end) l) l low
  end.

(** ** The machine *)

(** What a remainder may do next: the match ends, or it goes on behind the next symbol. *)
Inductive move : Type := Stop | Go (p : plain).

Definition joined (p k : plain) : plain := match p with PNil => k | _ => PSeq p k end.

(** In the order of the search; None is the end of the text. *)
Fixpoint moves (p : plain) (next : option nat) : list move :=
  match p with
  | PNil => [Stop]
  | POne l => match next with Some c => if mem c l then [Go PNil] else [] | None => [] end
  | PAhead outside l e =>
      if match next with Some c => xorb outside (mem c l) | None => e end then [Stop] else []
  | PSeq p1 p2 =>
      flat_map (fun m => match m with Stop => moves p2 next | Go r => [Go (joined r p2)] end)
               (moves p1 next)
  | PAlt p1 p2 => moves p1 next ++ moves p2 next
  | PStar greedy l =>
      match next with
      | Some c =>
          if mem c l then if greedy then [Go (PStar greedy l); Stop] else [Stop; Go (PStar greedy l)]
          else [Stop]
      | None => [Stop]
      end
  end.

Definition list_same := fix go (l1 l2 : list nat) : bool :=
  match l1, l2 with
  | [], [] => true
  | a :: l1', b :: l2' => (a =? b) && go l1' l2'
  | _, _ => false
  end.
Fixpoint plain_same (p q : plain) : bool :=
  match p, q with
  | PNil, PNil => true
  | POne l, POne l' => list_same l l'
  | PAhead o l e, PAhead o' l' e' => eqb o o' && list_same l l' && eqb e e'
  | PSeq p1 p2, PSeq q1 q2 => plain_same p1 q1 && plain_same p2 q2
  | PAlt p1 p2, PAlt q1 q2 => plain_same p1 q1 && plain_same p2 q2
  | PStar g l, PStar g' l' => eqb g g' && list_same l l'
  | _, _ => false
  end.

(** A state: remainders, the best first; none stands twice. *)
Definition state : Type := list plain.
Fixpoint state_same (x y : state) : bool :=
  match x, y with
  | [], [] => true
  | p :: x', q :: y' => plain_same p q && state_same x' y'
  | _, _ => false
  end.

(** What goes on before the first match, and whether there is one. *)
Fixpoint before_stop (l : list move) : state * bool :=
  match l with
  | [] => ([], false)
  | Stop :: _ => ([], true)
  | Go p :: l' => let (x, h) := before_stop l' in (p :: x, h)
  end.
Fixpoint once (x : state) : state :=
  match x with [] => [] | p :: x' => p :: filter (fun q => negb (plain_same p q)) (once x') end.

Definition all_moves (x : state) (next : option nat) : state * bool :=
  before_stop (flat_map (fun p => moves p next) x).
Definition to (x : state) (c : nat) : state := once (fst (all_moves x (Some c))).
Definition hit (x : state) (next : option nat) : bool := snd (all_moves x next).
Definition read (x : state) (word : list nat) : state := fold_left to word x.

(** ** The checker *)

Definition in_states (x : state) (l : list state) : bool := existsb (state_same x) l.

(** The states reached from those of todo. *)
Fixpoint explore (room size : nat) (seen todo : list state) : list state :=
  match room, todo with
  | 0, _ | _, [] => seen
  | S room', x :: todo' =>
      if in_states x seen then explore room' size seen todo'
      else explore room' size (x :: seen) (map (to x) (List.seq 0 size) ++ todo')
  end.

Definition quiet (size : nat) (x : state) : bool :=
  negb (hit x None) && forallb (fun c => negb (hit x (Some c))) (List.seq 0 size).

(** Less and less of what may be dead, or sure to match. *)
Fixpoint shrink (room : nat) (keep : list state -> state -> bool) (l : list state) : list state :=
  match room with 0 => l | S room' => shrink room' keep (filter (keep l) l) end.
Definition dead_in (size : nat) (l : list state) (x : state) : bool :=
  quiet size x && forallb (fun c => in_states (to x c) l) (List.seq 0 size).
Definition sure_in (size : nat) (l : list state) (x : state) : bool :=
  hit x None && forallb (fun c => hit x (Some c) || in_states (to x c) l) (List.seq 0 size).

Record machine : Type := {
  start : state;
  states : list state;   (* all that are reached *)
  dead : list state;     (* those that never match again *)
  sure : list state      (* those that match, whatever comes *)
}.

Definition machine_of (size : nat) (t : tree) : machine :=
  let x := [compile t] in
  let all := explore (100 * 100) size [] [x] in
  {| start := x; states := all;
     dead := shrink (length all) (dead_in size) all;
     sure := shrink (length all) (sure_in size) all |}.

(** That the sets are what they say. *)
Definition machine_ok (size : nat) (m : machine) : bool :=
  in_states (start m) (states m) &&
  forallb (fun x => forallb (fun c => in_states (to x c) (states m)) (List.seq 0 size)) (states m) &&
  forallb (dead_in size (dead m)) (dead m) &&
  forallb (sure_in size (sure m)) (sure m).

(** That each text has a match at its beginning. *)
Definition covers (size : nat) (m : machine) : bool :=
  forallb (fun c => in_states (to (start m) c) (sure m)) (List.seq 0 size).

(** Whether an attempt in this state before the cut ends its match at the same place in the left part
    and in a text that goes on with [d]. *)
Definition same_at_cut (m : machine) (d : nat) (x : state) : bool :=
  eqb (hit x None) (hit x (Some d)) && in_states (to x d) (dead m).

(** Whether an attempt in this state before the cut goes on over it, and is, behind [d], in the state
    of an attempt that begins at the cut. *)
Definition goes_on (m : machine) (d : nat) (x : state) : bool :=
  hit x None && state_same (to x d) (to (start m) d) && in_states (to x d) (sure m).

(** The cut between the symbols [c] and [d]: the last piece before it ends there, also in a text that
    goes on with [d]; with [glue], it may also go on to where the first piece behind the cut ends. *)
Definition cut_ok (glue : bool) (m : machine) (c d : nat) : bool :=
  forallb (fun x => same_at_cut m d (to x c) || glue && goes_on m d (to x c)) (states m) &&
  (hit (to (start m) c) None || in_states (to (start m) d) (sure m) ||
   glue && in_states (to (start m) d) (dead m)).
Notation pair_ok := (cut_ok false).

(** A table of pairs: for each symbol before the cut, those behind it. *)
Definition table : Type := list (list nat).
Definition holds (pairs : table) (c d : nat) : bool := mem d (nth c pairs []).

Fixpoint nullable_tree (p : plain) : bool :=
  match p with
  | PNil | PAhead _ _ _ | PStar _ _ => true
  | POne _ => false
  | PSeq p1 p2 => nullable_tree p1 && nullable_tree p2
  | PAlt p1 p2 => nullable_tree p1 || nullable_tree p2
  end.

(** No match is empty, and the machine of the tree is what it says. *)
Definition tree_ok (size : nat) (t : tree) : bool :=
  negb (nullable_tree (compile t)) && machine_ok size (machine_of size t).

Definition table_ok (size : nat) (t : tree) (pairs : table) : bool :=
  let m := machine_of size t in
  tree_ok size t && forallb (fun c => forallb (pair_ok m c) (nth c pairs [])) (List.seq 0 (length pairs)).

(** ** What a tree means *)
Section Meaning.
Variable A : Type.
Variable symbol : A -> nat.

Definition among (l : list nat) (a : A) : bool := mem (symbol a) l.
Definition is_next (outside : bool) (l : list nat) (e : bool) (o : option A) : bool :=
  match o with Some a => xorb outside (among l a) | None => e end.

Fixpoint exactly (l : list nat) (low : nat) (r : regex A) : regex A :=
  match low with 0 => r | S low' => Then (Atom (among l)) (exactly l low' r) end.

(** The pattern of the tree in the syntax of Patterns.v. *)
Fixpoint tree_regex (t : tree) : regex A :=
  match t with
  | Nothing => Empty
  | One l => Atom (among l)
  | Ahead l e => Look (is_next false l e)
  | Seq t1 t2 => Then (tree_regex t1) (tree_regex t2)
  | Alt t1 t2 => Or (tree_regex t1) (tree_regex t2)
  | Repeated l low high how =>
      let greedy := match how with Lazy => false | _ => true end in
      let r := match high with
               | Some n => times greedy (among l) low n
               | None => exactly l low (Star greedy (among l))
               end in
      match how with Possessively => Possessive r | _ => r end
  end.

Fixpoint plain_regex (p : plain) : regex A :=
  match p with
  | PNil => Empty
  | POne l => Atom (among l)
  | PAhead outside l e => Look (is_next outside l e)
  | PSeq p1 p2 => Then (plain_regex p1) (plain_regex p2)
  | PAlt p1 p2 => Or (plain_regex p1) (plain_regex p2)
  | PStar greedy l => Star greedy (among l)
  end.
Notation R := plain_regex.

(** *** Compiling changes nothing *)

Lemma flat_map_one (l : list (list A)) : flat_map (fun t => [t]) l = l.
Proof. induction l; simpl; congruence. Qed.

Lemma repeated_some g c (s : list A) : exists t ts, repeated A g c s = t :: ts.
Proof.
  induction s as [|x s (t & ts & e)]; simpl; [eauto|].
  destruct (c x), g; rewrite ?e; simpl; eauto.
Qed.

Lemma possessive_star l s :
  flat_map (ways (Look (is_next true l true))) (repeated A true (among l) s) =
  firstn 1 (repeated A true (among l) s).
Proof.
  induction s as [|x s IH]; [easy|]. cbn [repeated]. destruct (among l x) eqn:c.
  - rewrite flat_map_app, IH. simpl. rewrite c. simpl.
    destruct (repeated_some true (among l) s) as (t & ts & ->). easy.
  - simpl. now rewrite c.
Qed.

Lemma upto_some l n (s : list A) : exists t ts, ways (up_to_times A true (among l) n) s = t :: ts.
Proof.
  revert s. induction n as [|n IH]; intros s; simpl; [eauto|].
  destruct s as [|x s]; simpl; [eauto|]. destruct (among l x); simpl; [|eauto].
  destruct (IH s) as (t & ts & ->). simpl. eauto.
Qed.

Lemma upto_possessive_ways l n s :
  ways (R (upto_possessive l n)) s = firstn 1 (ways (up_to_times A true (among l) n) s).
Proof.
  revert s. induction n as [|n IH]; intros s; [easy|]. simpl.
  destruct s as [|x s]; [easy|]. simpl. destruct (among l x) eqn:c; simpl; [|easy].
  rewrite !app_nil_r, IH. destruct (upto_some l n s) as (t & ts & ->). easy.
Qed.

Lemma counted_possessive_ways l low high s :
  ways (R (counted_possessive l low high)) s =
  firstn 1 (ways (times true (among l) low high) s).
Proof.
  revert high s. induction low as [|low IH]; intros high s; [apply upto_possessive_ways|].
  simpl. destruct s as [|x s]; [easy|]. destruct (among l x); [|easy].
  cbn [flat_map]. now rewrite !app_nil_r, IH.
Qed.

Lemma upto_ways g l n s : ways (R (upto g l n)) s = ways (up_to_times A g (among l) n) s.
Proof.
  revert s. induction n as [|n IH]; intros s; [easy|].
  destruct g; simpl; (destruct s as [|x s]; [easy|]); (destruct (among l x); [|easy]); simpl;
    now rewrite !app_nil_r, IH.
Qed.

Lemma counted_ways g l low high s :
  ways (R (counted g l low high)) s = ways (times g (among l) low high) s.
Proof.
  revert high s. induction low as [|low IH]; intros high s; [apply upto_ways|].
  simpl. destruct s as [|x s]; [easy|]. destruct (among l x); [|easy]. simpl. now rewrite IH.
Qed.

Lemma at_least_ways p l r low s : (forall s, ways (R p) s = ways r s) ->
  ways (R (at_least p l low)) s = ways (exactly l low r) s.
Proof.
  intros h. revert s. induction low as [|low IH]; intros s; [apply h|].
  simpl. destruct s as [|x s]; [easy|]. destruct (among l x); [|easy]. simpl. now rewrite IH.
Qed.

Lemma exactly_possessive l low r s :
  ways (exactly l low (Possessive r)) s = firstn 1 (ways (exactly l low r) s).
Proof.
  revert s. induction low as [|low IH]; intros s; [easy|].
  simpl. destruct s as [|x s]; [easy|]. destruct (among l x); [|easy]. simpl.
  now rewrite !app_nil_r, IH.
Qed.

Lemma compile_ways t s : ways (R (compile t)) s = ways (tree_regex t) s.
Proof.
  revert s. induction t as [|l|l e|t1 IH1 t2 IH2|t1 IH1 t2 IH2|l low high how]; intros s; try easy.
  - simpl. rewrite IH1. apply flat_map_ext. apply IH2.
  - simpl. now rewrite IH1, IH2.
  - destruct high as [high|], how; simpl.
    + apply counted_ways.
    + apply counted_ways.
    + apply counted_possessive_ways.
    + now apply at_least_ways.
    + now apply at_least_ways.
    + change (ways (R (at_least (PSeq (PStar true l) (PAhead true l true)) l low)) s =
              firstn 1 (ways (exactly l low (Star true (among l))) s)).
      rewrite <- exactly_possessive. apply at_least_ways. intros u. apply possessive_star.
Qed.

(** *** A step of the machine is a step of the search *)

Definition done (m : move) (s : list A) : list (list A) :=
  match m, s with
  | Stop, _ => [s]
  | Go p, _ :: s' => ways (R p) s'
  | Go _, [] => []
  end.

Lemma joined_ways p k s : ways (R (joined p k)) s = ways (R (PSeq p k)) s.
Proof. destruct p; simpl; try easy. now rewrite app_nil_r. Qed.

Lemma moves_ways p s :
  ways (R p) s = flat_map (fun m => done m s) (moves p (option_map symbol (hd_error s))).
Proof.
  induction p as [|l|o l e|p1 IH1 p2 IH2|p1 IH1 p2 IH2|g l].
  - easy.
  - destruct s as [|x s]; [easy|]. simpl. unfold among. destruct (mem (symbol x) l); easy.
  - destruct s as [|x s]; simpl; [now destruct e|]. unfold among.
    now destruct (xorb o (mem (symbol x) l)).
  - cbn [R ways moves]. rewrite IH1. generalize (moves p1 (option_map symbol (hd_error s))) as ms.
    intros ms. induction ms as [|[|r] ms IH]; [easy| |]; cbn [flat_map].
    + rewrite !flat_map_app, IH. f_equal. simpl. rewrite app_nil_r. apply IH2.
    + rewrite flat_map_app, IH. simpl. f_equal. destruct s as [|x s]; [easy|]. simpl.
      rewrite joined_ways. reflexivity.
  - simpl. rewrite flat_map_app, IH1, IH2. easy.
  - destruct s as [|x s]; [easy|]. simpl. unfold among.
    destruct (mem (symbol x) l), g; simpl; rewrite ?app_nil_r; easy.
Qed.

(** What is left by the first way of a state. *)
Definition first (x : state) (s : list A) : option (list A) :=
  hd_error (flat_map (fun p => ways (R p) s) x).

Lemma hd_app (l1 l2 l3 : list (list A)) :
  hd_error l2 = hd_error l3 -> hd_error (l1 ++ l2) = hd_error (l1 ++ l3).
Proof. now destruct l1. Qed.

Lemma list_same_spec l1 l2 : list_same l1 l2 = true -> l1 = l2.
Proof.
  revert l2. induction l1 as [|a l1 IH]; intros [|b l2] h; try easy. simpl in h.
  apply andb_prop in h as [h1 h2]. apply Nat.eqb_eq in h1 as ->. f_equal. auto.
Qed.

Lemma plain_same_spec p q : plain_same p q = true -> p = q.
Proof.
  revert q. induction p; intros [] h; simpl in h; try easy;
    repeat match goal with
    | h : _ && _ = true |- _ => apply andb_prop in h as [? ?]
    | h : list_same _ _ = true |- _ => apply list_same_spec in h as ->
    | h : eqb _ _ = true |- _ => apply eqb_prop in h as ->
    end; f_equal; auto.
Qed.

Lemma state_same_spec x y : state_same x y = true -> x = y.
Proof.
  revert y. induction x as [|p x IH]; intros [|q y] h; try easy. simpl in h.
  apply andb_prop in h as [h1 h2]. apply plain_same_spec in h1 as ->. f_equal. auto.
Qed.

Lemma in_states_spec x l : in_states x l = true -> In x l.
Proof.
  intros h. apply existsb_exists in h as (y & i & e). now apply state_same_spec in e as ->.
Qed.

Lemma once_first (f : plain -> list (list A)) x :
  hd_error (flat_map f (once x)) = hd_error (flat_map f x).
Proof.
  induction x as [|p x IH]; [easy|]. simpl. destruct (f p) as [|t l] eqn:e; [|easy]. simpl.
  rewrite <- IH. clear IH.
  assert (flat_map f (filter (fun q => negb (plain_same p q)) (once x)) = flat_map f (once x))
    as ->; [|easy].
  induction (once x) as [|q y IH]; [easy|]. simpl. destruct (plain_same p q) eqn:s; simpl.
  - apply plain_same_spec in s as <-. now rewrite e.
  - now rewrite IH.
Qed.

Lemma before_stop_first l a s :
  hd_error (flat_map (fun m => done m (a :: s)) l) =
  match hd_error (flat_map (fun p => ways (R p) s) (fst (before_stop l))) with
  | Some t => Some t
  | None => if snd (before_stop l) then Some (a :: s) else None
  end.
Proof.
  induction l as [|[|p] l IH]; [easy|easy|]. simpl.
  destruct (before_stop l) as [x h]. simpl in *. destruct (ways (R p) s); [|easy]. exact IH.
Qed.

Lemma before_stop_end l :
  hd_error (flat_map (fun m => done m []) l) = if snd (before_stop l) then Some [] else None.
Proof.
  induction l as [|[|p] l IH]; [easy|easy|]. simpl. destruct (before_stop l) as [x h]. exact IH.
Qed.

Lemma flat_map_moves x s :
  flat_map (fun p => ways (R p) s) x =
  flat_map (fun m => done m s) (flat_map (fun p => moves p (option_map symbol (hd_error s))) x).
Proof.
  induction x as [|p x IH]; [easy|]. simpl. now rewrite flat_map_app, <- IH, <- moves_ways.
Qed.

Lemma first_cons x a s : first x (a :: s) =
  match first (to x (symbol a)) s with
  | Some t => Some t
  | None => if hit x (Some (symbol a)) then Some (a :: s) else None
  end.
Proof.
  unfold first at 1. rewrite flat_map_moves, before_stop_first.
  unfold first, to. rewrite once_first. reflexivity.
Qed.

Lemma first_nil x : first x [] = if hit x None then Some [] else None.
Proof. unfold first. rewrite flat_map_moves. apply before_stop_end. Qed.

(** *** Texts that differ behind v only *)

Notation word := (map symbol).

Lemma read_app x v w : read x (v ++ w) = read (read x v) w.
Proof. apply fold_left_app. Qed.

Lemma first_alike x v y z :
  hit (read x (word v)) None = hit (read x (word v)) (Some (symbol y)) ->
  first (to (read x (word v)) (symbol y)) z = None ->
  first x (v ++ y :: z) = option_map (fun t => t ++ y :: z) (first x v).
Proof.
  revert x. induction v as [|a v IH]; intros x h n; simpl in *.
  - rewrite first_cons, n, first_nil, <- h. now destruct (hit x None).
  - rewrite !first_cons, IH by easy. destruct (first (to x (symbol a)) v); [easy|].
    now destruct (hit x (Some (symbol a))).
Qed.

Lemma first_over x v y z t :
  first (to (read x (word v)) (symbol y)) z = Some t -> first x (v ++ y :: z) = Some t.
Proof.
  revert x. induction v as [|a v IH]; intros x h; simpl in *; rewrite first_cons; [now rewrite h|].
  now rewrite IH.
Qed.

Lemma hit_first x v : hit (read x (word v)) None = true -> first x v = Some [].
Proof.
  revert x. induction v as [|a v IH]; intros x h; simpl in h.
  - now rewrite first_nil, h.
  - now rewrite first_cons, IH.
Qed.

Lemma first_le x v t : first x v = Some t -> length t <= length v.
Proof.
  revert x. induction v as [|a v IH]; intros x; [rewrite first_nil|rewrite first_cons].
  - destruct (hit x None); intros e; [now injection e as <-|easy].
  - destruct (first (to x (symbol a)) v) eqn:f.
    + intros e. injection e as <-. apply IH in f. simpl. lia.
    + destruct (hit x (Some (symbol a))); intros e; [now injection e as <-|easy].
Qed.

Lemma nullable_plain p : nullable_tree p = nullable A (R p).
Proof. induction p; simpl; congruence. Qed.

(** ** The checker is right *)
Section Checked.
Variable size : nat.
Hypothesis small : forall a, symbol a < size.
Variable t : tree.
Variable M : machine.
Hypothesis start_is : start M = [compile t].
Hypothesis fine : machine_ok size M = true.
Hypothesis no_empty : nullable_tree (compile t) = false.
Notation pattern := (tree_regex t).

Lemma in_symbols a : In (symbol a) (List.seq 0 size).
Proof. apply in_seq. specialize (small a). lia. Qed.

Lemma fine_parts :
  In (start M) (states M) /\
  (forall x a, In x (states M) -> In (to x (symbol a)) (states M)) /\
  (forall x, In x (dead M) -> dead_in size (dead M) x = true) /\
  (forall x, In x (sure M) -> sure_in size (sure M) x = true).
Proof.
  unfold machine_ok in fine. apply andb_prop in fine as [f f4]. apply andb_prop in f as [f f3].
  apply andb_prop in f as [f1 f2]. rewrite forallb_forall in f2, f3, f4.
  split; [now apply in_states_spec|]. split; [|easy].
  intros x a i. specialize (f2 x i). rewrite forallb_forall in f2.
  apply in_states_spec, f2, in_symbols.
Qed.

Lemma length_of w : match_length pattern w = option_map (fun u => length w - length u) (first (start M) w).
Proof.
  unfold first. rewrite start_is. simpl. rewrite app_nil_r, compile_ways. unfold match_length.
  now destruct (ways pattern w).
Qed.

Lemma reached x v : In x (states M) -> In (read x (word v)) (states M).
Proof.
  revert x. induction v as [|a v IH]; intros x i; [easy|]. simpl. apply IH.
  now apply fine_parts.
Qed.

Lemma dead_first x w : In x (dead M) -> first x w = None.
Proof.
  revert x. induction w as [|a w IH]; intros x i; pose proof (proj1 (proj2 (proj2 fine_parts)) x i) as d;
    apply andb_prop in d as [q d]; apply andb_prop in q as [q1 q2];
    rewrite forallb_forall in d, q2; apply negb_true_iff in q1.
  - now rewrite first_nil, q1.
  - rewrite first_cons, IH by (apply in_states_spec, d, in_symbols).
    specialize (q2 _ (in_symbols a)). apply negb_true_iff in q2. now rewrite q2.
Qed.

Lemma sure_first x w : In x (sure M) -> first x w <> None.
Proof.
  revert x. induction w as [|a w IH]; intros x i;
    pose proof (proj2 (proj2 (proj2 fine_parts)) x i) as d;
    apply andb_prop in d as [q d]; rewrite forallb_forall in d.
  - now rewrite first_nil, q.
  - rewrite first_cons. specialize (d _ (in_symbols a)). apply orb_prop in d as [d|d].
    + rewrite d. now destruct (first (to x (symbol a)) w).
    + apply in_states_spec in d. apply (IH _) in d. now destruct (first (to x (symbol a)) w).
Qed.

Lemma pattern_no_empty : no_empty_match pattern.
Proof.
  intros w. unfold match_length. rewrite <- compile_ways.
  apply (not_nullable A (R (compile t))). now rewrite <- nullable_plain.
Qed.

Lemma pattern_pieces : ends_first_piece (first_end pattern).
Proof. apply pattern_restartable, pattern_no_empty. Qed.

Lemma dead_start y z : In (to (start M) (symbol y)) (dead M) -> match_length pattern (y :: z) = None.
Proof.
  intros i. pose proof (pattern_no_empty (y :: z)) as ne.
  rewrite length_of, first_cons, dead_first in * by easy.
  destruct (hit (start M) (Some (symbol y))); [|easy]. exfalso. apply ne. simpl. f_equal. lia.
Qed.

(** *** At a cut *)
Section AtCut.
Variable glue : bool.
Variables a b : A.
Variable W : list A.
Hypothesis ok : cut_ok glue M (symbol a) (symbol b) = true.

Lemma match_over u :
  match_length pattern ((u ++ [a]) ++ b :: W) = match_length pattern (u ++ [a]) \/
  glue = true /\ match_length pattern (u ++ [a]) = Some (length (u ++ [a])) /\
  exists n, match_length pattern (b :: W) = Some n /\
            match_length pattern ((u ++ [a]) ++ b :: W) = Some (length (u ++ [a]) + n).
Proof.
  apply andb_prop in ok as [h _]. rewrite forallb_forall in h.
  specialize (h _ (reached _ u (proj1 fine_parts))).
  assert (to (read (start M) (word u)) (symbol a) = read (start M) (word (u ++ [a]))) as e
    by now rewrite map_app, read_app.
  rewrite e in h. apply orb_prop in h as [h|h].
  - left. apply andb_prop in h as [h n]. apply eqb_prop in h. apply in_states_spec in n.
    rewrite !length_of, (first_alike _ _ b W h (dead_first _ W n)).
    destruct (first (start M) (u ++ [a])); [|easy]. simpl. rewrite !app_length. f_equal. lia.
  - right. apply andb_prop in h as [g h]. split; [easy|]. apply andb_prop in h as [h sure].
    apply andb_prop in h as [h same]. apply state_same_spec in same. apply in_states_spec in sure.
    rewrite !length_of, (hit_first _ _ h). split; [simpl; f_equal; lia|].
    destruct (first (to (read (start M) (word (u ++ [a]))) (symbol b)) W) as [v|] eqn:f;
      [|now apply (sure_first _ W) in sure].
    rewrite (first_over _ _ _ _ _ f). rewrite same in f.
    assert (first (start M) (b :: W) = Some v) as f' by now rewrite first_cons, f.
    rewrite f'. exists (length (b :: W) - length v). split; [easy|]. apply first_le in f'.
    rewrite app_length. cbn [option_map]. f_equal. lia.
Qed.

Lemma gap_over u :
  gap A pattern ((u ++ [a]) ++ b :: W) = gap A pattern (u ++ [a]) \/
  glue = true /\ gap A pattern (u ++ [a]) = length (u ++ [a]) /\
  gap A pattern ((u ++ [a]) ++ b :: W) = length (u ++ [a]) + first_end pattern (b :: W).
Proof.
  induction u as [|x u IH].
  - destruct (match_over []) as [e|(g & e1 & n & _ & e2)].
    + simpl in *. rewrite e. destruct (match_length pattern [a]) eqn:none; [now left|].
      apply andb_prop in ok as [_ h]. apply orb_prop in h as [h|h]; [apply orb_prop in h as [h|h]|].
      * pose proof (hit_first (start M) [a] h) as f. rewrite length_of, f in none. easy.
      * left. apply in_states_spec, (sure_first _ W) in h. rewrite (length_of (b :: W)), first_cons.
        now destruct (first (to (start M) (symbol b)) W).
      * right. apply andb_prop in h as [g h]. split; [easy|]. split; [easy|]. unfold first_end.
        simpl. now rewrite (dead_start b W (in_states_spec _ _ h)).
    + left. simpl in *. now rewrite e1, e2.
  - assert (forall w, gap A pattern (x :: w) =
      match match_length pattern (x :: w) with Some _ => 0 | None => S (gap A pattern w) end)
      as step by easy.
    rewrite <- !app_comm_cons, !step.
    destruct (match_over (x :: u)) as [e|(g & e1 & n & _ & e2)]; rewrite <- !app_comm_cons in *.
    + rewrite e. destruct (match_length pattern (x :: u ++ [a])); [now left|].
      destruct IH as [->|(g & -> & ->)]; [now left|]. now right.
    + left. now rewrite e1, e2.
Qed.

(** The first piece of a text that ends in a stays as it is, or goes on to the end of that behind. *)
Lemma end_over u :
  first_end pattern ((u ++ [a]) ++ b :: W) = first_end pattern (u ++ [a]) \/
  glue = true /\ first_end pattern (u ++ [a]) = length (u ++ [a]) /\
  first_end pattern ((u ++ [a]) ++ b :: W) = length (u ++ [a]) + first_end pattern (b :: W).
Proof.
  unfold first_end at 1 2 3 4. destruct (match_over u) as [->|(g & -> & n & e & ->)].
  - destruct (match_length pattern (u ++ [a])); [now left|]. apply gap_over.
  - right. unfold first_end. now rewrite e.
Qed.
End AtCut.
End Checked.

Lemma holds_spec pairs c d : holds pairs c d = true -> c < length pairs /\ In d (nth c pairs []).
Proof.
  unfold holds. intros h. apply existsb_exists in h as (d' & i & e).
  apply Nat.eqb_eq in e as <-. split; [|easy].
  destruct (le_lt_dec (length pairs) c) as [le|lt]; [|easy].
  rewrite nth_overflow in i by easy. easy.
Qed.

Lemma pair_safe size t c d : (forall a, symbol a < size) -> tree_ok size t = true ->
  pair_ok (machine_of size t) c d = true ->
  safe (first_end (tree_regex t)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros small h ok. apply andb_prop in h as [n f]. apply negb_true_iff in n.
  apply lemma_17; [exact (pattern_pieces t n)|]. intros u a b W <- <-.
  destruct (end_over size small t (machine_of size t) eq_refl f n false a b W ok u) as [e|[g _]];
    [exact e|discriminate g].
Qed.

(** Theorem 40, that the checker is right: in a covering Split its two conditions are enough. *)
Theorem theorem_40 : forall (size : nat) (t : tree), (forall a, symbol a < size) ->
  let M := machine_of size t in tree_ok size t = true -> covers size M = true ->
  covering (tree_regex t) /\
  forall c d, c < size -> (forall x, In x (states M) -> same_at_cut M d (to x c) = true) ->
    safe (first_end (tree_regex t)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros size t small. cbv zeta. set (M := machine_of size t). intros ok cov.
  unfold covers in cov. rewrite forallb_forall in cov.
  pose proof (proj2 (andb_prop _ _ ok)) as f. split.
  - intros [|a w] ne; [contradiction|]. unfold matches. rewrite (length_of t M eq_refl), first_cons.
    assert (In (to (start M) (symbol a)) (sure M)) as i
      by (apply in_states_spec, cov, in_seq; specialize (small a); lia).
    apply (sure_first size small M f _ w) in i.
    destruct (first (to (start M) (symbol a)) w); [discriminate|contradiction].
  - intros c d lt h. apply (pair_safe size); [exact small|exact ok|]. fold M.
    apply andb_true_intro. split.
    + apply forallb_forall. intros x i. rewrite (h x i). reflexivity.
    + assert (In (to (start M) c) (sure M)) as i by (apply in_states_spec, cov, in_seq; lia).
      apply (fine_parts size small M f) in i. apply andb_prop in i as [-> _]. reflexivity.
Qed.

(** Theorem 41, that the checker is right: each pair of a table that it accepts is safe, also where
    the Split leaves gaps. *)
Theorem theorem_41 : forall (size : nat) (t : tree) (pairs : table),
  (forall a, symbol a < size) -> table_ok size t pairs = true ->
  ends_first_piece (first_end (tree_regex t)) /\
  forall c d, holds pairs c d = true ->
    safe (first_end (tree_regex t)) (fun a => symbol a = c) (fun a => symbol a = d).
Proof.
  intros size t pairs small h. apply andb_prop in h as [ok w].
  pose proof (proj1 (andb_prop _ _ ok)) as n. apply negb_true_iff in n.
  split; [exact (pattern_pieces t n)|].
  intros c d h. apply (pair_safe size); [exact small|exact ok|]. apply holds_spec in h as [lt i].
  rewrite forallb_forall in w. specialize (w c). rewrite in_seq in w.
  specialize (w (conj (Nat.le_0_l c) lt)). rewrite forallb_forall in w. exact (w d i).
Qed.
End Meaning.

Arguments tree_regex {A}.
