"""The search for added tokens in Coq is the engine's, also in texts with untrusted parts, and its
cuts of rule EDGE are the checker's."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from tokenizers import AddedToken, Tokenizer, models

import tokpar
from tests.support import profiles
from tests.support.coq_runs import COQ, Values, computed
from tests.support.named_engine import NamedEngine
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import facts_of
from tokpar.formats.char_classes import single
from tokpar.process.cached_property import cached_property
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
"""Wrong definitions, by what is wrong: a text of the file and what stands there instead. A name
without `single_word` alone changes nothing: no name stands beside a word character."""


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


def texts_of(worlds: Sequence[Drawn]) -> list[tuple[Drawn, str]]:
    return [(world, text) for world in worlds for text in world.texts]


@dataclass(frozen=True)
class Question:
    """Texts, definitions about them, and a term: the list of what Coq answers of each text."""

    texts: str
    definitions: str
    term: str

    @classmethod
    def of(cls, texts: Sequence[Iterable[str]], definitions: Iterable[str], name: str) -> Question:
        """`name` with a number is the function that answers of the texts with this number."""
        return cls(
            "\n".join(f"Definition texts_{k} := [{'; '.join(t)}]." for k, t in enumerate(texts)),
            "\n".join(definitions),
            " ++ ".join(f"map {name}_{k} texts_{k}" for k in range(len(texts))),
        )

    def answers(self, compiled: Path, imports: str) -> Values:
        (values,) = computed(compiled, imports, [self.term], f"{self.texts}\n{self.definitions}")
        return cast(Values, values)

    def answers_with(
        self, mistakes: Mapping[str, tuple[str, str]], compiled: Path, where: tuple[str, str, str]
    ) -> Iterator[tuple[str, Values]]:
        """Each mistake, and the answers with its wrong definition in place of the right one and of
        the proofs that refuse it."""
        name, proofs, end = where
        program = (COQ / f"{name}.v").read_text(encoding="utf-8").partition(proofs)[0] + end
        modules = [self.texts]
        for number, (right, wrong) in enumerate(mistakes.values()):
            assert program.count(right) == 1
            values = f"Definition values := {self.term}."
            body = (program.replace(right, wrong), self.definitions, values)
            modules += [f"Module M{number}.", *body, f"End M{number}."]
        each = [f"M{number}.values" for number in range(len(mistakes))]
        values_of_each = computed(compiled, name, each, "\n".join(modules))
        return zip(mistakes, cast(list[Values], values_of_each), strict=True)


def asked_of_tokens(question: str, worlds: Sequence[Drawn]) -> Question:
    """The definition `question`, named in its second word, is asked of all texts in order."""
    name = question.split()[1]
    asked = [f"Definition {name}_{k} := {name} {world.coq()}." for k, world in enumerate(worlds)]
    texts = [map(points, world.texts) for world in worlds]
    return Question.of(texts, [classes(), question, *asked], name)


def agree(world: Drawn, text: str, parts: list[list[int]]) -> bool:
    """Whether the engine's parts of a text are those of Coq. A panic: a token that strips would
    begin behind its end, inside what the token before it stripped."""
    panic = any(start > stop for _, start, stop in parts)
    return world.parts(text) == (None if panic else parts)


def test_the_search_in_coq_is_the_engines(compiled: tuple[Path, str]) -> None:
    worlds = drawn_for_search(TOKENIZERS)
    found = asked_of_tokens(ROWS, worlds).answers(compiled[0], "AddedTokens")
    for (world, text), parts in zip(texts_of(worlds), found, strict=True):
        assert agree(world, text, parts), (world.tokens, world.stepping, text)


def test_each_mistake_in_the_search_is_caught(compiled: tuple[Path, str]) -> None:
    worlds = drawn_for_search(20)
    question = asked_of_tokens(ROWS, worlds)
    for mistake, found in question.answers_with(MISTAKES_IN_SEARCH, compiled[0], SEARCH):
        same = [agree(*each, parts) for each, parts in zip(texts_of(worlds), found, strict=True)]
        assert not all(same), mistake


def test_edges_in_coq_are_those_of_the_checker(compiled: tuple[Path, str]) -> None:
    """The checker refuses one thing more: white space at an end of a token, if any token strips."""
    rng = random.Random("edges")
    worlds = [drawn(rng, ASCII, 0.1, 0) for _ in range(TOKENIZERS)]
    found = asked_of_tokens(EDGES, worlds).answers(compiled[0], "AddedTokens Edges")
    accepted = 0
    for (world, text), (places,) in zip(texts_of(worlds), found, strict=True):
        strips = any(t.lstrip or t.rstrip for t in world.tokens)
        white = any(t.content != t.content.strip() for t in world.tokens)
        checked = world.edges(text)
        assert {*checked} <= {*places} if strips and white else checked == places, text
        accepted += len(checked)
    assert accepted > TOKENIZERS * TEXTS_EACH / 2


# ------------------------------------------------------------------- untrusted parts of texts


Source = tuple[tuple[str, bool], ...]
"""A text in parts, each trusted or not."""


@dataclass(frozen=True)
class Chat:
    """Added tokens, some of them control tokens, and texts in trusted and untrusted parts."""

    drawn: Drawn
    control: frozenset[str]
    sources: tuple[Source, ...]

    @cached_property
    def named(self) -> NamedEngine:
        return NamedEngine(self.drawn.engine, self.control)

    @cached_property
    def encoder(self) -> tokpar.Encoder:
        return tokpar.Encoder(self.drawn.engine)

    def engine_ids(self, source: Source) -> list[int] | None:
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

    def tokpar_ids(self, source: Source) -> list[int] | None:
        """The ids that tokpar gives; None if it refuses tokens on which the engine may panic."""
        try:
            encoding = self.encoder.encode_segments(source, control=self.control)
        except tokpar.OptionError as error:
            if "the engine panics" not in str(error):
                raise
            return None
        return list(map(int, encoding.ids))

    @cached_property
    def ids(self) -> dict[Source, tuple[list[int] | None, list[int] | None]]:
        """The ids of each text, of the engine and of tokpar."""
        return {each: (self.engine_ids(each), self.tokpar_ids(each)) for each in self.sources}

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


def asked_of_chats(chats: Sequence[Chat]) -> Question:
    asked = [f"Definition ids_{k} := ids {chat.coq()}." for k, chat in enumerate(chats)]
    texts = [map(coq_source, chat.sources) for chat in chats]
    return Question.of(texts, [classes(), IDS, *asked], "ids")


def coq_source(source: Source) -> str:
    return f"[{'; '.join(f'({truth(trusted)}, {points(part)})' for part, trusted in source)}]"


def agreements(chats: Sequence[Chat], found: Values) -> Iterator[tuple[Chat, object, bool]]:
    """Whether the ids of the engine and of tokpar are those of Coq, for each text in parts on which
    the engine does not panic."""
    sources = [(chat, source) for chat in chats for source in chat.sources]
    for (chat, source), (ids, good) in zip(sources, found, strict=True):
        expected, given = chat.ids[source]
        if expected is not None:
            yield chat, source, good == [1] and ids == expected and given in (ids, None)


def drawn_chats(count: int) -> list[Chat]:
    rng = random.Random("untrusted")
    return [drawn_chat(rng) for _ in range(count)]


def test_untrusted_parts_in_coq_are_those_of_the_engine_and_of_tokpar(
    compiled: tuple[Path, str],
) -> None:
    chats = drawn_chats(TOKENIZERS)
    found = asked_of_chats(chats).answers(compiled[0], "AddedTokens Untrusted")
    agreed = 0
    for chat, source, agree in agreements(chats, found):
        assert agree, (chat, source)
        agreed += 1
    assert agreed > 0.9 * TOKENIZERS * TEXTS_EACH


def test_each_mistake_about_untrusted_parts_is_caught(compiled: tuple[Path, str]) -> None:
    chats = drawn_chats(20)
    question = asked_of_chats(chats)
    for mistake, found in question.answers_with(MISTAKES_IN_UNTRUSTED, compiled[0], UNTRUSTED):
        assert not all(agree for _, _, agree in agreements(chats, found)), mistake
