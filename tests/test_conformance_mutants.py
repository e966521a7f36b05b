"""The conformance kit catches what it is for: planted mistakes, each by a check that names it."""

from __future__ import annotations

import itertools
import os
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.conftest import drawn
from tests.toy import PLAIN, STRIPPING, Portable, Toy, Twin
from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.interfaces import Strategy, TokenizerAdapter, facts_of
from tokpar.kernels import IdArray, SpanArray
from tokpar.methods import blocks, cut, delimiter, overlap
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.pure.added import AddedTokens
from tokpar.testing import (
    ConformanceError,
    check_executor,
    check_merger,
    check_splitter,
    check_strategy,
    check_tokenizer,
)
from tokpar.types import Chunk, Facts, Joined, Piece, Seam, Unjoined

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


class CutsAtAHundredIds(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list(text)[:100]


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


class MergesTheRightmostPairFirst(Toy):
    def best(self, ids: list[int]) -> int | None:
        found = [(self.merges[pair][0], -i) for i, pair in self._pairs(ids) if pair in self.merges]
        return -min(found)[1] if found else None


class StopsMergingOneTooEarly(Toy):
    def best(self, ids: list[int]) -> int | None:
        return super().best(ids) if len(ids) > 2 else None


class ForgetsAFlag(Toy):
    """Its engine does not know the flag that its facts tell."""

    def __init__(self, flag: str, added: Any) -> None:
        super().__init__(added)
        self.finder = AddedTokens([replace(token, **{flag: False}) for token in self.added])


class StripsTrailingSpaces(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list(text.rstrip(" "))


class LowercasesOtherThanAscii(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list("".join(c if c.isascii() else c.lower() for c in text))


class NormalizesSilently(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list(unicodedata.normalize("NFC", text))


class ChangesLineEnds(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list(text.replace("\r\n", "\n"))


class PutsASpaceInFront(Toy):
    def id_list(self, text: str) -> list[int]:
        return super().id_list(text if text.startswith(" ") or not text else " " + text)


class MarksTheStart(Toy):
    """Special tokens belong to finish."""

    def id_list(self, text: str) -> list[int]:
        return [0, *super().id_list(text)]


class RemembersByTheFirstCharacters(Toy):
    def encode(self, text: str) -> IdArray:
        known = self.__dict__.setdefault("known", {})
        if text[:12] not in known:
            known[text[:12]] = super().encode(text)
        return known[text[:12]]


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


class GivesOneBuffer(Toy):
    buffer = np.zeros(4096, dtype=np.uint32)

    def encode(self, text: str) -> IdArray:
        ids = super().encode(text)
        self.buffer[: len(ids)] = ids
        return self.buffer[: len(ids)]


class GivesInt64(Toy):
    def encode(self, text: str) -> Any:
        return super().encode(text).astype(np.int64)


class GivesAList(Toy):
    def encode(self, text: str) -> Any:
        return super().encode(text).tolist()


class GivesARow(Toy):
    def encode(self, text: str) -> Any:
        return super().encode(text)[None, :]


class RaisesKeyError(Toy):
    def id_list(self, text: str) -> list[int]:
        return [{"中": 1}.get(c) or {}[c] for c in text if c == "é"] or super().id_list(text)


class RefusesTheEmptyText(Toy):
    def id_list(self, text: str) -> list[int]:
        if not text:
            raise ValueError("nothing to encode")
        return super().id_list(text)


class HasNoName(Toy):
    name = ""


class BatchIsSorted(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        return super().encode_many(sorted(texts, key=len), spans)


class BatchDropsEmptyTexts(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        return super().encode_many([text for text in texts if text], spans)


class BatchIgnoresSpans(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        return super().encode_many(texts, False)


class BatchIsFinished(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        return [Piece(self.finish(self.encode(text), text)) for text in texts]


class BatchSharesABuffer(Toy):
    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        pieces = super().encode_many(texts, spans)
        longest = np.zeros(max((len(piece.ids) for piece in pieces), default=0), np.uint32)
        for piece in pieces:
            longest[: len(piece.ids)] = piece.ids
        return [replace(piece, ids=longest[: len(piece.ids)]) for piece in pieces]


class SpecForgetsASetting(Portable):
    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return ForgetsAFlag, {"flag": "single_word", "added": PLAIN}


class SpecOfOtherFacts(Portable):
    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return TellsOtherFacts, {"longest_token": 99}


class SpecCannotBePickled(Portable):
    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return (lambda: Portable()), {}


class IsEmptyInAnotherProcess(Portable):
    def __init__(self, added: Any = PLAIN, home: int | None = None) -> None:
        super().__init__(added)
        self.home = os.getpid() if home is None else home

    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return type(self), {"added": self.flags, "home": self.home}

    def id_list(self, text: str) -> list[int]:
        return super().id_list(text) if os.getpid() == self.home else []


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


class ListsTooFewTokens(Toy):
    @cached_property
    def facts(self) -> Facts:
        longest = max(self.tokens, key=len)
        return self.told(tokens=lambda: frozenset(self.tokens) - {longest})


class SplitsLikeNobodyElse(Toy):
    """Words of at most five letters, under a pattern that says otherwise."""

    def pieces(self, text: str) -> list[str]:
        return [piece[i : i + 5] for piece in super().pieces(text) for i in range(0, len(piece), 5)]


class SplitsNothing(Toy):
    def pieces(self, text: str) -> list[str]:
        return [text] if text else []

    def __init__(self) -> None:
        super().__init__()
        across = self.tokens[b"b"], self.tokens[b" "]
        self.tokens[b"b "] = 9999
        self.spelled[9999] = b"b "
        self.merges[across] = (-1, 9999)


class LooksBack(Toy):
    """A word behind a digit is spelled out: what stands far to the left changes ids."""

    def pieces(self, text: str) -> list[str]:
        found = super().pieces(text)
        return [
            part
            for left, piece in zip(["", *found], found, strict=False)
            for part in (piece if left[-1:].isdigit() else [piece])
        ]


class LongestMatch(Toy):
    """Tokens from the left, the longest first; it calls that BPE. Every theorem holds all the same,
    so that only a reference tells."""

    def merged_anew(self, piece: str) -> list[int]:
        whole, ids = piece.encode(), []
        while whole:
            size = next(n for n in range(len(whole), 0, -1) if whole[:n] in self.tokens)
            ids.append(self.tokens[whole[:size]])
            whole = whole[size:]
        return ids


class MergesWordsOfEvenLength(Toy):
    """And spells the others out, in what it calls BPE: both ends of a word count."""

    def merged_anew(self, piece: str) -> list[int]:
        whole = piece.encode()
        if len(whole) % 2 == 0:
            return super().merged_anew(piece)
        return [self.tokens[bytes([byte])] for byte in whole]


class LocatesCodePoints(Toy):
    def locate(self, ids: IdArray, text: str) -> SpanArray:
        starts = np.cumsum([0, *(len(c.encode()) for c in text)])
        return np.searchsorted(starts, super().locate(ids, text)).astype(np.int64)


class LocatesOneByteOff(Toy):
    def locate(self, ids: IdArray, text: str) -> SpanArray:
        spans = super().locate(ids, text)
        spans[1:, 0] += 1
        return spans


class LocatesBackwards(Toy):
    def locate(self, ids: IdArray, text: str) -> SpanArray:
        return super().locate(ids, text)[::-1]


class LocatesInInt32(Toy):
    def locate(self, ids: IdArray, text: str) -> Any:
        return super().locate(ids, text).astype(np.int32)


class DecodesWithoutTheLast(Toy):
    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(list(ids)[:-1]) if len(ids) > 3 else super().decode(ids)


class DecodesWithoutAddedTokens(Toy):
    def decode(self, ids: Sequence[int]) -> str:
        added = {token.id for token in self.added}
        return super().decode([id_ for id_ in ids if int(id_) not in added])


class FinishLooksAtIds(Toy):
    def finish(self, ids: IdArray, text: str) -> IdArray:
        return ids[ids != self.tokens[b"a"]]


class FinishOfABatchLooksAtIds(Toy):
    def finish_batch(self, ids: Sequence[IdArray], texts: Sequence[str]) -> list[IdArray]:
        return [np.sort(some) for some in ids]


class FinishOfABatchLosesOne(Toy):
    def finish_batch(self, ids: Sequence[IdArray], texts: Sequence[str]) -> list[IdArray]:
        return super().finish_batch(ids, texts)[1:]


class WholeIsNotFinished(Toy):
    def encode_whole(self, text: str) -> IdArray:
        return self.encode(text)


class RefusesMoreThanItsOwnCall(Toy):
    def check_text(self, text: str) -> None:
        if "\0" in text:
            raise OptionError("NUL")

    def encode_whole(self, text: str) -> IdArray:
        return self.finish(self.encode(text), text)


class RefusesLessThanItsOwnCall(Toy):
    def check_text(self, text: str) -> None:
        pass


class IsAlwaysAnother(Toy):
    def refreshed(self) -> Toy:
        return IsAlwaysAnother()


class HoldsTheGil(Toy):
    releases_gil = False


def told(**facts: Any) -> Callable[[], Toy]:
    return lambda: TellsOtherFacts(**facts)


TOKENIZERS: dict[str, tuple[Callable[[], Any], str]] = {
    "DropsTheLastIdOfLongTexts": (DropsTheLastIdOfLongTexts, "locate"),
    "CutsAtAHundredIds": (CutsAtAHundredIds, "locate"),
    "SwapsTwoRanks": (SwapsTwoRanks, "reference"),
    "MergesTheRightmostPairFirst": (MergesTheRightmostPairFirst, "reference"),
    "StopsMergingOneTooEarly": (StopsMergingOneTooEarly, "reference"),
    "LongestMatch": (LongestMatch, "reference"),
    "MergesWordsOfEvenLength": (MergesWordsOfEvenLength, "strategy auto"),
    "ForgetsLstrip": (lambda: ForgetsAFlag("lstrip", STRIPPING), "facts.added_tokens"),
    "ForgetsRstrip": (lambda: ForgetsAFlag("rstrip", STRIPPING), "facts.added_tokens"),
    "ForgetsSingleWord": (lambda: ForgetsAFlag("single_word", PLAIN), "facts.added_tokens"),
    "ForgetsNormalized": (lambda: ForgetsAFlag("normalized", PLAIN), "facts.added_tokens"),
    "StripsTrailingSpaces": (StripsTrailingSpaces, "locate"),
    "LowercasesOtherThanAscii": (LowercasesOtherThanAscii, "locate"),
    "NormalizesSilently": (NormalizesSilently, "locate"),
    "ChangesLineEnds": (ChangesLineEnds, "locate"),
    "PutsASpaceInFront": (PutsASpaceInFront, "locate"),
    "MarksTheStart": (MarksTheStart, "locate"),
    "RemembersByTheFirstCharacters": (RemembersByTheFirstCharacters, "locate"),
    "FailsOnEveryTenthCall": (FailsOnEveryTenthCall, "encode: again"),
    "KeepsItsStateForAllThreads": (KeepsItsStateForAllThreads, "encode: threads"),
    "GivesOneBuffer": (GivesOneBuffer, "encode: again"),
    "GivesInt64": (GivesInt64, "encode: array"),
    "GivesAList": (GivesAList, "encode: array"),
    "GivesARow": (GivesARow, "encode: array"),
    "RaisesKeyError": (RaisesKeyError, "encode: array"),
    "RefusesTheEmptyText": (RefusesTheEmptyText, "encode: plain texts"),
    "HasNoName": (HasNoName, "name"),
    "BatchIsSorted": (BatchIsSorted, "encode_many"),
    "BatchDropsEmptyTexts": (BatchDropsEmptyTexts, "encode_many"),
    "BatchIgnoresSpans": (BatchIgnoresSpans, "encode_many"),
    "BatchIsFinished": (BatchIsFinished, "encode_many"),
    "BatchSharesABuffer": (BatchSharesABuffer, "encode_many"),
    "SpecForgetsASetting": (SpecForgetsASetting, "spec"),
    "SpecOfOtherFacts": (SpecOfOtherFacts, "spec"),
    "SpecCannotBePickled": (SpecCannotBePickled, "spec: fresh process"),
    "IsEmptyInAnotherProcess": (IsEmptyInAnotherProcess, "spec: fresh process"),
    "TellsFactsAnew": (TellsFactsAnew, "facts"),
    "LongestTokenTooShort": (told(longest_token=3), "facts.longest_token"),
    "AnotherFamily": (told(family="cl100k"), "facts.family"),
    "AnotherEngine": (told(engine="my own"), "facts.family"),
    "AnUnknownPattern": (told(patterns=(r"\w+|\W",), family=None), "facts.family"),
    "AnUnknownPatternOfAKnownName": (told(patterns=(r"\w+|\W",)), "facts.family"),
    "ASchemeOfNoTable": (told(scheme="metaspace", family="spaces"), "facts.family"),
    "TilesAndStrips": (told(added=STRIPPING, tiles=True), "facts.tiles"),
    "TilesWithoutBytes": (told(byte_level=False), "facts"),
    "DividedWithoutTokens": (told(tokens=None), "facts"),
    "DividedWordPiece": (told(model="WordPiece"), "facts"),
    "HidesAnAddedToken": (HidesAnAddedToken, "facts.tokens"),
    "ListsTooFewTokens": (ListsTooFewTokens, "facts.tokens"),
    "SplitsLikeNobodyElse": (SplitsLikeNobodyElse, "strategy auto"),
    "SplitsNothing": (SplitsNothing, "certified cuts"),
    "LooksBack": (LooksBack, "certified cuts"),
    "LocatesCodePoints": (LocatesCodePoints, "facts.tiles"),
    "LocatesOneByteOff": (LocatesOneByteOff, "facts.tiles"),
    "LocatesBackwards": (LocatesBackwards, "locate"),
    "LocatesInInt32": (LocatesInInt32, "locate"),
    "DecodesWithoutTheLast": (DecodesWithoutTheLast, "facts.byte_level"),
    "DecodesWithoutAddedTokens": (DecodesWithoutAddedTokens, "facts.byte_level"),
    "FinishLooksAtIds": (FinishLooksAtIds, "finish"),
    "FinishOfABatchLooksAtIds": (FinishOfABatchLooksAtIds, "finish_batch"),
    "FinishOfABatchLosesOne": (FinishOfABatchLosesOne, "finish_batch"),
    "WholeIsNotFinished": (WholeIsNotFinished, "encode_whole"),
    "RefusesMoreThanItsOwnCall": (RefusesMoreThanItsOwnCall, "check_text"),
    "RefusesLessThanItsOwnCall": (RefusesLessThanItsOwnCall, "check_text: lone surrogates"),
    "IsAlwaysAnother": (IsAlwaysAnother, "refreshed"),
    "HoldsTheGil": (HoldsTheGil, "releases_gil"),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_wrong_tokenizer_is_caught(name: str) -> None:
    make, check = TOKENIZERS[name]
    reference = Twin(PLAIN) if check == "reference" else None
    assert caught(check_tokenizer, make(), reference) == (check,)


@pytest.mark.parametrize("added", [PLAIN, STRIPPING])
def test_the_honest_tokenizer_passes(added: Any) -> None:
    check_tokenizer(Portable(added), Twin(added), examples=EXAMPLES)


# ------------------------------------------------------------------------------- splitters


@dataclass(frozen=True)
class Changes:
    """An honest splitter, and what a mutant makes of its chunks."""

    change: Callable[[list[Chunk], str], Any]

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Any:
        return self.change(CutSplitter(5).split(text, tokenizer, attempt), text)


def last(**changes: Any) -> Callable[[list[Chunk], str], list[Chunk]]:
    """A change of the last of several chunks."""
    return lambda chunks, text: (
        [*chunks[:-1], replace(chunks[-1], **changes)] if len(chunks) > 1 else chunks
    )


def with_gap(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [*chunks[:1], *chunks[2:]]


def core_twice(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [*chunks, *chunks[1:][-1:]]


def with_an_empty_chunk(chunks: list[Chunk], text: str) -> list[Chunk]:
    end = len(text)
    return [*chunks, Chunk(end, end, end, end)] if len(chunks) > 1 else chunks


def beyond_the_end(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [*chunks[:-1], replace(chunks[-1], stop=len(text) + 1)]


def behind_its_core(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [replace(chunk, start=min(chunk.start + 1, chunk.stop)) for chunk in chunks]


def without_the_end(chunks: list[Chunk], text: str) -> list[Chunk]:
    return chunks[:-1] if len(chunks) > 1 else chunks


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


def rules_called_k3(chunks: list[Chunk], text: str) -> list[Chunk]:
    return [c if c.cut is None else replace(c, cut=replace(c.cut, rule="K3")) for c in chunks]


class CutsSurrogates:
    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        middle = len(text) // 2 if attempt == 0 else 0
        edges = [0, middle, len(text)] if middle else [0, len(text)]
        return [Chunk(*edge, *edge) for edge in pairwise(edges)]


class NeverEnds:
    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        return CutSplitter(5).split(text, tokenizer, 0)


class CountsItsCalls:
    calls = 0

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        self.calls += 1
        return CutSplitter(5 + self.calls % 2).split(text, tokenizer, attempt)


class CutsTheUnknown:
    """Takes it that every tokenizer splits before spaces."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        known = facts_of(tokenizer).unprovable is None
        return CutSplitter(5).split(text, tokenizer if known else Toy(), attempt)


class FailsOnEmptyTexts:
    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        return [Chunk(0, len(text), 0, text.index(text[0]) + len(text))]


class ExplainsNothing(CutSplitter):
    def explain(self, text: str, chunks: Any, tokenizer: TokenizerAdapter) -> Any:
        return None


SPLITTERS: dict[str, tuple[Any, str]] = {
    "gap": (Changes(with_gap), "split"),
    "core twice": (Changes(core_twice), "split"),
    "out of order": (Changes(lambda chunks, text: chunks[::-1]), "split"),
    "empty chunk": (Changes(with_an_empty_chunk), "split"),
    "beyond the end": (Changes(beyond_the_end), "split"),
    "behind its core": (Changes(behind_its_core), "split"),
    "without the end": (Changes(without_the_end), "split"),
    "no chunk": (Changes(lambda chunks, text: []), "split"),
    "tuples": (Changes(lambda chunks, text: [(0, len(text))]), "split"),
    "run without ids": (Changes(last(kind="run")), "split"),
    "absorbed nothing": (Changes(last(absorbed=1)), "split"),
    "fails on empty texts": (FailsOnEmptyTexts(), "split"),
    "cuts the unknown": (CutsTheUnknown(), "split: unknown tokenizer"),
    "moved cut": (Changes(moved_cut), "split: cuts"),
    "another rule": (Changes(rules_called_k3), "split: cuts"),
    "cuts surrogates": (CutsSurrogates(), "split: lone surrogates"),
    "never ends": (NeverEnds(), "split: attempts"),
    "counts its calls": (CountsItsCalls(), "split: again"),
    "explains nothing": (ExplainsNothing(5), "explain"),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_a_wrong_splitter_is_caught(name: str) -> None:
    splitter, check = SPLITTERS[name]
    assert caught(check_splitter, splitter) == (check,)


def test_the_honest_splitter_passes() -> None:
    check_splitter(Changes(lambda chunks, text: chunks), examples=EXAMPLES)


# ------------------------------------------------------------------------------- executors


@dataclass
class Runs:
    """The serial executor, and what a mutant makes of its pieces."""

    change: Callable[[list[Piece]], Any]
    name: str = "runs"

    def map(self, text: str, chunks: Any, tokenizer: TokenizerAdapter, spans: bool) -> Any:
        return self.change(SerialExecutor().map(text, chunks, tokenizer, spans))


class SwallowsErrors(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        try:
            return super().map(text, chunks, tokenizer, spans)
        except EngineError:
            return [Piece(np.zeros(0, np.uint32)) for _ in chunks]


class RaisesTheLastError(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        pieces = [super(RaisesTheLastError, self).map(text, [c], tokenizer, spans) for c in ()]
        for chunk in reversed(chunks):
            pieces.insert(0, super().map(text, [chunk], tokenizer, spans))
        return [piece for some in pieces for piece in some]


class HidesTheError(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        try:
            return super().map(text, chunks, tokenizer, spans)
        except EngineError:
            raise RuntimeError("something went wrong") from None


class IsDeadAfterAnError(SerialExecutor):
    dead = False

    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        if self.dead:
            raise RuntimeError("the pool is gone")
        self.dead = True
        pieces = super().map(text, chunks, tokenizer, spans)
        self.dead = False
        return pieces


class IgnoresSpans(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        return super().map(text, chunks, tokenizer, False)


class GivesTheCoreOnly(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        cores = [replace(c, start=c.core_start, stop=c.core_stop) for c in chunks]
        return super().map(text, cores, tokenizer, spans)


class NeedsAChunk(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        assert chunks
        return super().map(text, chunks, tokenizer, spans)


class RemembersByPlace(SerialExecutor):
    """Of another text, too."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Piece] = {}

    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        for chunk in chunks:
            key = chunk.start, chunk.stop
            if key not in self.known:
                self.known[key] = super().map(text, [chunk], tokenizer, spans)[0]
        return [self.known[chunk.start, chunk.stop] for chunk in chunks]


class OneListForAllThreads(SerialExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        self.pieces: list[Piece] = []
        for chunk in chunks:
            [piece] = super().map(text, [chunk], tokenizer, spans)
            self.pieces.append(piece)
        return self.pieces


class AsTheyCome(ThreadExecutor):
    def map(self, text: str, chunks: Any, tokenizer: Any, spans: bool) -> list[Piece]:
        return sorted(super().map(text, chunks, tokenizer, spans), key=lambda p: len(p.ids))


class ClosesOnce(ThreadExecutor):
    closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


def strip_nothing(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if len(piece.ids)]


EXECUTORS: dict[str, tuple[Callable[[], Any], str]] = {
    "reversed": (lambda: Runs(lambda pieces: pieces[::-1]), "map"),
    "as they come": (lambda: AsTheyCome(2), "map"),
    "drops the last": (lambda: Runs(lambda pieces: pieces[:-1]), "map"),
    "drops empty pieces": (lambda: Runs(strip_nothing), "map"),
    "the first for all": (lambda: Runs(lambda pieces: pieces[:1] * len(pieces)), "map"),
    "a generator": (lambda: Runs(iter), "map"),
    "lists of ids": (lambda: Runs(lambda pieces: [piece.ids for piece in pieces]), "map"),
    "ignores spans": (IgnoresSpans, "map: spans"),
    "needs a chunk": (NeedsAChunk, "map: few chunks"),
    "gives the core only": (GivesTheCoreOnly, "map: slices"),
    "remembers by place": (RemembersByPlace, "map: spans"),
    "swallows errors": (SwallowsErrors, "map: errors"),
    "raises the last error": (RaisesTheLastError, "map: errors"),
    "hides the error": (HidesTheError, "map: errors"),
    "is dead after an error": (IsDeadAfterAnError, "map: after errors"),
    "one list for all threads": (OneListForAllThreads, "map: threads"),
    "closes once": (lambda: ClosesOnce(2), "close"),
}


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_wrong_executor_is_caught(name: str) -> None:
    make, check = EXECUTORS[name]
    assert caught(check_executor, make()) == (check,)


def test_the_honest_executor_passes() -> None:
    check_executor(Runs(lambda pieces: pieces), examples=EXAMPLES)


# ------------------------------------------------------------------------------- mergers


@dataclass(frozen=True)
class Merges:
    """The merger of `cut`, and what a mutant makes of what it joins."""

    change: Callable[[Joined], Any]

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: TokenizerAdapter) -> Any:
        found = CutMerger().merge(text, chunks, pieces, tokenizer)
        seams = isinstance(found, Joined) and found.seams
        return self.change(found) if seams else found


def seams(**changes: Callable[[Seam], Any]) -> Callable[[Joined], Joined]:
    """A change of every seam: the new value of a field, from the seam."""
    return lambda joined: replace(
        joined,
        seams=tuple(
            replace(seam, **{name: value(seam) for name, value in changes.items()})
            for seam in joined.seams
        ),
    )


class JoinsEverything:
    """Concatenates, overlap or not, and calls each seam K1."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Joined:
        joins, before = [], 0
        for chunk, piece in zip(chunks[1:], pieces, strict=False):
            before += len(piece.ids)
            witness = (("family", "cl100k"), ("left", "non-space"), ("right", "space"))
            joins.append(Seam(chunk.core_start, "K1", "20", witness, before))
        return Joined(np.concatenate([piece.ids for piece in pieces]), tuple(joins))


class NamesNoSeam(Merges):
    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Any:
        found = super().merge(text, chunks, pieces, tokenizer)
        return self.change(found) if isinstance(found, Unjoined) else found


class RepairsBadly(CutMerger):
    def repaired(self, text: str, chunks: Any, failed: Any, tokenizer: Any) -> list[Chunk]:
        return list(chunks[:-1])


class DropsAtOverlaps(CutMerger):
    """Takes overlapping chunks for ones that meet."""

    def merge(self, text: str, chunks: Any, pieces: Any, tokenizer: Any) -> Any:
        joins, before = [], 0
        for chunk, piece in zip(chunks[1:], pieces, strict=False):
            before += len(piece.ids)
            if chunk.cut is None or chunk.cut.rule is None:
                return super().merge(text, chunks, pieces, tokenizer)
            joins.append(replace(chunk.cut, token=before))
        return Joined(np.concatenate([piece.ids for piece in pieces]), tuple(joins))


def ids(change: Callable[[IdArray], Any]) -> Callable[[Joined], Joined]:
    return lambda joined: replace(joined, ids=change(joined.ids))


MERGERS: dict[str, Any] = {
    "an id twice": Merges(ids(lambda some: np.insert(some, 1, some[0]))),
    "an id too few": Merges(ids(lambda some: some[:-1])),
    "two ids in the wrong order": Merges(ids(lambda some: some[::-1])),
    "a list of ids": Merges(ids(lambda some: some.tolist())),
    "ids of int64": Merges(ids(lambda some: some.astype(np.int64))),
    "no rule": Merges(seams(rule=lambda seam: None)),
    "another rule": Merges(seams(rule=lambda seam: "K2")),
    "a rule that is not": Merges(seams(rule=lambda seam: "K9")),
    "another theorem": Merges(seams(theorem=lambda seam: "22")),
    "another place": Merges(seams(position=lambda seam: seam.position + 1)),
    "another witness": Merges(seams(witness=lambda seam: ())),
    "tokens not counted": Merges(seams(token=lambda seam: -1)),
    "tokens counted wrong": Merges(seams(token=lambda seam: seam.token + 1)),
    "a seam twice": Merges(lambda joined: replace(joined, seams=joined.seams[:1] * 2)),
    "nothing": Merges(lambda joined: None),
    "joins everything": JoinsEverything(),
    "joins overlaps": DropsAtOverlaps(),
    "names no seam": NamesNoSeam(lambda found: replace(found, failed=())),
    "names seam 0": NamesNoSeam(lambda found: replace(found, failed=(0,))),
    "names a seam too many": NamesNoSeam(lambda found: replace(found, failed=(10**6,))),
    "does not say why": NamesNoSeam(lambda found: replace(found, why="")),
    "repairs badly": RepairsBadly(),
}


@pytest.mark.parametrize("name", MERGERS)
def test_a_wrong_merger_is_caught(name: str) -> None:
    expected = "repaired" if name == "repairs badly" else "merge: "
    assert caught(check_merger, MERGERS[name])[0].startswith(expected)


def test_the_honest_merger_passes() -> None:
    check_merger(Merges(lambda joined: joined), examples=EXAMPLES)


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
    "any seam is K1": (lossless(joins_everything), "strategy wrong"),
    "any seam is K1, approximate": (
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


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_wrong_strategy_is_caught(name: str) -> None:
    strategy, check = STRATEGIES[name]
    assert caught(check_strategy, strategy) == (check,)


def test_there_are_more_than_forty_mutants() -> None:
    kinds: tuple[Mapping[str, Any], ...] = (TOKENIZERS, SPLITTERS, EXECUTORS, MERGERS, STRATEGIES)
    assert sum(map(len, kinds)) > 40
