(** Special tokens that the engine is told to skip: it finds them, and then takes them for text. If none of
    them can overlap another token, the search is that of the others alone: proofs/6.1-added-tokens.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging AddedTokens.
Import ListNotations.

(** The two agree as far as both go. *)
Fixpoint agree (u v : text) : bool :=
  match u, v with
  | a :: u', b :: v' => (a =? b)%N && agree u' v'
  | _, _ => true
  end.

Lemma begins_agree u v W X : begins u (v ++ W ++ X) = true -> agree (skipn (length v) u) W = true.
Proof.
  intros h. apply begins_spec in h as [_ [R h]]. revert u h. induction v as [|b v IH]; intros u h; simpl in *.
  - revert W h. induction u as [|a u IH]; intros W h; [easy|]. destruct W as [|b W]; [easy|].
    simpl in *. injection h as -> h. rewrite N.eqb_refl. now apply IH.
  - destruct u as [|a u]; [easy|]. simpl in *. injection h as _ h. now apply IH.
Qed.

Lemma agree_nil u : agree u [] = true.
Proof. now destruct u. Qed.

(** In some text v begins inside of u. *)
Definition begins_inside (u v : text) : bool := existsb (fun k => agree (skipn k u) v) (seq 0 (length u)).
(** In some text the two strings share a character. *)
Definition can_overlap (u v : text) : bool := begins_inside u v || begins_inside v u.

Definition is_matched (t : added_token) : bool := negb (skipped t).
Definition none_hidden (tokens : list added_token) : bool :=
  forallb (fun t => forallb (fun u => negb (skipped t && is_matched u && can_overlap (content t) (content u)))
    tokens) tokens.
(** The tokens that are searched: those that are skipped hide none of the others, or all of them. *)
Definition searched_tokens (tokens : list added_token) : list added_token :=
  if none_hidden tokens then filter is_matched tokens else tokens.

Lemma both_agree (u v S : text) : begins u S = true -> begins v S = true -> agree u v = true.
Proof.
  intros h h'. apply begins_spec in h' as [_ [X ->]]. now apply (begins_agree u [] v X).
Qed.

Section Skipped.
Variable tokens : list added_token.
Hypothesis apart : none_hidden tokens = true.

Lemma apart_spec t u : In t tokens -> In u tokens -> skipped t = true -> skipped u = false ->
  can_overlap (content t) (content u) = false.
Proof.
  intros it iu st su. unfold none_hidden in apart. rewrite forallb_forall in apart. specialize (apart t it).
  rewrite forallb_forall in apart. specialize (apart u iu). unfold is_matched in apart. rewrite st, su in apart.
  now apply negb_true_iff in apart.
Qed.

(** A matched token does not begin inside one that is skipped, nor at its start. *)
Lemma not_inside t u S k : In t tokens -> In u tokens -> skipped t = true -> skipped u = false ->
  begins (content t) S = true -> k < length (content t) -> begins (content u) (skipn k S) = false.
Proof.
  intros it iu st su b lt. pose proof (apart_spec t u it iu st su) as no.
  unfold can_overlap in no. apply orb_false_iff in no as [no _].
  destruct (begins (content u) (skipn k S)) eqn:b'; [exfalso|easy].
  apply begins_spec in b' as [ne [X e]]. pose proof (firstn_skipn k S) as es. rewrite e in es.
  assert (length (firstn k S) = k) as n.
  { rewrite firstn_length. apply (f_equal (@length N)) in e. rewrite skipn_length, app_length in e.
    destruct (content u); [easy|simpl in e; lia]. }
  rewrite <- es in b. apply begins_agree in b. rewrite n in b.
  assert (begins_inside (content t) (content u) = true) as yes; [|now rewrite no in yes].
  apply existsb_exists. exists k. split; [apply in_seq; lia|easy].
Qed.

Lemma longest_left_out S : (forall u, In u tokens -> skipped u = true -> begins (content u) S = false) ->
  longest (filter is_matched tokens) S = longest tokens S.
Proof.
  unfold longest. generalize (@None added_token). generalize tokens as l. clear.
  induction l as [|t l IH]; intros best h; [easy|]. cbn [filter fold_left].
  unfold is_matched at 1. destruct (skipped t) eqn:s; cbn [negb fold_left].
  - unfold better at 3. rewrite (h t (or_introl eq_refl) s). apply IH. intros u i. apply h. now right.
  - apply IH. intros u i. apply h. now right.
Qed.

Lemma longest_none (l : list added_token) S : (forall u, In u l -> begins (content u) S = false) -> longest l S = None.
Proof.
  intros h. pose proof (longest_spec l S) as s. destruct (longest l S) as [u|]; [|easy].
  destruct s as (i & b & _). now rewrite h in b.
Qed.

(** [k]: what is left of a match that is skipped; the search of the others is not inside a match there. *)
Lemma search_left_out S : forall a k k', k = k' \/ k' = 0 /\
    (forall i u, i < k -> In u tokens -> skipped u = false -> begins (content u) (skipn i S) = false) ->
  filter (fun m => is_matched (snd m)) (search tokens a k S) = search (filter is_matched tokens) a k' S.
Proof.
  induction S as [|c S IH]; intros a k k' inv; [easy|]. cbn [search].
  destruct k as [|k].
  - assert (k' = 0) as -> by (destruct inv as [<-|[-> _]]; easy).
    pose proof (longest_spec tokens (c :: S)) as l. destruct (longest tokens (c :: S)) as [t|] eqn:e.
    + destruct l as (it & bt & most). destruct (skipped t) eqn:st.
      * rewrite longest_none.
        -- cbn [filter snd]. unfold is_matched at 1. rewrite st. cbn [negb]. apply IH. right. split; [easy|].
           intros i u lt iu su. apply (not_inside t u (c :: S) (Datatypes.S i) it iu st su bt). lia.
        -- intros u i. apply filter_In in i as [iu su]. apply negb_true_iff in su.
           apply begins_length in bt as len. apply (not_inside t u (c :: S) 0 it iu st su bt). lia.
      * rewrite longest_left_out, e.
        -- cbn [filter snd]. unfold is_matched at 1. rewrite st. cbn [negb]. f_equal. apply IH. now left.
        -- intros u iu su. destruct (begins (content u) (c :: S)) eqn:bu; [exfalso|easy].
           apply begins_length in bu as len. pose proof (not_inside u t (c :: S) 0 iu it su st bu ltac:(lia)) as no.
           simpl in no. now rewrite no in bt.
    + rewrite longest_none; [apply IH; now left|]. intros u i. apply filter_In in i as [iu _]. now apply l.
  - destruct inv as [<-|[-> no]]; [apply IH; now left|].
    rewrite longest_none.
    + apply IH. right. split; [easy|]. intros i u lt. apply (no (Datatypes.S i)). lia.
    + intros u i. apply filter_In in i as [iu su]. apply negb_true_iff in su. apply (no 0); (easy || lia).
Qed.

Variables space word : N -> bool.

Lemma parts_left_out S ms : forall from,
  parts_from space word S from ms = parts_from space word S from (filter (fun m => is_matched (snd m)) ms).
Proof.
  unfold parts_from. induction ms as [|[s t] ms IH]; intros from; [easy|]. cbn [filter snd].
  destruct (skipped t) eqn:st.
  - replace (is_matched t) with false by (unfold is_matched; now rewrite st). cbn [parts_until end_of].
    unfold dropped at 1 2. rewrite st. cbn [orb]. apply IH.
  - replace (is_matched t) with true by (unfold is_matched; now rewrite st). cbn [parts_until end_of].
    destruct (dropped word S s t); [apply IH|]. rewrite <- !app_assoc. do 2 f_equal. apply IH.
Qed.

Lemma left_out rest first S : with_tokens space word (filter is_matched tokens) rest first S =
  with_tokens space word tokens rest first S.
Proof.
  unfold with_tokens, parts, matches. rewrite (parts_left_out S (search tokens 0 0 S)).
  now rewrite (search_left_out S 0 0 0 (or_introl eq_refl)).
Qed.
End Skipped.

(** The ids are those of a tokenizer without the special tokens that it skips. *)
Theorem skipped_left_out : forall space word tokens rest first S,
  with_tokens space word (searched_tokens tokens) rest first S = with_tokens space word tokens rest first S.
Proof.
  intros. unfold searched_tokens. destruct (none_hidden tokens) eqn:e; [|easy]. now apply left_out.
Qed.

(** Where one of them can overlap another token, it hides it: "ab" is skipped, "bc" is not, the text is "abc". *)
Example a_skipped_token_hides_another :
  let token c s := {| content := c; token_id := 9; lstrip := false; rstrip := false; single_word := false; skipped := s |} in
  let tokens := [token [1; 2] true; token [2; 3] false]%N in
  none_hidden tokens = false /\
  parts (fun _ => false) (fun _ => false) tokens [1; 2; 3]%N <>
  parts (fun _ => false) (fun _ => false) (filter is_matched tokens) [1; 2; 3]%N.
Proof. split; [reflexivity|]. vm_compute. discriminate. Qed.
