"""The conformance kit catches what it is for: planted mistakes, each by a check that names it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tokpar_conformance import (
    ConformanceError,
    check_executor,
    check_merger,
    check_splitter,
    check_strategy,
    check_tokenizer,
)
from tokpar_pure.added_tokens import AddedTokens
from tokpar_strategies import blocks, delimiter, overlap

from tests.conftest import cases, drawn
from tests.support.mistaken_methods import Remembering, Says
from tests.support.tokenizers_drawn import Added
from tests.support.toy import PLAIN, STRIPPING, Portable, Toy, Twin
from tokpar.adapter_parts import EngineTraits
from tokpar.arrays import (
    IdArray,
    SpanArray,
    code_point_spans,
    has_surrogate,
    spaces_behind_text,
)
from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial_executor import SerialExecutor, encode_piece
from tokpar.executors.threads import ThreadExecutor
from tokpar.hooks import Strategy
from tokpar.interfaces import Splitter, TokenizerAdapter, facts_of
from tokpar.methods import cut
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.overlap.acceptance import by_cut
from tokpar.overlap.chunks import stands_apart
from tokpar.overlap.mergers import OverlapMerger
from tokpar.spans import postprocess_single
from tokpar.types import Chunk, Facts, Join, Piece, Rows, Seam, Split

pytestmark = pytest.mark.compiled_at_once

EXAMPLES = drawn(12)
"""Drawn texts for each mutant; the fixed ones catch nearly all, and there are many mutants."""


def caught(check: Callable[..., None], *arguments: Any, **options: Any) -> tuple[str, ...]:
    """The names of the checks that fail."""
    with pytest.raises(ConformanceError) as error:
        check(*arguments, examples=EXAMPLES, fail_fast=True, **options)
    return error.value.checks


# ------------------------------------------------------------------------------- tokenizers


class DropsTheLastIdOfLongTexts(Toy):
    def id_list(self, text: str) -> list[int]:
        ids = super().id_list(text)
        return ids[:-1] if len(text) > 20 else ids


class SwapsTwoRanks(Toy):
    """Of two merges that compete the second goes first: the first two for which that shows."""

    def __init__(self) -> None:
        super().__init__()
        by_rank = sorted(self.merges, key=self.merges.__getitem__)
        for first, second in itertools.combinations(by_rank, 2):
            if first[1] != second[0]:
                continue
            word = b"".join(self.spelled[id_] for id_ in (*first, second[1])).decode("latin-1")
            before = self.merged_anew(word)
            self.swap(first, second)
            if word.isascii() and before != self.merged_anew(word):
                return
            self.swap(first, second)
        raise AssertionError("no two merges compete")

    def swap(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        (rank, left), (other, right) = self.merges[first], self.merges[second]
        self.merges[first], self.merges[second] = (other, left), (rank, right)


class ForgetsAFlag(Toy):
    """Its engine does not know the flag that its facts tell."""

    def __init__(self, flag: str, added: Any) -> None:
        super().__init__(added)
        self.finder = AddedTokens([replace(token, **{flag: False}) for token in self.added])


class FailsOnEveryTenthCall(Toy):
    calls = 0

    def id_list(self, text: str) -> list[int]:
        self.calls += 1
        return super().id_list(text)[: None if self.calls % 10 else -1]


class KeepsItsStateForAllThreads(Toy):
    def id_list(self, text: str) -> list[int]:
        self.buffer: list[int] = []
        for piece in self.pieces(text):
            time.sleep(0)  # lets another thread in, as a lock or a call of an engine would
            self.buffer.extend(self.merged(piece))
        return self.buffer


class GivesInt64(Toy):
    def encode(self, text: str) -> Any:
        return super().encode(text).astype(np.int64)


class RefusesTheEmptyText(Toy):
    def id_list(self, text: str) -> list[int]:
        if not text:
            raise ValueError("nothing to encode")
        return super().id_list(text)


class HasNoName(Toy):
    name = ""


class BatchIgnoresSpans(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        return super().encode_many(texts, False)


class ChangesRows(Toy):
    """A batch call, and what is wrong with its rows."""

    def __init__(self, change: Callable[[Rows], Any]) -> None:
        super().__init__()
        self.change = change

    def encode_many(self, texts: Sequence[str], spans: bool) -> Any:
        return self.change(super().encode_many(texts, spans))


def offsets_off_by_one(rows: Rows) -> Rows:
    inner = rows.offsets[1:-1]
    moved = np.minimum(inner + 1, rows.offsets[-1])
    return replace(rows, offsets=np.concatenate([rows.offsets[:1], moved, rows.offsets[-1:]]))


def swapped(rows: Rows) -> Rows:
    order = [1, 0, *range(2, len(rows))] if len(rows) > 1 else range(len(rows))
    return Rows.of_pieces([rows.piece(k) for k in order])


def as_lists(rows: Rows) -> list[list[int]]:
    return [rows[k].tolist() for k in range(len(rows))]


ROWS: dict[str, Callable[[Rows], Any]] = {
    "offsets off by one": offsets_off_by_one,
    "offsets from one on": lambda rows: replace(rows, offsets=rows.offsets + 1),
    "offsets end early": lambda rows: replace(rows, offsets=np.minimum(rows.offsets, 9)),
    "offsets of int32": lambda rows: replace(rows, offsets=rows.offsets.astype(np.int32)),
    "lengths for offsets": lambda rows: replace(rows, offsets=np.diff(rows.offsets)),
    "two rows swapped": swapped,
    "a row missing": lambda rows: rows.part(0, max(0, len(rows) - 1)),
    "a row too many": lambda rows: Rows.concatenate([rows, Rows.of([[1]])]),
    "an id too many": lambda rows: replace(rows, ids=np.append(rows.ids, np.uint32(1))),
    "ids of int64": lambda rows: replace(rows, ids=rows.ids.astype(np.int64)),
    "lists": as_lists,
}
"""What can be wrong with rows, whoever gives them."""


class SpecForgetsASetting(Portable):
    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return ForgetsAFlag, {"flag": "single_word", "added": PLAIN}


class SpecCannotBePickled(Portable):
    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return (lambda: Portable()), {}


class TellsOtherFacts(Toy):
    def __init__(self, added: Any = PLAIN, **others: Any) -> None:
        super().__init__(added)
        self.others = others

    @cached_property
    def facts(self) -> Facts:
        return self.told(**self.others)


class TellsFactsAnew(Toy):
    @property
    def facts(self) -> Facts:  # type: ignore[override]
        return self.told()


class HidesAnAddedToken(Toy):
    @cached_property
    def facts(self) -> Facts:
        return self.told(added_tokens=tuple(t for t in self.added if t.content != "<s>"))


class SplitsNothing(Toy):
    def pieces(self, text: str) -> list[str]:
        return [text] if text else []

    def __init__(self) -> None:
        super().__init__()
        across = self.tokens[b"b"], self.tokens[b" "]
        self.tokens[b"b "] = 9999
        self.spelled[9999] = b"b "
        self.merges[across] = (-1, 9999)


class OffsetsOfATextBehindAnother(Toy):
    def char_offsets(self, texts: Sequence[str], rows: Rows) -> SpanArray:
        found, before = [], 0
        for k, text in enumerate(texts):
            found.append(code_point_spans(self.locate(rows[k], text), text) + before)
            before += len(text)
        return np.concatenate(found)


class DecodesWithoutTheLast(Toy):
    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(list(ids)[:-1]) if len(ids) > 3 else super().decode(ids)


class DecodesRowsInAnotherOrder(Toy):
    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        return sorted(map(self.decode, rows))


class FinishLooksAtIds(Toy):
    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        kept = [rows[k][rows[k] != self.tokens[b"a"]] for k in range(len(rows))]
        return super().postprocess(Rows.of(kept), texts)


class FinishLosesOne(Toy):
    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return super().postprocess(rows, texts).part(min(1, len(rows) // 2), len(rows))


class HidesItsPadding(Toy):
    """And pads: a text alone shows only that what is around is another id."""

    special_tokens = (np.ones(1, np.uint32), np.zeros(0, np.uint32))
    pads = False


class WholeIsNotFinished(Toy):
    def encode_whole(self, text: str) -> IdArray:
        return self.encode(text)


class RefusesMoreThanItsOwnCall(Toy):
    def check_text(self, text: str) -> None:
        if "\0" in text:
            raise OptionError("NUL")

    def encode_whole(self, text: str) -> IdArray:
        return postprocess_single(self, self.encode(text), text)


class RefusesLessThanItsOwnCall(Toy):
    def check_text(self, text: str) -> None:
        pass


class RefusesLongTexts(Toy):
    """As its own call does; but a stream is checked chunk by chunk."""

    def check_text(self, text: str) -> None:
        super().check_text(text)
        if len(text) > 50:
            raise OptionError("too long")


class SaysOfItsEngine(Toy):
    def __init__(self, added: Any = PLAIN, **others: Any) -> None:
        super().__init__(added)
        self.others = others

    @property
    def traits(self) -> EngineTraits:
        return replace(super().traits, **self.others)


class ForbidsWithoutRefusing(Toy):
    @property
    def traits(self) -> EngineTraits:
        return replace(super().traits, forbidden=frozenset({"<s>"}))


class RemembersByLength(Remembering):
    def cached_rows(self, texts: Sequence[str], workers: int) -> Any:
        known: dict[int, IdArray] = {}
        rows = [known.setdefault(len(text), self.encode(text)) for text in texts]
        return Rows.of(rows), [True] * len(rows)


def told(**facts: Any) -> Callable[[], Toy]:
    return lambda: TellsOtherFacts(**facts)


def engine_says(**traits: Any) -> Callable[[], Toy]:
    return lambda: SaysOfItsEngine(**traits)


TOKENIZERS: dict[str, tuple[Callable[[], Any], str]] = {
    "DropsTheLastIdOfLongTexts": (DropsTheLastIdOfLongTexts, "locate"),
    "SwapsTwoRanks": (SwapsTwoRanks, "reference"),
    "ForgetsLstrip": (lambda: ForgetsAFlag("lstrip", STRIPPING), "facts.added_tokens"),
    "FailsOnEveryTenthCall": (FailsOnEveryTenthCall, "encode: again"),
    "KeepsItsStateForAllThreads": (KeepsItsStateForAllThreads, "encode: threads"),
    "GivesInt64": (GivesInt64, "encode: array"),
    "RefusesTheEmptyText": (RefusesTheEmptyText, "encode: plain texts"),
    "HasNoName": (HasNoName, "name"),
    **{f"rows: {name}": (partial(ChangesRows, to), "encode_many") for name, to in ROWS.items()},
    "BatchIgnoresSpans": (BatchIgnoresSpans, "encode_many"),
    "SpecForgetsASetting": (SpecForgetsASetting, "spec"),
    "SpecCannotBePickled": (SpecCannotBePickled, "spec: fresh process"),
    "TellsFactsAnew": (TellsFactsAnew, "facts"),
    "LongestTokenTooShort": (told(longest_token=3), "facts.longest_token"),
    "AnotherPattern": (told(patterns=(r"\w+|\W",)), "facts.pairs"),
    "TilesAndStrips": (told(added=STRIPPING, tiles=True), "facts.tiles"),
    "HidesAnAddedToken": (HidesAnAddedToken, "facts.tokens"),
    "SplitsNothing": (SplitsNothing, "certified cuts"),
    "OffsetsOfATextBehindAnother": (OffsetsOfATextBehindAnother, "char_offsets"),
    "DecodesWithoutTheLast": (DecodesWithoutTheLast, "facts.byte_level"),
    "DecodesRowsInAnotherOrder": (DecodesRowsInAnotherOrder, "decode"),
    "FinishLooksAtIds": (FinishLooksAtIds, "postprocess"),
    "FinishLosesOne": (FinishLosesOne, "postprocess: batch"),
    "HidesItsPadding": (HidesItsPadding, "postprocess: special_tokens"),
    "WholeIsNotFinished": (WholeIsNotFinished, "encode_whole"),
    "RefusesMoreThanItsOwnCall": (RefusesMoreThanItsOwnCall, "check_text"),
    "RefusesLessThanItsOwnCall": (RefusesLessThanItsOwnCall, "check_text: lone surrogates"),
    "RefusesLongTexts": (RefusesLongTexts, "check_text: parts"),
    "ForbidsWithoutRefusing": (ForbidsWithoutRefusing, "traits.forbidden"),
    "ForbidsInAList": (engine_says(forbidden=[]), "traits"),
    "RemembersByLength": (RemembersByLength, "cached_rows"),
}


@pytest.mark.parametrize("name", cases(TOKENIZERS, [*TOKENIZERS][::2]))
def test_a_wrong_tokenizer_is_caught(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    make, check = TOKENIZERS[name]
    twelfths_but_for(check)
    reference = Twin(PLAIN) if check == "reference" else None
    assert caught(check_tokenizer, make(), reference) == (check,)


@pytest.mark.parametrize("added", cases([PLAIN, STRIPPING], [STRIPPING]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_honest_tokenizer_passes(added: Any) -> None:
    check_tokenizer(Portable(added), Twin(added), examples=EXAMPLES)


@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_honest_tokenizer_that_remembers_passes() -> None:
    check_tokenizer(Remembering(), Twin(PLAIN), examples=EXAMPLES)


# ------------------------------------------------------------------------------- splitters


@dataclass(frozen=True)
class Changes:
    """An honest splitter, and what a mutant makes of its chunks."""

    change: Callable[[list[Chunk], str], Any]

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        split = CutSplitter(5).split(text, tokenizer, attempt)
        return replace(split, chunks=self.change(list(split.chunks), text))


def with_gap(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [*chunks[:1], *chunks[2:]]


def moved_cut(chunks: list[Chunk], text: str) -> list[Chunk]:
    """One code point further on, with the licence of the place before."""
    if len(chunks) < 2 or chunks[-1].core_stop - chunks[-1].core_start < 2:
        return chunks
    left, right = chunks[-2:]
    assert right.cut is not None
    place = right.core_start + 1
    return [
        *chunks[:-2],
        replace(left, stop=place, core_stop=place),
        replace(right, start=place, core_start=place, cut=replace(right.cut, position=place)),
    ]


class CutsSurrogates:
    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        middle = len(text) // 2 if attempt == 0 else 0
        edges = [0, middle, len(text)] if middle else [0, len(text)]
        return Split([Chunk(*edge, *edge) for edge in pairwise(edges)])


class NeverEnds:
    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        return CutSplitter(5).split(text, tokenizer, 0)


class CountsItsCalls:
    calls = 0

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        self.calls += 1
        return CutSplitter(5 + self.calls % 2).split(text, tokenizer, attempt)


class CutsTheUnknown:
    """Takes it that every tokenizer splits before spaces."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        known = facts_of(tokenizer).unprovable is None
        return CutSplitter(5).split(text, tokenizer if known else Toy(), attempt)


