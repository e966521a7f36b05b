(** Unigram's search as a program, over any scores that can be compared and added: the rounding of a sum is
    part of its addition. In words: proofs/compiled-call.md, "Unigram". *)
From Coq Require Import List Arith Bool NArith.
From Tokpar Require Import Pipeline.
Import ListNotations.

Section Unigram.
Variable score : Type.
Variable add : score -> score -> score.
Variable less : score -> score -> bool.

(** [entries]: the pieces, their ids are their places. [unknown]: the id and the score of an unknown character.
    [byte_fallback]: an unknown string is the names of its bytes, if all are pieces. *)
Record unigram : Type := {
  entries : list (text * score);
  unknown : option (N * score);
  start_sum : score;
  byte_fallback : bool
}.
Variable m : unigram.

(** A place that a path reaches: the score of the best one, how many characters its last piece has, its id. *)
Definition node : Type := score * nat * N.

(** The last of equal pieces. *)
Fixpoint entry_from (i : N) (l : list (text * score)) (w : text) : option (N * score) :=
  match l with
  | [] => None
  | (t, s) :: l' =>
      match entry_from (i + 1) l' w with
      | Some found => Some found
      | None => if list_eq_dec N.eq_dec t w then Some (i, s) else None
      end
  end.
Definition entry : text -> option (N * score) := entry_from 0 (entries m).

(** The pieces that begin a text; the unknown character if its first character is no piece. *)
Definition pieces_of (w : text) : list node :=
  flat_map (fun n => match entry (firstn n w) with Some (i, s) => [(s, n, i)] | None => [] end) (seq 1 (length w)) ++
  match entry (firstn 1 w), unknown m with None, Some (i, s) => [(s, 1, i)] | _, _ => [] end.

(** The first candidate for a place stands until one scores more. [open]: the places behind this one. *)
Fixpoint offer (s : score) (n : nat) (i : N) (k : nat) (open : list (option node)) : list (option node) :=
  match k, open with
  | _, [] => []
  | 0, here :: open' =>
      match here with
      | Some (best, _, _) => if less best s then Some (s, n, i) :: open' else here :: open'
      | None => Some (s, n, i) :: open'
      end
  | S k', here :: open' => here :: offer s n i k' open'
  end.

(** From left to right; the last pieces of the places, the last place first. *)
Fixpoint search (w : text) (sum : score) (open : list (option node)) (found : list (nat * N)) : option (list (nat * N)) :=
  match w with
  | [] => Some found
  | _ :: w' =>
      match fold_left (fun open '(s, n, i) => offer (add s sum) n i (n - 1) open) (pieces_of w) open with
      | Some (best, n, i) :: open' => search w' best open' ((n, i) :: found)
      | _ => None
      end
  end.

(** Back from the end: the pieces of the best path, the first one in front. *)
Fixpoint path (room : nat) (found : list (nat * N)) (row : list (nat * N)) : list (nat * N) :=
  match room, found with
  | S room', (n, i) :: _ => path room' (skipn n found) ((n, i) :: row)
  | _, _ => row
  end.

Definition is_unknown (i : N) : bool := match unknown m with Some (u, _) => (u =? i)%N | None => false end.

(** The strings of a row: unknown characters side by side are one string. *)
Fixpoint strings (row : list (nat * N)) (w waiting : text) : list text :=
  match row with
  | [] => match waiting with [] => [] | _ => [waiting] end
  | (n, i) :: row' =>
      if is_unknown i then strings row' (skipn n w) (waiting ++ firstn n w) else
        match waiting with [] => [] | _ => [waiting] end ++ firstn n w :: strings row' (skipn n w) []
  end.

(** "<0x0A>" *)
Definition hex (d : nat) : N := N.of_nat (if d <? 10 then 48 + d else 55 + d).
Definition byte_name (b : nat) : text := [60; 48; 120; hex (b / 16); hex (b mod 16); 62]%N.

(** A string is its piece; else its bytes; else the unknown one. *)
Definition string_ids (w : text) : list N :=
  let names := map (fun b => entry (byte_name b)) (bytes w) in
  match entry w with
  | Some (i, _) => [i]
  | None =>
      if byte_fallback m && forallb (fun o => match o with Some _ => true | None => false end) names
      then flat_map (fun o => match o with Some (i, _) => [i] | None => [] end) names
      else match unknown m with Some (i, _) => [i] | None => [] end
  end.

Definition unigram_ids (w : text) : list N :=
  match search w (start_sum m) (map (fun _ => None) w) [] with
  | Some found => flat_map string_ids (strings (path (length w) found []) w [])
  | None => []
  end.
End Unigram.

Arguments unigram_ids {score}.
Arguments entries {score}.
Arguments unknown {score}.
Arguments start_sum {score}.
Arguments byte_fallback {score}.
