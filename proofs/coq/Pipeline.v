(** A whole tokenizer as a program: added tokens, normalizer, pre-tokenizer, model, and [T], the ids
    of a text. These are definitions only; each is said in words beside it. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens Patterns PatternPairs Rows Pairs Ids WordPiece Forms Clusters.
From Tokpar Require Export AddedTokens.
Import ListNotations.

(** Classes of characters: first and last code points. *)
Definition class : Type := list (N * N).
Definition inside (l : class) (c : N) : bool :=
  existsb (fun '(low, high) => (low <=? c)%N && (c <=? high)%N) l.

(** ** Normalizers *)

(** A stage: characters replaced one by one, all others stay; a text put before each text that is not
    empty; a sign put before a text that does not begin with it, or only where the whole text begins; a
    normal form of Unicode; a table of replacements on grapheme clusters. *)
Inductive stage : Type :=
| Each (table : list (N * text))
| Prepend (front : text)
| Sign (sign : N) (only_first : bool)
| Form (tables : characters)
| Precompiled (table : charsmap).

Definition replaced (table : list (N * text)) (c : N) : text :=
  match find (fun e => (fst e =? c)%N) table with Some (_, t) => t | None => [c] end.

Definition stage_text (first : bool) (s : stage) (G : text) : text :=
  match s, G with
  | _, [] => []
  | Each table, _ => flat_map (replaced table) G
  | Prepend front, _ => front ++ G
  | Sign sign only_first, c :: _ =>
      if (c =? sign)%N || (only_first && negb first) then G else sign :: G
  | Form tables, _ => normal tables G
  | Precompiled table, _ => mapped table G
  end.
Definition stages_text (first : bool) (stages : list stage) (G : text) : text :=
  fold_left (fun G s => stage_text first s G) stages G.

(** ** Pre-tokenizers *)

(** What becomes of the character at which a Split parts a text. *)
Inductive behavior : Type := Isolated | Removed | WithPrevious | WithNext.

(** A part of the pre-tokenizer works on every piece of the one before: the matches of a pattern and
    the gaps between them; the characters of [alone], and the rows of others, without the characters
    of [removed]; pieces that end at one character. *)
Inductive split : Type :=
| Pattern (t : tree)
| Apart (alone removed : class)
| At (c : N) (how : behavior).

Section Splits.
(** The symbols of the patterns: numbers of characters that no class of the patterns tells apart. *)
Variable symbol : N -> nat.

Definition split_parts (s : split) (a b : N) : bool :=
  match s with
  | Pattern _ => false
  | Apart alone removed =>
      inside alone a || inside alone b || xorb (inside removed a) (inside removed b)
  | At c Isolated | At c Removed => (a =? c)%N || (b =? c)%N
  | At c WithPrevious => (a =? c)%N
  | At c WithNext => (b =? c)%N
  end.
Definition split_keeps (s : split) (w : text) : bool :=
  match s, w with
  | Apart _ removed, a :: _ => negb (inside removed a)
  | At c Removed, a :: _ => negb (a =? c)%N
  | _, _ => true
  end.

Definition split_pieces (s : split) (G : text) : list text :=
  match s with
  | Pattern t => pieces (first_end (tree_regex symbol t)) G
  | _ => filter (split_keeps s) (pair_pieces N (split_parts s) G)
  end.
(** Each part of the row works on each piece of the one before. *)
Definition row_pieces (row : list split) : text -> list text := pieces_of_row (map split_pieces row).
End Splits.

(** ** Models *)

Definition utf8 (c : N) : list nat :=
  map N.to_nat
    (if (c <? 128)%N then [c]
     else if (c <? 2048)%N then [192 + c / 64; 128 + c mod 64]
     else if (c <? 65536)%N then [224 + c / 4096; 128 + c / 64 mod 64; 128 + c mod 64]
     else [240 + c / 262144; 128 + c / 4096 mod 64; 128 + c / 64 mod 64; 128 + c mod 64])%N.
Definition bytes : text -> list nat := flat_map utf8.

(** BPE. The atoms 0 to 255 are the bytes. A character of [letters] is an atom by itself; any other is
    its bytes (byte-level BPE has no letters). Strings of tokens and merges are rows of atoms. *)
Record bpe : Type := {
  letters : list (N * nat);
  vocabulary_of : vocabulary;
  merges : list (list nat * list nat);    (* in the order of their ranks *)
  whole_piece : bool                      (* a piece that is a token is not merged *)
}.
Definition atoms_of (m : bpe) (c : N) : list nat :=
  match find (fun e => (fst e =? c)%N) (letters m) with Some (_, a) => [a] | None => utf8 c end.
Definition bpe_ids (m : bpe) (w : text) : list N :=
  encode_piece (vocabulary_of m) (by_pairs (merges m)) (whole_piece m) (flat_map (atoms_of m) w).

(** Greedy merging; WordPiece: the longest tokens, from the start of a word on; or any function of a piece. *)
Inductive model : Type :=
| Merges (m : bpe)
| Longest (V : list (list N * N)) (prefix : text) (limit : nat) (unknown : N)
| AnyModel (ids : text -> list N).
Definition model_ids (m : model) (w : text) : list N :=
  match m with
  | Merges b => bpe_ids b w
  | Longest V prefix limit unknown => word_ids (id_of_token V) prefix limit unknown w
  | AnyModel ids => ids w
  end.

(** ** The whole tokenizer *)

Record tokenizer : Type := {
  spaces : class;                         (* white space, for added tokens that strip it *)
  words : class;                          (* word characters, for [single_word] *)
  raw_tokens : list added_token;          (* normalized=False: searched in the text *)
  normalizer : list stage;
  normalized_tokens : list added_token;   (* searched in what the normalizer makes of a segment *)
  signs : list stage;                     (* what the pre-tokenizer writes before it splits *)
  symbols : list (N * N * nat);           (* first and last code point, their symbol *)
  other_symbol : nat;                     (* the symbol of all other code points *)
  splits : list split;
  model_of : model
}.

Definition symbol_of (t : tokenizer) (c : N) : nat :=
  match find (fun '(low, high, _) => (low <=? c)%N && (c <=? high)%N) (symbols t) with
  | Some (_, s) => s
  | None => other_symbol t
  end.

(** The ids of what no added token is in any more. *)
Definition piece_ids (t : tokenizer) (first : bool) (G : text) : list N :=
  match stages_text first (signs t) G with
  | [] => []
  | H => flat_map (model_ids (model_of t)) (row_pieces (symbol_of t) (splits t) H)
  end.

(** The normalizer leaves something of the first character. Where it removes this character, the
    engine no longer takes the section for the start of a text. *)
Definition start_kept (t : tokenizer) (first : bool) (G : text) : bool :=
  match stages_text first (normalizer t) (firstn 1 G) with [] => false | _ => first end.

(** The ids of a segment between two tokens that were found in the text. *)
Definition segment_ids (t : tokenizer) (first : bool) (G : text) : list N :=
  with_tokens (inside (spaces t)) (inside (words t)) (normalized_tokens t) (piece_ids t)
    (start_kept t first G) (stages_text first (normalizer t) G).

(** The ids of a text. *)
Definition T (t : tokenizer) (S : text) : list N :=
  with_tokens (inside (spaces t)) (inside (words t)) (raw_tokens t) (segment_ids t) true S.
