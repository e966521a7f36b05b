"""A cache of segments, for tokenizers without a compiled call: each distinct segment between two
certified cuts before a space is encoded once.

Such a segment has the same ids in every text (theorem 27). The table is in C (`call_segments.h`):
it grows up to its budget, then begins anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import SPACES, offsets_of
from tokpar.contract.interfaces import CachedRows
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.facts.space_stages import MARK, SpaceCut, space_cuts
from tokpar.process import kernel_modules
from tokpar.process.cached_property import cached_property
from tokpar.process.interrupts import raise_foreign
from tokpar.types import DIVIDED_SCHEMES, Facts, Rows

EncodeMany = Callable[[Sequence[str]], Rows]
"""The engine's batch call, without special tokens."""
WAVE = 1 << 18
"""Code points that are looked up together, because a lookup holds the GIL."""
_SLOT_BYTES = 64
"""A slot of the table, with its share of the long segments and of many ids."""
_SPACE_AFTER_OTHER = re.compile(f"(?<=[^{re.escape(SPACES)}]) ")


class SegmentCache:
    """The segment cache of one tokenizer. Thread-safe; usable after a fork.

    `cache_bytes`: the most bytes of its table. `cut`: where texts may be cut; None: before every
    space that follows a character other than white space. A text with an added token that may
    forbid such a cut is not divided.

    An engine with the scheme "dummy" puts a space before each text, so the space at a cut is left
    out (theorem 6.4). Texts that begin or end with a space are then not divided."""

    def __init__(self, facts: Facts, cache_bytes: int, cut: SpaceCut | None = None) -> None:
        self._cut, self._cache_bytes = cut, cache_bytes
        self._absorbs = facts.scheme == "dummy"
        guard = AddedTokenGuard(facts.added_tokens)
        self._forbidding = guard if self._absorbs else guard.at_spaces
        self.counters = {"looked": 0, "segments": 0, "missed": 0}
        """Code points that were looked up, segments in them, and segments that the table did not
        have. Threads may lose some."""

    @cached_property
    def _table(self) -> Any:
        sides = bytes([7]) * 256
        if self._cut is not None and not self._absorbs:
            sides = self._cut.sides[:128] + self._cut.sides[128:] * 128
        slots = 1 << (self._cache_bytes // _SLOT_BYTES).bit_length() - 1
        assert kernel_modules.CALL is not None
        return kernel_modules.CALL.Segments(sides, slots)

    def licenses(self, text: str) -> bool:
        """True if each space of `text` that the licence of whole texts selects is a certified cut.

        No added token in the text may forbid such a cut. With a `cut`, the characters that a token
        may join with a space are looked for."""
        if not self._may_divide(text):
            return False
        if self._cut is None:
            return True
        if self._absorbs:
            return all(f"{char} " not in text for char in self._cut.joined_chars - {" "})
        return self._cut.everywhere(text, 0, len(text))

    def _may_divide(self, text: str) -> bool:
        if self._absorbs and (text.startswith(" ") or text.endswith(" ")):
            return False
        return self._forbidding.absent(text, 0, len(text))

    def encode(self, texts: Sequence[str], encode_many: EncodeMany) -> CachedRows:
        """Returns the ids of `texts`, and which texts the cache answered.

        An answered text is cut at every certified space. A text has an empty row if an added token
        may forbid a cut, if it has a lone surrogate, or if the engine fails on a new segment."""
        may = [k for k, text in enumerate(texts) if self._may_divide(text)]
        pairs = [(part, k) for k in may for part in self._parts(texts[k])]
        owners = np.array([k for _, k in pairs], dtype=np.int64)
        waves = [self._rows(wave, encode_many) for wave in _waves([part for part, _ in pairs])]
        rows = Rows.concatenate([rows for rows, _ in waves])
        is_kept = np.concatenate([np.zeros(0, np.bool_), *(flags for _, flags in waves)])
        is_answered = np.zeros(len(texts), dtype=np.bool_)
        is_answered[may] = True
        is_answered[owners[~is_kept]] = False
        if not is_kept.all():
            is_kept = is_answered[owners]
            rows = Rows.of(rows[k] if kept else () for k, kept in enumerate(is_kept.tolist()))
        counts = np.bincount(owners, np.diff(rows.offsets), len(texts)).astype(np.int64)
        return Rows(rows.ids, offsets_of(counts)), is_answered

    def _parts(self, text: str) -> Iterator[str]:
        """Yields `text`, a long one in parts between certified cuts."""
        start = 0
        while len(text) - start > 2 * WAVE:
            spaces = _SPACE_AFTER_OTHER.finditer(text, start + WAVE)
            cut = self._cut
            stops = (each.start() for each in spaces)
            stop = next((p for p in stops if cut is None or cut.holds(text, p)), len(text))
            yield text[start:stop]
            start = stop
        if start < len(text) or not text:
            yield text[start:]

    def _rows(
        self, texts: Sequence[str], encode_many: EncodeMany
    ) -> tuple[Rows, NDArray[np.bool_]]:
        """Looks up texts together, and has the engine encode each distinct new segment.

        Returns one row for each text, and which rows count."""
        data, sizes, places, missed, segments = self._table.look_up(tuple(texts))
        ids, counts = np.frombuffer(data, np.uint32), np.frombuffer(sizes, np.int64)
        is_kept, counts = counts >= 0, np.maximum(counts, 0)
        self.counters["looked"] += sum(map(len, texts))
        self.counters["segments"] += segments
        self.counters["missed"] += len(missed)
        if not missed:
            return Rows(ids, offsets_of(counts)), is_kept
        at, rows = np.frombuffer(places, np.int64).reshape(-1, 2).T
        which: dict[str, int] = {}
        index = np.array([which.setdefault(each, len(which)) for each in missed], dtype=np.int64)
        new = self._learn([*which], encode_many)
        if new is None:
            is_kept[rows] = False
            return Rows(ids, offsets_of(counts)), is_kept
        fresh, is_sure = new
        is_kept[rows[~is_sure[index]]] = False
        lengths = np.diff(fresh.offsets)[index]
        places = np.repeat(fresh.offsets[index] - offsets_of(lengths)[:-1], lengths)
        found = fresh.ids[places + np.arange(len(places))]
        counts = counts + np.bincount(rows, lengths, len(texts)).astype(np.int64)
        return Rows(np.insert(ids, np.repeat(at, lengths), found), offsets_of(counts)), is_kept

    def _learn(
        self, segments: Sequence[str], encode_many: EncodeMany
    ) -> tuple[Rows, NDArray[np.bool_]] | None:
        """Has the engine encode new segments, and puts them into the table.

        Returns a row for each, empty if the segment may not end at a cut, and which may. None if
        the engine fails: the texts are then encoded without the cache, and the failing text raises
        the error."""
        cut = self._cut
        is_sure = np.array([cut is None or cut.ends(each) for each in segments], dtype=np.bool_)
        sure = [each for each, may in zip(segments, is_sure.tolist(), strict=True) if may]
        try:
            rows = encode_many([self._encoded_alone(each) for each in sure])
        except BaseException as error:  # a panic is no Exception
            raise_foreign(error)
            return None
        if len(rows) != len(sure):
            return None
        ids = np.ascontiguousarray(rows.ids, dtype=np.uint32)
        self._table.learn(sure, ids, np.ascontiguousarray(rows.offsets, dtype=np.int64))
        counts = np.zeros(len(segments), dtype=np.int64)
        counts[is_sure] = np.diff(rows.offsets)
        return Rows(ids, offsets_of(counts)), is_sure

    def _encoded_alone(self, segment: str) -> str:
        """Returns what the engine encodes for a segment."""
        return segment.removeprefix(" ") if self._absorbs else segment


def _waves(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yields neighbouring texts with about `WAVE` code points together."""
    first = size = 0
    for k, text in enumerate(texts):
        if size and size + len(text) > WAVE:
            yield texts[first:k]
            first, size = k, 0
        size += len(text)
    if first < len(texts):
        yield texts[first:]


def segment_cache_for(facts: Facts, cache_bytes: int) -> SegmentCache | None:
    """Returns the segment cache for a tokenizer, or None.

    None if texts may not be cut before every certified space, if the compiled kernel is missing, or
    if `cache_bytes` is 0."""
    proved = facts.unprovable is None and facts.scheme in DIVIDED_SCHEMES
    if kernel_modules.CALL is None or not proved or facts.prefix_space or not cache_bytes:
        return None
    if facts.scheme == "dummy":
        joined_chars = (facts.chars_before_mark or frozenset()) | {" ", MARK}
        cut: SpaceCut | None = SpaceCut("unjoined", joined_chars=joined_chars)
        # the licence must bar no character
        return None if cut is None or cut.spared_ascii else SegmentCache(facts, cache_bytes, cut)
    cut = next(iter(space_cuts(facts)), None) if facts.scheme == "spaces" else None
    if facts.scheme == "spaces" and (cut is None or cut.space_char != " "):
        return None
    return SegmentCache(facts, cache_bytes, cut)
