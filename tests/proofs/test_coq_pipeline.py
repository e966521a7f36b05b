"""Coq's whole tokenizer, a program, gives the ids of tokenizers and of tiktoken, and a mistake in
any of its definitions is found."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import needs_below_one
from tests.support.coq_runs import computed, definitions_only, write_definitions
from tests.support.coq_worlds import PanicError, World, drawn_worlds, points
from tests.support.profiles import cases, chosen_profile, drawn

pytestmark = needs_below_one
if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no ids", allow_module_level=True)

TEXTS_EACH, BATCH = 20, 50
WORLDS = 1_000 if chosen_profile() == "deep" else drawn(100)
IMPORTS = "Merging PatternPairs Ids WordPiece Pipeline"
IDS = "Definition ids (t : tokenizer) (S : text) : list nat := map N.to_nat (T t S)."


@dataclass(frozen=True)
class Cases:
    """Some tokenizers with their texts, and the ids that their engines give."""

    worlds: Sequence[World]
    texts: Sequence[Sequence[str]]
    ids: Sequence[Sequence[list[int]]]

    def wrong(self, directory: Path, imports: str = IMPORTS) -> list[tuple[str, str]]:
        """The cases in which Coq has other ids: the facts and the text."""
        rows = [IDS, *(f"Definition t_{k} := {world.coq}." for k, world in enumerate(self.worlds))]
        terms = [
            f"map (ids t_{k}) [{'; '.join(map(points, texts))}]"
            for k, texts in enumerate(self.texts)
        ]
        values = computed(directory, imports, terms, "\n".join(rows))
        return [
            (world.coq, text)
            for world, *rows in zip(self.worlds, self.texts, self.ids, values, strict=True)
            for text, ids, coq in zip(*rows, strict=True)
            if ids != coq
        ]


def drawn_cases(seed: str, count: int, **kinds: Sequence[str]) -> Cases:
    """Texts for which the engine gives ids."""
    rng = random.Random(seed)
    worlds = [*islice(drawn_worlds(seed, **kinds), count)]
    found: list[dict[str, list[int]]] = []
    for world in worlds:
        found.append({})
        while len(found[-1]) < TEXTS_EACH:
            text = world.drawn_text(rng)
            try:
                found[-1][text] = world.encode(text)
            except PanicError:
                continue
    return Cases(worlds, [[*row] for row in found], [[*row.values()] for row in found])


@pytest.mark.parametrize("batch", range(-(-WORLDS // BATCH)))
def test_the_ids_in_coq_are_the_engines(compiled: tuple[Path, str], batch: int) -> None:
    count = min(BATCH, WORLDS - batch * BATCH)
    assert drawn_cases(f"batch {batch}", count).wrong(compiled[0]) == []


MISTAKES = {
    "of several pairs the last": ("byte-level", "Merging", "p <=? q", "p <? q"),
    "the worst pair": ("byte-level", "Merging", "p <=? q", "q <=? p"),
    "one merge": ("byte-level", "Merging", "run (length w) (atoms w)", "run 1 (atoms w)"),
    "the first of a pair": ("byte-level", "Merging", " && same (snd m) v", ""),
    "two pieces": (
        *("tiktoken", "PreTokens"),
        *("pieces_within room' (skipn (m S) S)", "[skipn (m S) S]"),
    ),
    "the last alternative": (
        *("tiktoken", "Patterns", "ways r1 s ++ ways r2 s", "ways r2 s ++ ways r1 s"),
    ),
    "lazy": (
        "tiktoken",
        "Patterns",
        "if c x then if greedy then",
        "if c x then if negb greedy then",
    ),
    "what is possessive is given back": (
        *("byte-level", "Patterns", "firstn 1 (ways r1 s)", "ways r1 s"),
    ),
    "no look-ahead": ("tiktoken", "Patterns", "if f (hd_error s) then [s] else []", "[s]"),
    "gaps of one character": ("byte-level", "Patterns", "None => S (gap r w')", "None => 1"),
    "the end of the text": (
        "tiktoken",
        "PatternPairs",
        "(among l a) | None => e",
        "(among l a) | None => false",
    ),
    "all counts": ("tiktoken", "PatternPairs", "(among l) low n", "(among l) n n"),
    "neighbours": ("bert", "Pairs", "if parts x y then", "if parts y x then"),
    "whole pieces": (
        *(
            "byte-level",
            "Ids",
            "list N :=\n  match (if shortcut",
            "list N :=\n  match (if negb shortcut",
        ),
    ),
    "the start of the text": (
        *("sentencepiece", "AddedTokens", "b) => rest (first && (a =? 0))", "b) => rest first"),
    ),
    "the longest word": ("bert", "WordPiece", "limit <? length w", "limit <=? length w"),
    "a word goes on": (
        "bert",
        "WordPiece",
        "room' reach prefix (skipn",
        "room' reach front (skipn",
    ),
    "in front": ("sentencepiece", "Pipeline", "front ++ G", "G ++ front"),
    "a second sign": ("sentencepiece", "Pipeline", "(c =? sign)%N || (", "("),
    "a sign everywhere": (
        *("sentencepiece", "Pipeline", "(c =? sign)%N || (only_first && negb first)"),
        "(c =? sign)%N",
    ),
    "stages": ("sentencepiece", "Pipeline", "s G) stages G", "s G) (rev stages) G"),
    "the next piece": (
        *("sentencepiece", "Pipeline", "WithNext => (b =? c)%N", "WithNext => (a =? c)%N"),
    ),
    "white space": ("bert", "Pipeline", "xorb (inside removed a) (inside removed b)", "false"),
    "single characters": ("bert", "Pipeline", "inside alone a || inside alone b", "inside alone b"),
    "what is removed": ("bert", "Pipeline", "a :: _ => negb (inside removed a)", "a :: _ => true"),
    "bytes": ("byte-level", "Pipeline", "192 + c / 64", "194 + c / 64"),
    "byte fallback": ("sentencepiece", "Pipeline", "[a] | None => utf8 c", "[a] | None => []"),
    "no normalizer": ("bert", "Pipeline", "first (stages_text first (normalizer t) G)", "first G"),
}
"""Wrong definitions, by what is wrong: the kind of tokenizer that shows it, the file, what stands
there and what is written instead. Those of the search for added tokens: test_coq_added.py."""


@pytest.mark.parametrize(
    "mistake", cases(MISTAKES, ("one merge", "the last alternative", "white space", "bytes"))
)
def test_a_mistake_in_the_definitions_is_found(tmp_path: Path, mistake: str) -> None:
    kind, file, right, wrong = MISTAKES[mistake]
    definitions = definitions_only("Pipeline")
    assert definitions[file].count(right) == 1
    definitions[file] = definitions[file].replace(right, wrong)
    write_definitions(tmp_path, definitions)
    assert drawn_cases("mistakes", 12, kinds=[kind]).wrong(tmp_path, "Planted")
