(** Offsets behind a normalizer: each character that it makes has a range of the section, and a token goes from where
    its first one starts to where its last one stops. proofs/53-offsets-compose.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens AddedTokens Pipeline Offsets.
Import ListNotations.

(** A character with its range has the shape of a token with its place. *)
Definition char_of (e : token_place) : N := fst (fst e).
Definition starts (W : list token_place) (k : nat) : nat := match nth_error W k with Some (_, a, _) => a | None => 0 end.
Definition stops (W : list token_place) (k : nat) : nat :=
  match k with 0 => 0 | Datatypes.S k' => match nth_error W k' with Some (_, _, b) => b | None => 0 end end.

Section Aligned.
(** What the normalizer makes of a section, with ranges; whether the section is at the start of a text. *)
Variable aligned : bool -> text -> list token_place.
Variable pieces : text -> list text.
Variable model : text -> list (N * nat).

Definition placed (W row : list token_place) : list token_place :=
  map (fun '(i, a, b) => (i, starts W a, stops W b)) row.
Definition aligned_places (first : bool) (G : text) : list token_place :=
  let W := aligned first G in placed W (section_places pieces model true (map char_of W)).

Hypothesis tiled : forall G, concat (pieces G) = G.
(** A token stands for one character or more, and the tokens of a piece are the piece. *)
Hypothesis some : forall w i n, In (i, n) (model w) -> 0 < n.
Hypothesis all : forall w, list_sum (map snd (model w)) = length w.

Lemma token_row_inside row : forall from i a b, In (i, a, b) (token_row from row) ->
  (forall j n, In (j, n) row -> 0 < n) -> from <= a < b /\ b <= from + list_sum (map snd row).
Proof.
  induction row as [|[j n] row IH]; intros from i a b h pos; [easy|]. simpl in h |- *.
  pose proof (pos j n (or_introl eq_refl)). destruct h as [h|h].
  - injection h as -> <- <-. lia.
  - apply IH in h; [lia|]. intros k m i'. apply (pos k m). now right.
Qed.

Lemma piece_row_inside ps : forall from i a b, In (i, a, b) (piece_row model from ps) ->
  from <= a < b /\ b <= from + length (concat ps).
Proof.
  induction ps as [|w ps IH]; intros from i a b h; [easy|]. simpl in h |- *. rewrite app_length.
  apply in_app_or in h as [h|h].
  - apply token_row_inside in h; [|exact (some w)]. rewrite all in h. lia.
  - apply IH in h. lia.
Qed.

Lemma placed_left W X row : (forall i a b, In (i, a, b) row -> a < b <= length W) -> placed (W ++ X) row = placed W row.
Proof.
  intros h. apply map_ext_in. intros [[i a] b] e. specialize (h i a b e). unfold starts, stops.
  rewrite nth_error_app1 by lia. destruct b as [|b]; [lia|]. now rewrite nth_error_app1 by lia.
Qed.

Lemma placed_right n W X row : (forall i a b, In (i, a, b) row -> a < b <= length X) ->
  placed (W ++ moved n X) (moved (length W) row) = moved n (placed X row).
Proof.
  assert (forall k, k < length X -> exists c x y, nth_error X k = Some (c, x, y) /\
          nth_error (W ++ moved n X) (length W + k) = Some (c, n + x, n + y)) as at_.
  { intros k lt. rewrite nth_error_app2 by lia. replace (length W + k - length W) with k by lia. unfold moved.
    destruct (nth_error X k) as [[[c x] y]|] eqn:e; [exists c, x, y; split; [easy|exact (map_nth_error _ k X e)]|].
    apply nth_error_None in e. lia. }
  induction row as [|[[i a] b] row IH]; intros h; [easy|].
  pose proof (h i a b (or_introl eq_refl)) as [lt le].
  change ((i, starts (W ++ moved n X) (length W + a), stops (W ++ moved n X) (length W + b)) ::
          placed (W ++ moved n X) (moved (length W) row) =
          (i, n + starts X a, n + stops X b) :: moved n (placed X row)).
  rewrite IH by (intros j x y k; apply (h j x y); now right). f_equal.
  destruct b as [|b]; [lia|]. rewrite Nat.add_succ_r. unfold starts, stops.
  destruct (at_ a ltac:(lia)) as (c & x & y & -> & ->). destruct (at_ b ltac:(lia)) as (c' & x' & y' & -> & ->). easy.
Qed.

Lemma chars_moved n W : map char_of (moved n W) = map char_of W.
Proof. unfold moved. rewrite map_map. apply map_ext. now intros [[c a] b]. Qed.

(** Where the normalizer and the pre-tokenizer are apart, so are the offsets. *)
Theorem aligned_apart : forall (first : bool) (L R : text),
  aligned first (L ++ R) = aligned first L ++ moved (length L) (aligned true R) ->
  pieces (map char_of (aligned first L) ++ map char_of (aligned true R)) =
    pieces (map char_of (aligned first L)) ++ pieces (map char_of (aligned true R)) ->
  aligned_places first (L ++ R) = aligned_places first L ++ moved (length L) (aligned_places true R).
Proof.
  intros first L R e p. unfold aligned_places. rewrite e. unfold section_places.
  rewrite map_app, chars_moved, p, piece_row_app, tiled, map_length.
  assert (forall W i a b, In (i, a, b) (piece_row model 0 (pieces (map char_of W))) -> a < b <= length W) as inside.
  { intros W i a b h. apply piece_row_inside in h. rewrite tiled, map_length in h. lia. }
  assert (forall W u v, placed W (u ++ v) = placed W u ++ placed W v) as -> by (intros; apply map_app).
  f_equal.
  - apply placed_left. apply inside.
  - apply placed_right. apply inside.
Qed.

(** Theorem 53 behind such a normalizer, in a text with added tokens. *)
Theorem theorem_53_normalized : forall space word tokens (L R : text),
  (forall first, aligned_places first [] = []) ->
  a_safe space word tokens (L ++ R) (length L) ->
  (forall first l r, (exists u, L = u ++ l) -> (exists v, R = r ++ v) ->
    aligned first (l ++ r) = aligned first l ++ moved (length l) (aligned true r) /\
    pieces (map char_of (aligned first l) ++ map char_of (aligned true r)) =
      pieces (map char_of (aligned first l)) ++ pieces (map char_of (aligned true r))) ->
  places space word tokens aligned_places true (L ++ R) =
  places space word tokens aligned_places true L ++ moved (length L) (places space word tokens aligned_places true R).
Proof.
  intros space word tokens L R nothing safe apart.
  rewrite (theorem_53 space word tokens aligned_places (L ++ R) (length L) safe nothing).
  - rewrite firstn_app, firstn_all, Nat.sub_diag. cbn [firstn]. now rewrite app_nil_r, skipn_app, skipn_all, Nat.sub_diag.
  - intros a b _ le. unfold parted_places.
    assert (slice (L ++ R) a b = skipn a L ++ firstn (b - length L) R) as ->.
    { unfold slice. rewrite skipn_left by lia. rewrite firstn_app, skipn_length.
      rewrite firstn_all2 by (rewrite skipn_length; lia). do 2 f_equal. lia. }
    assert (slice (L ++ R) a (length L) = skipn a L) as -> by (rewrite slice_left by lia; apply slice_from).
    assert (slice (L ++ R) (length L) b = firstn (b - length L) R) as ->.
    { unfold slice. now rewrite skipn_app, skipn_all, Nat.sub_diag. }
    destruct (apart (true && (a =? 0)) (skipn a L) (firstn (b - length L) R)) as [e p].
    + exists (firstn a L). now rewrite firstn_skipn.
    + exists (skipn (b - length L) R). now rewrite firstn_skipn.
    + rewrite (aligned_apart _ _ _ e p). now rewrite skipn_length.
Qed.
End Aligned.

(** ** Characters one by one: all that takes the place of a character has its range *)
Fixpoint located (from : nat) (G : text) : list token_place :=
  match G with [] => [] | c :: G' => (c, from, Datatypes.S from) :: located (Datatypes.S from) G' end.
Definition each_aligned (W : list token_place) (table : list (N * text)) : list token_place :=
  flat_map (fun '(c, a, b) => map (fun d => (d, a, b)) (replaced table c)) W.
Definition row_aligned (tables : list (list (N * text))) (first : bool) (G : text) : list token_place :=
  fold_left each_aligned tables (located 0 G).

Lemma located_moved n G : forall from, located (n + from) G = moved n (located from G).
Proof.
  induction G as [|c G IH]; intros from; [easy|]. cbn [located moved map]. rewrite <- !Nat.add_succ_r, IH. easy.
Qed.
Lemma located_app L R : forall from, located from (L ++ R) = located from L ++ moved (from + length L) (located 0 R).
Proof.
  induction L as [|c L IH]; intros from; simpl.
  - rewrite <- located_moved. now rewrite !Nat.add_0_r.
  - rewrite IH. now rewrite Nat.add_succ_r.
Qed.
Lemma each_moved n W table : each_aligned (moved n W) table = moved n (each_aligned W table).
Proof.
  induction W as [|[[c a] b] W IH]; [easy|]. unfold each_aligned, moved in *. cbn [map flat_map]. rewrite IH, map_app, map_map. easy.
Qed.

Lemma each_chars W table : map char_of (each_aligned W table) = flat_map (replaced table) (map char_of W).
Proof.
  induction W as [|[[c a] b] W IH]; [easy|].
  change (each_aligned ((c, a, b) :: W) table) with (map (fun d => (d, a, b)) (replaced table c) ++ each_aligned W table).
  etransitivity; [apply map_app|].
  change (flat_map (replaced table) (map char_of ((c, a, b) :: W)))
    with (replaced table c ++ flat_map (replaced table) (map char_of W)).
  f_equal; [|exact IH]. etransitivity; [apply map_map|apply map_id].
Qed.

(** The characters are those of the stages, and each cut leaves their ranges alone. *)
Theorem row_aligned_apart : forall tables first (L R : text),
  row_aligned tables first (L ++ R) = row_aligned tables first L ++ moved (length L) (row_aligned tables true R).
Proof.
  intros tables first L R. unfold row_aligned. rewrite located_app. cbn [Nat.add].
  generalize (located 0 L) (located 0 R). induction tables as [|table tables IH]; intros W X; [easy|]. cbn [fold_left].
  rewrite <- IH, <- each_moved. unfold each_aligned. now rewrite flat_map_app.
Qed.
Theorem row_aligned_text : forall tables first (G : text),
  map char_of (row_aligned tables first G) = stages_text first (map Each tables) G.
Proof.
  intros tables first G. unfold row_aligned, stages_text.
  replace G with (map char_of (located 0 G)) at 2.
  - generalize (located 0 G). induction tables as [|table tables IH]; intros W; [easy|]. cbn [fold_left map]. rewrite IH. f_equal.
    rewrite each_chars. now destruct (map char_of W).
  - generalize 0. induction G as [|c G IH]; intros n; [easy|]. simpl. now rewrite IH.
Qed.

(** A cut between the pieces is needed: "a" becomes "ab", one piece, and so does "aa". *)
Local Open Scope N_scope.
Theorem theorem_53_normalized_needs_each_condition :
  let one (w : text) := match w with [] => [] | _ => [w] end in
  let model (w : text) := [(N.of_nat (length w), length w)] in
  let O := places (fun _ => false) (fun _ => false) [] (aligned_places (row_aligned [[(97, [97; 98])]]) one model) true in
  O [97; 97] = [(4, 0%nat, 2%nat)] /\ O [97] ++ moved 1 (O [97]) = [(2, 0%nat, 1%nat); (2, 1%nat, 2%nat)].
Proof. vm_compute. repeat split; reflexivity. Qed.
