(** Offsets: the places of the tokens in the text. Theorem 53 (the offsets of two parts are those of the
    text, the second ones moved) and Theorem 6.5 (special tokens, truncation and padding, once).
    proofs/53-offsets-compose.md, 6.5-post-processing.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens AddedTokens.
Import ListNotations.

(** An id, and the characters [a, b) of the text that it stands for. *)
Definition token_place : Type := N * nat * nat.
Definition moved (n : nat) (row : list token_place) : list token_place :=
  map (fun '(i, a, b) => (i, n + a, n + b)) row.

Lemma moved_app n u v : moved n (u ++ v) = moved n u ++ moved n v.
Proof. apply map_app. Qed.
Lemma moved_moved k n u : moved k (moved n u) = moved (k + n) u.
Proof. unfold moved. rewrite map_map. apply map_ext. intros [[i a] b]. now rewrite !Nat.add_assoc. Qed.
Lemma moved_0 u : moved 0 u = u.
Proof. unfold moved. rewrite <- (map_id u) at 2. apply map_ext. now intros [[i a] b]. Qed.

(** ** Added tokens and sections *)
Section Places.
Variables space word : N -> bool.
Variable tokens : list added_token.
(** The tokens of a section, with their places in it; whether it is at the start of a text. *)
Variable rest : bool -> text -> list token_place.
Notation parts := (parts space word tokens).
Notation parts_from := (parts_from space word).
Notation parts_until := (parts_until space word).
Notation end_of := (end_of space word).
Notation matches := (matches tokens).
Notation dropped := (dropped word).
Notation start_with := (start_with space).
Notation stop_with := (stop_with space).
Notation section_end := (section_end space word).
Notation a_safe := (a_safe space word tokens).
Notation found_in := (found_in tokens).

Definition part_places (first : bool) (S : text) (p : part) : list token_place :=
  match p with
  | (Some t, a, b) => [(token_id t, a, b)]
  | (None, a, b) => moved a (rest (first && (a =? 0)) (slice S a b))
  end.
Definition places_of_parts (first : bool) (S : text) (ps : list part) : list token_place :=
  concat (map (part_places first S) ps).
(** The tokens of a text with their places. *)
Definition places (first : bool) (S : text) : list token_place := places_of_parts first S (parts S).

Lemma places_app first S ps qs :
  places_of_parts first S (ps ++ qs) = places_of_parts first S ps ++ places_of_parts first S qs.
Proof. unfold places_of_parts. now rewrite map_app, concat_app. Qed.

Lemma places_section first S a b : a <= b ->
  places_of_parts first S (section a b) =
  if a <? b then moved a (rest (first && (a =? 0)) (slice S a b)) else [].
Proof.
  intros le. unfold section. destruct (a <? b); [|easy]. unfold places_of_parts. simpl. apply app_nil_r.
Qed.

Lemma places_token first S t a b :
  places_of_parts first S (token_part t a b) = if a =? b then [] else [(token_id t, a, b)].
Proof. unfold token_part. now destruct (a =? b). Qed.

Section Cut.
Variables L R : text.
Hypothesis safe : a_safe (L ++ R) (length L).
Notation shifted := (shifted L).

Lemma moved_token t a b :
  (if length L + a =? length L + b then [] else [(token_id t, length L + a, length L + b)]) =
  moved (length L) (if a =? b then [] else [(token_id t, a, b)]).
Proof. rewrite eqb_shifted. now destruct (a =? b). Qed.

Lemma left_places first ms : forall from, from <= length L -> found_in L ms ->
  places_of_parts first (L ++ R) (parts_until (L ++ R) from ms) =
  places_of_parts first L (parts_until L from ms) /\
  end_of (L ++ R) from ms = end_of L from ms /\ end_of L from ms <= length L.
Proof.
  induction ms as [|[s t] ms IH]; intros from le h; [easy|].
  destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
  pose proof (occurs_inside _ _ _ o) as inside. simpl. rewrite (dropped_left space word tokens L R safe) by easy.
  destruct (dropped L s t); [now apply IH|].
  rewrite start_left by lia. rewrite (stop_left space word tokens L R safe) by easy.
  destruct (IH (stop_with L s t)) as (e1 & e2 & e3); [apply stop_le, o|easy|].
  split; [|easy]. rewrite !places_app, e1, !places_token. f_equal.
  pose proof (start_le space L from s t le ltac:(lia)).
  unfold section. destruct (from <? start_with L from s t); [|easy].
  unfold places_of_parts. simpl. now rewrite slice_left.
Qed.

Lemma right_places first first' ms : forall from, 0 < from -> found_in R ms ->
  places_of_parts first (L ++ R) (parts_from (L ++ R) (length L + from) (shifted ms)) =
  moved (length L) (places_of_parts first' R (parts_from R from ms)).
Proof.
  assert (forall from b, 0 < from -> places_of_parts first (L ++ R) (section (length L + from) (length L + b)) =
          moved (length L) (places_of_parts first' R (section from b))) as sec.
  { intros from b lt. unfold section.
    replace (length L + from <? length L + b) with (from <? b)
      by (apply eq_true_iff_eq; rewrite !Nat.ltb_lt; lia).
    destruct (from <? b); [|easy]. unfold places_of_parts. cbn [map concat part_places].
    rewrite !app_nil_r, slice_right, moved_moved.
    replace (length L + from =? 0) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (from =? 0) with false by (symmetry; apply Nat.eqb_neq; lia). now rewrite !andb_false_r. }
  induction ms as [|[s t] ms IH]; intros from lt h; unfold AddedTokens.parts_from.
  - simpl. rewrite app_length. now apply sec.
  - destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
    simpl. rewrite (dropped_right space word tokens L R safe) by easy.
    destruct (dropped R s t); [now apply IH|].
    rewrite stop_right. specialize (IH (stop_with R s t) (proj1 (stop_le _ _ _ _ o)) h).
    unfold AddedTokens.parts_from in IH. rewrite <- !app_assoc.
    rewrite !(places_app _ _ (section _ _)), !(places_app _ _ (token_part _ _ _)), !places_token, IH.
    replace (start_with (L ++ R) (length L + from) (length L + s) t)
      with (length L + start_with R from s t).
    + rewrite moved_token, !moved_app. f_equal. now apply sec.
    + pose proof (start_right space word tokens L R safe 0 s t i o ltac:(lia)) as e. unfold AddedTokens.start_with in *.
      destruct (lstrip t); [|easy]. lia.
Qed.

(** The section around the cut is taken in two, the places of its right part moved. *)
Definition parted_places (first : bool) (S : text) (p a b : nat) : Prop :=
  rest (first && (a =? 0)) (slice S a b) =
  rest (first && (a =? 0)) (slice S a p) ++ moved (p - a) (rest true (slice S p b)).

Hypothesis nothing : forall first, rest first [] = [].

Lemma cut_section_places first from b : from <= length L -> from < length L + b ->
  (0 < b -> parted_places first (L ++ R) (length L) from (length L + b)) ->
  places_of_parts first (L ++ R) (section from (length L + b)) =
  places_of_parts first (L ++ R) (section from (length L)) ++
    moved (length L) (places_of_parts true R (section 0 b)).
Proof.
  intros le lt h. rewrite !places_section by lia.
  replace (from <? length L + b) with true by (symmetry; now apply Nat.ltb_lt).
  destruct b as [|b].
  - rewrite Nat.add_0_r in *. replace (from <? length L) with true by (symmetry; now apply Nat.ltb_lt).
    simpl. now rewrite app_nil_r.
  - rewrite h by lia. rewrite <- (slice_right L R 0 (Datatypes.S b)), Nat.add_0_r.
    simpl (if 0 <? _ then _ else _). rewrite moved_app, !moved_moved. f_equal.
    + destruct (from <? length L) eqn:e; [easy|]. apply Nat.ltb_ge in e.
      unfold slice. replace (length L - from) with 0 by lia. simpl firstn. now rewrite nothing.
    + f_equal. lia.
Qed.

Lemma tail_places first from ms : from <= length L -> found_in R ms ->
  (length L < section_end (L ++ R) from (shifted ms) ->
   parted_places first (L ++ R) (length L) from (section_end (L ++ R) from (shifted ms))) ->
  places_of_parts first (L ++ R) (parts_from (L ++ R) from (shifted ms)) =
  places_of_parts first (L ++ R) (section from (length L)) ++
    moved (length L) (places_of_parts true R (parts_from R 0 ms)).
Proof.
  intros le. induction ms as [|[s t] ms IH]; intros h cut; unfold AddedTokens.parts_from in *.
  - simpl in *. rewrite app_length in *. pose proof (proj2 (sides space word tokens L R safe)).
    apply cut_section_places; [lia| |].
    + destruct R; [easy|simpl; lia].
    + intros lt. apply cut. lia.
  - destruct (h s t (or_introl eq_refl)) as [i o]. apply found_tail in h.
    simpl in *. rewrite (dropped_right space word tokens L R safe) in * by easy.
    destruct (dropped R s t); [now apply IH|].
    rewrite (start_right space word tokens L R safe) in * by easy. rewrite stop_right, <- !app_assoc.
    rewrite !(places_app _ _ (section _ _)), !(places_app _ _ (token_part _ _ _)), !places_token, moved_token.
    pose proof (right_places first true ms (stop_with R s t) (proj1 (stop_le _ _ _ _ o)) h) as e.
    unfold AddedTokens.parts_from in e. rewrite e, !moved_app.
    rewrite (app_assoc (places_of_parts first (L ++ R) (section from (length L)))). f_equal.
    set (b := start_with R 0 s t) in *. destruct (Nat.eq_dec from (length L + b)) as [e0|ne].
    + subst from. replace b with 0 by lia. rewrite !places_section by lia.
      rewrite Nat.add_0_r, !Nat.ltb_irrefl. easy.
    + apply cut_section_places; [lia|lia|]. intros lt. apply cut. lia.
Qed.

Lemma cut_places first :
  let from := end_of L 0 (matches L) in
  let b := section_end (L ++ R) from (shifted (matches R)) in
  (length L < b -> parted_places first (L ++ R) (length L) from b) ->
  places first (L ++ R) = places first L ++ moved (length L) (places true R).
Proof.
  intros from b h. unfold places, AddedTokens.parts. rewrite (search_cut space word tokens L R safe).
  fold (shifted (matches R)). rewrite parts_app, places_app.
  destruct (left_places first (matches L) 0) as (e1 & e2 & e3); [lia|intros s t; apply search_occurs|].
  rewrite e1, e2. fold from in e3 |- *. rewrite tail_places; [|easy|intros s t; apply search_occurs|exact h].
  unfold AddedTokens.parts_from at 2. rewrite places_app, <- app_assoc. f_equal. f_equal. fold from.
  rewrite !places_section by easy. now rewrite slice_left.
Qed.
End Cut.

(** Theorem 53, the sections: the offsets of L, then those of R, moved by the length of L. *)
Theorem theorem_53 : forall (S : text) (p : nat), a_safe S p -> (forall first, rest first [] = []) ->
  forall first, (forall a b, In (None, a, b) (parts S) -> a <= p < b -> parted_places first S p a b) ->
  places first S = places first (firstn p S) ++ moved p (places true (skipn p S)).
Proof.
  intros S p safe nothing first h. pose proof (proj1 safe) as le.
  assert (length (firstn p S) = p) as n by (rewrite firstn_length; lia).
  assert (a_safe (firstn p S ++ skipn p S) (length (firstn p S))) as safe' by now rewrite firstn_skipn, n.
  rewrite <- (firstn_skipn p S) at 1. rewrite <- n at 4. apply cut_places; [easy|easy|].
  rewrite firstn_skipn, n. intros lt.
  destruct (left_places _ _ safe' first (matches (firstn p S)) 0) as (_ & e & le');
    [lia|intros s t; apply search_occurs|].
  rewrite firstn_skipn in e. rewrite n in le'.
  pose proof (search_cut _ _ _ _ _ safe') as m. rewrite firstn_skipn in m.
  apply h; [|easy]. unfold AddedTokens.parts. rewrite m, parts_app, e. apply in_or_app. right.
  apply section_listed. fold (shifted (firstn p S) (matches (skipn p S))). lia.
Qed.
End Places.

(** ** Pieces *)

(** The tokens of a piece lie one after the other in it, each as long as [sizes] says; the pieces, one
    after the other, are the section. *)
Section Pieces.
Variable pieces : text -> list text.
Variable model : text -> list (N * nat).    (* the ids of a piece, each with the characters it stands for *)

Fixpoint token_row (from : nat) (row : list (N * nat)) : list token_place :=
  match row with
  | [] => []
  | (i, n) :: row' => (i, from, from + n) :: token_row (from + n) row'
  end.
Fixpoint piece_row (from : nat) (ps : list text) : list token_place :=
  match ps with
  | [] => []
  | w :: ps' => token_row from (model w) ++ piece_row (from + length w) ps'
  end.
Definition section_places (first : bool) (G : text) : list token_place := piece_row 0 (pieces G).

Lemma token_row_moved k row : forall from, token_row (k + from) row = moved k (token_row from row).
Proof.
  induction row as [|[i n] row IH]; intros from; [easy|]. simpl. now rewrite <- Nat.add_assoc, IH.
Qed.
Lemma piece_row_moved k ps : forall from, piece_row (k + from) ps = moved k (piece_row from ps).
Proof.
  induction ps as [|w ps IH]; intros from; [easy|]. simpl.
  now rewrite moved_app, token_row_moved, <- Nat.add_assoc, IH.
Qed.
Lemma piece_row_app ps qs : forall from,
  piece_row from (ps ++ qs) = piece_row from ps ++ moved (from + length (concat ps)) (piece_row 0 qs).
Proof.
  induction ps as [|w ps IH]; intros from; simpl.
  - rewrite <- (piece_row_moved (from + 0)). f_equal. lia.
  - rewrite IH, <- app_assoc, app_length. do 3 f_equal. lia.
Qed.

Hypothesis tiled : forall G, concat (pieces G) = G.
Hypothesis nothing : pieces [] = [].

(** Theorem 53 where the pre-tokenizer is apart: any rule that leaves the pieces of both sides as they
    are, in a text with added tokens. *)
Theorem theorem_53_pieces : forall space word tokens (L R : text),
  a_safe space word tokens (L ++ R) (length L) ->
  (forall l r, l <> [] -> r <> [] -> (exists u, L = u ++ l) -> (exists v, R = r ++ v) ->
    pieces (l ++ r) = pieces l ++ pieces r) ->
  places space word tokens section_places true (L ++ R) =
  places space word tokens section_places true L ++
    moved (length L) (places space word tokens section_places true R).
Proof.
  intros space word tokens L R safe apart.
  rewrite (theorem_53 space word tokens section_places (L ++ R) (length L) safe).
  - rewrite firstn_app, firstn_all, Nat.sub_diag. cbn [firstn]. now rewrite app_nil_r, skipn_app, skipn_all, Nat.sub_diag.
  - intros first. unfold section_places. now rewrite nothing.
  - intros a b _ le. unfold parted_places, section_places.
    assert (slice (L ++ R) a b = skipn a L ++ firstn (b - length L) R) as ->.
    { unfold slice. rewrite skipn_left by lia. rewrite firstn_app, skipn_length.
      rewrite firstn_all2 by (rewrite skipn_length; lia). do 2 f_equal. lia. }
    assert (slice (L ++ R) a (length L) = skipn a L) as -> by (rewrite slice_left by lia; apply slice_from).
    assert (slice (L ++ R) (length L) b = firstn (b - length L) R) as ->.
    { unfold slice. now rewrite skipn_app, skipn_all, Nat.sub_diag. }
    assert (forall l r, length l = length L - a -> pieces (l ++ r) = pieces l ++ pieces r ->
      piece_row 0 (pieces (l ++ r)) = piece_row 0 (pieces l) ++ moved (length L - a) (piece_row 0 (pieces r))) as fine.
    { intros l r n ->. rewrite piece_row_app, tiled, n. easy. }
    apply fine; [now rewrite skipn_length|].
    destruct (skipn a L) as [|x l] eqn:el; [now rewrite nothing|].
    destruct (firstn (b - length L) R) as [|y r] eqn:er; [now rewrite nothing, !app_nil_r|].
    apply apart; [easy|easy| |].
    + exists (firstn a L). now rewrite <- el, firstn_skipn.
    + exists (skipn (b - length L) R). now rewrite <- er, firstn_skipn.
Qed.
End Pieces.

(** ** Post-processing *)

(** What the engine does once to the row of a text: keeps so many ids at most, those at the beginning or
    at the end; puts special tokens around them; pads them on the left or right. *)
Inductive item : Type := Text | Special (i : N).
Record post_processing : Type := {
  limit : option nat;
  keeps_end : bool;
  template : list item;
  fixed : option nat;           (* padded to so many ids; None: the row is the longest of its batch *)
  multiple : nat;               (* this number goes up to a multiple of it, if it is not 0 *)
  pad : N;
  pads_left : bool
}.
Section Finishing.
Variable s : post_processing.
Definition kept (row : list N) : list N :=
  match limit s with
  | None => row
  | Some n => if keeps_end s then skipn (length row - n) row else firstn n row
  end.
Definition framed (row : list N) : list N :=
  flat_map (fun each => match each with Text => row | Special i => [i] end) (template s).
Definition padded_length (n : nat) : nat :=
  let k := match fixed s with Some k => k | None => n end in
  match multiple s with 0 => k | m => if k mod m =? 0 then k else k + (m - k mod m) end.
Definition padded (row : list N) : list N :=
  let padding := repeat (pad s) (padded_length (length row) - length row) in
  if pads_left s then padding ++ row else row ++ padding.
Definition finished (row : list N) : list N := padded (framed (kept row)).

Definition text_once : bool :=
  length (filter (fun each => match each with Text => true | _ => false end) (template s)) =? 1.

(** Theorem 6.5: with the text once in the template, what a row becomes are some padding and special
    tokens, those ids of the row that are kept, and some more. *)
Theorem theorem_6_5 : text_once = true ->
  exists front back : list N, forall row,
    framed (kept row) = front ++ kept row ++ back.
Proof.
  unfold text_once, framed. intros h. apply Nat.eqb_eq in h. revert h.
  induction (template s) as [|[|i] items IH]; simpl; intros h; [easy| |].
  - exists [], (flat_map (fun each => match each with Text => [] | Special i => [i] end) items). intros row.
    simpl. f_equal. injection h as h. clear IH. induction items as [|[|i] items IH]; simpl in *; [easy|easy|].
    now rewrite IH.
  - destruct (IH h) as (front & back & e). exists (i :: front), back. intros row. simpl. now rewrite e.
Qed.

(** Truncation of parts: only ids of the last part that is begun are cut off, and later parts are left
    out. So parts may be encoded until there are enough ids. *)
Theorem truncated_parts : forall n (left right : list N), limit s = Some n ->
  kept (left ++ right) =
  if keeps_end s
  then if n <=? length right then kept right else skipn (length left - (n - length right)) left ++ right
  else if n <=? length left then kept left else left ++ firstn (n - length left) right.
Proof.
  intros n left right e. unfold kept. rewrite e. destruct (keeps_end s).
  - rewrite app_length. destruct (n <=? length right) eqn:le.
    + apply Nat.leb_le in le. rewrite skipn_app, skipn_all2 by lia. simpl. f_equal. lia.
    + apply Nat.leb_gt in le. rewrite skipn_app.
      replace (length left + length right - n - length left) with 0 by lia. simpl. f_equal. f_equal. lia.
  - destruct (n <=? length left) eqn:le.
    + apply Nat.leb_le in le. rewrite firstn_app. replace (n - length left) with 0 by lia. simpl. now rewrite app_nil_r.
    + apply Nat.leb_gt in le. now rewrite firstn_app, firstn_all2 by lia.
Qed.
End Finishing.

(** The page's counterexamples: once for each part is not once for the whole. *)
Definition plain_processing : post_processing := {|
  limit := None; keeps_end := false; template := [Text]; fixed := None; multiple := 0; pad := 0; pads_left := false |}.
Theorem theorem_6_5_needs_each_condition :
  let differs s := if list_eq_dec N.eq_dec (finished s [1; 2]%N) (finished s [1]%N ++ finished s [2]%N) then false else true in
  let p := plain_processing in
  map differs
    [p;
     {| limit := None; keeps_end := false; template := [Special 9; Text]; fixed := None; multiple := 0; pad := 0; pads_left := false |};
     {| limit := Some 1; keeps_end := false; template := [Text]; fixed := None; multiple := 0; pad := 0; pads_left := false |};
     {| limit := None; keeps_end := false; template := [Text]; fixed := Some 3; multiple := 0; pad := 0; pads_left := false |};
     {| limit := None; keeps_end := false; template := [Text; Text]; fixed := None; multiple := 0; pad := 0; pads_left := false |}]
  = [false; true; true; true; true] /\
  text_once p = true /\
  finished {| limit := Some 2; keeps_end := true; template := [Special 9; Text]; fixed := None; multiple := 4; pad := 0; pads_left := true |}
    [1; 2; 3]%N = [0; 9; 2; 3]%N.
Proof. vm_compute. repeat split; reflexivity. Qed.

(** Theorem 53 needs a cut that leaves the pieces alone: "ab" is one piece of two characters. *)
Theorem theorem_53_needs_each_condition :
  let one (w : text) := match w with [] => [] | _ => [w] end in
  let model (w : text) := [(N.of_nat (length w), length w)] in
  let O := places (fun _ => false) (fun _ => false) [] (section_places one model) true in
  O [97; 98]%N = [(2%N, 0, 2)] /\ O [97]%N ++ moved 1 (O [98]%N) = [(1%N, 0, 1); (1%N, 1, 2)] /\
  O [97]%N ++ O [98]%N = [(1%N, 0, 1); (1%N, 0, 1)].
Proof. vm_compute. repeat split; reflexivity. Qed.
