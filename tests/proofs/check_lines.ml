(* Asks the checker that Coq extracted, Checker, about what the lines of the standard input claim.

   A line has four fields of numbers, divided by semicolons: which tokenizer; the code points of the
   text; the certificate, for each segment its characters and its rule (0 between two characters,
   1 a space left out, 2 the edge of an added token); the claimed ids. For each line the program
   writes 1 if the checker accepts the claim, else 0, and the ids of the text. *)
open Checker

let rec positive_of k =
  if k = 1 then XH else if k land 1 = 1 then XI (positive_of (k lsr 1)) else XO (positive_of (k lsr 1))

let n_of k = if k = 0 then N0 else Npos (positive_of k)
let rec nat_of k = if k = 0 then O else S (nat_of (k - 1))

let rec int_of_positive = function
  | XH -> 1
  | XO p -> 2 * int_of_positive p
  | XI p -> (2 * int_of_positive p) + 1

let int_of = function N0 -> 0 | Npos p -> int_of_positive p

let numbers field =
  List.map int_of_string (List.filter (fun word -> word <> "") (String.split_on_char ' ' field))

let rec certificate_of = function
  | [] -> []
  | size :: rule :: rest ->
      let rules = [| Between; Absorbing; Edge |] in
      (nat_of size, rules.(rule)) :: certificate_of rest
  | [ _ ] -> failwith "a segment without a rule"

let answer tokenizers line =
  match List.map numbers (String.split_on_char ';' line) with
  | [ [ number ]; text; certificate; ids ] ->
      let f = tokenizers.(number) and s = List.map n_of text in
      let accepted = check f s (certificate_of certificate) (List.map n_of ids) in
      let own = List.map int_of (t f.tokenizer_of s) in
      String.concat " " (List.map string_of_int ((if accepted then 1 else 0) :: own))
  | _ -> failwith "a line has four fields"

let () =
  let tokenizers = Array.of_list tokenizers in
  try
    while true do
      print_endline (answer tokenizers (input_line stdin))
    done
  with End_of_file -> ()
