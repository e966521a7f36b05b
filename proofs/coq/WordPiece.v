(** WordPiece: longest match first, the limit, the unknown word; what level model does for it:
    Theorem 33, proofs/33-wordpiece-ids-by-file.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging Seams PreTokens Ids Pairs.
Import ListNotations.

(** ** The row of a word *)
Section Word.
Variable A : Type.
(** The id of a token, or none. *)
Variable id_of : list A -> option N.
(** Begins all tokens of a word but the first. *)
Variable prefix : list A.
(** The most characters of a word, and the id of a word without tokens. *)
Variable limit : nat.
Variable unknown : N.

(** Of the first k, k - 1, ..., 1 characters of w, behind [front], the first that are a token: its
    id, and how many characters. *)
Fixpoint longest (front w : list A) (k : nat) : option (N * nat) :=
  match k with
  | 0 => None
  | S k' =>
      match id_of (front ++ firstn k w) with Some i => Some (i, k) | None => longest front w k' end
  end.

(** The tokens of w, or None if a step finds none. [reach]: how many characters of so many are
    tried. |w| is room enough. *)
Fixpoint match_within (room : nat) (reach : nat -> nat) (front w : list A) : option (list N) :=
  match w, room with
  | [], _ => Some []
  | _, 0 => None
  | _, S room' =>
      match longest front w (reach (length w)) with
      | Some (i, k) => option_map (cons i) (match_within room' reach prefix (skipn k w))
      | None => None
      end
  end.

Definition row_of_word (reach : nat -> nat) (w : list A) : list N :=
  if limit <? length w then [unknown]
  else match match_within (length w) reach [] w with Some row => row | None => [unknown] end.

(** The ids of a word as the engine gives them: all characters that are left are tried. *)
Definition word_ids : list A -> list N := row_of_word (fun n => n).

(** *** The sentence of the page *)

(** The first k characters of w, behind [front], are the token i, and no more of them are one. *)
Definition is_longest (front w : list A) (i : N) (k : nat) : Prop :=
  1 <= k <= length w /\ id_of (front ++ firstn k w) = Some i /\
  forall j, k < j <= length w -> id_of (front ++ firstn j w) = None.

(** From the start on, again and again the longest token; behind the first with the prefix. *)
Inductive matches : list A -> list A -> list N -> Prop :=
| matches_end front : matches front [] []
| matches_next front w i k row :
    is_longest front w i k -> matches prefix (skipn k w) row -> matches front w (i :: row).

Lemma longest_spec front w n : n <= length w ->
  match longest front w n with
  | Some (i, k) => 1 <= k <= n /\ id_of (front ++ firstn k w) = Some i /\
      forall j, k < j <= n -> id_of (front ++ firstn j w) = None
  | None => forall j, 1 <= j <= n -> id_of (front ++ firstn j w) = None
  end.
Proof.
  induction n as [|n IH]; intros le; [intros j h; lia|]. cbn [longest].
  destruct (id_of (front ++ firstn (S n) w)) as [i|] eqn:e; [repeat split; easy || lia|].
  specialize (IH ltac:(lia)). destruct (longest front w n) as [[i k]|].
  - destruct IH as (h & ei & none). repeat split; try easy; try lia. intros j hj.
    destruct (Nat.eq_dec j (S n)) as [->|ne]; [easy|]. apply none. lia.
  - intros j hj. destruct (Nat.eq_dec j (S n)) as [->|ne]; [easy|]. apply IH. lia.
Qed.

Lemma is_longest_unique front w i k i' k' :
  is_longest front w i k -> is_longest front w i' k' -> i = i' /\ k = k'.
Proof.
  intros (h & e & none) (h' & e' & none'). assert (k = k') as <-.
  { destruct (Nat.lt_trichotomy k k') as [lt|[eq|gt]]; [|easy|].
    - rewrite none in e' by lia. easy.
    - rewrite none' in e by lia. easy. }
  rewrite e in e'. now injection e' as ->.
Qed.

Lemma match_within_spec room front w row : length w <= room ->
  (match_within room (fun n => n) front w = Some row <-> matches front w row).
Proof.
  revert front w row. induction room as [|room IH]; intros front w row le.
  - destruct w; [|simpl in le; lia]. simpl. split; [intros e; injection e as <-; constructor|].
    intros h. inversion h as [|? ? ? ? ? (k & _)]; subst; [easy|]. simpl in k. lia.
  - destruct w as [|a w].
    { simpl. split; [intros e; injection e as <-; constructor|].
      intros h. inversion h as [|? ? ? ? ? (k & _)]; subst; [easy|]. simpl in k. lia. }
    set (v := a :: w) in *. pose proof (longest_spec front v (length v) (le_n _)) as spec.
    assert (match_within (S room) (fun n => n) front v =
      match longest front v (length v) with
      | Some (i, k) => option_map (cons i) (match_within room (fun n => n) prefix (skipn k v))
      | None => None
      end) as -> by easy.
    destruct (longest front v (length v)) as [[i k]|].
    + assert (length (skipn k v) <= room) as le' by (rewrite skipn_length; lia).
      split.
      * destruct (match_within room _ prefix (skipn k v)) as [r|] eqn:e; [|easy].
        intros h. injection h as <-. apply (matches_next front v i k r spec). now apply IH.
      * intros h. inversion h as [|? ? i' k' r spec' next]; subst.
        destruct (is_longest_unique _ _ _ _ _ _ spec spec') as [<- <-].
        apply (IH prefix _ r le') in next. now rewrite next.
    + split; [easy|]. intros h. inversion h as [|? ? i k r (hk & e & _)]; subst.
      rewrite (spec k hk) in e. easy.
Qed.

(** The row of a word: the longest token first, again and again; [unknown] alone if the word has
    more than [limit] characters, or if no row of longest tokens reaches its end. *)
Theorem longest_match_first : forall (w : list A) (row : list N), word_ids w = row <->
  length w <= limit /\ matches [] w row \/
  (limit < length w \/ ~ exists r, matches [] w r) /\ row = [unknown].
Proof.
  intros w row. unfold word_ids, row_of_word.
  assert (forall r, match_within (length w) (fun n => n) [] w = Some r <-> matches [] w r) as spec
    by (intros r; now apply match_within_spec).
  destruct (Nat.ltb_spec limit (length w)) as [lt|le].
  - split; [intros <-; right; auto|]. intros [[h _]|[_ ->]]; [lia|easy].
  - destruct (match_within (length w) (fun n => n) [] w) as [r|] eqn:e.
    + assert (matches [] w r) as m by now apply spec.
      split; [intros <-; auto|]. intros [[_ h]|[[h|h] _]]; [|lia|destruct h; eauto].
      apply spec in h. congruence.
    + assert (~ exists r, matches [] w r) as no.
      { intros [r m]. apply spec in m. discriminate. }
      split; [intros <-; right; auto|]. intros [[_ h]|[_ ->]]; [destruct no; eauto|easy].
Qed.

Lemma word_ids_nil : word_ids [] = [].
Proof. unfold word_ids, row_of_word. simpl. now destruct limit. Qed.

(** *** The row that the checker makes *)

(** It tries no more characters than the longest token has. *)
Definition checker_row (most : nat) : list A -> list N := row_of_word (Nat.min most).

Lemma longest_none front w n d :
  (forall j, n < j <= n + d -> id_of (front ++ firstn j w) = None) ->
  longest front w (n + d) = longest front w n.
Proof.
  induction d as [|d IH]; intros h; [now rewrite Nat.add_0_r|]. rewrite Nat.add_succ_r. cbn [longest].
  rewrite h by lia. apply IH. intros j hj. apply h. lia.
Qed.

Lemma longest_reach most front w : (forall t i, id_of t = Some i -> length t <= most) ->
  longest front w (Nat.min most (length w)) = longest front w (length w).
Proof.
  intros short. destruct (Nat.le_ge_cases (length w) most) as [le|ge].
  - now rewrite Nat.min_r.
  - rewrite Nat.min_l by easy. pose proof (longest_none front w most (length w - most)) as none.
    replace (most + (length w - most)) with (length w) in none by lia.
    symmetry. apply none. intros j hj.
    destruct (id_of (front ++ firstn j w)) as [i|] eqn:e; [|easy].
    apply short in e. rewrite app_length, firstn_length in e. lia.
Qed.

(** The row of the checker is the engine's. *)
Theorem checker_row_right : forall most : nat,
  (forall t i, id_of t = Some i -> length t <= most) ->
  forall w : list A, checker_row most w = word_ids w.
Proof.
  intros most short w. unfold checker_row, word_ids, row_of_word.
  destruct (limit <? length w); [easy|].
  enough (forall room front v, match_within room (Nat.min most) front v =
                               match_within room (fun n => n) front v) as -> by easy.
  clear w. intros room. induction room as [|room IH]; intros front v; [now destruct v|].
  destruct v as [|a v]; [easy|]. cbn [match_within]. rewrite longest_reach by easy.
  destruct (longest front (a :: v) (length (a :: v))) as [[i k]|]; [|easy]. now rewrite IH.
Qed.

(** ** Level model: the words of a text, each with its row *)

(** Whatever the pre-tokenizer: accepted ids are those of the words one by one, and these are
    accepted. *)
Theorem theorem_33_words : forall (most : nat),
  (forall t i, id_of t = Some i -> length t <= most) ->
  forall (words : list (list A)) (ids : list N),
    rows_ok (checker_row most) words ids = true <-> ids = concat (map word_ids words).
Proof.
  intros most short words ids. rewrite rows_ok_spec.
  now rewrite (map_ext _ _ (checker_row_right most short)).
Qed.
End Word.

Arguments word_ids {A}.
Arguments checker_row {A}.
Arguments row_of_word {A}.

(** ** The words of a text *)
Section Words.
Variable A : Type.
(** What the pre-tokenizer removes, and what it makes a word of its own. *)
Variable white isolated : A -> bool.
Definition stops (c : A) : bool := white c || isolated c.

(** BertPreTokenizer; WhitespaceSplit isolates nothing. *)
Definition is_blank (w : list A) : bool := match w with [c] => white c | _ => false end.
Definition bert_words (S : list A) : list (list A) :=
  filter (fun w => negb (is_blank w)) (pair_pieces A (bert_parts A stops) S).

(** A cut behind or before what stops a word leaves the words as they are, whatever the model. *)
Theorem bert_words_cut : forall l r : list A,
  (exists u x, l = u ++ [x] /\ stops x = true) \/ (exists y v, r = y :: v /\ stops y = true) ->
  bert_words (l ++ r) = bert_words l ++ bert_words r.
Proof.
  intros l r h. unfold bert_words. rewrite <- filter_app. f_equal.
  destruct r as [|y r]; [now rewrite !app_nil_r|].
  destruct l as [|a l _] using rev_ind; [easy|].
  rewrite <- app_assoc. apply pairs_part. unfold bert_parts.
  destruct h as [(u & x & e & s)|(z & v & e & s)].
  - apply app_inj_tail in e as [_ ->]. now rewrite s.
  - injection e as -> _. rewrite s. apply orb_true_r.
Qed.

(** As the engine has it: a run of white space is one piece, which is removed. The words are the same. *)
Definition engine_words (S : list A) : list (list A) :=
  filter (fun w => match w with c :: _ => negb (white c) | [] => true end)
    (pair_pieces A (fun x y => isolated x || isolated y || xorb (white x) (white y)) S).

Theorem engine_words_same : forall S : list A, engine_words S = bert_words S.
Proof.
  intros S. unfold engine_words, bert_words.
  set (parts := fun x y => isolated x || isolated y || xorb (white x) (white y)).
  set (keeps := fun w : list A => match w with c :: _ => negb (white c) | [] => true end).
  set (kept := fun w => negb (is_blank w)).
  enough (forall S, filter keeps (pair_pieces A parts S) = filter kept (pair_pieces A (bert_parts A stops) S) /\
            match S with
            | [] => True
            | y :: _ => if white y then True else
                hd [] (pair_pieces A parts S) = hd [] (pair_pieces A (bert_parts A stops) S)
            end) as h by apply h.
  clear S. induction S as [|x [|y S] [IH same]]; [easy|unfold keeps, kept; simpl; now destruct (white x)|].
  rewrite !pair_pieces_cons.
  destruct (pair_pieces_some A parts y S) as (v & vs & ep).
  destruct (pair_pieces_some A (bert_parts A stops) y S) as (w & ws & eq).
  rewrite ep, eq in *. replace (parts x y) with (isolated x || isolated y || xorb (white x) (white y)) by easy.
  unfold bert_parts at 1 2, stops. unfold keeps, kept in *. simpl in *.
  destruct (white x) eqn:wx, (white y) eqn:wy, (isolated x) eqn:ix, (isolated y) eqn:iy; simpl;
    rewrite ?wx, ?wy in *; simpl in *; split; try easy; try congruence. injection same as ->.
  destruct w; simpl in IH; injection IH as ->; reflexivity.
Qed.

Lemma pieces_joined S : forallb (fun c => negb (stops c)) S = true ->
  pair_pieces A (bert_parts A stops) S = match S with [] => [] | _ => [S] end.
Proof.
  induction S as [|x [|y S] IH]; [easy|easy|]. intros h. apply andb_prop in h as [hx h].
  rewrite pair_pieces_cons, (IH h). unfold bert_parts. apply andb_prop in h as [hy _].
  destruct (stops x), (stops y); easy.
Qed.

Lemma words_joined S : forallb (fun c => negb (stops c)) S = true ->
  bert_words S = match S with [] => [] | _ => [S] end.
Proof.
  intros h. unfold bert_words. rewrite pieces_joined by easy.
  destruct S as [|x [|y S]]; [easy| |easy]. simpl in *. unfold stops in h. now destruct (white x).
Qed.
End Words.

Arguments stops {A}.
Arguments is_blank {A}.
Arguments bert_words {A}.

(** ** What the checker knows of characters *)

(** Between words; a part of a word; a word by itself; not known. *)
Inductive kind : Type := Space | Word | Single | Unknown.

Section Kinds.
Variable A : Type.
Variable equal : forall a b : A, {a = b} + {a <> b}.
Variable white isolated : A -> bool.
(** What the normalizer makes of a character. *)
Variable normal : A -> list A.
(** The checker's table: the kind of a character, and its form. *)
Variable kind_of : A -> kind * list A.

Notation stops := (stops white isolated).

(** The table says of a character what normalizer and pre-tokenizer do. *)
Definition fits (c : A) : bool :=
  match kind_of c, normal c with
  | (Space, _), x :: w => forallb white (x :: w)
  | (Word, form), w =>
      (if list_eq_dec equal w form then true else false) && forallb (fun x => negb (stops x)) form
  | (Single, [x]), [y] => (if equal x y then true else false) && negb (white x) && isolated x
  | (Single, [x]), [s; y; t] =>
      (if equal x y then true else false) && negb (white x) && white s && white t
  | _, _ => false
  end.
Definition known (c : A) : bool := match fst (kind_of c) with Unknown => false | _ => true end.

Definition blank (c : A) : bool := match fst (kind_of c) with Space => true | _ => false end.
Definition single (c : A) : bool := match fst (kind_of c) with Single => true | _ => false end.
Definition form (c : A) : list A := snd (kind_of c).

(** The words that the checker cuts out of the text, and what each is behind the normalizer. *)
Definition kind_words (S : list A) : list (list A) :=
  map (flat_map form) (bert_words blank single S).

Lemma stop_form c : fits c = true -> WordPiece.stops blank single c = true ->
  exists x v, normal c = x :: v /\ stops x = true /\
  exists u y, normal c = u ++ [y] /\ stops y = true.
Proof.
  intros fc sc. unfold fits, WordPiece.stops, blank, single in *.
  destruct (kind_of c) as [[] f]; try easy; simpl in sc.
  - destruct (normal c) as [|x v]; [easy|]. exists x, v. rewrite forallb_forall in fc.
    split; [easy|]. split; [now rewrite fc by now left|].
    destruct (exists_last (l := x :: v)) as (u & y & e); [easy|]. exists u, y. split; [easy|].
    rewrite fc; [easy|]. rewrite e. apply in_elt.
  - destruct f as [|x [|? ?]]; try easy. destruct (normal c) as [|s [|y [|t [|? ?]]]]; try easy.
    + apply andb_prop in fc as [fc i]. destruct (equal x s) as [->|]; [|easy].
      exists s, []. rewrite i, orb_true_r. repeat split.
      exists [], s. now rewrite i, orb_true_r.
    + apply andb_prop in fc as [fc wt]. apply andb_prop in fc as [_ ws].
      exists s, [y; t]. rewrite ws. repeat split. exists [s; y], t. now rewrite wt.
Qed.

Lemma stop_alone (encode : list A -> list N) c :
  fits c = true -> WordPiece.stops blank single c = true ->
  concat (map encode (bert_words white isolated (flat_map normal [c]))) =
  concat (map encode (kind_words [c])).
Proof.
  intros fc sc. unfold kind_words, bert_words. simpl. rewrite app_nil_r.
  unfold fits, WordPiece.stops, blank, single, form in *.
  destruct (kind_of c) as [[] f] eqn:k; try easy; simpl in sc.
  - simpl. rewrite ?k. simpl.
    enough (forall S, forallb white S = true ->
      filter (fun w => negb (is_blank white w)) (pair_pieces A (bert_parts A stops) S) = []) as h.
    { rewrite h; [easy|]. now destruct (normal c). }
    clear. induction S as [|x [|y S] IH]; [easy| |]; intros h; simpl in h.
    + simpl. now destruct (white x).
    + apply andb_prop in h as [hx h]. rewrite pair_pieces_cons. unfold bert_parts at 1.
      unfold WordPiece.stops at 1. rewrite hx. simpl. rewrite hx. now apply IH.
  - destruct f as [|x [|? ?]]; try easy. destruct (normal c) as [|s [|y [|t [|? ?]]]]; try easy.
    + simpl in *. rewrite ?k. simpl. destruct (equal x s) as [->|]; [|easy].
      simpl in fc. apply andb_prop in fc as [n _]. now rewrite n.
    + destruct (equal x y) as [->|]; [|easy]. apply andb_prop in fc as [fc wt].
      apply andb_prop in fc as [n ws]. simpl in n.
      simpl. rewrite ?k. unfold bert_parts, WordPiece.stops. rewrite ws, wt, orb_true_r. simpl.
      rewrite ws, wt, n. simpl. rewrite ?k; easy.
Qed.

Lemma run_forms w : forallb fits w = true ->
  forallb (fun c => negb (WordPiece.stops blank single c)) w = true ->
  flat_map normal w = flat_map form w /\
  forallb (fun x => negb (stops x)) (flat_map form w) = true.
Proof.
  induction w as [|c w IH]; [easy|]. simpl. intros fw alone.
  apply andb_prop in fw as [fc fw]. apply andb_prop in alone as [ac alone].
  destruct (IH fw alone) as [-> j]. rewrite forallb_app, j.
  unfold fits, WordPiece.stops, blank, single, form in *.
  destruct (kind_of c) as [[] f]; try easy.
  simpl in *. apply andb_prop in fc as [e ->]. now destruct (list_eq_dec equal (normal c) f) as [->|].
Qed.

(** A cut before or behind a space or a word of its own leaves the words of the normalized text. *)
Theorem kind_cut : forall (l r : list A) (c : A),
  fits c = true -> WordPiece.stops blank single c = true ->
  let words S := bert_words white isolated (flat_map normal S) in
  words (l ++ c :: r) = words l ++ words (c :: r) /\ words (c :: r) = words [c] ++ words r.
Proof.
  intros l r c fc sc words. unfold words.
  destruct (stop_form c fc sc) as (x & v & e & sx & u & y & e' & sy).
  rewrite flat_map_app. simpl. rewrite app_nil_r. split.
  - apply bert_words_cut. right. exists x, (v ++ flat_map normal r). now rewrite e.
  - apply bert_words_cut. left. now exists u, y.
Qed.

(** The ids of the words of the normalized text are those of the checker's words. *)
Theorem theorem_33_kinds : forall encode : list A -> list N, encode [] = [] ->
  forall S : list A, forallb fits S = true ->
    concat (map encode (bert_words white isolated (flat_map normal S))) =
    concat (map encode (kind_words S)).
Proof.
  intros encode nil S fit.
  set (left S := concat (map encode (bert_words white isolated (flat_map normal S)))).
  set (right S := concat (map encode (kind_words S))).
  enough (forall w, forallb fits w = true ->
            forallb (fun c => negb (WordPiece.stops blank single c)) w = true ->
            left (w ++ S) = right (w ++ S)) as h by exact (h [] eq_refl eq_refl).
  assert (forall w, forallb fits w = true ->
            forallb (fun c => negb (WordPiece.stops blank single c)) w = true ->
            left w = right w) as run.
  { intros w fw alone. unfold left, right, kind_words. rewrite (words_joined _ _ _ _ alone).
    destruct (run_forms w fw alone) as [-> joined]. rewrite (words_joined _ _ _ _ joined).
    destruct w as [|c w]; [easy|].
    destruct (flat_map form (c :: w)) as [|x v] eqn:e; simpl in *; now rewrite e, ?nil. }
  induction S as [|c S IH]; intros w fw alone; [rewrite app_nil_r; now apply run|].
  simpl in fit. apply andb_prop in fit as [fc fS]. specialize (IH fS).
  destruct (WordPiece.stops blank single c) eqn:sc.
  - assert (left (w ++ c :: S) = left w ++ left [c] ++ left S) as ->.
    { unfold left. destruct (kind_cut w S c fc sc) as [-> ->]. now rewrite !map_app, !concat_app. }
    assert (right (w ++ c :: S) = right w ++ right [c] ++ right S) as ->.
    { unfold right, kind_words. rewrite bert_words_cut by (right; now exists c, S).
      change (c :: S) with ([c] ++ S). rewrite bert_words_cut by (left; now exists [], c).
      now rewrite !map_app, !concat_app. }
    rewrite (run w fw alone), (IH [] eq_refl eq_refl : left S = right S). f_equal. f_equal.
    now apply stop_alone.
  - replace (w ++ c :: S) with ((w ++ [c]) ++ S) by now rewrite <- app_assoc.
    apply IH; rewrite forallb_app; simpl; now rewrite ?fw, ?fc, ?alone, ?sc.
Qed.

End Kinds.

Arguments fits {A}.
Arguments known {A}.
Arguments kind_words {A}.

(** ** Level model, from the file *)

(** A WordPiece tokenizer. [white_of], [isolated_of] and [normal_of] are what the engine does;
    [kinds_of] is what the checker knows. *)
Record word_facts : Type := {
  tokens_of : list (list N * N);                  (* code points and ids *)
  unknown_id : N;
  word_prefix : list N;
  word_limit : nat;
  white_of : N -> bool;
  isolated_of : N -> bool;
  normal_of : N -> list N;
  kinds_of : N -> kind * list N
}.

Definition id_of_token (V : list (list N * N)) (t : list N) : option N :=
  option_map snd (find (fun e => if list_eq_dec N.eq_dec (fst e) t then true else false) V).
Definition longest_token (V : list (list N * N)) : nat :=
  fold_right (fun e n => Nat.max (length (fst e)) n) 0 V.

Section Facts.
Variable f : word_facts.

(** The pre-tokenizer, the model, and the ids of a text: T. *)
Definition words_of (S : list N) : list (list N) := bert_words (white_of f) (isolated_of f) S.
Definition ids_of_word : list N -> list N :=
  word_ids (id_of_token (tokens_of f)) (word_prefix f) (word_limit f) (unknown_id f).
Definition wordpiece_ids (S : list N) : list N :=
  concat (map ids_of_word (words_of (flat_map (normal_of f) S))).

(** Level model: all characters are known, and the ids are the rows of the words. *)
Definition check_wordpiece (S : list N) (ids : list N) : bool :=
  forallb (known (kinds_of f)) S &&
  rows_ok (checker_row (id_of_token (tokens_of f)) (word_prefix f) (word_limit f) (unknown_id f)
             (longest_token (tokens_of f)))
          (kind_words (kinds_of f) S) ids.

(** The frozen table is right about the characters of the text that it knows. *)
Definition table_right (S : list N) : Prop := forall c, In c S -> known (kinds_of f) c = true ->
  fits N.eq_dec (white_of f) (isolated_of f) (normal_of f) (kinds_of f) c = true.

Lemma token_short t i :
  id_of_token (tokens_of f) t = Some i -> length t <= longest_token (tokens_of f).
Proof.
  unfold id_of_token. destruct (find _ (tokens_of f)) as [[u n]|] eqn:e; [|easy]. intros _.
  apply find_some in e as [h e]. simpl in e. destruct (list_eq_dec N.eq_dec u t) as [<-|]; [|easy].
  induction (tokens_of f) as [|[v k] V IH]; [easy|]. simpl. destruct h as [h|h].
  - injection h as -> _. lia.
  - specialize (IH h). lia.
Qed.

Lemma check_wordpiece_spec S ids : table_right S -> forallb (known (kinds_of f)) S = true ->
  (check_wordpiece S ids = true <-> ids = wordpiece_ids S).
Proof.
  intros right k. unfold check_wordpiece, wordpiece_ids, words_of. rewrite k. simpl.
  rewrite theorem_33_words by exact token_short.
  rewrite (theorem_33_kinds N N.eq_dec _ _ _ (kinds_of f)); [easy|apply word_ids_nil|].
  apply forallb_forall. intros c i. apply right; [easy|].
  rewrite forallb_forall in k. now apply k.
Qed.

(** Theorem 33: what level model accepts are the ids of the text ... *)
Theorem theorem_33_proves : forall S ids : list N, table_right S ->
  check_wordpiece S ids = true -> ids = wordpiece_ids S.
Proof.
  intros S ids right h. pose proof h as h'. apply andb_prop in h' as [k _].
  now apply check_wordpiece_spec.
Qed.

(** ... and inside the gate the ids of the text are accepted. *)
Theorem theorem_33_accepts : forall S : list N, table_right S ->
  forallb (known (kinds_of f)) S = true -> check_wordpiece S (wordpiece_ids S) = true.
Proof. intros S right k. now apply check_wordpiece_spec. Qed.
End Facts.

(** A table that lists characters; all others are not known. *)
Definition listed (table : list (N * (kind * list N))) (c : N) : kind * list N :=
  match find (fun e => N.eqb (fst e) c) table with Some (_, k) => k | None => (Unknown, []) end.

Lemma listed_right f table : kinds_of f = listed table ->
  forallb (fun e => fits N.eq_dec (white_of f) (isolated_of f) (normal_of f) (kinds_of f) (fst e))
    table = true ->
  forall S, table_right f S.
Proof.
  intros e h S c _ k. rewrite forallb_forall in h. unfold known in k. rewrite e in k. unfold listed in k.
  destruct (find _ table) as [[d x]|] eqn:found; [|easy]. apply find_some in found as [i q].
  apply N.eqb_eq in q. simpl in q. subst d. exact (h _ i).
Qed.

(** ** A small tokenizer, computed *)

(** Characters: a, b, c, x, "A" that becomes a, one that is dropped, a space, "!", an ideograph.
    Tokens: "[" for [UNK], a, ab, ##b, ##c, "!" and the ideograph. *)
Definition small (limit : nat) : word_facts := {|
  tokens_of := [([91], 0); ([97], 1); ([97; 98], 2); ([35; 35; 98], 3); ([35; 35; 99], 4); ([33], 5);
             ([20013], 6)];
  unknown_id := 0; word_prefix := [35; 35]; word_limit := limit;
  white_of := N.eqb 32; isolated_of := N.eqb 33;
  normal_of := fun c =>
    if N.eqb c 65 then [97] else if N.eqb c 0 then [] else if N.eqb c 20013 then [32; c; 32] else [c];
  kinds_of := listed
    [(97, (Word, [97])); (98, (Word, [98])); (99, (Word, [99])); (120, (Word, [120]));
     (65, (Word, [97])); (0, (Word, [])); (32, (Space, [32])); (33, (Single, [33]));
     (20013, (Single, [20013]))] |}%N.

(** The table is right, so the theorems are about it. *)
Example small_right : forall S, table_right (small 3) S.
Proof. apply (listed_right (small 3) _ eq_refl). vm_compute. reflexivity. Qed.

(** "A<NUL>b! \u4e2dab" is ab, "!", the ideograph, ab. *)
Example small_ids : let S := [65; 0; 98; 33; 32; 20013; 97; 98]%N in
  wordpiece_ids (small 3) S = [2; 5; 6; 2]%N /\ check_wordpiece (small 3) S [2; 5; 6; 2]%N = true.
Proof. split; vm_compute; reflexivity. Qed.

(** The table "Each hypothesis is needed" of the page: rows that are refused, and rows that are right. *)
Example theorem_33_needs_each_condition :
  let check := check_wordpiece (small 3) in
  ((check [97; 98] [1; 3] = false /\ check [97; 98] [2] = true) /\
  (check [97; 98; 99] [2] = false /\ check [97; 98; 99] [2; 4] = true) /\
  (check [97; 98; 120] [2] = false /\ check [97; 98; 120] [0] = true) /\
  check [97; 98] [0] = false /\ check [97; 98] [1; 1] = false /\
  (check [97; 32; 98] [2] = false /\ check [97; 32; 98] [1; 0] = true) /\
  (check [97; 98; 98; 98] [2; 3; 3] = false /\ check [97; 98; 98; 98] [0] = true /\
   check [97; 0; 0; 98] [2] = true) /\
  check [97; 167] [1; 0] = false)%N.
Proof. vm_compute. repeat split; reflexivity. Qed.