SPACES = Seam(0, "PAIR", "20", (("pattern", "gpt2"), ("left", "non-space"), ("right", "space")))
"""What licenses a cut before every space, behind anything but white space, of the toy."""


SPACED = Toy((Added("e b"), Added("<s>")))
"""With an added token across a space."""


@dataclass(frozen=True)
class Marks:
    """An honest splitter, and how a mutant marks chunks as divisible."""

    which: Callable[[Sequence[Chunk], int, str], bool]
    licence: Seam | None = SPACES
    splitter: Splitter = CutSplitter(5)  # noqa: RUF009  # frozen

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        split = self.splitter.split(text, tokenizer, attempt)
        chunks = [
            replace(chunk, divisible=self.which(split.chunks, k, text))
            for k, chunk in enumerate(split.chunks)
        ]
        return replace(split, chunks=chunks, licence=self.licence)


def safely(chunks: Sequence[Chunk], k: int, text: str) -> bool:
    """Honest: without a surrogate in the text, part of an added token in the chunk, and apart."""
    part = text[chunks[k].start : chunks[k].stop]
    near = any(sign in part for sign in "<be")
    return not near and not has_surrogate(text) and stands_apart(chunks, k, len(text))


def everywhere(chunks: Sequence[Chunk], k: int, text: str) -> bool:
    return stands_apart(chunks, k, len(text))


