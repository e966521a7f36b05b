"""A cache of segments: each distinct segment between two certified cuts is encoded once.

A segment between two certified cuts before a space has the same ids in every text (theorem 27).

The cache has two generations of a table. When the newer table is full, the older one is evicted.
Readers never see a table change: new segments are put into the table when no thread reads, else
into a copy, which is then published."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import (
    NO_INTS,
    IdArray,
    IntArray,
    concatenate_ids,
    copy_rows,
    offsets_of,
)
from tokpar.cache import compiled
from tokpar.cache.added_token_parts import AddedParts, Parted
from tokpar.cache.generation import Generation
from tokpar.cache.new_segments import LONGEST, Solved, SolvesSegments
from tokpar.cache.policy import (
    FIRST_WAVE,
    LARGEST_WAVE,
    MOST_NEW,
    OFFSETS,
    QUICK,
    USUAL,
    CachePolicy,
    CacheState,
)
from tokpar.cache.segments import NO_IDS, EncodeMany, Fresh, Segments, Unbatcher, unbatcher_for
from tokpar.cache.text_arrays import lengths_of, utf8_rows, utf8_text
from tokpar.cache.text_parts import Looked, Scratch, beside_of, in_threads, next_cut, part_of
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.errors import MismatchError, OptionError
from tokpar.facts.space_stages import MARK, SpaceCut, space_cuts
from tokpar.facts.token_lengths import TokenLengths
from tokpar.interfaces import Served
from tokpar.types import AddedToken, Facts, Rows

CACHE_BYTES = 64 << 20
"""The most bytes that a cache uses, without the table that is being grown."""
LEAST_BYTES = 1 << 16
LEAST_PART = 1 << 17  # the least bytes that one thread looks up
LEAST_NEW = 1 << 15  # the least new bytes that one thread encodes
MAKE_AFTER = 1 << 17  # bytes of new segments after which the pretoken encoder is made
LONGEST_KNOWN = 1 << 14  # the most code points of a text that `known` looks up
DOOR = 1 << 18
SHORT = 1 << 14
"""Bytes below which a text has too few words to show whether its words repeat."""
_LONGEST = 1 << 16
"""A text with more code points and no space is not looked up: such a long segment never repeats."""
MakePieces = Callable[[NDArray[np.uint64]], SolvesSegments | None]
_T = TypeVar("_T")
_OPEN = np.zeros(1, dtype=np.uint8)
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The ids of a wave of rows.

    `ids`: the ids in several arrays. `ends`: where the ids of each row end. `holding`: True for a
    row that may hold an added token, or was not learnt; the ids of such a row must not be used."""

    ids: list[IdArray]
    ends: IntArray
    holding: NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class _Call:
    """The state of one call.

    `looked`: bytes looked up so far. `known`: bytes looked up before the first wave in which too
    much was new. `new`: bytes in new segments; `budget`: the most such bytes. `wave`: code points
    that are looked up together. `size`: code points of all texts."""

    encode_many: EncodeMany
    make_pieces: MakePieces
    workers: int
    terms: CachePolicy
    budget: int
    wave: int
    size: int = 0
    looked: int = 0
    known: int = 0
    new: int = 0

    @property
    def goes_on(self) -> bool:
        return self.new < self.budget and self.looked < self.terms.most(self.known)

    def saw(self, size: int, new: int) -> None:
        if self.known == self.looked and new <= self.terms.most_new * size:
            self.known += size
        self.looked += size
        self.new += new * self.terms.bounded


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

    def add(self, which: IntArray, fresh: Fresh) -> None:
        """Add the ids of the segments with the indices `which`."""
        self.firsts[which] = fresh.firsts + self.known
        self.stops[which] = np.maximum(fresh.stops, fresh.firsts) + self.known
        self.ids.append(fresh.ids)
        self.known += len(fresh.ids)

    @property
    def fresh(self) -> Fresh:
        return Fresh(concatenate_ids(self.ids), self.firsts, self.stops)


