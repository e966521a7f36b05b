"""The search for added tokens in Coq is the engine's, also in texts with untrusted parts, and its
cuts of rule EDGE are the checker's."""

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
from tests.support import profiles
from tests.support.coq_runs import COQ, Values, computed, coqc
from tests.support.named_engine import NamedEngine
from tokpar.certificate.checker import seam_findings
from tokpar.files.char_classes import single
from tokpar.interfaces import facts_of
from tokpar.types import Facts, Rule, Seam, Theorem

if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no answers", allow_module_level=True)

ASCII = "ab_1<> \n\t"
LETTERS = ASCII + "\u00e9\u4e2d\u00a0\u2003\u200d\u0301"
CONTENTS = ("a", "ab", "<a>", "<a", "a>b", " ", "  ", "\n", " a", "a ", "aa", "<", "b<", "_", "1 ")
TOKENIZERS, TEXTS_EACH = profiles.drawn(200), 25
SEARCH = "AddedTokens", "(** ** The search is leftmost", "End Search.\n"
UNTRUSTED = "Untrusted", "(** ** Names are found", "End Names.\n"
"""A file, where its proofs begin, and the end of its section."""
MISTAKES_IN_SEARCH = {
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
MISTAKES_IN_UNTRUSTED = {
    "everything is trusted": ("(runs parts)))", "[(true, whole_text parts)]))"),
    "runs are not joined": ("if Bool.eqb trusted trusted'", "if false"),
    "all tokens are named": ("control t &&\n", "true &&\n"),
    "old spellings are found": ("skipped := control t", "skipped := false"),
    "names without flags": (
        "rstrip := rstrip t;\n     single_word := single_word t; skipped := false",
        "rstrip := false;\n     single_word := false; skipped := false",
    ),
}
"""Wrong definitions, by what is wrong: a text of the file and what stands there instead."""


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
            Seam(p, Rule.EDGE, Theorem.EDGE, (("token", token.content), ("edge", edge)))
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
        points("".join(c for c in LETTERS + "\U00010600" if single(name).match(c)))
        for name in ("white", "word")
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


def with_mistake(
    compiled: Path, directory: Path, where: tuple[str, str, str], mistake: tuple[str, str]
) -> None:
    """Compile a wrong definition, without the proofs that refuse it, into an empty directory."""
    for file in compiled.glob("*.vo"):
        (directory / file.name).symlink_to(file)
    name, proofs, end = where
    program = (COQ / f"{name}.v").read_text(encoding="utf-8").partition(proofs)[0] + end
    assert program.count(mistake[0]) == 1
    (directory / f"{name}.vo").unlink()
    (directory / f"{name}.v").write_text(program.replace(*mistake), encoding="utf-8")
    coqc(directory, f"{name}.v")


@pytest.mark.parametrize("mistake", MISTAKES_IN_SEARCH)
def test_a_mistake_in_the_search_is_caught(
    compiled: tuple[Path, str], tmp_path: Path, mistake: str
) -> None:
    with_mistake(compiled[0], tmp_path, SEARCH, MISTAKES_IN_SEARCH[mistake])
    assert not all(agree for _, _, agree in agreements(tmp_path, 20))


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


# ------------------------------------------------------------------- untrusted parts of texts


@dataclass(frozen=True)
class Chat:
    """Added tokens, some of them control tokens, and texts in trusted and untrusted parts."""

    drawn: Drawn
    control: frozenset[str]
    sources: tuple[tuple[tuple[str, bool], ...], ...]

    @cached_property
    def named(self) -> NamedEngine:
        return NamedEngine(self.drawn.engine, self.control)

    @cached_property
    def encoder(self) -> tokpar.Encoder:
        return tokpar.Encoder(self.drawn.engine)

    def engine_ids(self, source: Sequence[tuple[str, bool]]) -> list[int] | None:
        """The ids by Definition 62, with the engine itself; None if it panics."""
        text, spans, at = "", list[tuple[int, int]](), 0
        for part, trusted in source:
            text += part
            if not trusted and part:
                spans.append((at, len(text)))
            at = len(text)
        try:
            return self.named.encode(text, spans)[0]
        except BaseException as error:  # a panic is no Exception
            if type(error).__name__ != "PanicException":
                raise
            return None

    def tokpar_ids(self, source: Sequence[tuple[str, bool]]) -> list[int] | None:
        """The ids that tokpar gives; None if it refuses tokens on which the engine may panic."""
        try:
            encoding = self.encoder.encode_segments(source, control=self.control)
        except tokpar.OptionError as error:
            if "the engine panics" not in str(error):
                raise
            return None
        return list(map(int, encoding.ids))

    def coq(self) -> str:
        control = (str(k) for k, t in enumerate(self.drawn.tokens, 1) if t.content in self.control)
        return f"{self.drawn.coq()} [{'; '.join(control)}]%N"


IDS = """Definition edge (w : text) : text := if starts_in word w then [67072%N] else [].
Definition ids (tokens : list added_token) (control : list N) (parts : source) : list (list nat) :=
  let is_control t := existsb (N.eqb (token_id t)) control in
  let mark t := (57344 + token_id t)%N in
  let first t := edge (content t) in let last t := edge (rev (content t)) in
  let model (_ : bool) w := match w with [] => [] | _ => [0%N] end in
  [map N.to_nat (untrusted_ids space word tokens is_control mark first last model parts);
   [if good_names_ok space word tokens is_control mark first last then 1 else 0]]."""


def drawn_chat(rng: random.Random) -> Chat:
    world = drawn(rng, ASCII + "\u00e9\u4e2d\u00a0", 0.2, 0)
    strips = any(t.lstrip or t.rstrip for t in world.tokens)
    able = [t.content for t in world.tokens if not (strips and t.content != t.content.strip())]
    control = frozenset(rng.sample(able, rng.randint(0, len(able))))
    sources = []
    for text in world.texts:
        places = sorted(rng.randint(0, len(text)) for _ in range(rng.randint(0, 4)))
        parts = zip([0, *places], [*places, len(text)], strict=True)
        sources.append(tuple((text[a:b], rng.random() < 0.6) for a, b in parts))
    return Chat(world, control, tuple(sources))


def chat_agreements(directory: Path, count: int) -> Iterator[tuple[Chat, object, bool]]:
    """Whether the ids of the engine and of tokpar are those of Coq, for each text in parts."""
    rng = random.Random("untrusted")
    chats = [drawn_chat(rng) for _ in range(count)]
    definitions, terms = [classes(), IDS], []
    for number, chat in enumerate(chats):
        definitions.append(f"Definition ids_{number} := ids {chat.coq()}.")
        for source in chat.sources:
            parts = (f"({truth(trusted)}, {points(part)})" for part, trusted in source)
            terms.append(f"ids_{number} [{'; '.join(parts)}]")
    found = iter(computed(directory, "AddedTokens Untrusted", terms, "\n".join(definitions)))
    for chat in chats:
        for source in chat.sources:
            ids, good = next(found)
            expected = chat.engine_ids(source)
            if expected is not None:
                given = chat.tokpar_ids(source)
                yield chat, source, good == [1] and ids == expected and given in (ids, None)


def test_untrusted_parts_in_coq_are_those_of_the_engine_and_of_tokpar(
    compiled: tuple[Path, str],
) -> None:
    agreed = 0
    for chat, source, agree in chat_agreements(compiled[0], TOKENIZERS):
        assert agree, (chat, source)
        agreed += 1
    assert agreed > 0.9 * TOKENIZERS * TEXTS_EACH


@pytest.mark.parametrize("mistake", MISTAKES_IN_UNTRUSTED)
def test_a_mistake_about_untrusted_parts_is_caught(
    compiled: tuple[Path, str], tmp_path: Path, mistake: str
) -> None:
    with_mistake(compiled[0], tmp_path, UNTRUSTED, MISTAKES_IN_UNTRUSTED[mistake])
    assert not all(agree for _, _, agree in chat_agreements(tmp_path, 20))
