"""The search for added tokens in Coq is the engine's, and its cuts of rule EDGE the checker's."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, models

import tokpar
from tests.support.coq_runs import COQ, Values, computed, coqc
from tokpar.certificate.checker import seam_findings
from tokpar.files.char_classes import single
from tokpar.interfaces import facts_of
from tokpar.types import Facts, Seam

if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no answers", allow_module_level=True)

ASCII = "ab_1<> \n\t"
LETTERS = ASCII + "\u00e9\u4e2d\u00a0\u2003\u200d\u0301"
CONTENTS = ("a", "ab", "<a>", "<a", "a>b", " ", "  ", "\n", " a", "a ", "aa", "<", "b<", "_", "1 ")
TOKENIZERS, TEXTS_EACH = 200, 25
MISTAKES = {
    "the shortest": ("(content b) <? length (content t)", "(content t) <? length (content b)"),
    "overlapping": ("(length (content t) - 1) S'", "0 S'"),
    "encode_special_tokens forgotten": ("skipped t ||", "false ||"),
    "no look to the left": ("starts_in word (before S s) ||", "false ||"),
    "no look to the right": ("|| starts_in word (skipn (stop_of s t) S)", "|| false"),
    "lstrip over the match before": ("(before S s)) from", "(before S s)) 0"),
    "lstrip of one character": ("(s - run_length space (before S s))", "(s - 1)"),
    "no rstrip": ("if rstrip t then", "if false then"),
    "no lstrip in the place": ("token_part t (start_with S from s t)", "token_part t s"),
    "a dropped match ends a section": ("then parts_until S from ms'", "then parts_until S s ms'"),
    "empty parts are kept": ("if a =? b then []", "if false then []"),
}
"""Wrong definitions, by what is wrong: the text of AddedTokens.v and what stands there instead."""


@dataclass(frozen=True)
class Drawn:
    """Added tokens, whether the engine steps over special ones, and texts."""

    tokens: tuple[AddedToken, ...]
    stepping: bool
    texts: tuple[str, ...]

    @cached_property
    def engine(self) -> Tokenizer:
        """Gives each section between two tokens the id 0; the tokens have ids from 1 on."""
        engine = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
        engine.add_tokens(list(self.tokens))
        engine.encode_special_tokens = self.stepping
        return engine

    def parts(self, text: str) -> list[list[int]] | None:
        """[id, start, stop] of each part; None if the engine panics."""
        try:
            found = self.engine.encode(text)
        except BaseException as error:  # a panic is no Exception
            if type(error).__name__ != "PanicException":
                raise
            return None
        spans = zip(found.ids, found.offsets, strict=True)
        return [[id_, start, stop] for id_, (start, stop) in spans]

    def edges(self, text: str) -> list[int]:
        """The places at which the checker accepts an edge of a token."""
        claims = [
            Seam(p, "EDGE", "29", (("token", token.content), ("edge", edge)))
            for token in self.tokens
            for edge, size in (("start", 0), ("end", len(token.content)))
            for p in range(max(size, 1), len(text))
            if text.startswith(token.content, p - size)
        ]
        return sorted({s.position for s in claims if not [*seam_findings([s], text, self.facts)]})

    @cached_property
    def facts(self) -> Facts:
        return facts_of(tokpar.load(self.engine))

    def coq(self) -> str:
        """The tokens, as a list in Coq."""
        tokens = (
            f"{{| content := {points(t.content)}; token_id := {number}%N; "
            f"lstrip := {truth(t.lstrip)}; rstrip := {truth(t.rstrip)}; "
            f"single_word := {truth(t.single_word)}; "
            f"skipped := {truth(t.special and self.stepping)} |}}"
            for number, t in enumerate(self.tokens, 1)
        )
        return f"[{'; '.join(tokens)}]"


def truth(value: bool) -> str:
    return str(value).lower()


def points(text: str) -> str:
    return f"[{'; '.join(str(ord(char)) for char in text)}]%N"


def drawn(rng: random.Random, letters: str, flagged: float, stepping: float) -> Drawn:
    flags = ("lstrip", "rstrip", "single_word", "special")
    tokens = tuple(
        AddedToken(content, normalized=False, **{flag: rng.random() < flagged for flag in flags})
        for content in rng.sample(CONTENTS, rng.randint(1, 4))
    )
    parts = [*letters, *[t.content for t in tokens] * 3]
    texts = ("".join(rng.choices(parts, k=rng.randint(0, 9))) for _ in range(TEXTS_EACH))
    return Drawn(tokens, rng.random() < stepping, tuple(texts))


def drawn_for_search(count: int) -> list[Drawn]:
    rng = random.Random("search")
    return [drawn(rng, LETTERS, 0.3, 0.2) for _ in range(count)]


def classes() -> str:
    """The classes of the characters, as the engine knows them."""
    spaces, words = (
        points("".join(c for c in LETTERS if single(name).match(c))) for name in ("white", "word")
    )
    return (
        f"Definition space (c : N) : bool := existsb (N.eqb c) {spaces}.\n"
        f"Definition word (c : N) : bool := existsb (N.eqb c) {words}.\n"
    )


ROWS = """Definition rows (tokens : list added_token) (w : text) : list (list nat) :=
  map (fun '(t, a, b) => [match t with Some t => N.to_nat (token_id t) | None => 0 end; a; b])
      (parts space word tokens w)."""
EDGES = """Definition edges (tokens : list added_token) (w : text) : list (list nat) :=
  [filter (edge_ok space word tokens true w) (seq 0 (length w))]."""


def answers(directory: Path, files: str, question: str, worlds: Sequence[Drawn]) -> Values:
    """What the definition `question`, named in its second word, says of all texts, in order."""
    definitions, terms = [classes(), question], []
    for number, world in enumerate(worlds):
        definitions.append(f"Definition tokens_{number} := {world.coq()}.")
        name = question.split()[1]
        terms += [f"{name} tokens_{number} {points(text)}" for text in world.texts]
    return computed(directory, files, terms, "\n".join(definitions))


def agreements(directory: Path, count: int) -> Iterator[tuple[Drawn, str, bool]]:
    """Whether the engine's parts are those of Coq, for each text. A panic: a token that strips
    would begin behind its end, inside what the token before it stripped."""
    worlds = drawn_for_search(count)
    found = iter(answers(directory, "AddedTokens", ROWS, worlds))
    for world in worlds:
        for text in world.texts:
            parts = next(found)
            panic = any(start > stop for _, start, stop in parts)
            yield world, text, world.parts(text) == (None if panic else parts)


def test_the_search_in_coq_is_the_engines(compiled: tuple[Path, str]) -> None:
    for world, text, agree in agreements(compiled[0], TOKENIZERS):
        assert agree, (world.tokens, world.stepping, text)


@pytest.fixture(scope="module")
def searches(compiled: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for wrong definitions of the search, without the proofs that refuse them."""
    directory = tmp_path_factory.mktemp("mistakes")
    shutil.copy(compiled[0] / "Merging.vo", directory)
    return directory


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_definitions_is_caught(searches: Path, mistake: str) -> None:
    source = (COQ / "AddedTokens.v").read_text(encoding="utf-8")
    program = source.partition("(** ** The search is leftmost")[0] + "End Search.\n"
    right, wrong = MISTAKES[mistake]
    assert program.count(right) == 1
    program = program.replace("Merging PreTokens Ids", "Merging").replace(right, wrong)
    (searches / "AddedTokens.v").write_text(program, encoding="utf-8")
    coqc(searches, "AddedTokens.v")
    assert not all(agree for _, _, agree in agreements(searches, 20))


def test_edges_in_coq_are_those_of_the_checker(compiled: tuple[Path, str]) -> None:
    """The checker refuses one thing more: white space at an end of a token, if any token strips."""
    rng = random.Random("edges")
    worlds = [drawn(rng, ASCII, 0.1, 0) for _ in range(TOKENIZERS)]
    found = iter(answers(compiled[0], "AddedTokens Edges", EDGES, worlds))
    accepted = 0
    for world in worlds:
        strips = any(t.lstrip or t.rstrip for t in world.tokens)
        white = any(t.content != t.content.strip() for t in world.tokens)
        for text in world.texts:
            (places,) = next(found)
            checked = world.edges(text)
            assert {*checked} <= {*places} if strips and white else checked == places, text
            accepted += len(checked)
    assert accepted > TOKENIZERS * TEXTS_EACH / 2