@dataclass(slots=True, eq=False)
class _State:
    """The state of a cache in one process.

    `door`: marks the hashes of segments that were met once. `kept`: how often segments were put
    in."""

    newer: Generation
    older: Generation
    door: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(DOOR, dtype=np.uint8))
    kept: int = 0
    pid: int = field(default_factory=os.getpid)
    lock: threading.Lock = field(default_factory=threading.Lock)
    readers: int = 0


_making = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_making=threading.Lock()))


class SegmentCache:
    """The segment cache of one tokenizer as it is now. Thread-safe; usable after a fork.

    `apart`: makes the `Unbatcher` of the tokenizer. `added_tokens`: the tokenizer's added tokens,
    which the engine matches first. A text that may hold an added token that forbids a cut is not
    divided. `cache_bytes`: see `require_bytes`. `functions`: the compiled module `_segments`.
    `terms`: the policy that says when looking up pays. `cut`: where texts may be cut; None: before
    every space that follows a character other than white space. `ids_per_byte`: a text with more
    ids per byte is not answered. `parts`: finds added tokens in segments. `absorbs`: the engine
    puts a space before each text, so the space at a cut is left out (theorem 6.4). Texts that begin
    or end with a space are then not divided."""

    def __init__(
        self,
        apart: Callable[[], Unbatcher],
        added_tokens: tuple[AddedToken, ...],
        cache_bytes: int = CACHE_BYTES,
        functions: Any = compiled.SEGMENTS,
        terms: CachePolicy = USUAL,
        cut: SpaceCut | None = None,
        ids_per_byte: int = 1,
        parts: AddedParts | None = None,
        absorbs: bool = False,
    ) -> None:
        require_bytes(cache_bytes)
        self._cut = cut
        self._ids_per_byte = ids_per_byte
        self._absorbs = absorbs
        self._beside = beside_of(None if absorbs else cut)
        self._apart_for = apart
        self._functions = functions
        guard = AddedTokenGuard(added_tokens)
        self._forbidding = guard if absorbs else guard.at_spaces
        self._every_text = not absorbs and self._forbidding.between_spaces
        self._parts = parts or AddedParts(Facts("", "", added_tokens=added_tokens))
        self._token_ids: dict[str, IdArray] = {}
        self._terms = terms
        self._half = cache_bytes // 2
        self.seeds = np.array([*(secrets.randbits(64) for _ in "12"), 2**64 - 1], dtype=np.uint64)
        self._smallest = 1 << min(12, (self._half // 64).bit_length() - 1)
        self._state: _State | None = None
        self._rooms: list[Scratch] = []
        self.waves = FIRST_WAVE, LARGEST_WAVE
        self.seen = CacheState()
        self._pieces: SolvesSegments | None = None
        self._asked = False

    def encode(
        self,
        texts: Sequence[str],
        encode_many: EncodeMany,
        workers: int,
        make_pieces: MakePieces = lambda seeds: None,
    ) -> Served:
        """Returns the ids of `texts`, and which texts the cache answered.

        An answered text is cut at every certified space. A text has an empty row if it may hold an
        added token that forbids a cut, if too much of it is new, or if the engine fails on a
        segment of its wave. `make_pieces`: makes the object that encodes new segments without
        `encode_many`, given the seeds of the table. It is called once."""
        first, largest = self.waves
        wave = largest if self.seen.looked >= largest else first
        budget = self.seen.budget
        call = _Call(encode_many, make_pieces, workers, self._terms, budget, wave)
        if self._every_text:  # forbidding added tokens are searched in new segments only
            return self._divided(texts, call)
        may = np.array([*map(self._may_divide, texts)], dtype=np.bool_)
        rows, flags = self._divided([texts[k] for k in np.flatnonzero(may).tolist()], call)
        lengths, divided = np.zeros(len(texts), dtype=np.int64), may.copy()
        lengths[may], divided[may] = np.diff(rows.offsets), flags
        return Rows(rows.ids, offsets_of(lengths)), divided

    def known(self, text: str, encode_many: EncodeMany, make_pieces: MakePieces) -> IdArray | None:
        """Returns the ids of a short text, or None.

        The ids, if the cache knows every segment, or if the new segments can mostly be encoded
        without the engine."""
        if self._asked and self._pieces is None:
            return None  # a lookup that misses takes a tenth of the engine's time
        if len(text) > LONGEST_KNOWN or not (self._every_text or self._may_divide(text)):
            return None
        try:
            data, rows = utf8_rows([text], len(text), self._functions)
        except UnicodeEncodeError:
            return None
        with self._reading() as generations:
            looked = self._part(data, rows, generations)
        if looked is None or not len(looked.misses):
            return None if looked is None else looked.ids
        if self._known_pieces(make_pieces) is None:
            self.seen = replace(self.seen, new=self.seen.new + len(text))
            return None
        found, divided = self.encode([text], encode_many, 1, make_pieces)
        return found[0] if divided[0] else None

    def _may_divide(self, text: str) -> bool:
        """True if no added token in `text` forbids a cut, as far as segments do not show it."""
        if self._absorbs and (text.startswith(" ") or text.endswith(" ")):
            return False
        return self._forbidding.absent(text, 0, len(text))

    def _known_pieces(self, make: MakePieces, expected: int = 0) -> SolvesSegments | None:
        """Returns the encoder of new segments, or None.

        None also until enough bytes were new, because making the encoder takes as long as encoding
        some 100 KB of new text. `expected`: bytes that will be new in the rest of the call."""
        if not self._asked and self.seen.new + expected >= MAKE_AFTER:
            with _making:
                if not self._asked:
                    self._pieces, self._asked = make(self.seeds), True
        return self._pieces

    def _divided(self, texts: Sequence[str], call: _Call) -> tuple[Rows, NDArray[np.bool_]]:
        parts: list[IdArray] = []
        lengths = np.zeros(len(texts), dtype=np.int64)
        divided = np.zeros(len(texts), dtype=np.bool_)
        sizes = offsets_of(lengths_of(texts, self._functions))
        call.size = int(sizes[-1])
        first = straight = 0
        while first < len(texts) and call.goes_on:
            wave = call.wave
            stop = int(np.searchsorted(sizes, sizes[first] + call.wave, side="right")) - 1
            stop = max(first + 1, stop)
            found = self._texts(texts[first:stop], int(sizes[stop] - sizes[first]), call)
            if found is None and (stop > first + 1 or sizes[stop] - sizes[first] <= wave):
                straight += int(sizes[stop] - sizes[first])
            elif found is not None:
                parts += found.ids
                straight += int(np.diff(sizes[first : stop + 1])[found.holding].sum())
                lengths[first:stop] = np.diff(found.ends, prepend=0)
                divided[first:stop] = ~found.holding
            first = stop
        straight += int(sizes[-1] - sizes[first])
        self.seen = self.seen.ended(call.known, call.new, straight)
        rows = Rows(concatenate_ids(parts), offsets_of(lengths))
        return rows if divided.all() else _emptied(rows, divided), divided

    def _texts(self, texts: Sequence[str], size: int, call: _Call) -> Found | None:
        """Look up several texts as one wave, or one long text as several waves.

        `size`: code points of the texts. None if no text is answered."""
        if len(texts) == 1 and size > _LONGEST and " " not in texts[0]:
            return None
        try:
            if len(texts) > 1 or size <= call.wave:
                return self._wave(*utf8_rows(texts, size, self._functions), call)
            data = utf8_text(texts)
        except UnicodeEncodeError:
            return None
        parts: list[IdArray] = []
        start = 0
        while start < len(data):
            stop = next_cut(data, start + call.wave, self._beside)
            part = part_of(data, start, stop, call.workers, self._beside)
            found = self._wave(*part, call) if call.goes_on else None
            if found is None or found.holding.any():
                return None  # the caller asks for the chunks of this text one by one
            parts += found.ids
            start, call.wave = stop, min(2 * call.wave, self.waves[1])
        return Found(parts, np.array([sum(map(len, parts))]), np.zeros(1, dtype=np.bool_))

    def _wave(self, data: NDArray[np.uint8], rows: IntArray, call: _Call) -> Found | None:
        """Look up the segments of one wave, and learn the new segments.

        `rows`: see `look_up`. Nothing is learnt from a row in which too much is new."""
        looked = self._looked(data, rows, call.workers)
        if looked is None:
            return None
        misses = np.concatenate([part.misses for part in looked])
        segments, which = self._distinct(data, misses)
        new = int(segments.lengths.sum())
        size, total = int(rows[-1] - rows[0]), sum(part.segments for part in looked)
        self.seen = self.seen.after(size, new, total, len(misses) // 3)
        call.saw(size, new)
        holding = np.zeros(len(rows) - 1, dtype=np.bool_)
        fresh: Fresh | None = None
        if len(misses):
            whose = np.searchsorted(rows, misses[::3], side="right") - 1
            held = segments.holding(self._forbidding, self._functions)
            if self._cut is not None:
                held |= segments.unsure(self._cut)
            fresh = self._learned(segments, held, (np.diff(rows), whose, which), call)
            holding[whose[held[which]]] = True
            if fresh is None or holding.all():
                return None
        return Found(*self._spliced(looked, which, fresh), holding)

    def _learned(
        self,
        new: Segments,
        held: NDArray[np.bool_],
        rows: tuple[IntArray, IntArray, IntArray],
        call: _Call,
    ) -> Fresh | None:
        """Returns the ids of the new segments that are not `held`, and puts them into the cache.

        A segment that the engine must encode is held too if too much of its rows is new. `rows`:
        the first arguments of `_too_new`. None if the engine fails on a segment, or if the ids of
        segments cannot be told apart."""
        gathered = _Gathered.of(len(held))
        alone, parted = self._parts.of(new, ~held & (new.lengths <= LONGEST), self._functions)
        left = ~held
        share = int(new.lengths.sum()) / max(1, int(rows[0].sum()))
        pieces = self._known_pieces(call.make_pieces, int(share * (call.size - call.looked)))
        if pieces is not None:
            which = np.flatnonzero(~(alone | held) & (new.lengths <= LONGEST))
            met = np.bincount(rows[2], minlength=len(held))
            solved = self._by_pieces(new.part(which), met[which], pieces, call)
            parts = self._by_parts(new, parted, met, pieces, call)
            for some, found in ((which, solved), (parted.segments, parts)):
                gathered.add(some, found)
                left[some] = found.stops < 0
        if left.any() and not (self._terms.bounded or self.seen.looked < self._terms.young):
            held |= _too_new(*rows, new.lengths * left)
            left &= ~held
        for asked, apart in ((left & ~alone, self._apart), (left & alone, Unbatcher())):
            if asked.any():
                encoded = self._by_engine(new.part(asked), apart, call)
                if encoded is None:
                    return None
                gathered.add(np.flatnonzero(asked), encoded)
        return gathered.fresh

    def _by_engine(self, new: Segments, apart: Unbatcher, call: _Call) -> Fresh | None:
        """Returns the ids of segments from the engine, and puts them into the cache.

        None if the engine fails on a segment, or if their ids cannot be told apart."""
        given = new.absorbed() if self._absorbs else new
        encoded = _encoded(lambda: given.encoded(apart, call.encode_many, self._functions))
        if encoded is not None:
            self._keep(new, encoded)
        return encoded

    def _by_pieces(
        self, new: Segments, met: IntArray, pieces: SolvesSegments, call: _Call
    ) -> Fresh:
        """Returns the ids of segments without the engine, and caches the segments that repeat.

        A segment that needs the engine has no ids here. `met`: how often each segment is in this
        wave."""
        if not len(met):
            return NO_IDS
        sizes = np.cumsum(new.lengths)
        parts = max(1, min(call.workers, int(sizes[-1]) // LEAST_NEW))
        inner = np.searchsorted(sizes, sizes[-1] * np.arange(1, parts) // parts)
        numbers = [part for part in np.split(np.arange(len(sizes)), inner) if len(part)]

        def solve(part: IntArray) -> Solved:
            with self._reading() as generations:
                return pieces.solve(new.part(part), generations, call.encode_many)

        try:
            solved = in_threads([partial(solve, part) for part in numbers], call.workers)
        except MismatchError:
            # The ids that these pieces put into the cache are not trusted either.
            self._pieces = self._state = None
            raise
        for part, found in zip(numbers, solved, strict=True):
            if self._pieces is pieces:
                self._keep(new.part(part), found.fresh, met[part], found.table)
            self.seen = self.seen.solved(found.pieces, found.new)
        return Fresh.joined([found.fresh for found in solved])

    def _by_parts(
        self, new: Segments, parted: Parted, met: IntArray, pieces: SolvesSegments, call: _Call
    ) -> Fresh:
        """Returns the ids of segments that hold added tokens, and caches these segments whole."""
        tokens = self._ids_of(parted.contents, call)
        lengths = parted.texts.lengths
        if tokens is None or lengths.max(initial=0) > LONGEST:
            firsts = np.zeros(len(parted.segments), dtype=np.int64)
            return Fresh(NO_IDS.ids, firsts, firsts - 1)
        texts = self._by_pieces(parted.texts, np.ones_like(lengths), pieces, call)
        found = parted.joined(texts, tokens)
        self._keep(new.part(parted.segments), found, met[parted.segments])
        return found

    def _ids_of(self, tokens: Sequence[str], call: _Call) -> list[IdArray] | None:
        """Returns the ids of each added token as a single text. None if the engine fails."""
        unknown = [token for token in tokens if token not in self._token_ids]
        rows = _encoded(lambda: call.encode_many(unknown)) if unknown else Rows.of([])
        if rows is None:
            return None
        self._token_ids.update({token: rows[k] for k, token in enumerate(unknown)})
        return [self._token_ids[token] for token in tokens]

    def _looked(self, data: NDArray[np.uint8], rows: IntArray, workers: int) -> list[Looked] | None:
        """Look up the rows in parts. Each thread takes part after part, so a slow one takes fewer.

        None if a part has too many ids."""
        size = int(rows[-1] - rows[0])
        parts = max(1, min(2 * workers if workers > 1 else 1, size // LEAST_PART, len(rows) - 1))
        inner = np.searchsorted(rows, rows[0] + size * np.arange(1, parts) // parts)
        edges = np.unique([0, *inner.tolist(), len(rows) - 1]).tolist()

        def look(first: int, stop: int) -> Looked | None:
            with self._reading() as generations:  # each thread reads for itself: see `in_threads`
                return self._part(data, rows[first : stop + 1], generations)

        found = in_threads([partial(look, i, j) for i, j in pairwise(edges)], workers)
        looked = [each for each in found if each is not None]
        return looked if len(looked) == len(found) else None

    def _part(
        self, data: NDArray[np.uint8], rows: IntArray, generations: Sequence[Generation]
    ) -> Looked | None:
        """Look up some rows. None if the rows have more ids than `ids_per_byte` allows."""
        size, count = int(rows[-1] - rows[0]), len(rows) - 1
        ends, passed = np.empty(count, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
        room = self._room()
        places = self._ids_per_byte * size
        if len(room.out) < places + 2 or len(room.misses) < 3 * (size // 2 + count + 1):
            room = Scratch.of(places, count, self._functions.BLOCK)
        tables = [array for generation in generations for array in generation.arrays]
        missed = self._functions.look_up(
            data,
            rows,
            *tables,
            self.seeds,
            room.scratch,
            room.out,
            ends,
            passed,
            room.misses,
            self._beside,
        )
        if missed < 0:
            return None
        ids, misses = room.out[: int(ends[-1])].copy(), room.misses[: 3 * missed].copy()
        if size <= 2 * LARGEST_WAVE:
            self._rooms.append(room)
        return Looked(ids, ends, passed[:-1], misses, int(passed[-1]))

    def _room(self) -> Scratch:
        try:
            return self._rooms.pop()
        except IndexError:
            return Scratch.of(0, 0, self._functions.BLOCK)

    def _distinct(self, data: NDArray[np.uint8], misses: IntArray) -> tuple[Segments, IntArray]:
        """Returns the distinct segments of the misses, and the index of each miss among them."""
        count = len(misses) // 3
        table = np.full(1 << (2 * count).bit_length(), -1, dtype=np.int64)
        which, firsts = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        kinds = np.empty(count, dtype=np.uint8)
        found = self._functions.distinct(
            data, misses, count, self.seeds, table, which, firsts, kinds
        )
        places = misses.reshape(-1, 3)[firsts[:found]]
        starts, lengths = places[:, 0].copy(), places[:, 1].copy()
        return Segments(data, starts, lengths, kinds[:found]), which

    def _spliced(
        self, looked: Sequence[Looked], which: IntArray, fresh: Fresh | None
    ) -> tuple[list[IdArray], IntArray]:
        if fresh is None:
            counts = [part.ends for part in looked]
            parts = [part.ids for part in looked]
        else:
            counts, parts, first = [], [], 0
            sizes = fresh.stops - fresh.firsts
            for part in looked:
                own = which[first : first + len(part.misses) // 3]
                first += len(own)
                before = offsets_of(sizes[own])
                target = np.empty(len(part.ids) + before[-1], dtype=np.uint32)
                rest = part.misses, own, fresh.firsts, fresh.stops, fresh.ids, target
                self._functions.splice(part.ids, len(part.ids), *rest)
                counts.append(part.ends + before[part.passed])
                parts.append(target)
        starts = offsets_of(int(ends[-1]) for ends in counts)
        return parts, np.concatenate([c + s for c, s in zip(counts, starts[:-1], strict=True)])

    def _keep(
        self,
        new: Segments,
        fresh: Fresh,
        met: IntArray | None = None,
        pieces: Generation | None = None,
    ) -> None:
        """Put segments and `pieces` into the table, and publish the table.

        `met`: how often each segment is in this wave; only segments that were met before are put
        in. None: all segments are put in. All of `pieces` are put in."""
        state = self._own_state()
        with state.lock:
            newer, older = state.newer, state.older
            if state.readers:  # no reader reads `keys` and `ids` after their used places
                newer = replace(newer, slots=newer.slots.copy(), used=newer.used.copy())
            door = _OPEN if met is None else state.door
            state.kept += 1
            if state.kept % 64 == 0 and np.count_nonzero(state.door) > DOOR // 2:
                state.door[:] = 0
            tools = self._functions, self.seeds

            def all_put(put: Callable[[Generation, int], int], total: int) -> None:
                nonlocal newer, older
                done = 0
                while (done := put(newer, done)) < total:
                    larger = newer.larger(*tools, self._half)
                    if larger is None:
                        newer, older = Generation.empty(self._smallest), newer
                    else:
                        newer = larger

            times = NO_INTS if met is None else met
            all_put(
                lambda to, done: to.put(*tools, new, fresh, done, times, door), len(new.lengths)
            )
            if pieces is not None:
                all_put(lambda to, done: to.add(pieces, self.seeds, done), len(pieces.slots) // 4)
            state.newer, state.older = newer, older

    @contextmanager
    def _reading(self) -> Iterator[tuple[Generation, Generation]]:
        """Yield the two generations. No thread changes them inside of the block."""
        state = self._own_state()
        with state.lock:
            state.readers += 1
            generations = state.newer, state.older
        try:
            yield generations
        finally:
            with state.lock:
                state.readers -= 1

    def _own_state(self) -> _State:
        """Returns the state of this process.

        A forked child gets an empty state, because another thread of the parent may have been
        changing the parent's state."""
        state = self._state
        if state is None or state.pid != os.getpid():
            with _making:
                if self._state is state:
                    size = self._smallest
                    self._state = _State(Generation.empty(size), Generation.empty(size))
                assert self._state is not None
                state = self._state
        return state

    @cached_property
    def _apart(self) -> Unbatcher:
        return self._apart_for()


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


def require_bytes(cache_bytes: int) -> int:
    """Returns `cache_bytes`: a budget that a cache can keep, or 0 for none. Else OptionError."""
    whole = isinstance(cache_bytes, int) and not isinstance(cache_bytes, bool)
    if not whole or (cache_bytes != 0 and cache_bytes < LEAST_BYTES):
        least = f"0, or {LEAST_BYTES:,} or more"
        raise OptionError(f"cache_bytes must be {least}, got {cache_bytes!r}")
    return cache_bytes


def segment_cache_for(
    facts: Facts, lengths: Callable[[], TokenLengths | None], cache_bytes: int
) -> SegmentCache | None:
    """Returns the segment cache for a tokenizer, or None.

    None if texts may not be cut before every certified space, if the compiled kernel is missing, or
    if `cache_bytes` is 0. `lengths`: returns the byte lengths of tokens that tile the text."""
    if not _can_cache(facts, cache_bytes):
        return None
    cut, absorbs = _cut_of(facts), facts.scheme == "dummy"
    return SegmentCache(
        lambda: unbatcher_for(facts, lengths()) if cut is None or absorbs else Unbatcher(),
        facts.added_tokens,
        cache_bytes,
        terms=QUICK if facts.has_own_cache else USUAL,
        cut=cut,
        parts=AddedParts(facts),
        absorbs=absorbs,
    )


def offsets_cache_for(facts: Facts, cache_bytes: int) -> SegmentCache | None:
    """Returns a cache for the packed offsets of segments (`offset_rows`), or None.

    The engine encodes each segment as a text of its own. None where `segment_cache_for` returns
    None, and for the scheme "dummy"."""
    if facts.scheme == "dummy" or not _can_cache(facts, cache_bytes):
        return None
    cut = _cut_of(facts)
    return SegmentCache(
        Unbatcher, facts.added_tokens, cache_bytes, terms=OFFSETS, cut=cut, ids_per_byte=2
    )


def _can_cache(facts: Facts, cache_bytes: int) -> bool:
    known = ("regex", "bert", "spaces", "dummy")
    proved = facts.unprovable is None and facts.scheme in known
    if compiled.SEGMENTS is None or not proved or facts.prefix_space or not cache_bytes:
        return False
    cut = _cut_of(facts)
    if facts.scheme == "dummy":  # the licence must bar no character
        return cut is not None and not cut.spared_ascii
    return facts.scheme != "spaces" or (cut is not None and cut.behind == " ")


def _cut_of(facts: Facts) -> SpaceCut | None:
    """Returns where texts may be cut by theorem 50 or by the characters before "▁"; else None."""
    if facts.scheme == "dummy":
        return SpaceCut("unjoined", joined=(facts.chars_before_mark or frozenset()) | {" ", MARK})
    return next(iter(space_cuts(facts)), None) if facts.scheme == "spaces" else None


def _emptied(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Returns `rows` with an empty row for each row that is not `kept`."""
    lengths = np.diff(rows.offsets)
    offsets = offsets_of(lengths * kept)
    ids = np.empty(offsets[-1], dtype=np.uint32)
    copy_rows(rows.ids, rows.offsets[:-1][kept], lengths[kept], ids, offsets[:-1][kept])
    return Rows(ids, offsets)