def overlapping(chunks: Sequence[Chunk], k: int, text: str) -> bool:
    whole = [Chunk(0, len(text), 0, len(text))]
    return safely(whole, 0, text)


SPLITTERS: dict[str, tuple[Any, str]] = {
    "gap": (Changes(with_gap), "split"),
    "cuts the unknown": (CutsTheUnknown(), "split: unknown tokenizer"),
    "moved cut": (Changes(moved_cut), "split: cuts"),
    "cuts surrogates": (CutsSurrogates(), "split: lone surrogates"),
    "never ends": (NeverEnds(), "split: attempts"),
    "counts its calls": (CountsItsCalls(), "split: again"),
    "says nothing": (Says(lambda split: replace(split, plan=None)), "split: words"),
    "divisible near added tokens": (Marks(everywhere), "split: divisible"),
}


@pytest.mark.parametrize("name", cases(SPLITTERS, [*SPLITTERS][::2]))
def test_a_wrong_splitter_is_caught(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    splitter, check = SPLITTERS[name]
    twelfths_but_for(check)
    subject = SPACED if check == "split: divisible" else "default"
    assert caught(check_splitter, splitter, subject) == (check,)


@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_honest_splitters_pass() -> None:
    check_splitter(Changes(lambda chunks, text: chunks), examples=EXAMPLES)
    check_splitter(Marks(safely), SPACED, examples=EXAMPLES)


# ------------------------------------------------------------------------------- executors


@dataclass
class Runs:
    """The serial executor, and what a mutant makes of its rows."""

    change: Callable[[Rows], Any]
    name: str = "runs"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Any:
        return self.change(SerialExecutor().map(texts, tokenizer, spans))


class SwallowsErrors(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        try:
            return super().map(texts, tokenizer, spans)
        except EngineError:
            return Rows.of([] for _ in texts)


class IsDeadAfterAnError(SerialExecutor):
    dead = False

    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        if self.dead:
            raise RuntimeError("the pool is gone")
        self.dead = True
        rows = super().map(texts, tokenizer, spans)
        self.dead = False
        return rows


class IgnoresSpans(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        return super().map(texts, tokenizer, False)


class EachTextOnce(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        return super().map(list(dict.fromkeys(texts)), tokenizer, spans)


class NeedsAText(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        assert texts
        return super().map(texts, tokenizer, spans)


class RemembersByLength(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        known: dict[int, Piece] = {}
        for text in texts:
            known.setdefault(len(text), encode_piece(text, tokenizer, spans))
        return Rows.of_pieces([known[len(text)] for text in texts])


class OneListForAllThreads(SerialExecutor):
    def map(self, texts: Sequence[str], tokenizer: Any, spans: bool) -> Rows:
        self.pieces: list[Piece] = []
        for row, text in enumerate(texts):
            piece = encode_piece(text, tokenizer, spans, row)
            self.pieces.append(piece)
        return Rows.of_pieces(self.pieces)


class ClosesOnce(ThreadExecutor):
    closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class Divider(SerialExecutor):
    """Honest: answers every other text, cut before every space behind anything but white space."""

    without_cache = "serial"

    def look_up(self, texts: Sequence[str], tokenizer: Any) -> Any:
        served = [k % 2 == 0 for k in range(len(texts))]
        rows = [
            self.divided(text, tokenizer) if each else self.other(text, tokenizer)
            for text, each in zip(texts, served, strict=True)
        ]
        return Rows.of(rows), served

    def other(self, text: str, tokenizer: Any) -> IdArray:
        return np.empty(0, dtype=np.uint32)

    def divided(self, text: str, tokenizer: Any) -> IdArray:
        edges = [0, *self.places(text), len(text)]
        return np.concatenate([tokenizer.encode(text[a:b]) for a, b in pairwise(edges)])

    def places(self, text: str) -> list[int]:
        return spaces_behind_text(text, 0, len(text)).tolist()


class EncodesTheOthers(Divider):
    def other(self, text: str, tokenizer: Any) -> IdArray:
        return encode_piece(text, tokenizer, False).ids


EXECUTORS: dict[str, tuple[Callable[[], Any], str]] = {
    **{f"rows: {name}": (partial(Runs, change), "map") for name, change in ROWS.items()},
    "a generator": (lambda: Runs(lambda rows: iter(as_lists(rows))), "map"),
    "ignores spans": (IgnoresSpans, "map: spans"),
    "needs a text": (NeedsAText, "map: few texts"),
    "each text once": (EachTextOnce, "map: equal texts"),
    "swallows errors": (SwallowsErrors, "map: errors"),
    "is dead after an error": (IsDeadAfterAnError, "map: after errors"),
    "one list for all threads": (OneListForAllThreads, "map: threads"),
    "encodes the others": (EncodesTheOthers, "look_up"),
    "closes once": (lambda: ClosesOnce(2), "close"),
}


@pytest.mark.parametrize("name", cases(EXECUTORS, [*EXECUTORS][::2]))
def test_a_wrong_executor_is_caught(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    make, check = EXECUTORS[name]
    twelfths_but_for(check)
    assert caught(check_executor, make()) == (check,)


@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_honest_executors_pass() -> None:
    check_executor(Runs(lambda rows: rows), examples=EXAMPLES)
    check_executor(Divider(), examples=EXAMPLES)


# ------------------------------------------------------------------------------- mergers


Joins = list[Join | None]


@dataclass(frozen=True)
class Merges:
    """The merger of `cut`, and what a mutant makes of its joins."""

    change: Callable[[Joins], Any]

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: TokenizerAdapter) -> Any:
        return self.change(CutMerger().merge(text, chunks, pieces, tokenizer))


def each(change: Callable[[Join], Join | None]) -> Callable[[Joins], Joins]:
    """A change of every join."""
    return lambda joins: [None if join is None else change(join) for join in joins]


def seam(**changes: Callable[[Seam], Any]) -> Callable[[Joins], Joins]:
    """A change of every seam: the new value of a field, from the seam."""

    def changed(join: Join) -> Join:
        told = {name: value(join.seam) for name, value in changes.items()}
        return replace(join, seam=replace(join.seam, **told))

    return each(changed)


class JoinsEverything:
    """Concatenates, overlap or not, and calls each seam PAIR."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Joins:
        witness = (("pattern", "cl100k"), ("left", "non-space"), ("right", "space"))
        return [
            Join(Seam(chunk.core_start, "PAIR", "20", witness), len(piece.ids), 0)
            for chunk, piece in zip(chunks[1:], pieces, strict=False)
        ]


class JoinsProposals(CutMerger):
    """None forgotten: what the splitter proposed is joined as it is, without a rule."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Joins:
        joins = super().merge(text, chunks, pieces, tokenizer)
        return [
            join or Join(Seam(chunk.core_start, None, ""), len(piece.ids), 0)
            for join, chunk, piece in zip(joins, chunks[1:], pieces, strict=False)
        ]


class JoinsAtOverlaps(CutMerger):
    """Takes overlapping chunks, whose edge is certified, for ones that meet."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Joins:
        return [
            None
            if chunk.cut is None or chunk.cut.rule is None
            else Join(chunk.cut, len(piece.ids), 0)
            for chunk, piece in zip(chunks[1:], pieces, strict=False)
        ]


class ForgetsWhatOverlaps(OverlapMerger):
    """The ids of the right piece that lie before the seam are there twice."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Joins:
        joins = super().merge(text, chunks, pieces, tokenizer)
        return [None if join is None else replace(join, right=0) for join in joins]


class MendsBadly(CutMerger):
    def mend(self, text: str, chunks: Any, failed: Any, tokenizer: Any) -> list[Chunk]:
        return list(chunks[:-1])


class MendsNothing(CutMerger):
    def mend(self, text: str, chunks: Any, failed: Any, tokenizer: Any) -> list[Chunk]:
        return list(chunks)


def counted(left: int, right: int) -> Callable[[Joins], Joins]:
    return each(lambda join: replace(join, left=join.left + left, right=join.right + right))


MERGERS: dict[str, Any] = {
    "an id too many on the left": Merges(counted(1, 0)),
    "another witness": Merges(seam(witness=lambda seam: ())),
    "no rule": Merges(seam(rule=lambda seam: None)),
    "another place": Merges(seam(position=lambda seam: seam.position + 1)),
    "a join too few": Merges(lambda joins: joins[1:]),
    "joins at overlaps": JoinsAtOverlaps(),
    "joins proposals": JoinsProposals(),
    "forgets what overlaps": ForgetsWhatOverlaps(by_cut),
    "mends badly": MendsBadly(),
    "mends nothing": MendsNothing(),
}


@pytest.mark.parametrize("name", cases(MERGERS, [*MERGERS][::2]))
def test_a_wrong_merger_is_caught(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    expected = "mend" if name.startswith("mends") else "merge: "
    twelfths_but_for(expected)
    assert caught(check_merger, MERGERS[name])[0].startswith(expected)


@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_honest_merger_passes() -> None:
    check_merger(Merges(lambda joins: joins), examples=EXAMPLES)


# ------------------------------------------------------------------------------- strategies


def lossless(build: Callable[..., Any], **told: Any) -> Strategy:
    """A record that says it is lossless."""
    return Strategy(
        **{
            "name": "wrong",
            "lossless": True,
            "source": "here",
            "conditions": "none",
            "build": build,
            **told,
        }
    )


def joins_everything(*, chunk_chars: int = 5) -> Any:
    return delimiter.build(chunk_chars=chunk_chars)[0], JoinsEverything()


def published(*, chunk_chars: int = 9) -> Any:
    return blocks.build(chunk_chars=chunk_chars, acceptance="paper", overlap_chars=3)


STRATEGIES: dict[str, tuple[Strategy, str]] = {
    "delimiter": (lossless(delimiter.build), "strategy wrong"),
    "overlap": (lossless(overlap.build), "strategy wrong"),
    "the midpoint filter": (lossless(published), "strategy wrong"),
    "any seam is PAIR": (lossless(joins_everything), "strategy wrong"),
    "any seam is PAIR, approximate": (
        lossless(joins_everything, lossless=False),
        "strategy wrong: approximate",
    ),
    "needs an option": (lossless(lambda *, size: cut.build(chunk_chars=size)), "record"),
    "no splitter": (lossless(lambda: (None, CutMerger())), "record"),
    "no source": (lossless(cut.build, source=""), "record"),
    "only for known tokenizers": (
        lossless(lambda: (CutsTheUnknown(), CutMerger())),
        "strategy wrong: unknown tokenizer",
    ),
}


@pytest.mark.parametrize("name", cases(STRATEGIES, [*STRATEGIES][::2]))
def test_a_wrong_strategy_is_caught(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    strategy, check = STRATEGIES[name]
    twelfths_but_for(check)
    assert caught(check_strategy, strategy) == (check,)
