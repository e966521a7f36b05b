"""Coq's WordPiece and BPE over characters give the ids of `tokenizers`; planted mistakes do not."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from tokpar_model import file_findings
from tokpar_model.word_file import WordTokenizer, word_tokenizer_of_json

from tests.conftest import needs_below_one
from tests.support import profiles
from tests.support.coq_runs import computed
from tests.support.model_worlds import BERT, Config, numbered, word_config
from tokpar.certificate.canonical_form import form_of_json, parse_json

pytestmark = needs_below_one
if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no ids", allow_module_level=True)

TOKENIZERS, TEXTS_EACH = profiles.drawn(100), 25
ROWS = """From Coq Require Import Bool.
Definition rows (l : list (list N)) : list (list nat) := map (map N.to_nat) l.
Definition answer (b : bool) : nat := if b then 1 else 0.
"""


def points(text: str) -> str:
    """A text as Coq writes it: its code points."""
    return f"[{'; '.join(str(ord(char)) for char in text)}]%N"


def ids_of(row: Sequence[int]) -> str:
    return f"[{'; '.join(map(str, row))}]%N"


def truth(value: bool) -> str:
    return "true" if value else "false"


def mistakes_found(rows: list[list[list[int]]], engine: list[list[int]], columns: int) -> list[int]:
    """In how many cases each column of a row has other ids than the engine."""
    pairs = list(zip(rows, engine, strict=True))
    return [sum(row[column] != ids for row, ids in pairs) for column in range(columns)]


# ------------------------------------------------------------------------------- WordPiece

WORD_CHARACTERS = "aaaabbbAé\u0301##中!  \x00\xa7"
KINDS = ("Space", "Word", "Single", "Unknown")
WORD_PLANTED = """Definition changed (f : word_facts) prefix limit isolated normal : word_facts :=
  {| tokens_of := tokens_of f; unknown_id := unknown_id f; word_prefix := prefix;
     word_limit := limit; white_of := white_of f; isolated_of := isolated; normal_of := normal;
     kinds_of := kinds_of f |}.
Definition by_words (row : list N -> list N) (f : word_facts) (S : list N) : list N :=
  concat (map row (words_of f (flat_map (normal_of f) S))).
Definition id_in_file f := id_of_token (tokens_of f).
Definition word_rows (f : word_facts) (S ids : list N) : list (list nat) :=
  let p := word_prefix f in let l := word_limit f in
  let i := isolated_of f in let n := normal_of f in
  [answer (check_wordpiece f S ids)] :: rows [wordpiece_ids f S;
    wordpiece_ids (changed f [] l i n) S; wordpiece_ids (changed f p 1000 i n) S;
    wordpiece_ids (changed f p l (fun _ => false) n) S;
    wordpiece_ids (changed f p l i (fun c => [c])) S;
    by_words (row_of_word (id_in_file f) p l (unknown_id f) (Nat.min 1)) f S;
    by_words (fun w => match match_within _ (id_in_file f) p (length w) (fun n => n) [] w with
                       Some row => row | None => [] end) f S].
