(** A whole tokenizer as a program: added tokens, normalizer, pre-tokenizer, model, and [T], the ids
    of a text. These are definitions only; each is said in words beside it. *)
From Coq Require Import List Arith Lia Bool NArith.
From Tokpar Require Import Merging PreTokens Patterns PatternPairs Pairs Ids.
Import ListNotations.

(** A text is a list of code points. *)
Definition text : Type := list N.

(** Classes of characters: first and last code points. *)
Definition class : Type := list (N * N).
Definition inside (l : class) (c : N) : bool :=
  existsb (fun '(low, high) => (low <=? c)%N && (c <=? high)%N) l.

(** ** Added tokens *)

Record added_token : Type := {
  content : text;
  token_id : N;
  lstrip : bool;               (* takes the white space before it *)
  rstrip : bool;               (* takes the white space behind it *)
  single_word : bool           (* is dropped if a word character stands beside it *)
}.

(** What the search makes of a text: a token, or the segment between two. *)
Inductive item : Type :=
| Token (id : N)
| Segment (first : bool) (G : text).   (* first: the text begins with it *)

Fixpoint begins (t w : text) : bool :=
  match t, w with
  | [], _ => true
  | a :: t', b :: w' => (a =? b)%N && begins t' w'
  | _ :: _, [] => false
  end.

Fixpoint drop_while (f : N -> bool) (w : text) : text :=
  match w with c :: w' => if f c then drop_while f w' else w | [] => [] end.

Definition starts_in (f : N -> bool) (w : text) : bool :=
  match w with c :: _ => f c | [] => false end.

Section Search.
(** White space, and word characters, as the engine knows them. *)
Variables space word : N -> bool.
Variable tokens : list added_token.

Definition longer (t : added_token) (best : option added_token) : option added_token :=
  match best with
  | Some u => if length (content t) <? length (content u) then best else Some t
  | None => Some t
  end.

(** The token with the longest content that the text begins with. *)
Definition longest_at (w : text) : option added_token :=
  fold_right (fun t best =>
    match content t with
    | [] => best
    | _ :: _ => if begins (content t) w then longer t best else best
    end) None tokens.

Definition segment (first : bool) (open : text) : list item :=
  match open with [] => [] | _ :: _ => [Segment first (rev open)] end.

(** The search from the left. w is what is left of the text, [seen] what stands before w, read from
    right to left; [open] is the part of it behind the last token. A step reads one character, or a
    token. |w| steps are enough. *)
Fixpoint search (room : nat) (first : bool) (seen open w : text) : list item :=
  match room, w with
  | 0, _ | _, [] => segment first open
  | S room', c :: w' =>
      match longest_at w with
      | None => search room' first (c :: seen) (c :: open) w'
      | Some t =>
          let back := rev (content t) in
          let rest := skipn (length (content t)) w in
          if single_word t && (starts_in word seen || starts_in word rest)
          then search room' first (back ++ seen) (back ++ open) rest
          else
            let stripped := if rstrip t then drop_while space rest else rest in
            let taken := firstn (length rest - length stripped) rest in
            segment first (if lstrip t then drop_while space open else open) ++
            Token (token_id t) :: search room' false (rev taken ++ back ++ seen) [] stripped
      end
  end.

Definition items (first : bool) (S : text) : list item := search (length S) first [] [] S.

(** The ids of a text whose segments have the ids that F gives them. *)
Definition item_ids (F : bool -> text -> list N) (i : item) : list N :=
  match i with Token id => [id] | Segment first G => F first G end.
Definition with_tokens (F : bool -> text -> list N) (first : bool) (S : text) : list N :=
  flat_map (item_ids F) (items first S).
End Search.

(** ** Normalizers *)

(** A stage: characters replaced one by one, all others stay; a text put before each text that is not
    empty; a sign put before a text that does not begin with it, or only where the whole text begins. *)
Inductive stage : Type :=
| Each (table : list (N * text))
| Prepend (front : text)
| Sign (sign : N) (only_first : bool).

Definition replaced (table : list (N * text)) (c : N) : text :=
  match find (fun e => (fst e =? c)%N) table with Some (_, t) => t | None => [c] end.

Definition stage_text (first : bool) (s : stage) (G : text) : text :=
  match s, G with
  | _, [] => []
  | Each table, _ => flat_map (replaced table) G
  | Prepend front, _ => front ++ G
  | Sign sign only_first, c :: _ =>
      if (c =? sign)%N || (only_first && negb first) then G else sign :: G
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

Definition non_empty (w : text) : bool := match w with [] => false | _ => true end.

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
Definition row_pieces (row : list split) (G : text) : list text :=
  fold_left (fun pieces s => flat_map (split_pieces s) pieces) row (filter non_empty [G]).
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
  model : text -> list N                  (* the ids of one piece *)
}.

Definition symbol_of (t : tokenizer) (c : N) : nat :=
  match find (fun '(low, high, _) => (low <=? c)%N && (c <=? high)%N) (symbols t) with
  | Some (_, s) => s
  | None => other_symbol t
  end.

(** The ids of what no added token is in any more. *)
Definition piece_ids (t : tokenizer) (first : bool) (G : text) : list N :=
  flat_map (model t) (row_pieces (symbol_of t) (splits t) (stages_text first (signs t) G)).

(** The ids of a segment between two tokens that were found in the text. *)
Definition segment_ids (t : tokenizer) (first : bool) (G : text) : list N :=
  with_tokens (inside (spaces t)) (inside (words t)) (normalized_tokens t) (piece_ids t)
    first (stages_text first (normalizer t) G).

(** The ids of a text. *)
Definition T (t : tokenizer) (S : text) : list N :=
  with_tokens (inside (spaces t)) (inside (words t)) (raw_tokens t) (segment_ids t) true S.
