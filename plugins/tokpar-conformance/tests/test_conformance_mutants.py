"""The conformance kit catches what it is for: planted mistakes, each by a check that names it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from tests.support.toy import PLAIN, STRIPPING, Portable, Toy, Twin
from tokpar.arrays import (
    SpanArray,
    code_point_spans,
)
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial_executor import SerialExecutor, encode_piece
from tokpar.executors.threads import ThreadExecutor
from tokpar.methods import cut
from tokpar.methods.acceptance import by_cut
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.methods.mergers import OverlapMerger
from tokpar.process.cached_property import cached_property
from tokpar.registry.hooks import Strategy
from tokpar.results.spans import postprocess_single
from tokpar.types import Chunk, Join, Piece, Rows, Seam, Split

pytestmark = pytest.mark.compiled_at_once

EXAMPLES = drawn(12)
"""Drawn texts for each mutant; the fixed ones catch nearly all, and there are many mutants."""


# ------------------------------------------------------------------------------- tokenizers


def derived(base: type, **members: Any) -> Any:
    """A class with these members in place of its base's."""
    return type("Mistaken", (base,), members)


toy = partial(derived, Toy)


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


def without_a(self: Toy, rows: Rows, texts: Sequence[str]) -> Rows:
    kept = [rows[k][rows[k] != self.tokens[b"a"]] for k in range(len(rows))]
    return Toy.postprocess(self, Rows.of(kept), texts)


def refusing(is_refused: Callable[[str], bool]) -> Callable[[Toy, str], None]:
    """A `check_text` that refuses these texts, too."""

    def check_text(self: Toy, text: str) -> None:
        Toy.check_text(self, text)
        if is_refused(text):
            raise OptionError("too long, or has a NUL")

    return check_text


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


def rows_toy(change: Callable[[Rows], Any]) -> Any:
    return toy(encode_many=lambda self, texts, spans: change(Toy.encode_many(self, texts, spans)))


def without_s(toy: Toy) -> tuple[Any, ...]:
    return tuple(token for token in toy.added if token.content != "<s>")


def told(**facts: Any) -> Any:
    """Tells other facts."""
    return toy(facts=cached_property(lambda self: self.told(**facts)))


def engine_says(**traits: Any) -> Any:
    return toy(traits=property(lambda self: replace(Toy.traits.fget(self), **traits)))  # type: ignore[attr-defined]


def refuse_empty(self: Toy, text: str) -> list[int]:
    if not text:
        raise ValueError("nothing to encode")
    return Toy.id_list(self, text)