"""


def drawn_words(rng: random.Random) -> Config:
    tokens = {
        rng.choice(["", "##"]) + "".join(rng.choices("aaabbé#中!", k=rng.randint(1, 3)))
        for _ in range(rng.randint(4, 14))
    }
    switches = ("clean_text", "handle_chinese_chars", "lowercase")
    normalizer = {**BERT, **{name: rng.random() < 0.7 for name in switches}}
    normalizer["strip_accents"] = rng.choice([None, True, False])
    return word_config(
        *sorted(tokens),
        normalizer=rng.choice([normalizer, normalizer, normalizer, None]),
        max_input_chars_per_word=rng.choice([100, 3, 5, 0]),
    )


def word_facts(config: Config, engine: Tokenizer, read: WordTokenizer) -> str:
    """The facts of WordPiece.v: what the engine does with each character, what the checker says."""
    white, isolated, normal, table = [], [], [], []
    for char in sorted({*WORD_CHARACTERS}):
        pieces = [piece for piece, _ in engine.pre_tokenizer.pre_tokenize_str(f"a{char}a")]
        white += [ord(char)] if pieces == ["a", "a"] else []
        isolated += [ord(char)] if pieces == ["a", char, "a"] else []
        form = engine.normalizer.normalize_str(char) if engine.normalizer else char
        normal.append(f"({ord(char)}, {points(form)})")
        kind, checked = read.kind_of(char)
        table.append(f"({ord(char)}, ({KINDS[kind]}, {points(checked)}))")
    listed = [entry for entry in table if "Unknown" not in entry]
    model = config["model"]
    tokens = "; ".join(f"({points(token)}, {id_}%N)" for token, id_ in model["vocab"].items())
    return (
        f"{{| tokens_of := [{tokens}]; unknown_id := 0%N; word_prefix := {points('##')}; "
        f"word_limit := {model['max_input_chars_per_word']}; "
        f"white_of := fun c => existsb (N.eqb c) {ids_of(white)}; "
        f"isolated_of := fun c => existsb (N.eqb c) {ids_of(isolated)}; "
        f"normal_of := Pipeline.replaced [{'; '.join(normal)}]%N; "
        f"kinds_of := listed [{'; '.join(listed)}]%N |}}"
    )


def forged(rng: random.Random, right: list[int], count: int) -> list[int]:
    """The ids, or with one replaced, dropped, or written twice."""
    row, k = [*right], rng.randrange(len(right) or 1)
    match rng.randrange(5):
        case 0:
            row[k : k + 1] = [rng.randrange(count)]
        case 1:
            del row[k : k + 1]
        case 2:
            row[k:k] = row[k : k + 1] or [0]
    return row


def test_wordpiece_in_coq_is_that_of_the_engine_and_of_the_checker(
    compiled: tuple[Path, str],
) -> None:
    rng = random.Random(33)
    definitions, terms, engine_ids, verdicts = [ROWS, WORD_PLANTED], [], [], []
    for number in range(TOKENIZERS):
        config = drawn_words(rng)
        data = json.dumps(config)
        engine = Tokenizer.from_str(data)
        read = word_tokenizer_of_json(form_of_json(parse_json(data), ""))
        definitions.append(f"Definition f_{number} := {word_facts(config, engine, read)}.")
        for _ in range(TEXTS_EACH):
            text = "".join(rng.choices(WORD_CHARACTERS, k=rng.randint(0, 9)))
            engine_ids.append(engine.encode(text).ids)
            ids = forged(rng, engine_ids[-1], len(config["model"]["vocab"]))
            verdicts.append([int(file_findings(data, text, ids).ok)])
            terms.append(f"word_rows f_{number} {points(text)} {ids_of(ids)}")
    values = computed(compiled[0], "Ids Pipeline WordPiece", terms, "\n".join(definitions))
    assert [row[0] for row in values] == verdicts
    assert 0.1 < sum(ok for (ok,) in verdicts) / len(verdicts) < 0.9
    right, *planted = mistakes_found([row[1:] for row in values], engine_ids, 7)
    assert right == 0
    assert min(planted) > 0.02 * len(verdicts), planted


# --------------------------------------------------------------------- BPE over characters

CHARACTERS = "aaabbbcxé中"
CHAR_PLANTED = """Definition planted (f : char_facts) merges fallback fuse : char_facts :=
  {| char_tokens := char_tokens f; char_merges := merges; char_fallback := fallback;
     char_fuse := fuse; char_unk := char_unk f |}.
Definition ids_by (f : char_facts) (atoms : list (list N)) priority : list N :=
  map (id_or_none f) (final priority atoms).
Definition by_first (merges : list (list N * list N)) (u v : list N) : option nat :=
  place (fun m => string_same (fst m) u && string_same (snd m) v) merges.
