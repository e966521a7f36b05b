(** Precompiled, the replacement table of SentencePiece, as Hugging Face applies it: to grapheme clusters (UAX 29)
    below six bytes, else to characters. Where a cut leaves the text alone. proofs/6.2-normalizers.md. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import AddedTokens.
Import ListNotations.

(** What UAX 29 tells apart. [Mark] is its Extend without [Linker] and [Loose]; these three, and [Consonant], are told
    apart by Indic_Conjunct_Break: Extend, Linker, None and Consonant. *)
Inductive kind : Type :=
| Other | Return | Feed | Control | Mark | Loose | Linker | Joiner | Preceding | Spacing | Regional
| Lead | Vowel | Tail | LeadVowel | Syllable | Picture | Consonant.
Definition kind_eq : forall a b : kind, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition is_kind (a b : kind) : bool := if kind_eq a b then true else false.

(** First and last code points with their kind; all others are [Other]. Keys and what replaces them. *)
Record charsmap : Type := { kinds : list (N * N * kind); keys : list (text * text) }.

(** *** Clusters as a program *)

(** What is known of a cluster up to its last character: the kind of this one; an odd number of regional indicators
    ends it; it ends in a picture, marks and perhaps a joiner; it ends in a consonant and marks, one of them a linker. *)
Record cluster : Type := { last : kind; odd : bool; pictured : bool; consonant : bool; linked : bool }.

Definition is_linking (k : kind) : bool := match k with Mark | Linker | Joiner => true | _ => false end.
Definition begun (k : kind) : cluster := {|
  last := k; odd := is_kind k Regional; pictured := is_kind k Picture; consonant := is_kind k Consonant; linked := false |}.

(** Rules GB3 to GB13: no break before a character of this kind. *)
Definition joins (s : cluster) (k : kind) : bool :=
  match last s, k with
  | Return, Feed => true
  | (Control | Return | Feed), _ | _, (Control | Return | Feed) => false
  | _, (Mark | Loose | Linker | Joiner | Spacing) => true
  | Preceding, _ => true
  | Lead, (Lead | Vowel | LeadVowel | Syllable) | (LeadVowel | Vowel), (Vowel | Tail) | (Syllable | Tail), Tail => true
  | Regional, Regional => odd s
  | Joiner, Picture => pictured s
  | _, Consonant => consonant s && linked s
  | _, _ => false
  end.
Definition grown (s : cluster) (k : kind) : cluster := {|
  last := k;
  odd := is_kind k Regional && negb (is_kind (last s) Regional && odd s);
  pictured := is_kind k Picture ||
    match k with Mark | Loose | Linker | Joiner => pictured s && negb (is_kind (last s) Joiner) | _ => false end;
  consonant := is_kind k Consonant || (is_linking k && consonant s);
  linked := is_linking k && consonant s && (linked s || is_kind k Linker) |}.

Section Table.
Variable m : charsmap.

Definition kind_of (c : N) : kind :=
  match find (fun '(low, high, _) => (low <=? c)%N && (c <=? high)%N) (kinds m) with
  | Some (_, k) => k
  | None => Other
  end.

(** [u]: the cluster so far. *)
Fixpoint clusters_from (u : text) (s : cluster) (S : text) : list text :=
  match S with
  | [] => [u]
  | c :: S' =>
      if joins s (kind_of c) then clusters_from (u ++ [c]) (grown s (kind_of c)) S'
      else u :: clusters_from [c] (begun (kind_of c)) S'
  end.
Definition clusters (S : text) : list text :=
  match S with [] => [] | c :: S' => clusters_from [c] (begun (kind_of c)) S' end.

(** *** Replacements *)
Definition bytes_of (c : N) : nat := if (c <? 128)%N then 1 else if (c <? 2048)%N then 2 else if (c <? 65536)%N then 3 else 4.
Definition size_of (w : text) : nat := list_sum (map bytes_of w).

Definition value (key : text) : option text := option_map snd (find (fun e => same_text (fst e) key) (keys m)).
(** The value of the shortest key with which the text begins. [u]: the characters before. *)
Fixpoint shortest (u w : text) : option text :=
  match w with
  | [] => None
  | c :: w' => match value (u ++ [c]) with Some v => Some v | None => shortest (u ++ [c]) w' end
  end.
Definition char_image (c : N) : text := match value [c] with Some v => v | None => [c] end.
Definition cluster_image (w : text) : text :=
  match (if size_of w <? 6 then shortest [] w else None) with Some v => v | None => flat_map char_image w end.
Definition mapped (S : text) : text := flat_map cluster_image (clusters S).

(** *** Where a cut leaves it alone *)

(** All that a cluster can be known to be. *)
Definition all_kinds : list kind :=
  [Other; Return; Feed; Control; Mark; Loose; Linker; Joiner; Preceding; Spacing; Regional;
   Lead; Vowel; Tail; LeadVowel; Syllable; Picture; Consonant].
Definition all_clusters : list cluster :=
  flat_map (fun k => flat_map (fun o => flat_map (fun p => flat_map (fun c => map (fun l =>
    {| last := k; odd := o; pictured := p; consonant := c; linked := l |})
    [true; false]) [true; false]) [true; false]) [true; false]) all_kinds.

(** No cluster reaches over the two. *)
Definition breaks (a b : N) : bool :=
  forallb (fun s => negb (is_kind (last s) (kind_of a) && joins s (kind_of b))) all_clusters.

(** All characters of this kind have three bytes or more. *)
Definition is_wide (k : kind) : bool :=
  negb (is_kind k Other) && forallb (fun '(low, _, k') => negb (is_kind k' k) || (2048 <=? low)%N) (kinds m).
(** Where the character ends a cluster it is the whole one; or the cluster has only [Preceding] before it, with which
    no key begins; or it has six bytes. *)
Definition ends_alone (a : N) : bool :=
  forallb (fun '(k, _) => match k with c :: _ => negb (is_kind (kind_of c) Preceding) | [] => true end) (keys m) &&
  forallb (fun s => negb (joins s (kind_of a)) || is_kind (last s) Preceding ||
    ((2048 <=? a)%N && (is_wide (last s) || (consonant s && is_wide Consonant)))) all_clusters.
(** Whatever follows in its cluster, its image begins with that of the character: it is a key, or no key begins with it. *)
Definition starts_alone (b : N) : bool :=
  match value [b] with
  | Some _ => true
  | None => forallb (fun '(k, _) => match k with c :: _ => negb (c =? b)%N | [] => true end) (keys m)
  end.

Lemma is_kind_spec a b : is_kind a b = true <-> a = b.
Proof. unfold is_kind. now destruct (kind_eq a b). Qed.

Lemma listed s : In s all_clusters.
Proof.
  destruct s as [k o p c l]. assert (forall b, In b [true; false]) as both by (intros []; simpl; auto).
  unfold all_clusters. apply in_flat_map. exists k. split; [destruct k; simpl; tauto|].
  apply in_flat_map. exists o. split; [apply both|]. apply in_flat_map. exists p. split; [apply both|].
  apply in_flat_map. exists c. split; [apply both|]. apply in_map_iff. exists l. split; [easy|apply both].
Qed.

Lemma last_grown s k : last (grown s k) = k.
Proof. easy. Qed.

(** The cluster so far, and what is known of it. *)
Definition known (u : text) (s : cluster) : Prop :=
  (exists v a, u = v ++ [a] /\ kind_of a = last s) /\
  (last s = Preceding -> forall c, In c u -> kind_of c = Preceding) /\
  (consonant s = true -> exists c, In c u /\ kind_of c = Consonant).

Lemma known_begun c : known [c] (begun (kind_of c)).
Proof.
  split; [now exists [], c|]. split.
  - intros e d [<-|[]]. exact e.
  - intros e. exists c. split; [now left|]. now apply is_kind_spec in e.
Qed.

Lemma known_grown u s c : known u s -> joins s (kind_of c) = true -> known (u ++ [c]) (grown s (kind_of c)).
Proof.
  intros (_ & p & q) j. split; [now exists u, c|]. split.
  - intros e d i. cbn [grown last] in e. apply in_app_or in i as [i|[<-|[]]]; [|easy]. apply p; [|easy].
    rewrite e in j. unfold joins in j. destruct (last s); easy.
  - cbn [grown consonant]. intros e. apply orb_prop in e as [e|e].
    + exists c. split; [apply in_elt|]. now apply is_kind_spec in e.
    + apply andb_prop in e as [_ e]. destruct (q e) as (d & i & k). exists d. split; [|easy]. apply in_or_app. now left.
Qed.

Lemma breaks_spec a b s : breaks a b = true -> last s = kind_of a -> joins s (kind_of b) = false.
Proof.
  intros h e. unfold breaks in h. rewrite forallb_forall in h. specialize (h s (listed s)).
  apply negb_true_iff in h. now rewrite (proj2 (is_kind_spec _ _) e) in h.
Qed.

Lemma clusters_apart a b R : breaks a b = true -> forall l u s,
  clusters_from u s (l ++ a :: b :: R) = clusters_from u s (l ++ [a]) ++ clusters (b :: R).
Proof.
  intros h.
  induction l as [|c l IH]; intros u s; cbn [app clusters_from].
  - destruct (joins s (kind_of a)); rewrite breaks_spec with (a := a) by easy; easy.
  - destruct (joins s (kind_of c)); [apply IH|]. cbn [app]. f_equal. apply IH.
Qed.

(** The last cluster of a text that ends in a. *)
Lemma last_cluster a : forall l u s, known u s -> exists ps v,
  clusters_from u s (l ++ [a]) = ps ++ [v ++ [a]] /\ (v = [] \/ exists s', known v s' /\ joins s' (kind_of a) = true).
Proof.
  induction l as [|c l IH]; intros u s h; cbn [app clusters_from].
  - destruct (joins s (kind_of a)) eqn:j.
    + exists [], u. split; [easy|]. right. now exists s.
    + exists [u], []. split; [easy|now left].
  - destruct (joins s (kind_of c)) eqn:j.
    + now apply IH, known_grown.
    + destruct (IH [c] _ (known_begun c)) as (ps & v & e & k). exists (u :: ps), v. rewrite e. easy.
Qed.

Lemma size_app u v : size_of (u ++ v) = size_of u + size_of v.
Proof. unfold size_of. now rewrite map_app, list_sum_app. Qed.

Lemma three_bytes c : (2048 <=? c)%N = true -> 3 <= bytes_of c.
Proof.
  intros h. apply N.leb_le in h. unfold bytes_of.
  replace (c <? 128)%N with false by (symmetry; apply N.ltb_ge; lia).
  replace (c <? 2048)%N with false by (symmetry; apply N.ltb_ge; lia). destruct (c <? 65536)%N; lia.
Qed.

Lemma wide_bytes c k : is_wide k = true -> kind_of c = k -> 3 <= bytes_of c.
Proof.
  intros h e. unfold is_wide in h. apply andb_prop in h as [o h]. rewrite forallb_forall in h.
  unfold kind_of in e. destruct (find _ (kinds m)) as [[[low high] k']|] eqn:f.
  - apply find_some in f as [i f]. specialize (h _ i). cbn in h. subst k'. rewrite (proj2 (is_kind_spec _ _) eq_refl) in h.
    apply andb_prop in f as [f _]. apply three_bytes. simpl in h. apply N.leb_le in h, f. apply N.leb_le. lia.
  - subst k. now rewrite (proj2 (is_kind_spec _ _) eq_refl) in o.
Qed.

Lemma size_in c w : In c w -> bytes_of c <= size_of w.
Proof.
  intros i. apply in_split in i as (u & v & ->). rewrite size_app. unfold size_of at 2. simpl. lia.
Qed.

Lemma value_key key v : value key = Some v -> In (key, v) (keys m).
Proof.
  unfold value. destruct (find _ (keys m)) as [[k w]|] eqn:f; [|easy]. intros e. injection e as ->.
  apply find_some in f as [i f]. simpl in f. unfold same_text in f. now destruct (list_eq_dec N.eq_dec k key) as [<-|].
Qed.

Lemma shortest_none c u w : (forall k v, In (k, v) (keys m) -> forall k', k <> c :: k') -> shortest (c :: u) w = None.
Proof.
  intros no. revert u. induction w as [|d w IH]; intros u; [easy|]. cbn [shortest].
  destruct (value ((c :: u) ++ [d])) as [v|] eqn:e; [|apply (IH (u ++ [d]))].
  apply value_key in e. now destruct (no _ _ e (u ++ [d])).
Qed.

Lemma image_of_one c : cluster_image [c] = char_image c.
Proof.
  unfold cluster_image, char_image. replace (size_of [c] <? 6) with true.
  - cbn [shortest app]. destruct (value [c]) eqn:e; [easy|]. cbn [flat_map]. unfold char_image. now rewrite e.
  - symmetry. apply Nat.ltb_lt. unfold size_of, bytes_of. simpl. destruct (c <? 128)%N, (c <? 2048)%N, (c <? 65536)%N; lia.
Qed.

Lemma image_at_end a v s : ends_alone a = true -> known v s -> joins s (kind_of a) = true ->
  cluster_image (v ++ [a]) = flat_map char_image v ++ char_image a.
Proof.
  intros h (w & p & q) j. unfold ends_alone in h. apply andb_prop in h as [h1 h]. rewrite forallb_forall in h1, h.
  specialize (h s (listed s)). rewrite j in h. cbn [negb orb] in h. destruct w as (v' & c & ev & ec).
  replace (flat_map char_image v ++ char_image a) with (flat_map char_image (v ++ [a]))
    by (rewrite flat_map_app; simpl; now rewrite app_nil_r).
  unfold cluster_image. destruct (size_of (v ++ [a]) <? 6) eqn:small; [|easy]. apply Nat.ltb_lt in small.
  apply orb_prop in h as [h|h].
  - apply is_kind_spec in h. destruct v as [|d v]; [now destruct v'|].
    assert (kind_of d = Preceding) as kd by (apply (p h); now left).
    assert (forall k x, In (k, x) (keys m) -> forall k', k <> d :: k') as no.
    { intros k x i k' ->. specialize (h1 _ i). cbn in h1. now rewrite kd in h1. }
    cbn [app shortest]. destruct (value [d]) as [x|] eqn:e; [apply value_key in e; now destruct (no _ _ e [])|].
    now rewrite shortest_none.
  - exfalso. apply andb_prop in h as [ha h]. apply three_bytes in ha.
    rewrite size_app in small. pose proof (size_in a [a] (or_introl eq_refl)) as la.
    assert (3 <= size_of v) as lv; [|lia]. apply orb_prop in h as [h|h].
    + pose proof (wide_bytes c _ h ec). pose proof (size_in c v) as i. rewrite ev in i at 1.
      specialize (i (in_elt _ _ _)). lia.
    + apply andb_prop in h as [hc h]. destruct (q hc) as (d & i & kd). pose proof (wide_bytes d _ h kd).
      pose proof (size_in d v i). lia.
Qed.

Lemma image_at_start b v : starts_alone b = true -> exists w, cluster_image (b :: v) = char_image b ++ w.
Proof.
  intros h. assert (exists w, flat_map char_image (b :: v) = char_image b ++ w) as chars by (simpl; eauto).
  unfold cluster_image. destruct (size_of (b :: v) <? 6); [|easy]. cbn [shortest app].
  unfold starts_alone in h. destruct (value [b]) as [x|] eqn:e.
  - unfold char_image. rewrite e. exists []. now rewrite app_nil_r.
  - rewrite shortest_none; [easy|]. rewrite forallb_forall in h. intros k x i k' ->. specialize (h _ i). cbn in h.
    now rewrite N.eqb_refl in h.
Qed.

(** The table works on both sides of such a cut by itself ... *)
Theorem mapped_apart : forall (l R : text) (a b : N), breaks a b = true ->
  mapped ((l ++ [a]) ++ b :: R) = mapped (l ++ [a]) ++ mapped (b :: R).
Proof.
  intros l R a b h. unfold mapped. rewrite <- flat_map_app, <- app_assoc. f_equal. destruct l as [|c l].
  - cbn [app clusters clusters_from]. now rewrite breaks_spec with (a := a).
  - apply clusters_apart, h.
Qed.

(** ... and both characters show. *)
Theorem mapped_ends : forall (l : text) (a : N), ends_alone a = true -> exists w, mapped (l ++ [a]) = w ++ char_image a.
Proof.
  intros l a h. unfold mapped. destruct l as [|c l].
  - exists []. cbn. now rewrite image_of_one, app_nil_r.
  - cbn [app clusters]. destruct (last_cluster a l [c] _ (known_begun c)) as (ps & v & -> & e).
    rewrite flat_map_app. cbn [flat_map]. rewrite app_nil_r. destruct e as [->|(s & k & j)].
    + cbn [app]. rewrite image_of_one. eauto.
    + rewrite (image_at_end a v s h k j), app_assoc. eauto.
Qed.

Lemma first_cluster : forall S u s, exists v ps, clusters_from u s S = (u ++ v) :: ps.
Proof.
  induction S as [|c S IH]; intros u s; cbn [clusters_from].
  - exists [], []. now rewrite app_nil_r.
  - destruct (joins s (kind_of c)).
    + destruct (IH (u ++ [c]) (grown s (kind_of c))) as (v & ps & ->). rewrite <- app_assoc. eauto.
    + exists [], (clusters_from [c] (begun (kind_of c)) S). now rewrite app_nil_r.
Qed.

Theorem mapped_begins : forall (b : N) (R : text), starts_alone b = true -> exists w, mapped (b :: R) = char_image b ++ w.
Proof.
  intros b R h. unfold mapped. cbn [clusters]. destruct (first_cluster R [b] (begun (kind_of b))) as (v & ps & ->).
  cbn [flat_map app]. destruct (image_at_start b v h) as [w ->]. rewrite <- app_assoc. eauto.
Qed.
End Table.

(** ** Each condition is needed *)
Local Open Scope N_scope.

(** U+301 and U+94D hang on what stands before them, U+600 on what follows; "e" and U+301 are U+E9; U+600 is a key, and
    so are a space with U+301, and an L of Hangul; U+915 and U+937 are consonants, which U+94D links. *)
Definition some_keys : charsmap := {|
  kinds := [(13, 13, Return); (10, 10, Feed); (0, 31, Control); (769, 769, Mark); (1536, 1541, Preceding); (2325, 2361, Consonant);
            (2381, 2381, Linker); (4352, 4447, Lead); (4448, 4519, Vowel); (8205, 8205, Joiner); (9728, 9983, Picture)];
  keys := [([101; 769], [233]); ([1536], [120]); ([32; 769], [46]); ([4449; 769], [97]); ([2359; 769], [98])] |}.
Definition without_1536 : charsmap :=
  {| kinds := kinds some_keys; keys := filter (fun e => negb (same_text (fst e) [1536])) (keys some_keys) |}.

Theorem mapped_needs_each_condition :
  let same a b := if list_eq_dec N.eq_dec a b then true else false in
  let parted S := same (mapped some_keys S) (flat_map (mapped some_keys) (map (fun c => [c]) S)) in
  (* [breaks]: a mark behind its letter *)
  mapped some_keys [101; 769] = [233] /\ parted [101; 769] = false /\ breaks some_keys 101 769 = false /\
  (* a cluster looks back further than one character: a linked consonant, a syllable before a mark, a joined picture *)
  clusters some_keys [2325; 2381; 2359; 769] = [[2325; 2381; 2359; 769]] /\ mapped some_keys [2359; 769] = [98] /\
  clusters some_keys [2381; 2359] = [[2381]; [2359]] /\ breaks some_keys 2381 2359 = false /\
  mapped some_keys [4352; 4449; 769] = [4352; 4449; 769] /\ mapped some_keys [4449; 769] = [97] /\
  clusters some_keys [9728; 8205; 9728] = [[9728; 8205; 9728]] /\ clusters some_keys [8205; 9728] = [[8205]; [9728]] /\
  (* [ends_alone]: what stands before the character is in its cluster, and a key *)
  mapped some_keys [1536; 97] = [120] /\ ends_alone some_keys 97 = false /\ ends_alone without_1536 97 = true /\
  (* [starts_alone]: so is what stands behind it *)
  mapped some_keys [32; 769] = [46] /\ starts_alone some_keys 32 = false /\ starts_alone some_keys 97 = true /\
  (* all is well: a letter or a consonant, and a letter *)
  breaks without_1536 97 98 && breaks without_1536 2359 98 && ends_alone without_1536 2359 && ends_alone without_1536 4449 = true.
Proof. vm_compute. repeat split; reflexivity. Qed.
