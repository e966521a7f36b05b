"""Coq's whole tokenizer, a program, gives the ids of tokenizers and of tiktoken, and a mistake in
any of its definitions is found."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import needs_below_one
from tests.support.coq_runs import computed, definitions_only, write_definitions
from tests.support.coq_worlds import DEFINITIONS, PanicError, World, drawn_worlds, points
from tests.support.profiles import cases, chosen_profile, drawn

pytestmark = needs_below_one
if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no ids", allow_module_level=True)

TEXTS_EACH, BATCH = 20, 20
BATCHES = 50 if chosen_profile() == "deep" else drawn(5)
IMPORTS = "Merging PatternPairs Ids WordPiece Pipeline"


@dataclass(frozen=True)
class Cases:
    """Some tokenizers with their texts, and the ids that their engines give."""

    worlds: Sequence[World]
    texts: Sequence[Mapping[str, list[int]]]

    def wrong(self, directory: Path, imports: str = IMPORTS) -> list[tuple[str, str]]:
        """The cases in which Coq has other ids: the facts and the text."""
        facts = [f"Definition t_{k} := {world.coq}." for k, world in enumerate(self.worlds)]
        terms = [
            f"map (T t_{k}) [{'; '.join(map(points, texts))}]"
            for k, texts in enumerate(self.texts)
        ]
        definitions = "\n".join([DEFINITIONS, *facts, "Open Scope N_scope."])
        values = computed(directory, imports, terms, definitions)
        return [
            (world.coq, text)
            for world, texts, rows in zip(self.worlds, self.texts, values, strict=True)
            for (text, ids), coq in zip(texts.items(), rows, strict=True)
            if ids != coq
        ]


def drawn_cases(seed: str, count: int, **kinds: Sequence[str]) -> Cases:
    """Texts for which the engine gives ids."""
    rng = random.Random(seed)
    worlds = [*islice(drawn_worlds(seed, **kinds), count)]
    found: list[dict[str, list[int]]] = []
    for world in worlds:
        found.append({})
        for _ in range(3 * TEXTS_EACH):
            text = world.drawn_text(rng)
            with suppress(PanicError):
                found[-1][text] = world.encode(text)
            if len(found[-1]) == TEXTS_EACH:
                break
    return Cases(worlds, found)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_ids_in_coq_are_the_engines(compiled: tuple[Path, str], batch: int) -> None:
    cases = drawn_cases(f"batch {batch}", BATCH)
    assert sum(map(len, cases.texts)) > 0.9 * BATCH * TEXTS_EACH
    assert cases.wrong(compiled[0]) == []


MISTAKES = {
    "of several pairs the last": ("Merging", "p <=? q", "p <? q"),
    "the worst pair": ("Merging", "p <=? q", "q <=? p"),
    "one merge": ("Merging", "run (length w) (atoms w)", "run 1 (atoms w)"),
    "a merge of three": ("Merging", "(u ++ v) :: s'", "(u ++ v ++ concat (firstn 1 s')) :: skipn 1 s'"),
    "all merges have one rank": ("Merging", "option_map S (place wanted l')", "place wanted l'"),
    "the first of a pair": ("Merging", " && same (snd m) v", ""),
    "two pieces": ("PreTokens", "pieces_within room' (skipn (m S) S)", "[skipn (m S) S]"),
    "the last alternative": ("Patterns", "ways r1 s ++ ways r2 s", "ways r2 s ++ ways r1 s"),
    "lazy": ("Patterns", "if c x then if greedy then", "if c x then if negb greedy then"),
    "a lazy option": ("Patterns", "if greedy then Or r Empty", "if negb greedy then Or r Empty"),
    "no way back": ("Patterns", "flat_map (ways r2) (ways r1 s)", "flat_map (ways r2) (firstn 1 (ways r1 s))"),
    "what is possessive is given back": ("Patterns", "firstn 1 (ways r1 s)", "ways r1 s"),
    "no look-ahead": ("Patterns", "if f (hd_error s) then [s] else []", "[s]"),
    "once more": ("Patterns", "times greedy c l (most - 1)", "times greedy c l most"),
    "gaps of one character": ("Patterns", "None => S (gap r w')", "None => 1"),
    "no gaps": ("Patterns", "| None => gap r w end", "| None => length w end"),
    "the end of the text": ("PatternPairs", "(among l a) | None => e", "(among l a) | None => false"),
    "all counts": ("PatternPairs", "(among l) low n", "(among l) n n"),
    "one or more": ("PatternPairs", "exactly l low (Star", "exactly l 0 (Star"),
    "greedy": ("PatternPairs", "let greedy := match how with Lazy => false", "let greedy := match how with Lazy => true"),
    "a Split undoes those before it": ("Rows", "flat_map (pieces_of_row rest) (F S)", "match rest with [] => F S | _ => pieces_of_row rest S end"),
    "neighbours": ("Pairs", "if parts x y then", "if parts y x then"),
    "whole pieces": ("Ids", "list N :=\n  match (if shortcut", "list N :=\n  match (if negb shortcut"),
    "the start of the text": ("AddedTokens", "b) => rest (first && (a =? 0))", "b) => rest first"),
    "the longest word": ("WordPiece", "limit <? length w", "limit <=? length w"),
    "a word goes on": ("WordPiece", "(match_within room' reach prefix (", "(match_within room' reach front ("),
    "the shortest token": ("WordPiece", "Some (i, k) | None => longest front w k'", "match longest front w k' with Some s => Some s | None => Some (i, k) end | None => longest front w k'"),
    "a known start": ("WordPiece", "reach [] w with Some row => row | None => [unknown]", "reach [] w with Some row => row | None => []"),
    "up to a character": ("Pipeline", "existsb (fun '(low, high) => (low <=? c)%N && ", "existsb (fun '(low, high) => "),
    "what is not in the table": ("Pipeline", "Some (_, t) => t | None => [c] end", "Some (_, t) => t | None => [] end"),
    "in front": ("Pipeline", "front ++ G", "G ++ front"),
    "a text that is empty": ("Pipeline", "| _, [] => []\n", "| Prepend front, [] => front | _, [] => []\n"),
    "a second sign": ("Pipeline", "(c =? sign)%N || (", "("),
    "a sign everywhere": ("Pipeline", "(c =? sign)%N || (only_first && negb first)", "(c =? sign)%N"),
    "stages": ("Pipeline", "s G) stages G", "s G) (rev stages) G"),
    "the next piece": ("Pipeline", "WithNext => (b =? c)%N", "WithNext => (a =? c)%N"),
    "the piece before": ("Pipeline", "WithPrevious => (a =? c)%N", "WithPrevious => (b =? c)%N"),
    "isolated": ("Pipeline", "| At c Removed => (a =? c)%N || (b =? c)%N", "| At c Removed => (a =? c)%N"),
    "white space": ("Pipeline", "xorb (inside removed a) (inside removed b)", "false"),
    "single characters": ("Pipeline", "inside alone a || inside alone b", "inside alone b"),
    "what is removed": ("Pipeline", "a :: _ => negb (inside removed a)", "a :: _ => true"),
    "a removed character": ("Pipeline", "a :: _ => negb (a =? c)%N", "a :: _ => true"),
    "two bytes": ("Pipeline", "192 + c / 64", "194 + c / 64"),
    "three bytes": ("Pipeline", "[224 + c / 4096; 128 + c / 64 mod 64;", "[224 + c / 4096; 128 + c / 64;"),
    "four bytes": ("Pipeline", "65536", "65536000"),
    "byte fallback": ("Pipeline", "[a] | None => utf8 c", "[a] | None => []"),
    "symbols": ("Pipeline", "Some (_, s) => s\n  | None => other_symbol t", "Some (_, s) => s\n  | None => S (other_symbol t)"),
    "no sign": ("Pipeline", "match stages_text first (signs t) G with", "match G with"),
    "no normalizer": ("Pipeline", "first (stages_text first (normalizer t) G)", "first G"),
    "no normalized tokens": ("Pipeline", "(normalized_tokens t) (piece_ids t)", "[] (piece_ids t)"),
    "every segment is the first": ("Pipeline", "first (stages_text first (normalizer t)", "true (stages_text true (normalizer t)"),
}
"""Wrong definitions, by what is wrong: the file, what stands there and what is written instead.
Those of the search for added tokens: test_coq_added.py."""


@pytest.mark.parametrize(
    "mistake", cases(MISTAKES, ("one merge", "the last alternative", "white space", "two bytes"))
)
def test_a_mistake_in_the_definitions_is_found(tmp_path: Path, mistake: str) -> None:
    file, right, wrong = MISTAKES[mistake]
    definitions = definitions_only("Pipeline")
    assert definitions[file].count(right) == 1
    definitions[file] = definitions[file].replace(right, wrong)
    write_definitions(tmp_path, definitions)
    assert drawn_cases("batch 0", BATCH).wrong(tmp_path, "Planted")