Definition char_rows (f : char_facts) (w : list N) : list (list nat) :=
  let k := char_known f in let m := char_merges f in
  let b := char_fallback f in let u := char_unk f in
  [[answer (char_gate f && atoms_known k b u w)]; map answer (cuts f w)] ++ rows [char_ids f w;
    map (id_or_none f) (queue_pieces f w);
    ids_by f (atoms_in_order k b (char_fuse f) u w) (by_lines m);
    ids_by f (engine_atoms k b (char_fuse f) u false w) (by_first m);
    char_ids (planted f (rev m) b (char_fuse f)) w; char_ids (planted f m (negb b) (char_fuse f)) w;
    char_ids (planted f m b (negb (char_fuse f))) w].
"""
CUTS = """Fixpoint cuts (f : char_facts) (w : list N) : list bool :=
  match w with c :: (d :: _) as w' => char_cut f c d :: cuts f w' | _ => [] end.
"""


def drawn_characters(rng: random.Random) -> tuple[dict[str, int], list[tuple[str, str]], Config]:
    """Tokens, merges and settings; with small chances, outside each condition of the gate."""
    letters = rng.sample("abcé中", rng.randint(2, 4))
    names = [f"<0x{byte:02X}>" for char in "abcxé中" for byte in char.encode()]
    named = rng.random() < 0.8
    specials = ["<unk>", *(names if named else rng.sample(names, 3))]
    strings = [*letters, *(specials if rng.random() < 0.2 else [])]
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randint(2, 9)):
        merges.append((rng.choice(strings), rng.choice(strings)))
        strings.append("".join(merges[-1]))
    merges += rng.choices(merges, k=6)
    settings = {
        "byte_fallback": rng.random() < 0.6,
        "fuse_unk": rng.random() < 0.5,
        "unk_token": rng.choice(["<unk>", "<unk>", None]),
    }
    return numbered(*specials, *strings), merges, settings


def char_facts(vocab: dict[str, int], merges: list[tuple[str, str]], settings: Config) -> str:
    tokens = "; ".join(f"({points(token)}, {id_}%N)" for token, id_ in vocab.items())
    pairs = "; ".join(f"({points(u)}, {points(v)})" for u, v in merges)
    unk = settings["unk_token"]
    return (
        f"{{| char_tokens := [{tokens}]; char_merges := [{pairs}]; "
        f"char_fallback := {truth(settings['byte_fallback'])}; "
        f"char_fuse := {truth(settings['fuse_unk'])}; "
        f"char_unk := {'None' if unk is None else f'Some {points(unk)}'} |}}"
    )


def test_bpe_over_characters_in_coq_is_that_of_the_engine(compiled: tuple[Path, str]) -> None:
    rng = random.Random(57)
    definitions, terms, texts, engines = [ROWS, CUTS, CHAR_PLANTED], [], [], []
    for number in range(TOKENIZERS):
        vocab, merges, settings = drawn_characters(rng)
        engine = Tokenizer(models.BPE(vocab, merges, **settings))
        definitions.append(f"Definition f_{number} := {char_facts(vocab, merges, settings)}.")
        for _ in range(TEXTS_EACH):
            texts.append("".join(rng.choices(CHARACTERS, k=rng.randint(0, 12))))
            engines.append(engine)
            terms.append(f"char_rows f_{number} {points(texts[-1])}")
    values = computed(compiled[0], "Merging Ids Shortcuts", terms, "\n".join(definitions))
    engine_ids = [engine.encode(text).ids for engine, text in zip(engines, texts, strict=True)]
    right, queue, *planted = mistakes_found([row[2:] for row in values], engine_ids, 7)
    assert right == queue == 0
    assert min(planted) > 0.005 * len(texts), planted
    made = 0
    for row, engine, text, ids in zip(values, engines, texts, engine_ids, strict=True):
        places = [p for p, cut in enumerate(row[1], 1) if cut and row[0] == [1]]
        made += len(places)
        edges = [0, *places, len(text)]
        parts = [text[a:b] for a, b in pairwise(edges)]
        assert [id_ for part in parts for id_ in engine.encode(part).ids] == ids
    assert made > 0.5 * len(texts)
