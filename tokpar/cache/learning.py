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
from tokpar.cache.generations import Generations
from tokpar.cache.new_segments import LONGEST, SolvedSegments, SolvesSegments
from tokpar.cache.segments import NO_IDS, EncodeMany, SegmentIds, Segments, Unbatcher
from tokpar.cache.text_parts import in_threads
from tokpar.errors import MismatchError
from tokpar.types import Rows

LEAST_NEW = 1 << 15
"""The least new bytes that one thread encodes."""
MAKE_AFTER = 1 << 17
"""Bytes of new segments after which the encoder of pre-tokens is made."""
SHORT = 1 << 14
"""Bytes below which a text has too few words to show whether its words repeat."""
MakePieces = Callable[[NDArray[np.uint64]], SolvesSegments | None]
_T = TypeVar("_T")
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit)


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """What a call of a cache may use: the engine's batch call, what makes the encoder of
    pre-tokens from the seeds of the tables, and the number of threads."""

    encode_many: EncodeMany
    make_pieces: MakePieces
    workers: int


@dataclass(slots=True, eq=False)
class _Gathered:
    """Collects the ids of segments. A segment whose ids are not found has no ids."""

    firsts: IntArray
    stops: IntArray
    ids: list[IdArray] = field(default_factory=list)
    known: int = 0

    @classmethod
    def of(cls, count: int) -> _Gathered:
        return cls(*np.zeros((2, count), dtype=np.int64))

    def add(self, which: IntArray, fresh: SegmentIds) -> None:
        """Add the ids of the segments with the indices `which`."""
        self.firsts[which] = fresh.firsts + self.known
        self.stops[which] = np.maximum(fresh.stops, fresh.firsts) + self.known
        self.ids.append(fresh.ids)
        self.known += len(fresh.ids)

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
        self._asked = False

    @property
    def engine_only(self) -> bool:
        """True if it is known that only the engine encodes new segments."""
        return self._asked and self._pieces is None

    def pieces(self, make: MakePieces, new: int) -> SolvesSegments | None:
        """Returns the encoder of new segments, or None.

        None also until enough bytes were new, because making the encoder takes as long as encoding
        some 100 KB of new text. `new`: bytes that were new, or will be new in this call."""
        if not self._asked and new >= MAKE_AFTER:
            with _making:
                if not self._asked:
                    self._pieces, self._asked = make(self._seeds), True
        return self._pieces

    def learn(
        self,
        new: Segments,
        held: NDArray[np.bool_],
        rows: tuple[IntArray, IntArray, IntArray],
        engine: Engine,
        call: CallState,
        seen: CacheState,
    ) -> SegmentIds | None:
        """Returns the ids of the new segments that are not `held`, and puts them into the cache.

        A segment that the engine must encode is held too if too much of its rows is new. `rows`:
        the first arguments of `_too_new`. None if the engine fails on a segment, or if the ids of
        segments cannot be told unbatcher."""
        gathered = _Gathered.of(len(held))
        alone, parted = self._parts.of(new, ~held & (new.lengths <= LONGEST), self._functions)
        left = ~held
        share = int(new.lengths.sum()) / max(1, int(rows[0].sum()))
        expected = seen.new + call.new + int(share * (call.size - call.looked))
        pieces = self.pieces(engine.make_pieces, expected)
        if pieces is not None:
            which = np.flatnonzero(~(alone | held) & (new.lengths <= LONGEST))
            met = np.bincount(rows[2], minlength=len(held))
            solved = self._by_pieces(new.part(which), met[which], pieces, engine, call)
            parts = self._by_parts(new, parted, met, pieces, engine, call)
            for some, found in ((which, solved), (parted.segments, parts)):
                gathered.add(some, found)
                left[some] = found.stops < 0
        young = seen.looked + call.looked < call.policy.young
        if left.any() and not (call.policy.bounded or young):
            held |= _too_new(*rows, new.lengths * left)
            left &= ~held
        for asked, unbatcher in ((left & ~alone, self._unbatcher), (left & alone, Unbatcher())):
            if asked.any():
                encoded = self._by_engine(new.part(asked), unbatcher, engine)
                if encoded is None:
                    return None
                gathered.add(np.flatnonzero(asked), encoded)
        return gathered.fresh

    def _by_engine(self, new: Segments, unbatcher: Unbatcher, engine: Engine) -> SegmentIds | None:
        """Returns the ids of segments from the engine, and puts them into the cache.

        None if the engine fails on a segment, or if their ids cannot be split."""
        given = new.absorbed() if self._absorbs else new
        encoded = _encoded(lambda: given.encoded(unbatcher, engine.encode_many, self._functions))
        if encoded is not None:
            self._tables.put(new, encoded)
        return encoded

    def _by_pieces(
        self,
        new: Segments,
        met: IntArray,
        pieces: SolvesSegments,
        engine: Engine,
        call: CallState,
    ) -> SegmentIds:
        """Returns the ids of segments without the engine, and caches the segments that repeat.

        A segment that needs the engine has no ids here. `met`: how often each segment is in this
        wave."""
        if not len(met):
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
                self._tables.put(new.part(part), found.fresh, met[part], found.table)
            call.pretokens += found.pieces
            call.merged += found.new
        return SegmentIds.concatenate([found.fresh for found in solved])

    def _by_parts(
        self,
        new: Segments,
        parted: SegmentParts,
        met: IntArray,
        pieces: SolvesSegments,
        engine: Engine,
        call: CallState,
    ) -> SegmentIds:
        """Returns the ids of segments that hold added tokens, and caches these segments whole."""
        tokens = self._ids_of(parted.contents, engine)
        lengths = parted.texts.lengths
        if tokens is None or lengths.max(initial=0) > LONGEST:
            firsts = np.zeros(len(parted.segments), dtype=np.int64)
            return SegmentIds(NO_IDS.ids, firsts, firsts - 1)
        texts = self._by_pieces(parted.texts, np.ones_like(lengths), pieces, engine, call)
        found = parted.join(texts, tokens)
        self._tables.put(new.part(parted.segments), found, met[parted.segments])
        return found

    def _ids_of(self, tokens: Sequence[str], engine: Engine) -> list[IdArray] | None:
        """Returns the ids of each added token as a single text. None if the engine fails."""
        unknown = [token for token in tokens if token not in self._token_ids]
        rows = _encoded(lambda: engine.encode_many(unknown)) if unknown else Rows.of([])
        if rows is None:
            return None
        self._token_ids.update({token: rows[k] for k, token in enumerate(unknown)})
        return [self._token_ids[token] for token in tokens]

    @cached_property
    def _unbatcher(self) -> Unbatcher:
        return self._make_unbatcher()


def _encoded(call: Callable[[], _T]) -> _T | None:
    """Returns the result of `call`, or None if the engine fails.

    The texts are then encoded without the cache, and the failing text raises the error."""
    try:
        return call()
    except _PASSING:
        raise
    except BaseException:  # a panic is no Exception
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
    held = np.ones(len(lengths), dtype=np.bool_)
    held[which[asks[whose]]] = False
    return held
