"""Check regions between two certified cuts, and find their pre-tokens (theorem 7.2).

The library `regex` finds the pre-tokens in any part of a text. Characters must have one class in
all engines (correction 0'.1), and normalizers must leave them unchanged (theorem 45)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from tokpar.arrays import IntArray, byte_length
from tokpar.certificate.check_context import CheckContext, RefusedError, SeamContext, once, require
from tokpar.certificate.frozen_tables import load_pictographs, load_tables
from tokpar.certificate.invariant_text import Inert
from tokpar.types import Facts

Region = tuple[int, int]
"""[start, stop) between two certified cuts, code points. By theorem 14 the pre-tokens of a region
are pre-tokens of the whole text."""

IN_VAIN = 2  # regions that are then refused may be scanned up to so many times the text length


class Regions:
    """The regions of one text. Each position is scanned once, however many regions contain it.

    The pre-tokens between two certified cuts are the same in every region."""

    def __init__(self, ground: CheckContext, require_cut: Callable[[int], None]) -> None:
        self._ground = ground
        self._require_cut = require_cut
        self._inert = Inert(ground)
        self.scanner = Scanner(ground.facts)
        self._starts: list[int] = []  # starts of the scanned segments, ascending, without overlap
        self._stops: list[int] = []
        self._in_vain = 0
        self._verdicts: dict[Region, RefusedError | None] = {}
        self._edges_of_part = lru_cache(maxsize=4)(
            self._edges
        )  # the parts of two neighbouring seams
        self._piece = (0, 0)

    @cached_property
    def _marks(self) -> bytearray:  # 1 where a pre-token begins, and at the end of the text
        return bytearray(len(self._ground.text) + 1)

    def require(self, region: Region) -> None:
        """Refuse [start, stop) unless it is a region."""
        once(self._verdicts, region, lambda: self._judge(*region))

    def piece(self, region: Region, position: int) -> tuple[int, int]:
        """The pre-token [start, stop) with the position strictly inside.

        The last pre-token is cached, because a long pre-token has many seams."""
        (start, stop), (low, high) = region, self._piece
        if not max(low, start) < position < min(high, stop):
            if not start < position < stop or self._marks[position]:
                raise RefusedError("piece", f"position {position} is not inside a pre-token")
            low, high = self._marks.rfind(1, start, position), self._marks.find(1, position)
            self._piece = low, high
        return low, high

    def require_parts(
        self, region: Region, context: SeamContext, *, with_left: bool = True
    ) -> None:
        """Refuse unless the two parts of the seam have the pre-tokens of the text, divided only at
        the seam.

        With `with_left` False only the right part is checked. Each part must also have more of the
        divided pre-token than the longest token."""
        position, (low, high) = context.seam.position, self.piece(region, context.seam.position)
        start, stop = max(region[0], context.start), min(region[1], context.stop)
        if with_left:
            self._require_share(max(start, low), position)
            self._require_closed(start, position)
        self._require_share(position, min(stop, high))
        self._require_closed(position, stop)

    def _judge(self, start: int, stop: int) -> None:
        inside = 0 <= start < stop <= len(self._ground.text)
        require(inside, "witness", f"[{start}, {stop}) is no part of the text")
        edge = start
        try:
            for edge in {start, stop} - {0, len(self._ground.text)}:
                self._require_cut(edge)
        except RefusedError as refusal:
            raise RefusedError("region", f"edge {edge} is no certain cut: {refusal}") from None
        for low, high in list(self._gaps(start, stop)):
            self._scan(low, high)
        self._join(start, stop)
        begins = self._marks[start] and self._marks[stop]
        require(begins, "region", f"an edge of [{start}, {stop}) lies inside a pre-token")

    def _gaps(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield the unscanned parts of [start, stop). Both ends of each are certified cuts."""
        for k in range(bisect_right(self._stops, start), bisect_left(self._starts, stop)):
            if start < self._starts[k]:
                yield start, self._starts[k]
            start = self._stops[k]
        if start < stop:
            yield start, stop

    def _scan(self, start: int, stop: int) -> None:
        text = self._ground.text
        many = f"not looked at: {self._in_vain} characters of regions were refused before"
        require(self._in_vain <= IN_VAIN * len(text), "work", many)
        try:
            content = self._ground.raw.touching(text, start, stop)
            require(content is None, "added token", f"{content!r} occurs over [{start}, {stop})")
            self._inert.require(start, stop)
            edges = self._edges(start, stop)
        except RefusedError:
            self._in_vain += stop - start
            raise
        for edge in edges.tolist():
            self._marks[edge] = 1
        self._join(start, stop)

    def _join(self, start: int, stop: int) -> None:
        first, last = bisect_left(self._stops, start), bisect_right(self._starts, stop)
        if first < last:
            start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
        self._starts[first:last], self._stops[first:last] = [start], [stop]

    def _edges(self, start: int, stop: int) -> IntArray:
        edges = self.scanner.edges(self._ground.text[start:stop])
        if edges is None:
            raise RefusedError("context", f"engines may differ on a character of [{start}, {stop})")
        return edges + start

    def _require_share(self, start: int, stop: int) -> None:
        """Refuse a share that is not longer than every token.

        A model that looks up whole pieces never finds a longer share (0'.7a)."""
        longest = self._ground.facts.longest_token
        enough = stop - start > longest or byte_length(self._ground.text[start:stop]) > longest
        share = f"[{start}, {stop}) of the pre-token is not above {longest} bytes"
        require(enough, "share", share)

    def _require_closed(self, start: int, stop: int) -> None:
        marks = np.frombuffer(self._marks, np.uint8)[start + 1 : stop]
        inside = np.flatnonzero(marks) + start + 1
        same = np.array_equal(
            self._edges_of_part(start, stop), np.concatenate(([start], inside, [stop]))
        )
        other = f"[{start}, {stop}) alone has other pre-tokens than in the text"
        require(same, "split-closed", other)


