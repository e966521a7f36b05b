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
from tokpar.cache.segments import SEPARATOR, SegmentIds, Segments
from tokpar.cuts.added_token_contents import Clusters, Contents
from tokpar.cuts.added_token_edges import TokenEdges
from tokpar.types import Facts


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
    """Finds the added tokens of one tokenizer in segments. Positions are bytes."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def find_parts(
        self, new: Segments, some: NDArray[np.bool_], kernel: Any
    ) -> tuple[NDArray[np.bool_], SegmentParts]:
        """Returns which of `some` hold an added token, and the parts of the certain ones.

        A segment is certain if the engine surely matches all of its added tokens."""
        numbers = np.flatnonzero(some & bool(self._contents.contents))
        data, places = new.part(numbers).with_separators(kernel)
        clusters = self._contents.clusters_of_bytes(data)
        owners = np.searchsorted(places, clusters[:, 0], side="right") - 1
        count = np.bincount(owners, minlength=len(numbers))
        certain = np.bincount(owners, self._is_certain[clusters[:, 2]], minlength=len(numbers))
        holding = np.zeros(len(some), dtype=np.bool_)
        holding[numbers[count > 0]] = True
        kept = np.flatnonzero((count > 0) & (certain == count))
        return holding, self._parts(
            new, data, places, numbers, kept, clusters[np.isin(owners, kept)]
        )

    def _parts(
        self,
        new: Segments,
        data: NDArray[np.uint8],
        places: IntArray,
        numbers: IntArray,
        which: IntArray,
        clusters: Clusters,
    ) -> SegmentParts:
        """Returns the parts of the segments `numbers[which]`, which begin at `places[which]` in
        `data`. `clusters`: the added tokens in them."""
        ends = places[which] + new.lengths[numbers[which]]
        edges = np.sort(np.concatenate((places[which], clusters[:, 0], clusters[:, 1], ends)))
        firsts, stops = edges[:-1], edges[1:]
        is_part = (firsts < stops) & (data[firsts] != SEPARATOR)
        firsts, stops = firsts[is_part], stops[is_part]
        is_token = np.isin(firsts, clusters[:, 0])
        used, index = np.unique(clusters[:, 2], return_inverse=True)
        tokens = np.full(len(firsts), -1, np.int64)
        tokens[is_token] = index
        owners = np.searchsorted(places, firsts, side="right") - 1
        begins = firsts + (new.starts[numbers[owners]] - places[owners])
        columns = begins[~is_token], (stops - firsts)[~is_token]
        texts = Segments(new.data, *columns, np.zeros(len(columns[0]), np.uint8))
        contents = [self._contents.contents[k] for k in used.tolist()]
        segments = np.searchsorted(which, owners)
        return SegmentParts(numbers[which], segments, tokens, texts, contents)

    @cached_property
    def _contents(self) -> Contents:
        return Contents.of(token.content for token in self._facts.added_tokens)

    @cached_property
    def _is_certain(self) -> NDArray[np.bool_]:
        """For each content, True if it is matched wherever it is a whole cluster; then False, for
        no content.

        It then has the properties (b), (c), (e), (f) of theorem 29. No other content is inside of
        it, so (d) follows."""
        edges = TokenEdges(self._facts)
        if edges.refusal is not None or self._facts.first_prefix:
            return np.zeros(len(self._contents.contents) + 1, np.bool_)
        contents = self._contents.contents
        others = Contents.of(content for content in contents if content not in edges.plain)
        return np.array(
            [c in edges.plain and not len(others.clusters(c)) for c in contents] + [False], np.bool_
        )
