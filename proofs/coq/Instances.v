(** The end theorem for real tokenizers, each with any added tokens, vocabulary and merges. *)
From Coq Require Import List Arith Lia Bool NArith ZArith.
From Tokpar Require Import Merging PreTokens Patterns PatternPairs Rows Tables Ids WordPiece Forms Clusters
  Pipeline Unigram Stages EndToEnd.
Import ListNotations.

(** ** What differs between two files of one kind *)
Record file : Type := {
  file_spaces : class;
  file_words : class;
  file_tokens : list added_token;
  file_symbols : list (N * N * nat);
  file_other : nat;
  file_letters : list (N * nat);
  file_vocabulary : vocabulary;
  file_merges : list (list nat * list nat)
}.

Definition of_kind (o : file) (normal : list stage) (put : list stage) (row : list split) (m : model)
  (n : nat) (table : table) : facts := {|
  tokenizer_of := {| spaces := file_spaces o; words := file_words o; raw_tokens := file_tokens o;
    normalizer := normal; normalized_tokens := []; signs := put; symbols := file_symbols o;
    other_symbol := file_other o; splits := row; model_of := m |};
  size := n; pairs := table |}.

Definition merging (o : file) (byte_level whole : bool) : model := Merges {|
  letters := if byte_level then [] else file_letters o; vocabulary_of := file_vocabulary o;
  merges := file_merges o; whole_piece := whole |}.

(** Byte-level BPE with a row of patterns of the built-in tables. *)
Definition byte_level (row : family) (whole : bool) (o : file) : facts :=
  let '(n, trees, table) := row in
  of_kind o [] [] (map Pattern trees) (merging o true whole) n table.

Definition gpt2 : file -> facts := byte_level gpt2_1 false.
(** RoBERTa and BART: GPT-2 with a space in front of each section that does not begin with one. *)
Definition gpt2_with_space (o : file) : facts :=
  let '(n, trees, table) := gpt2_1 in
  of_kind o [] [Sign 32 false] (map Pattern trees) (merging o true false) n table.
Definition llama3 : file -> facts := byte_level cl100k_1 true.
(** Qwen: behind NFC, whatever its tables of characters are. *)
Definition qwen2 (nfc : characters) (o : file) : facts :=
  let '(n, trees, table) := qwen2_1 in
  of_kind o [Form nfc] [] (map Pattern trees) (merging o true false) n table.
Definition deepseek : file -> facts := byte_level deepseek_1 false.

(** BPE over characters: " " becomes the sign U+2581. Gemma's Split finds no space any more; Llama 2
    puts a sign in front of each segment; its newer files have Metaspace in place of a normalizer. *)
Definition to_sign : stage := Each [(32, [9601])]%N.
Definition gemma (o : file) : facts :=
  of_kind o [to_sign] [] [At 32 WithPrevious] (merging o false false) 1 [].
Definition llama2 (o : file) : facts :=
  of_kind o [Prepend [9601%N]; to_sign] [] [] (merging o false false) 1 [].
Definition llama2_metaspace (o : file) : facts :=
  of_kind o [] [to_sign; Sign 9601 true] [] (merging o false false) 1 [].

(** BERT: [clean] is what BertNormalizer makes of a character, before it takes accents off and where the
    tables [nfd] decompose nothing; [marks] removes the accents, [small] makes letters small; [alone] is
    the punctuation. *)
Definition bert (clean marks small : list (N * text)) (nfd : characters) (alone : class) (V : list (text * N)) (unknown : N) (o : file) : facts :=
  of_kind o [Each clean; Form nfd; Each marks; Each small] [] [Apart alone (file_spaces o)] (Longest V [35; 35]%N 100 unknown) 1 [].

(** Any model behind a row of patterns; behind white space that is taken out; behind Metaspace, which cuts before
    each sign and puts one before each section, or only where the text begins. *)
Definition any_behind (row : family) (ids : text -> list N) (o : file) : facts :=
  let '(n, trees, table) := row in of_kind o [] [] (map Pattern trees) (AnyModel ids) n table.
Definition whitespace_split (ids : text -> list N) (o : file) : facts :=
  of_kind o [] [] [Apart [] (file_spaces o)] (AnyModel ids) 1 [].
