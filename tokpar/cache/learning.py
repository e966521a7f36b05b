"""Encodes the new segments of a wave by the engine's batch call, and puts them into the tables of
a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, concatenate_ids
from tokpar.cache.added_token_parts import AddedParts, SegmentParts
from tokpar.cache.cache_policy import MOST_NEW, CacheState, CallState
from tokpar.cache.generations import LONGEST, Generations
from tokpar.cache.segments import NO_IDS, EncodeMany, SegmentIds, Segments, Unbatcher
from tokpar.foreign_errors import raise_foreign
from tokpar.types import Rows

SHORT = 1 << 14
"""Bytes below which a text has too few words to show whether its words repeat."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """What a call of a cache may use: the engine's batch call, and the number of threads."""

    encode_many: EncodeMany
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
        if not len(token_parts.texts.lengths):  # added tokens side by side
            found = self._by_parts(new, token_parts, engine)
            collector.add(token_parts.segments, found)
            left[token_parts.segments] = found.stops < 0
        if left.any() and not call.policy.has_budget:
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

    def _by_parts(self, new: Segments, token_parts: SegmentParts, engine: Engine) -> SegmentIds:
        """Returns the ids of segments that are added tokens only, and caches these segments."""
        tokens = self._ids_of(token_parts.contents, engine)
        if tokens is None:
            firsts = np.zeros(len(token_parts.segments), dtype=np.int64)
            return SegmentIds(NO_IDS.ids, firsts, firsts - 1)
        found = token_parts.join(NO_IDS, tokens)
        self._tables.put(new.part(token_parts.segments), found)
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
