"""Coq's whole tokenizer, a program, gives the ids of tokenizers and of tiktoken, and a mistake in
any of its definitions is found."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
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

TEXTS_EACH, BATCH = 10, 40
BATCHES = 50 if chosen_profile() == "deep" else drawn(5)
IMPORTS = "Merging PatternPairs Ids WordPiece Forms Clusters Pipeline"


@dataclass(frozen=True)
class Cases:
    """Some tokenizers with their texts, and the ids that their engines give."""

    worlds: Sequence[World]
    texts: Sequence[Mapping[str, list[int]]]

    def few(self) -> Iterator[Cases]:
        """A few tokenizers at a time."""
        for k in range(0, len(self.worlds), 8):
            yield Cases(self.worlds[k : k + 8], self.texts[k : k + 8])

    def wrong(self, directory: Path, imports: str = IMPORTS) -> list[tuple[str, str]]:
        """The cases in which Coq has other ids: the facts and the text."""
        facts = [f"Definition t_{k} := {world.coq}." for k, world in enumerate(self.worlds)]
        terms = [
            f"map (T t_{k}) [{'; '.join(map(points, texts))}]" for k, texts in enumerate(self.texts)
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


@pytest.mark.parametrize("kind", ["unigram", "word level", "precompiled"])
def test_the_ids_in_coq_are_the_engines_for_other_models(
    compiled: tuple[Path, str], kind: str
) -> None:
    """Any function of a piece is a model: behind all pre-tokenizers, with added tokens. The last
    kind is Unigram behind Precompiled and other stages of a normalizer."""
    cases = drawn_cases(f"any model {kind}", BATCH, kinds=(kind,))
    assert sum(map(len, cases.texts)) > 0.9 * BATCH * TEXTS_EACH
    assert cases.wrong(compiled[0], f"{IMPORTS} Unigram Instances") == []


MISTAKES = {
    "Merging": {
        "p <=? q": ["p <? q", "q <=? p"],
        "u :: v :: s' => (u ++ v)": ["u :: v :: s' => (v ++ u)"],
        "run (length w) (atoms w)": ["run 1 (atoms w)"],
        "option_map S (place": ["(place"],
        " && same (snd m) v": [""],
    },
    "PreTokens": {"pieces_within room' (skipn (m S) S)": ["[skipn (m S) S]"]},
    "Patterns": {
        "ways r1 s ++ ways r2 s": ["ways r2 s ++ ways r1 s"],
        "if c x then if greedy then": ["if c x then if negb greedy then"],
        "if greedy then Or r Empty": ["if negb greedy then Or r Empty"],
        "(ways r2) (ways r1 s)": ["(ways r2) (firstn 1 (ways r1 s))"],
        "firstn 1 (ways r1 s)": ["ways r1 s"],
        "if f (hd_error s) then [s] else []": ["[s]"],
        "times greedy c l (most - 1)": ["times greedy c l most"],
        "None => S (gap r w')": ["None => 1"],
        "| None => gap r w end": ["| None => length w end"],
    },
    "PatternPairs": {
        "(among l a) | None => e": ["(among l a) | None => false", "(among l a) | None => true"],
        "(among l) low n": ["(among l) n n"],
        "exactly l low (Star": ["exactly l 0 (Star"],
        "let greedy := match how with Lazy => false": ["let greedy := match how with Lazy => true"],
        "match how with Possessively => Possessive r": ["match how with Possessively => r"],
    },
    "Rows": {"flat_map (pieces_of_row rest) (F S)": ["F (concat (pieces_of_row rest S))"]},
    "Pairs": {"if parts x y then": ["if parts y x then"]},
    "Ids": {
        "encode_piece (b : list nat) : list N :=\n  match (if": [
            "encode_piece (b : list nat) : list N :=\n  match (if negb"
        ],
    },
    "WordPiece": {
        "limit <? length w": ["limit <=? length w"],
        "(match_within room' reach prefix (": ["(match_within room' reach (tl prefix) ("],
        "(front ++ firstn k w) with Some i => Some (i, k)": [
            "(front ++ firstn 1 w) with Some i => Some (i, 1)"
        ],
        "reach [] w with Some row => row | None => [unknown]": [
            "reach [] w with Some row => row | None => []"
        ],
    },
    "AddedTokens": {"b) => rest (first && (a =? 0))": ["b) => rest first"]},
    "Forms": {
        "Some (_, w) => w | None => [c]": ["Some (_, w) => firstn 1 w | None => [c]"],
        "(0 <? ccc d) && (ccc d <? ccc c)": [
            "(ccc d <? ccc c)",
            "(0 <? ccc d) && (ccc d <=? ccc c)",
        ],
        "(a =? k)%N && (b =? c)%N": ["(a =? k)%N"],
        "Some x => composed x passed last S'": ["Some x => x :: passed ++ S'"],
        "if ccc c =? 0 then k :: passed ++ composed c [] None S'": [
            "if ccc c =? 0 then k :: passed ++ c :: S'"
        ],
        "recompose (order (decompose S))": [
            "order (decompose S)",
            "recompose (order S)",
        ],
    },
    "Pipeline": {
        "(fun '(low, high) => (low <=? c)%N &&": ["(fun '(low, high) =>"],
        "Some (_, t) => t | None => [c]": ["Some (_, t) => t | None => []"],
        "front ++ G": ["G ++ front"],
        "| _, [] => []\n": ["| Prepend front, [] => front | _, [] => []\n"],
        "(c =? sign)%N || (only_first && negb first)": [
            "(only_first && negb first)",
            "(c =? sign)%N",
        ],
        "s G) stages G": ["s G) (rev stages) G"],
        "WithPrevious => (a =? c)%N": ["WithPrevious => (b =? c)%N"],
        "WithNext => (b =? c)%N": ["WithNext => (a =? c)%N"],
        "Removed => (a =? c)%N || (b =? c)%N": ["Removed => (a =? c)%N"],
        "xorb (inside removed a) (inside removed b)": ["false"],
        "inside alone a || inside alone b": ["inside alone b"],
        "a :: _ => negb (inside removed a)": ["a :: _ => true"],
        "a :: _ => negb (a =? c)%N": ["a :: _ => true"],
        "192 + c / 64": ["194 + c / 64"],
        "[224 + c / 4096; 128 + c / 64 mod 64;": ["[224 + c / 4096; 128 + c / 64;"],
        "65536": ["65536000"],
        "[a] | None => utf8 c": ["[a] | None => []"],
        "Some (_, s) => s\n  | None": ["Some (_, s) => S s\n  | None"],
        "match stages_text first (signs t) G with": ["match G with"],
        "(start_kept t first G) (stages_text first (normalizer t) G)": [
            "first G",
            "(start_kept t true G) (stages_text true (normalizer t) G)",
        ],
        "with [] => false | _ => first end": ["with _ => first end"],
        "(normalized_tokens t) (piece_ids t)": ["[] (piece_ids t)"],
        "(raw_tokens t) (segment_ids t)": ["[] (segment_ids t)"],
    },
}
"""Wrong definitions: what stands in a file, and what is written instead. Those of the search for
added tokens: test_coq_added.py."""
PLANTED = [
    (file, right, wrong)
    for file, definitions in MISTAKES.items()
    for right, all_wrong in definitions.items()
    for wrong in all_wrong
]


@pytest.mark.parametrize(("file", "right", "wrong"), cases(PLANTED, PLANTED[::30]))
def test_a_mistake_in_the_definitions_is_found(
    compiled: tuple[Path, str], file: str, right: str, wrong: str
) -> None:
    definitions = definitions_only("Pipeline")
    assert definitions[file].count(right) == 1
    definitions[file] = definitions[file].replace(right, wrong)
    planted = write_definitions(compiled[0], definitions)
    batches = (drawn_cases(f"batch {number}", BATCH) for number in range(9))
    assert any(few.wrong(planted, "Planted") for batch in batches for few in batch.few())