Definition metaspace (normal : list stage) (only_first : bool) (ids : text -> list N) (o : file) : facts :=
  of_kind o normal [to_sign; Sign 9601 only_first] [At 9601 WithNext] (AnyModel ids) 1 [].

(** T5 and XLM-R behind Precompiled, whatever its table is: Metaspace works on each word by itself, so it and the
    model behind it are a function of the word. ALBERT and others have Metaspace alone. *)
Definition behind_metaspace (ids : text -> list N) (w : text) : list N :=
  flat_map ids (row_pieces (fun _ => 0) [At 9601 WithNext] (stage_text true (Sign 9601 false) w)).
Definition t5 (table : charsmap) (ids : text -> list N) (o : file) : facts :=
  of_kind o [Precompiled table] [] [Apart [] (file_spaces o)] (AnyModel (behind_metaspace ids)) 1 [].
(** WordLevel: a word is a token, or unknown. *)
Definition word_level (V : list (text * N)) (unknown : N) (w : text) : list N :=
  [match find (fun e => if list_eq_dec N.eq_dec (fst e) w then true else false) V with
   | Some (_, i) => i | None => unknown end].

(** Each character has one of the symbols of the pattern; without patterns there is one symbol. *)
Definition symbols_below (n : nat) (o : file) : bool :=
  (file_other o <? n) && forallb (fun '(_, _, s) => s <? n) (file_symbols o).

Lemma patterns_of_map trees : trees <> [] -> patterns_of (map Pattern trees) = Some trees.
Proof.
  induction trees as [|p [|q trees] IH]; intros ne; [easy|easy|].
  change (option_map (cons p) (patterns_of (map Pattern (q :: trees))) = Some (p :: q :: trees)).
  now rewrite IH.
Qed.

(** The checker of pairs accepts every built-in row, so the end theorem speaks of it. *)
Lemma byte_level_ok row whole o : In row families -> symbols_below (fst (fst row)) o = true ->
  facts_ok (byte_level row whole o) = true.
Proof.
  intros i h. destruct row as [[n trees] table]. apply andb_true_intro. split; [exact h|].
  change (match patterns_of (map Pattern trees) with
          | Some trees => Rows.row_ok n trees table | None => true end = true).
  destruct trees as [|p trees]; [easy|]. rewrite patterns_of_map by easy.
  exact (proj1 (forallb_forall _ _) families_ok _ i).
Qed.

(** The end theorem for each of them. *)
Theorem built_in_tokenizers : forall (row : family) (whole : bool) (o : file),
  In row families -> symbols_below (fst (fst row)) o = true ->
  let f := byte_level row whole o in
  forall (S : text) (cert : certificate) (ids : list N),
    check f S cert ids = true -> ids = T (tokenizer_of f) S.
Proof.
  intros row whole o i h f S cert ids. apply accepted_ids_are_right. now apply byte_level_ok.
Qed.

(** What the checker accepts are the ids of the text. *)
Definition right_for (f : facts) : Prop := forall (S : text) (cert : certificate) (ids : list N),
  check f S cert ids = true -> ids = T (tokenizer_of f) S.

Theorem real_tokenizers :
  (forall o, symbols_below 14 o = true -> right_for (gpt2 o)) /\
  (forall o, symbols_below 14 o = true -> right_for (gpt2_with_space o)) /\
  (forall o, symbols_below 15 o = true -> right_for (llama3 o)) /\
  (forall nfc o, symbols_below 15 o = true -> right_for (qwen2 nfc o)) /\
  (forall o, symbols_below 14 o = true -> right_for (deepseek o)) /\
  (forall o, symbols_below 1 o = true -> right_for (gemma o)) /\
  (forall o, symbols_below 1 o = true -> right_for (llama2 o)) /\
  (forall o, symbols_below 1 o = true -> right_for (llama2_metaspace o)) /\
  (forall clean marks small nfd alone V unknown o, symbols_below 1 o = true ->
    right_for (bert clean marks small nfd alone V unknown o)) /\
  (forall table score add less (m : unigram score) o, symbols_below 1 o = true ->
     right_for (t5 table (unigram_ids add less m) o)) /\
  (forall normal score add less (m : unigram score) only_first o, symbols_below 1 o = true ->
     right_for (metaspace normal only_first (unigram_ids add less m) o)) /\
  (forall V unknown o, symbols_below 1 o = true -> right_for (whitespace_split (word_level V unknown) o)) /\
  (forall ids o, symbols_below 1 o = true -> right_for (whitespace_split ids o)) /\
  (forall ids row o, In row families -> symbols_below (fst (fst row)) o = true ->
     right_for (any_behind row ids o)).
Proof.
  assert (forall row, In row [gpt2_1; cl100k_1; qwen2_1; deepseek_1] -> In row families) as known
    by (unfold families; simpl; tauto).
  split; [exact (fun o => built_in_tokenizers gpt2_1 false o (known gpt2_1 ltac:(simpl; auto)))|].
  split; [intros o h S cert ids; apply accepted_ids_are_right;
          exact (byte_level_ok gpt2_1 false o (known gpt2_1 ltac:(simpl; auto)) h)|].
  split; [exact (fun o => built_in_tokenizers cl100k_1 true o (known cl100k_1 ltac:(simpl; auto)))|].
  split; [intros nfc o h S cert ids; apply accepted_ids_are_right;
          exact (byte_level_ok qwen2_1 false o (known qwen2_1 ltac:(simpl; auto)) h)|].
  split; [exact (fun o => built_in_tokenizers deepseek_1 false o (known deepseek_1 ltac:(simpl; auto)))|].
  repeat (split; [intros; intros S cert ids'; apply accepted_ids_are_right; apply andb_true_intro;
    (split; [eassumption|reflexivity])|]).
  intros ids row o i h S cert ids'. apply accepted_ids_are_right.
  pose proof (byte_level_ok row false o i h) as ok. destruct row as [[n trees] table]. exact ok.
Qed.

(** ** A text of each, computed *)

(** "<s>" and "</s>", the latter takes the white space behind it; "a" and "b" are merged, and so are
    a space and "a". *)
Definition markup (c : text) (i : N) (strip : bool) : added_token := {|
  content := c; token_id := i; lstrip := false; rstrip := strip; single_word := false; skipped := false |}.
Definition chat_tokens : list added_token :=
  [markup [60; 115; 62] 900 false; markup [60; 47; 115; 62] 901 true]%N.
Definition small_file (space letter digit newline other n : nat) (byte_level : bool) : file := {|
  file_spaces := [(9, 13); (32, 32)]%N; file_words := [(97, 122)]%N; file_tokens := chat_tokens;
  file_symbols := [(97%N, 122%N, letter); (48%N, 57%N, digit); (32%N, 32%N, space); (10%N, 10%N, newline)];
  file_other := other;
  file_letters := [(97%N, 256); (98%N, 257); (9601%N, 258); (46%N, 259)];
  file_vocabulary := map (fun b => ([b], N.of_nat b)) (seq 0 260) ++
    [(if byte_level then [97; 98] else [256; 257], 500%N); (if byte_level then [32; 97] else [258; 256], 501%N)];
  file_merges := if byte_level then [([97], [98]); ([32], [97])] else [([256], [257]); ([258], [256])] |}.

(** "<s>ab. ab 1</s>  a ab": the edges of the tokens, and cuts at spaces. *)
Definition chat : text :=
  [60; 115; 62; 97; 98; 46; 32; 97; 98; 32; 49; 60; 47; 115; 62; 32; 32; 97; 32; 97; 98]%N.

(** What the checker says of the right ids, and of ids of which the last one is another. *)
Definition verdicts (f : facts) (cert : certificate) : list bool :=
  let ids := T (tokenizer_of f) chat in
  [facts_ok f; check f chat cert ids; check f chat cert (removelast ids ++ [7%N]); check f chat [] ids].

(** Segments: "<s>", "ab.", " ab", " 1</s>  a", " ab"; behind an absorbed space: "<s>", "ab.", "ab",
    "1</s>  a", "ab". Behind a token, Metaspace puts a sign before a text only. *)
Definition at_spaces : certificate := [(3, Edge); (3, Between); (3, Between); (9, Between)].
Definition absorbing : certificate := [(3, Edge); (3, Absorbing); (2, Absorbing); (8, Absorbing)].
Definition no_edge : certificate := [(6, Between); (3, Between); (9, Between)].

Definition accepted (f : facts) (cert : certificate) : bool :=
  if list_eq_dec bool_dec (verdicts f cert) [true; true; false; true] then true else false.

(** Qwen composes "e" and U+0301, and is cut in front of the space; BERT takes the accent off; T5's table has both as a key. *)
Definition accent : charsmap := {| kinds := [(769, 769, Mark); (1536, 1541, Preceding)]; keys := [([101; 769], [233])] |}%N.
Definition accents : list bool :=
  let marked := [101; 769; 46; 32; 97; 98]%N in
  let words := [([97; 98], 1); ([101], 2)]%N in
  let q := qwen2 few (small_file 3 6 5 2 0 15 true) in
  let b := bert [] [(769, [])]%N [] decomposing [(46, 46)]%N words 0%N (small_file 0 0 0 0 0 1 false) in
  let u := t5 accent (fun w => w) (small_file 0 0 0 0 0 1 false) in
  let same x y := if list_eq_dec N.eq_dec x y then true else false in
  [same (T (tokenizer_of q) marked) (T (tokenizer_of q) [233; 46; 32; 97; 98]%N);
   check q marked [(3, Between)] (T (tokenizer_of q) marked);
   check b marked [(3, Between)] [2; 0; 1]%N; negb (cut_allowed q Between marked 1);
   same (T (tokenizer_of u) marked) (T (tokenizer_of u) [233; 46; 32; 97; 98]%N);
   check u marked [(3, Between)] (T (tokenizer_of u) marked); negb (cut_allowed u Between marked 1)].

(** A Unigram whose scores are whole numbers; sums below -63 are rounded to multiples of four. *)
Definition rounded (x y : Z) : Z := let s := (x + y)%Z in if (s <? -63)%Z then (4 * ((s + 2) / 4))%Z else s.
Definition small_unigram : unigram Z := {|
  entries := [([97]%N, -12); ([97; 97]%N, -19); ([98]%N, -63); ([9601; 97; 98]%N, -5); ([9601]%N, -3)]%Z;
  unknown := Some (9%N, (-80)%Z); start_sum := 0%Z; byte_fallback := false |}.
Definition small_ids : text -> list N := unigram_ids rounded Z.ltb small_unigram.

(** STAGE inside a piece is for merges alone: "baaa" is b, aa, a, by the rounding of a sum, but "aaa" is a, aa. *)
Theorem unigram_is_nowhere_apart :
  small_ids [98; 97; 97; 97]%N = [2; 1; 0]%N /\ small_ids [97; 97; 97]%N = [0; 1]%N /\
  ~ apart_at (AnyModel small_ids) 98 97.
Proof.
  split; [vm_compute; reflexivity|]. split; [vm_compute; reflexivity|]. intros h.
  specialize (h [98]%N [97; 97; 97]%N). discriminate h; split; [now exists []|now exists [97; 97]%N].
Qed.

Theorem real_tokenizers_accept :
  let characters := small_file 0 0 0 0 0 1 false in
  let words := [([97; 98], 1); ([35; 35; 98], 2); ([97], 3)]%N in
  map (fun f => accepted f at_spaces)
    [gpt2 (small_file 2 5 4 1 0 14 true); gpt2_with_space (small_file 2 5 4 1 0 14 true);
     llama3 (small_file 3 6 5 2 0 15 true); qwen2 few (small_file 3 6 5 2 0 15 true); deepseek (small_file 3 6 5 2 4 14 true);
     gemma characters; bert [(46, [32; 46])]%N [(769, [])]%N [] decomposing [(46, 46)]%N words 0%N characters;
     t5 accent small_ids characters; metaspace [Precompiled accent] false small_ids characters; whitespace_split (word_level words 0%N) characters;
     any_behind gpt2_1 small_ids (small_file 2 5 4 1 0 14 true)] = repeat true 11 /\
  accents = repeat true 7 /\
  accepted (llama2 characters) absorbing = true /\ accepted (llama2_metaspace characters) no_edge = true /\
  accepted (metaspace [] true small_ids characters) no_edge = true /\
  cut_allowed (llama2_metaspace characters) Edge chat 3 = false.
Proof. vm_compute. repeat split; reflexivity. Qed.