NO_PADDING = {"special_tokens": (np.ones(1, np.uint32), np.zeros(0, np.uint32)), "pads": False}
"""And pads: a text alone shows only that what is around is another id."""
TOKENIZERS: dict[str, tuple[Callable[[], Any], str]] = {
    "drops the last id of long texts": (
        toy(id_list=lambda self, text: Toy.id_list(self, text)[: -1 if len(text) > 20 else None]),
        "locate",
    ),
    "swaps two ranks": (SwapsTwoRanks, "reference"),
    "forgets lstrip": (lambda: ForgetsAFlag("lstrip", STRIPPING), "facts.added_tokens"),
    "fails on every tenth call": (FailsOnEveryTenthCall, "encode: again"),
    "keeps its state for all threads": (KeepsItsStateForAllThreads, "encode: threads"),
    "gives int64": (
        toy(encode=lambda self, text: np.array(self.id_list(text), np.int64)),
        "encode: array",
    ),
    "refuses the empty text": (toy(id_list=refuse_empty), "encode: plain texts"),
    "has no name": (toy(name=""), "name"),
    **{f"rows: {name}": (rows_toy(change), "encode_many") for name, change in ROWS.items()},
    "batch ignores spans": (
        toy(encode_many=lambda self, texts, spans: Toy.encode_many(self, texts, False)),
        "encode_many",
    ),
    "spec forgets a setting": (
        derived(
            Portable, spec=lambda self: (ForgetsAFlag, {"flag": "single_word", "added": PLAIN})
        ),
        "spec",
    ),
    "spec cannot be pickled": (
        derived(Portable, spec=lambda self: (lambda: Portable(), {})),
        "spec: fresh process",
    ),
    "tells facts anew": (toy(facts=property(lambda self: self.told())), "facts"),
    "longest token too short": (told(longest_token=3), "facts.longest_token"),
    "too few tokens": (told(tokens=lambda: frozenset([b"a"])), "facts.tokens"),
    "another pattern": (told(patterns=(r"\w+|\W",)), "facts.pairs"),
    "tiles and strips": (lambda: told(tiles=True)(STRIPPING), "facts.tiles"),
    "hides an added token": (
        toy(facts=cached_property(lambda self: self.told(added_tokens=without_s(self)))),
        "facts.pairs",
    ),
    "splits nothing": (SplitsNothing, "facts.pairs"),
    "offsets of a text behind another": (OffsetsOfATextBehindAnother, "char_offsets"),
    "decodes without the last": (
        toy(decode=lambda self, ids: Toy.decode(self, ids[:-1] if len(ids) > 3 else ids)),
        "facts.byte_level",
    ),
    "decodes rows in another order": (
        toy(decode_batch=lambda self, rows: sorted(map(self.decode, rows))),
        "decode",
    ),
    "postprocess looks at ids": (toy(postprocess=without_a), "postprocess"),
    "postprocess loses one": (
        toy(
            postprocess=lambda self, rows, texts: Toy.postprocess(self, rows, texts).part(
                min(1, len(rows) // 2), len(rows)
            )
        ),
        "postprocess: batch",
    ),
    "hides its padding": (toy(**NO_PADDING), "postprocess: special_tokens"),
    "whole is not postprocessed": (toy(encode_whole=Toy.encode), "encode_whole"),
    "refuses more than its own call": (
        toy(
            check_text=refusing(lambda text: "\0" in text),
            encode_whole=lambda self, text: postprocess_single(self, self.encode(text), text),
        ),
        "check_text",
    ),
    "refuses less than its own call": (
        toy(check_text=lambda self, text: None),
        "check_text: lone surrogates",
    ),
    # as its own call does; but a stream is checked chunk by chunk
    "refuses long texts": (
        toy(check_text=refusing(lambda text: len(text) > 50)),
        "check_text: parts",
    ),
    "forbids without refusing": (engine_says(forbidden=frozenset({"<s>"})), "traits.forbidden"),
    "forbids in a list": (engine_says(forbidden=[]), "traits"),
}


# ------------------------------------------------------------------------------- splitters


OWN = CutSplitter(5)
CALLS = itertools.count()


@dataclass(frozen=True)
class Splits:
    """A splitter that is a function."""

    split: Callable[[str, TokenizerAdapter, int], Any]


def changing(change: Callable[[list[Chunk], str], list[Chunk]], **said: Any) -> Splits:
    """An honest splitter, and what a mutant makes of its chunks and says beside them."""

    def split(text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        found = OWN.split(text, tokenizer, attempt)
        return replace(found, chunks=change(list(found.chunks), text), **said)

    return Splits(split)


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


def in_halves(text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
    middle = len(text) // 2 if attempt == 0 else 0
    edges = [0, middle, len(text)] if middle else [0, len(text)]
    return Split([Chunk(*edge, *edge) for edge in pairwise(edges)])


def cut_the_unknown(text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
    """Takes it that every tokenizer splits before spaces."""
    known = facts_of(tokenizer).unprovable is None
    return OWN.split(text, tokenizer if known else Toy(), attempt)


SPLITTERS: dict[str, tuple[Any, str]] = {
    "gap": (changing(lambda chunks, text: [*chunks[:1], *chunks[2:]]), "split"),
    "cuts the unknown": (Splits(cut_the_unknown), "split: unknown tokenizer"),
    "moved cut": (changing(moved_cut), "split: cuts"),
    "cuts surrogates": (Splits(in_halves), "split: lone surrogates"),
    "never ends": (
        Splits(lambda text, tokenizer, attempt: OWN.split(text, tokenizer, 0)),
        "split: attempts",
    ),
    "counts its calls": (
        Splits(lambda *given: CutSplitter(5 + next(CALLS) % 2).split(*given)),
        "split: again",
    ),
    "says nothing": (changing(lambda chunks, text: chunks, plan=None), "split: words"),
}


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


def serial(change: Callable[[Sequence[str]], Sequence[str]], keeps_spans: bool = True) -> Any:
    """A serial executor that is given other texts, or no wish for spans."""
    return derived(
        SerialExecutor,
        map=lambda self, texts, tokenizer, spans: SerialExecutor.map(
            self, change(texts), tokenizer, spans and keeps_spans
        ),
    )


def needed(texts: Sequence[str]) -> Sequence[str]:
    assert texts
    return texts


EXECUTORS: dict[str, tuple[Callable[[], Any], str]] = {
    **{f"rows: {name}": (partial(Runs, change), "map") for name, change in ROWS.items()},
    "a generator": (lambda: Runs(lambda rows: iter(as_lists(rows))), "map"),
    "ignores spans": (serial(lambda texts: texts, keeps_spans=False), "map: spans"),
    "needs a text": (serial(needed), "map: few texts"),
    "each text once": (serial(lambda texts: list(dict.fromkeys(texts))), "map: equal texts"),
    "swallows errors": (SwallowsErrors, "map: errors"),
    "is dead after an error": (IsDeadAfterAnError, "map: after errors"),
    "one list for all threads": (OneListForAllThreads, "map: threads"),
    "has no name": (partial(derived(SerialExecutor, used_name=7)), "used_name"),
    "closes once": (lambda: ClosesOnce(2), "close"),
}


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


MERGERS: dict[str, tuple[Any, str]] = {
    "an id too many on the left": (
        Merges(each(lambda join: replace(join, left=join.left + 1))),
        "merge: ",
    ),
    "another witness": (Merges(seam(witness=lambda seam: ())), "merge: "),
    "no rule": (Merges(seam(rule=lambda seam: None)), "merge: "),
    "another place": (Merges(seam(position=lambda seam: seam.position + 1)), "merge: "),
    "a join too few": (Merges(lambda joins: joins[1:]), "merge: "),
    "joins at overlaps": (JoinsAtOverlaps(), "merge: "),
    "joins proposals": (JoinsProposals(), "merge: "),
    "forgets what overlaps": (ForgetsWhatOverlaps(by_cut), "merge: "),
    "mends badly": (
        derived(CutMerger, mend=lambda self, text, chunks, *given: list(chunks[:-1]))(),
        "mend",
    ),
    "mends nothing": (
        derived(CutMerger, mend=lambda self, text, chunks, *given: list(chunks))(),
        "mend",
    ),
}


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
        lossless(lambda: (Splits(cut_the_unknown), CutMerger())),
        "strategy wrong: unknown tokenizer",
    ),
}


# ------------------------------------------------------------------------------- all of them


KINDS: dict[str, tuple[Callable[..., None], dict[str, tuple[Any, str]]]] = {
    "tokenizer": (check_tokenizer, TOKENIZERS),
    "splitter": (check_splitter, SPLITTERS),
    "executor": (check_executor, EXECUTORS),
    "merger": (check_merger, MERGERS),
    "strategy": (check_strategy, STRATEGIES),
}
MISTAKES = [(kind, name) for kind, (_, table) in KINDS.items() for name in table]
OTHERS: dict[str, Any] = {"reference": Twin(PLAIN)}
"""What a subject is compared with, or checked on, where that is not the usual."""


@pytest.mark.parametrize(("kind", "name"), cases(MISTAKES, MISTAKES[::2]))
def test_a_planted_mistake_is_caught_by_the_check_for_it(
    kind: str, name: str, twelfths_but_for: Callable[[str], None]
) -> None:
    check, table = KINDS[kind]
    planted, expected = table[name]
    twelfths_but_for(expected)
    subject = planted() if kind in ("tokenizer", "executor") else planted
    others = [OTHERS[expected]] if expected in OTHERS else []
    with pytest.raises(ConformanceError) as error:
        check(subject, *others, examples=EXAMPLES, fail_fast=True)
    (found,) = error.value.checks
    assert found.startswith(expected) if kind == "merger" else found == expected


HONEST: dict[str, Callable[..., None]] = {
    "tokenizer": partial(check_tokenizer, Portable(STRIPPING), Twin(STRIPPING)),
    "another tokenizer": partial(check_tokenizer, Portable(), Twin(PLAIN)),
    "splitter": partial(check_splitter, changing(lambda chunks, text: chunks)),
    "executor": partial(check_executor, Runs(lambda rows: rows)),
    "merger": partial(check_merger, Merges(lambda joins: joins)),
}


@pytest.mark.parametrize("what", cases(HONEST, [name for name in HONEST if name[0] != "a"]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_same_without_a_mistake_conforms(what: str) -> None:
    HONEST[what](examples=EXAMPLES)