class Scanner:
    """Finds the pre-tokens of one tokenizer with scheme "regex" (of a known family) or "whole".

    The texts must not contain added tokens."""

    def __init__(self, facts: Facts) -> None:
        self._whole = facts.scheme == "whole"
        self._sources = facts.patterns

    def edges(self, text: str) -> IntArray | None:
        """The starts of the pre-tokens, then the end: "Hi you" -> [0, 2, 6]; int64, code points.

        None if engines may differ on a character."""
        if self._whole:
            return np.array([0, len(text)], dtype=np.int64)
        if not _agreed_chars().fullmatch(text):
            return None
        edges = [0, len(text)]
        for pattern in _compile(self._sources):
            edges = sorted({*edges, *_match_edges(pattern, text, edges)})
        return np.array(edges, dtype=np.int64)

    def is_one(self, text: str) -> bool:
        """True if the text by itself is one pre-token."""
        edges = self.edges(text)
        return edges is not None and len(edges) == 2


def _match_edges(pattern: Any, text: str, edges: list[int]) -> Iterator[int]:
    """Both ends of each match inside the pieces so far; gaps between matches are pieces too."""
    for start, stop in pairwise(edges):
        for match in pattern.finditer(text, start, stop):
            yield from match.span()


@lru_cache(maxsize=32)
def _compile(sources: tuple[str, ...]) -> list[Any]:
    import regex

    # `$` matches only the end in fancy-regex, and here also before a last "\n"
    return [regex.compile(p.replace(r"\s++$", r"\s++\Z"), regex.VERSION0) for p in sources]


@cache
def _agreed_chars() -> re.Pattern[str]:
    ranges = [(low, high) for low, high, _ in load_tables().ranges] + [*load_pictographs()]
    return re.compile("[" + "".join(f"\\U{lo:08x}-\\U{hi:08x}" for lo, hi in ranges) + "]*")
