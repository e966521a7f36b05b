"""Splits segments at their added tokens. The text between two added tokens is a text of its own
(theorem 29)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, concatenate_ids, offsets_of
from tokpar.cache.segments import SegmentIds, Segments
from tokpar.cuts.added_token_contents import Contents
from tokpar.cuts.added_token_edges import TokenEdges
from tokpar.types import Facts

_NO_TEXT = 0xFF
"""A byte that never occurs in UTF-8. It separates segments that are searched together."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentParts:
    """Some segments as parts, in order. A part is a text, never empty, or an added token.

    `segments`: the indices of the segments. `owners`: the segment of each part, as an index in
    `segments`, ascending. `tokens`: the index of each added token in `contents`, -1 for a text."""

    segments: IntArray
    owners: IntArray
    tokens: IntArray
    texts: Segments
    contents: Sequence[str]

    def join(self, texts: SegmentIds, tokens: Sequence[IdArray]) -> SegmentIds:
        """Returns the ids of the segments, from the ids of the texts and of each content.

        A segment has no ids if one of its texts has no ids."""
        begins = offsets_of([len(texts.ids), *map(len, tokens)])
        firsts, stops = np.empty((2, len(self.owners)), dtype=np.int64)
        is_text = self.tokens < 0
        firsts[is_text], stops[is_text] = texts.firsts, texts.stops
        firsts[~is_text] = begins[1:-1][self.tokens[~is_text]]
        stops[~is_text] = begins[2:][self.tokens[~is_text]]
        lengths = np.maximum(stops - firsts, 0)
        places = offsets_of(lengths)
        take = np.repeat(firsts - places[:-1], lengths) + np.arange(places[-1])
        ids = concatenate_ids([texts.ids, *tokens])[take]
        ends = places[np.searchsorted(self.owners, np.arange(len(self.segments) + 1))]
        failed = np.bincount(self.owners, stops < 0, len(self.segments)) > 0
        return SegmentIds(ids, ends[:-1], np.where(failed, -1, ends[1:]))


class AddedParts:
    """Finds the added tokens of one tokenizer in segments.

    Texts and contents are UTF-8 bytes that are decoded as Latin-1. A content occurs in the decoded
    text exactly where it occurs in the text."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def find_parts(
        self, new: Segments, some: NDArray[np.bool_], kernel: Any
    ) -> tuple[NDArray[np.bool_], SegmentParts]:
        """Returns which of `some` hold an added token, and the parts of the certain ones.

        A segment is certain if the engine surely matches all of its added tokens."""
        numbers = np.flatnonzero(some & bool(self._contents.contents))
        starts, lengths = new.starts[numbers], new.lengths[numbers]
        places = offsets_of(lengths + 1)
        searched = np.full(places[-1], _NO_TEXT, dtype=np.uint8)
        kernel.gather(new.data, starts, lengths, searched, places)
        text = searched.tobytes().decode("latin-1")
        taken = self._find_matches(text, places)
        holding = np.zeros(len(some), dtype=np.bool_)
        holding[numbers[[*taken]]] = True
        parts: list[tuple[int, int, int, int]] = []
        segments: list[int] = []
        numbered: dict[str, int] = {}
        for k, found in taken.items():
            at, end = int(places[k]), int(places[k] + lengths[k])
            for a, b in (*found, (end, end)) if found else ():
                if at < a:
                    parts.append((len(segments), -1, at + int(starts[k] - places[k]), a - at))
                if a < b:
                    number = numbered.setdefault(text[a:b], len(numbered))
                    parts.append((len(segments), number, 0, 0))
                at = b
            segments += [numbers[k]] if found else []
        owners, tokens, first, size = np.array(parts, dtype=np.int64).reshape(-1, 4).T.copy()
        is_text = tokens < 0
        texts = Segments(new.data, first[is_text], size[is_text], np.zeros(sum(is_text), np.uint8))
        contents = [content.encode("latin-1").decode() for content in numbered]
        return holding, SegmentParts(np.array(segments, np.int64), owners, tokens, texts, contents)

    def _find_matches(self, text: str, places: IntArray) -> dict[int, list[tuple[int, int]]]:
        """Returns the matched occurrences in each segment in which a content occurs.

        A matched occurrence contains every other occurrence that shares a character with it. The
        list is empty if occurrences overlap otherwise, or if a match is not certain. `places`:
        where segments begin in the text."""
        taken: dict[int, list[tuple[int, int]]] = {}
        unsure = set()
        occurrences = [*self._contents.all(text)]
        owners = np.searchsorted(places, [a for a, _ in occurrences], side="right") - 1
        for (a, b), owner in zip(occurrences, owners.tolist(), strict=True):
            found = taken.setdefault(owner, [])
            if text[a:b] not in self._certain or (found and a < found[-1][1] < b):
                unsure.add(owner)
            elif not found or a >= found[-1][1]:
                found.append((a, b))
        return {owner: [] if owner in unsure else found for owner, found in taken.items()}

    @cached_property
    def _contents(self) -> Contents:
        return Contents.of(_bytes(token.content) for token in self._facts.added_tokens)

    @cached_property
    def _certain(self) -> frozenset[str]:
        """The contents that are matched wherever no other content reaches over their edges.

        They have the properties (b), (c), (e), (f) of theorem 29. No other content is inside of
        them, so (d) follows."""
        edges = TokenEdges(self._facts)
        if edges.refusal is not None or self._facts.first_prefix:
            return frozenset()
        plain = {_bytes(content) for content in edges.plain}
        others = self._contents.contents - plain
        first = [
            _bytes(t.content) for t in self._facts.added_tokens if t.content and not t.normalized
        ]
        later = {_bytes(t.content) for t in edges.plain.values() if t.normalized}
        return frozenset(
            c
            for c in plain
            if not any(other in c for other in others)
            and not (c in later and any(other in c for other in first))
        )


def _bytes(content: str) -> str:
    return content.encode(errors="surrogatepass").decode("latin-1")
