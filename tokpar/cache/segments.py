"""Encodes new segments by a tokenizer's batch call, many segments per text, and splits the ids.

Segments between two U1 cuts may follow each other in any order (theorem 28). The lengths of the
tokens then show where each segment ends. Where lengths are not known, an added token stands between
two segments (corollary 30). Else each segment is a text of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, concatenate_ids, offsets_of
from tokpar.cuts.added_token_guard import LONG_RUN, AddedTokenGuard
from tokpar.facts.hf_facts import can_overlap
from tokpar.facts.space_stages import SpaceCut
from tokpar.facts.token_lengths import TokenLengths
from tokpar.types import AddedToken, Facts, Rows

TEXT_BYTES = 8192  # bytes of a joined text: several texts, so all threads of a batch call have work
NO_SPACE_FIRST, WHITE_LAST = 1, 2
"""Kinds of segments: one may only stand first in a joined text, the other only last."""

SEPARATOR = 0xFF
"""A byte that never occurs in UTF-8. It separates segments that are searched together."""

EncodeMany = Callable[[Sequence[str]], Rows]


@dataclass(frozen=True, slots=True, eq=False)
class Unbatcher:
    """How the ids of joined segments are split again.

    `sizes`: by the UTF-8 byte length of each id. `separator`: by an added token between two
    segments. Neither: segments cannot be joined."""

    sizes: Callable[[IdArray], IntArray] | None = None
    separator: AddedToken | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SegmentIds:
    """The ids of segments. Segment k has ids[firsts[k] : stops[k]], or no ids if its stop is -1."""

    ids: IdArray
    firsts: IntArray
    stops: IntArray

    @classmethod
    def concatenate(cls, parts: Sequence[SegmentIds]) -> SegmentIds:
        """Returns the segments of all parts, in order."""
        before = offsets_of(len(part.ids) for part in parts)[:-1].tolist()
        firsts = [part.firsts + n for part, n in zip(parts, before, strict=True)]
        stops = [
            np.where(part.stops < 0, -1, part.stops + n)
            for part, n in zip(parts, before, strict=True)
        ]
        ids = concatenate_ids([part.ids for part in parts])
        return cls(ids, np.concatenate(firsts), np.concatenate(stops))


NO_IDS = SegmentIds(np.empty(0, dtype=np.uint32), *np.zeros((2, 0), dtype=np.int64))


def unbatcher_for(facts: Facts, lengths: TokenLengths | None) -> Unbatcher:
    """Returns the `Unbatcher` that these facts allow.

    `lengths`: the byte lengths of tokens that tile the text, or None."""
    recombine = not any(
        " " in token.content[1:] or (token.single_word and token.content.startswith(" "))
        for token in facts.added_tokens
    )
    if facts.tiles and lengths is not None and recombine:
        return Unbatcher(sizes=lengths.certain)
    return Unbatcher(separator=separator_of(facts.added_tokens))


def separator_of(tokens: Sequence[AddedToken]) -> AddedToken | None:
    """Returns an added token that may stand between texts, or None.

    Next to this token, no other added token appears or disappears across its edges."""
    contents = [token.content for token in tokens if token.content]
    for token in tokens:
        flagged = token.lstrip or token.rstrip or token.single_word or token.normalized
        apart = not any(can_overlap(token.content, other) for other in contents)
        if token.content and not flagged and apart:
            return token
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Distinct segments of the UTF-8 bytes `data`.

    `starts`, `lengths`: bytes. `kinds`: the flags NO_SPACE_FIRST and WHITE_LAST of each segment."""

    data: NDArray[np.uint8]
    starts: IntArray
    lengths: IntArray
    kinds: NDArray[np.uint8]

    def may_hold_tokens(self, guard: AddedTokenGuard, kernel: Any) -> NDArray[np.bool_]:
        """Returns which segments may hold an added token of `guard` inside of the segment."""
        found = np.zeros(len(self.lengths), dtype=np.bool_)
        if not guard.tokens:
            return found
        data, places = self.with_separators(kernel)
        clusters = guard.contents.clusters_of_bytes(data)
        found[np.searchsorted(places, clusters[:, 0], side="right") - 1] = True
        for k in np.flatnonzero(self.lengths >= LONG_RUN).tolist():
            part = data[places[k] : places[k] + self.lengths[k]].tobytes().decode()
            found[k] |= guard.may_strip_far(part, 0, len(part))
        return found

    def with_separators(self, kernel: Any) -> tuple[NDArray[np.uint8], IntArray]:
        """Returns the bytes of the segments, a byte that never occurs in UTF-8 after each of them,
        and where each segment begins."""
        places = offsets_of(self.lengths + 1)
        data = np.full(places[-1], SEPARATOR, dtype=np.uint8)
        kernel.gather(self.data, self.starts, self.lengths, data, places)
        return data, places

    def unsure(self, cut: SpaceCut) -> NDArray[np.bool_]:
        """Returns which segments may not be cut at their end.

        Only segments that end with a non-ASCII character are checked. For the others, the lookup
        checked the characters next to the space when it cut the text."""
        found = np.zeros(len(self.lengths), dtype=np.bool_)
        ends = self.starts + self.lengths
        for k in np.flatnonzero(self.data[ends - 1] > 127).tolist():
            found[k] = not cut.ends(self.data[self.starts[k] : ends[k]].tobytes().decode())
        return found

    def drop_first_spaces(self) -> Segments:
        """Returns the segments without their first space, for an engine that puts a space before
        each text (theorem 6.4)."""
        space = (self.kinds & NO_SPACE_FIRST) == 0
        return Segments(self.data, self.starts + space, self.lengths - space, self.kinds)

    def part(self, which: NDArray[np.bool_] | IntArray) -> Segments:
        """Returns some of the segments, by a mask or by indices."""
        rest = self.starts[which], self.lengths[which], self.kinds[which]
        return Segments(self.data, *rest)

    def encode(
        self, unbatcher: Unbatcher, encode_many: EncodeMany, kernel: Any
    ) -> SegmentIds | None:
        """Returns the ids of the segments. None if the ids cannot be split by segment.

        Raises the errors of the batch call."""
        separator = b"" if unbatcher.separator is None else unbatcher.separator.content.encode()
        whose = self._texts(unbatcher, len(separator))
        order = np.lexsort((self.kinds == WHITE_LAST, self.kinds != NO_SPACE_FIRST, whose))
        whose = whose[order]
        last = np.append(whose[1:] != whose[:-1], True)
        lengths = self.lengths[order]
        places = offsets_of(lengths + len(separator) * ~last)
        target = np.empty(places[-1], dtype=np.uint8)
        kernel.gather(self.data, self.starts[order], lengths, target, places)
        for k, byte in enumerate(separator, start=-len(separator)):
            target[places[1:][~last] + k] = byte
        ends = places[1:][last]
        joined, first = target.tobytes(), 0
        texts = []
        for end in ends.tolist():
            texts.append(joined[first:end].decode())
            first = end
        rows = encode_many(texts)
        stops = _stops(unbatcher, rows, last, places[1:], ends)
        if stops is None:
            return None
        begins = np.append(0, stops[:-1])
        if separator:
            begins += np.append(False, ~last[:-1])
        firsts_, stops_ = np.empty_like(stops), np.empty_like(stops)
        firsts_[order], stops_[order] = begins, stops
        ids = np.require(rows.ids, dtype=np.uint32, requirements=["C", "W"])
        return SegmentIds(ids, firsts_, stops_)

    def _texts(self, unbatcher: Unbatcher, separator_size: int) -> IntArray:
        """Returns the index of the joined text of each segment."""
        count = len(self.lengths)
        if unbatcher.sizes is None and unbatcher.separator is None:
            return np.arange(count, dtype=np.int64)
        texts = 1 + int(self.lengths.sum() + separator_size * count) // TEXT_BYTES
        if unbatcher.separator is not None:
            return np.arange(count, dtype=np.int64) * texts // count
        groups = [np.flatnonzero(self.kinds == kind) for kind in range(4)]
        texts = max(texts, len(groups[NO_SPACE_FIRST]), len(groups[WHITE_LAST]))
        whose = np.empty(count, dtype=np.int64)
        whose[groups[0]] = np.arange(len(groups[0])) * texts // max(1, len(groups[0]))
        for kind in (NO_SPACE_FIRST, WHITE_LAST):
            whose[groups[kind]] = np.arange(len(groups[kind]))
        whose[groups[3]] = texts + np.arange(len(groups[3]))
        return whose


def _stops(
    unbatcher: Unbatcher, rows: Rows, last: NDArray[np.bool_], places: IntArray, ends: IntArray
) -> IntArray | None:
    """Returns where the ids of each segment end among all ids. None if that is not certain.

    `last`: True for the last segment of a joined text. `places`: where each segment ends, in bytes
    of all texts. `ends`: where each text ends."""
    if len(rows) != len(ends):
        return None
    if unbatcher.sizes is not None:
        sizes = unbatcher.sizes(rows.ids)
        tiled = offsets_of(sizes)
        found = np.searchsorted(tiled, places)
        exact = sizes.all() and tiled[-1] == places[-1]
        if not exact or (tiled[found] != places).any() or (found[last] != rows.offsets[1:]).any():
            return None
        return found
    stops = np.empty(len(last), dtype=np.int64)
    stops[last] = rows.offsets[1:]
    if unbatcher.separator is not None:
        seen = np.flatnonzero(rows.ids == unbatcher.separator.id)
        if len(seen) != len(last) - len(ends):
            return None
        stops[~last] = seen
        if (np.searchsorted(seen, rows.offsets[1:]) != np.cumsum(~last)[last]).any():
            return None
    return stops
