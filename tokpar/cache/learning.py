"""Encodes the new segments of a wave, and puts them into the tables of a cache.

New segments are encoded by their pre-tokens, without the engine, where that is possible; else by
the engine's batch call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, concatenate_ids
from tokpar.cache.added_token_parts import AddedParts, SegmentParts
from tokpar.cache.cache_policy import MOST_NEW, CacheState, CallState
from tokpar.cache.generations import LONGEST, Generations, SolvedSegments, SolvesSegments
from tokpar.cache.segments import NO_IDS, EncodeMany, SegmentIds, Segments, Unbatcher
from tokpar.cache.text_parts import in_threads
from tokpar.errors import MismatchError
from tokpar.foreign_errors import raise_foreign
from tokpar.types import Rows

LEAST_NEW = 1 << 15
"""The least new bytes that one thread encodes."""
MAKE_AFTER = 1 << 17
"""Bytes of new segments after which the encoder of pre-tokens is made."""
SHORT = 1 << 14
"""Bytes below which a text has too few words to show whether its words repeat."""
MakePieces = Callable[[NDArray[np.uint64]], SolvesSegments | None]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """What a call of a cache may use: the engine's batch call, what makes the encoder of
    pre-tokens from the seeds of the tables, and the number of threads."""

    encode_many: EncodeMany
    make_pieces: MakePieces
    workers: int


@dataclass(slots=True, eq=False)
class _IdCollector:
    """Collects the ids of segments. A segment whose ids are not found has no ids."""

    firsts: IntArray
    stops: IntArray
    ids: list[IdArray] = field(default_factory=list)
    id_count: int = 0

    @classmethod
    def of(cls, count: int) -> _IdCollector:
        return cls(*np.zeros((2, count), dtype=np.int64))

    def add(self, which: IntArray, fresh: SegmentIds) -> None:
        """Add the ids of the segments with the indices `which`."""
        self.firsts[which] = fresh.firsts + self.id_count
        self.stops[which] = np.maximum(fresh.stops, fresh.firsts) + self.id_count
        self.ids.append(fresh.ids)
        self.id_count += len(fresh.ids)

    @property
    def fresh(self) -> SegmentIds:
        return SegmentIds(concatenate_ids(self.ids), self.firsts, self.stops)


_making = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_making=threading.Lock()))


class Learner:
    """Encodes new segments, and puts them into `tables`.

    `unbatcher`: makes the `Unbatcher` of the tokenizer. `parts`: finds added tokens in segments.
    `absorbs`: see `SegmentCache`. `functions`: the compiled module `_segments`."""

    def __init__(
        self,
        functions: Any,
        tables: Generations,
        seeds: NDArray[np.uint64],
        unbatcher: Callable[[], Unbatcher],
        parts: AddedParts,
        absorbs: bool,
    ) -> None:
        self._functions, self._tables, self._seeds = functions, tables, seeds
        self._make_unbatcher, self._parts, self._absorbs = unbatcher, parts, absorbs
        self._token_ids: dict[str, IdArray] = {}
        self._pieces: SolvesSegments | None = None
        self._make_called = False

    @property
    def engine_only(self) -> bool:
        """True if it is known that only the engine encodes new segments."""
        return self._make_called and self._pieces is None

    def pieces(self, make: MakePieces, new: int) -> SolvesSegments | None:
        """Returns the encoder of new segments, or None.

        None also until enough bytes were new, because making the encoder takes as long as encoding
        some 100 KB of new text. `new`: bytes that were new, or will be new in this call."""
        if not self._make_called and new >= MAKE_AFTER:
            with _making:
                if not self._make_called:
                    self._pieces, self._make_called = make(self._seeds), True
        return self._pieces

    def learn(
        self,
        new: Segments,
        is_skipped: NDArray[np.bool_],
        rows: tuple[IntArray, IntArray, IntArray],
        engine: Engine,
        call: CallState,
        state: CacheState,
    ) -> SegmentIds | None:
        """Returns the ids of the new segments that are not skipped, and puts them into the cache.

        `is_skipped`: True for a segment that is not learnt. A segment that the engine must encode
        is skipped too if too much of its rows is new. `rows`: the first arguments of `_too_new`.
        None if the engine fails on a segment, or if the ids of segments cannot be told apart."""
        collector = _IdCollector.of(len(is_skipped))
        holds_token, token_parts = self._parts.find_parts(
            new, ~is_skipped & (new.lengths <= LONGEST), self._functions
        )
        left = ~is_skipped
        share = int(new.lengths.sum()) / max(1, int(rows[0].sum()))
        expected = state.new + call.new + int(share * (call.size - call.looked_bytes))
        pieces = self.pieces(engine.make_pieces, expected)
        known: list[tuple[IntArray, SegmentIds]] = []
        times_met = np.bincount(rows[2], minlength=len(is_skipped))
        if pieces is not None:
            which = np.flatnonzero(~(holds_token | is_skipped) & (new.lengths <= LONGEST))
            solved = self._by_pieces(new.part(which), times_met[which], pieces, engine, call)
            known.append((which, solved))
        if pieces is not None or not len(token_parts.texts.lengths):
            parts = self._by_parts(new, token_parts, times_met, pieces, engine, call)
            known.append((token_parts.segments, parts))
        for some, found in known:
            collector.add(some, found)
            left[some] = found.stops < 0
        young = state.looked + call.looked_bytes < call.policy.young
        if left.any() and not (call.policy.has_budget or young):
            is_skipped |= _too_new(*rows, new.lengths * left)
            left &= ~is_skipped
        for asked, unbatcher in (
            (left & ~holds_token, self._unbatcher),
            (left & holds_token, Unbatcher()),
        ):
            if asked.any():
                encoded = self._by_engine(new.part(asked), unbatcher, engine)
                if encoded is None:
                    return None
                collector.add(np.flatnonzero(asked), encoded)
        return collector.fresh

    def _by_engine(self, new: Segments, unbatcher: Unbatcher, engine: Engine) -> SegmentIds | None:
        """Returns the ids of segments from the engine, and puts them into the cache.

        None if the engine fails on a segment, or if their ids cannot be split."""
        given = new.drop_first_spaces() if self._absorbs else new
        encoded = _call_engine(lambda: given.encode(unbatcher, engine.encode_many, self._functions))
        if encoded is not None:
            self._tables.put(new, encoded)
        return encoded

    def _by_pieces(
        self,
        new: Segments,
        times_met: IntArray,
        pieces: SolvesSegments,
        engine: Engine,
        call: CallState,
    ) -> SegmentIds:
        """Returns the ids of segments without the engine, and caches the segments that repeat.

        A segment that needs the engine has no ids here. `times_met`: how often each segment is in
        this wave."""
        if not len(times_met):
            return NO_IDS
        sizes = np.cumsum(new.lengths)
        parts = max(1, min(engine.workers, int(sizes[-1]) // LEAST_NEW))
        inner = np.searchsorted(sizes, sizes[-1] * np.arange(1, parts) // parts)
        numbers = [part for part in np.split(np.arange(len(sizes)), inner) if len(part)]

        def solve(part: IntArray) -> SolvedSegments:
            with self._tables.reading() as generations:
                return pieces.solve(new.part(part), generations, engine.encode_many)

        try:
            solved = in_threads([partial(solve, part) for part in numbers], engine.workers)
        except MismatchError:
            # The ids that these pieces put into the cache are not trusted either.
            self._pieces = None
            self._tables.clear()
            raise
        for part, found in zip(numbers, solved, strict=True):
            if self._pieces is pieces:
                self._tables.put(new.part(part), found.fresh, times_met[part], found.table)
            call.pretokens += found.pieces
            call.merged_pretokens += found.new
        return SegmentIds.concatenate([found.fresh for found in solved])

    def _by_parts(
        self,
        new: Segments,
        token_parts: SegmentParts,
        times_met: IntArray,
        pieces: SolvesSegments | None,
        engine: Engine,
        call: CallState,
    ) -> SegmentIds:
        """Returns the ids of segments that hold added tokens, and caches these segments whole.

        `pieces`: None only if the parts are added tokens, without texts."""
        tokens = self._ids_of(token_parts.contents, engine)
        lengths = token_parts.texts.lengths
        if tokens is None or lengths.max(initial=0) > LONGEST:
            firsts = np.zeros(len(token_parts.segments), dtype=np.int64)
            return SegmentIds(NO_IDS.ids, firsts, firsts - 1)
        texts = NO_IDS
        if pieces is not None:
            texts = self._by_pieces(token_parts.texts, np.ones_like(lengths), pieces, engine, call)
        found = token_parts.join(texts, tokens)
        self._tables.put(new.part(token_parts.segments), found, times_met[token_parts.segments])
        return found

    def _ids_of(self, tokens: Sequence[str], engine: Engine) -> list[IdArray] | None:
        """Returns the ids of each added token as a single text. None if the engine fails."""
        unknown = [token for token in tokens if token not in self._token_ids]
        rows = _call_engine(lambda: engine.encode_many(unknown)) if unknown else Rows.of([])
        if rows is None:
            return None
        self._token_ids.update({token: rows[k] for k, token in enumerate(unknown)})
        return [self._token_ids[token] for token in tokens]

    @cached_property
    def _unbatcher(self) -> Unbatcher:
        return self._make_unbatcher()


def _call_engine(call: Callable[[], _T]) -> _T | None:
    """Returns the result of `call`, or None if the engine fails.

    The texts are then encoded without the cache, and the failing text raises the error."""
    try:
        return call()
    except BaseException as error:  # a panic is no Exception
        raise_foreign(error)
        return None


def _too_new(
    sizes: IntArray, whose: IntArray, which: IntArray, lengths: IntArray
) -> NDArray[np.bool_]:
    """Returns which segments are not learnt, because too much of each of their rows is new.

    A row asks for its segments if at most `MOST_NEW` of its bytes are new. Short rows count as one
    row together, and ask for all their segments if they are short together. `whose`, `which`: the
    row and the segment of each miss; a new segment counts for the row where it is met first.
    `sizes`: bytes of rows; `lengths`: bytes of segments."""
    first = np.zeros(len(lengths), dtype=np.int64)
    first[which[::-1]] = whose[::-1]
    new = np.bincount(first, weights=lengths, minlength=len(sizes))
    short = sizes < SHORT
    asks = new <= MOST_NEW * sizes
    together = int(sizes[short].sum())
    if together < SHORT or new[short].sum() <= MOST_NEW * together:
        asks |= short
    is_skipped = np.ones(len(lengths), dtype=np.bool_)
    is_skipped[which[asks[whose]]] = False
    return is_skipped
