"""A cache of segments: each distinct segment between two certified cuts is encoded once.

A segment between two certified cuts before a space has the same ids in every text (theorem 27).

A call passes these files: `text_arrays` puts the texts into one buffer; `lookup` finds the ids of
known segments; `learning` encodes the others; `generations` has the tables; `cache_policy` says
which parts of a text are looked up and learnt."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokpar import kernel_modules
from tokpar.arrays import IdArray, IntArray, concatenate_ids, copy_rows, offsets_of
from tokpar.cache.added_token_parts import AddedParts
from tokpar.cache.cache_policy import (
    CACHE_BYTES,
    FIRST_WAVE,
    LARGEST_WAVE,
    USUAL,
    CachePolicy,
    CacheState,
    CallState,
    require_bytes,
)
from tokpar.cache.generations import Generations
from tokpar.cache.learning import Engine, Learner
from tokpar.cache.lookup import Lookup
from tokpar.cache.segments import EncodeMany, Unbatcher
from tokpar.cache.text_arrays import lengths_of, utf8_rows, utf8_text
from tokpar.cache.text_parts import neighbours_of, next_cut, part_of
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.facts.space_stages import SpaceCut
from tokpar.interfaces import CachedRows
from tokpar.types import AddedToken, Facts, Rows

if TYPE_CHECKING:
    from tokpar.cache.compiled_call import CompiledCall

_LONGEST = 1 << 16
"""A text with more code points and no space is not looked up: such a long segment never repeats."""


@dataclass(frozen=True, slots=True, eq=False)
class WaveIds:
    """The ids of a wave of rows.

    `ids`: the ids in several arrays. `ends`: where the ids of each row end. `is_refused`:
    True for a row that may hold an added token, or was not learnt; its ids must not be used."""

    ids: list[IdArray]
    ends: IntArray
    is_refused: NDArray[np.bool_]


class SegmentCache:
    """The segment cache of one tokenizer as it is now. Thread-safe; usable after a fork.

    `unbatcher`: makes the `Unbatcher` of the tokenizer. `added_tokens`: the added tokens of the
    tokenizer, which the engine matches first; a text that may hold one that forbids a cut is not
    divided. `cache_bytes`: see `require_bytes`. `functions`: the compiled module `_segments`.
    `policy`: says when looking up pays. `cut`: where texts may be cut; None: before every space
    that follows a character other than white space. `parts`: finds added tokens in segments.
    `absorbs`: the engine puts a space before each text, so the space at a cut is left out
    (theorem 6.4). Texts that begin or end with a space are then not divided."""

    def __init__(
        self,
        unbatcher: Callable[[], Unbatcher],
        added_tokens: tuple[AddedToken, ...],
        cache_bytes: int = CACHE_BYTES,
        functions: Any = kernel_modules.SEGMENTS,
        policy: CachePolicy = USUAL,
        cut: SpaceCut | None = None,
        parts: AddedParts | None = None,
        absorbs: bool = False,
    ) -> None:
        require_bytes(cache_bytes)
        self._cut = cut
        self._absorbs = absorbs
        self._neighbours = neighbours_of(None if absorbs else cut)
        self._functions = functions
        guard = AddedTokenGuard(added_tokens)
        self._forbidding = guard if absorbs else guard.at_spaces
        self._every_text = not absorbs and self._forbidding.between_spaces
        self._policy = policy
        self.seeds = np.array([*(secrets.randbits(64) for _ in "12"), 2**64 - 1], dtype=np.uint64)
        self._tables = Generations(functions, self.seeds, cache_bytes)
        tools = functions, self._tables, self.seeds
        self._lookup = Lookup(*tools, self._neighbours)
        found = parts or AddedParts(Facts("", "", added_tokens=added_tokens))
        self._learner = Learner(*tools, unbatcher, found, absorbs)
        self.waves = FIRST_WAVE, LARGEST_WAVE
        self.state = CacheState()

    def encode(
        self,
        texts: Sequence[str],
        encode_many: EncodeMany,
        workers: int,
    ) -> CachedRows:
        """Returns the ids of `texts`, and which texts the cache answered.

        An answered text is cut at every certified space. A text has an empty row if it may hold an
        added token that forbids a cut, if too much of it is new, or if the engine fails on a
        segment of its wave."""
        first, largest = self.waves
        wave = largest if self.state.looked >= largest else first
        call = CallState(self._policy, self.state.budget, wave)
        engine = Engine(encode_many, workers)
        if self._every_text:  # forbidding added tokens are searched in new segments only
            return self._encode(texts, engine, call)
        may = np.array([*map(self._may_divide, texts)], dtype=np.bool_)
        rows, flags = self._encode([texts[k] for k in np.flatnonzero(may).tolist()], engine, call)
        lengths, is_answered = np.zeros(len(texts), dtype=np.int64), may.copy()
        lengths[may], is_answered[may] = np.diff(rows.offsets), flags
        return Rows(rows.ids, offsets_of(lengths)), is_answered

    def divides(self, text: str) -> bool:
        """True if `text` may be cut before every space that follows a character other than white
        space, and no added token in it forbids such a cut."""
        return self._cut is None and self._may_divide(text)

    @property
    def divides_all(self) -> bool:
        """True if `divides` every text."""
        return self._cut is None and not self._absorbs and not self._forbidding.tokens

    def _may_divide(self, text: str) -> bool:
        """True if no added token in `text` forbids a cut, as far as segments do not show it."""
        if self._absorbs and (text.startswith(" ") or text.endswith(" ")):
            return False
        return self._forbidding.absent(text, 0, len(text))

    def _encode(
        self, texts: Sequence[str], engine: Engine, call: CallState
    ) -> tuple[Rows, NDArray[np.bool_]]:
        """Look up the texts wave after wave, and count what the cache saw."""
        parts: list[IdArray] = []
        lengths = np.zeros(len(texts), dtype=np.int64)
        is_answered = np.zeros(len(texts), dtype=np.bool_)
        sizes = offsets_of(lengths_of(texts, self._functions))
        call.size = int(sizes[-1])
        first = straight = 0
        try:
            while first < len(texts) and call.goes_on:
                wave = call.wave
                stop = int(np.searchsorted(sizes, sizes[first] + wave, side="right")) - 1
                stop = max(first + 1, stop)
                size = int(sizes[stop] - sizes[first])
                found = self._encode_texts(texts[first:stop], size, engine, call)
                if found is None and (stop > first + 1 or size <= wave):
                    straight += size
                elif found is not None:
                    parts += found.ids
                    straight += int(np.diff(sizes[first : stop + 1])[found.is_refused].sum())
                    lengths[first:stop] = np.diff(found.ends, prepend=0)
                    is_answered[first:stop] = ~found.is_refused
                first = stop
            straight += int(sizes[-1] - sizes[first])
        finally:
            self.state = self.state.count_call(call, straight)
        rows = Rows(concatenate_ids(parts), offsets_of(lengths))
        return rows if is_answered.all() else _empty_rows(rows, is_answered), is_answered

    def _encode_texts(
        self, texts: Sequence[str], size: int, engine: Engine, call: CallState
    ) -> WaveIds | None:
        """Look up several texts as one wave, or one long text as several waves.

        `size`: code points of the texts. None if no text is answered."""
        if len(texts) == 1 and size > _LONGEST and " " not in texts[0]:
            return None
        try:
            if len(texts) > 1 or size <= call.wave:
                return self._encode_wave(*utf8_rows(texts, size, self._functions), engine, call)
            data = utf8_text(texts)
        except UnicodeEncodeError:
            return None
        parts: list[IdArray] = []
        start = 0
        while start < len(data):
            stop = next_cut(data, start + call.wave, self._neighbours)
            part = part_of(data, start, stop, engine.workers, self._neighbours)
            found = self._encode_wave(*part, engine, call) if call.goes_on else None
            if found is None or found.is_refused.any():
                return None  # the caller asks for the chunks of this text one by one
            parts += found.ids
            start, call.wave = stop, min(2 * call.wave, self.waves[1])
        return WaveIds(parts, np.array([sum(map(len, parts))]), np.zeros(1, dtype=np.bool_))

    def _encode_wave(
        self, data: NDArray[np.uint8], rows: IntArray, engine: Engine, call: CallState
    ) -> WaveIds | None:
        """Look up the segments of one wave, and learn the new segments.

        `rows`: see `look_up`. Nothing is learnt from a row in which too much is new."""
        results = self._lookup.look_up(data, rows, engine.workers)
        if results is None:
            return None
        misses = np.concatenate([part.misses for part in results])
        segments = sum(part.segments for part in results)
        size = int(rows[-1] - rows[0])
        is_refused = np.zeros(len(rows) - 1, dtype=np.bool_)
        if not len(misses):
            call.add(size, 0, segments, 0)
            return WaveIds(*self._lookup.splice(results, misses, None), is_refused)
        new, which = self._lookup.distinct(data, misses)
        call.add(size, int(new.lengths.sum()), segments, len(misses) // 3)
        whose = np.searchsorted(rows, misses[::3], side="right") - 1
        is_skipped = new.may_hold_tokens(self._forbidding, self._functions)
        if self._cut is not None:
            is_skipped |= new.unsure(self._cut)
        shares = np.diff(rows), whose, which
        fresh = self._learner.learn(new, is_skipped, shares, engine, call, self.state)
        is_refused[whose[is_skipped[which]]] = True
        if fresh is None or is_refused.all():
            return None
        return WaveIds(*self._lookup.splice(results, which, fresh), is_refused)


def divided_rows(
    call: CompiledCall, cache: SegmentCache | None, texts: Sequence[str], workers: int
) -> CachedRows:
    """Returns the rows of the texts that may be cut at every certified space, by the compiled call.
    The other texts have no answer.

    `cache`: the segment cache of the tokenizer, which knows which texts these are."""
    if cache is not None and cache.divides_all:
        return call.rows(texts, workers)
    may = np.array([cache is not None and cache.divides(text) for text in texts], dtype=np.bool_)
    rows, flags = call.rows([texts[k] for k in np.flatnonzero(may).tolist()], workers)
    lengths, is_answered = np.zeros(len(texts), dtype=np.int64), may.copy()
    lengths[may], is_answered[may] = np.diff(rows.offsets), flags
    return Rows(rows.ids, offsets_of(lengths)), is_answered


def _empty_rows(rows: Rows, is_kept: NDArray[np.bool_]) -> Rows:
    """Returns `rows` with an empty row for each row that is not kept."""
    lengths = np.diff(rows.offsets)
    offsets = offsets_of(lengths * is_kept)
    ids = np.empty(offsets[-1], dtype=np.uint32)
    copy_rows(rows.ids, rows.offsets[:-1][is_kept], lengths[is_kept], ids, offsets[:-1][is_kept])
    return Rows(ids, offsets)
