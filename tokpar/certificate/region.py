"""Stretches between two certain cuts, and the pre-tokens in them (THEORY 7.2, 7.5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tokpar.certificate.ground import Between, Ground, RefusedError
from tokpar.certificate.scan import Scanner
from tokpar.kernels import IntArray, byte_length

_REMEMBERED = 4
_Value = TypeVar("_Value")

IN_VAIN = 2
"""How many times the length of the text may be scanned in regions that are then refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """[start, stop) between two certain cuts, code points. By theorem 14 its pre-tokens are those
    of the whole text; `marks` has a 1 where one of them begins, and at the end."""

    start: int
    stop: int
    marks: bytearray

    def piece(self, position: int) -> tuple[int, int]:
        """The pre-token [start, stop) that a place lies strictly inside of."""
        if not self.start < position < self.stop or self.marks[position]:
            raise RefusedError("piece", f"position {position} is not inside a pre-token")
        return self.marks.rfind(1, self.start, position), self.marks.find(1, position)

    def edges(self, start: int, stop: int) -> IntArray:
        """Where pre-tokens begin in [start, stop)."""
        edges: IntArray = np.flatnonzero(np.frombuffer(self.marks, np.uint8)[start:stop]) + start
        return edges


class Regions:
    """Regions of one text. Each place is scanned once as part of them, however many regions it is
    in: what lies between two certain cuts is the same whichever of them is asked for."""

    def __init__(self, ground: Ground, require_cut: Callable[[int], None]) -> None:
        self._ground = ground
        self._require_cut = require_cut
        self.scanner = Scanner(ground.facts)
        self._marks = bytearray(len(ground.text) + 1)
        self._starts: list[int] = []  # of the stretches that were scanned, apart and in order
        self._stops: list[int] = []
        self._in_vain = 0
        self._refused: dict[tuple[int, int], RefusedError] = {}
        self._parts: dict[tuple[int, int], IntArray] = {}
        self._piece = (0, 0)

    def region(self, start: int, stop: int) -> Region:
        """The region [start, stop), or a refusal."""
        found = self._refused.get((start, stop))
        if found is not None:
            raise RefusedError(found.kind, str(found))
        try:
            self._judge(start, stop)
        except RefusedError as refusal:
            self._refused[start, stop] = refusal
            raise
        return Region(start, stop, self._marks)

    def piece(self, region: Region, position: int) -> tuple[int, int]:
        """`region.piece`; of the many seams of a long pre-token only the first looks for it."""
        low, high = self._piece
        if not max(low, region.start) < position < min(high, region.stop):
            low, high = self._piece = region.piece(position)
        return low, high

    def require_left(self, region: Region, between: Between) -> None:
        """The seam only adds itself to the pre-tokens of its left part, which holds enough of the
        divided one."""
        start, position = max(region.start, between.start), between.seam.position
        self._require_share(max(start, self.piece(region, position)[0]), position)
        self._require_closed(region, start, position)

    def require_right(self, region: Region, between: Between) -> None:
        """The same for its right part."""
        position, stop = between.seam.position, min(region.stop, between.stop)
        self._require_share(position, min(stop, self.piece(region, position)[1]))
        self._require_closed(region, position, stop)

    def _judge(self, start: int, stop: int) -> None:
        if not 0 <= start < stop <= len(self._ground.text):
            raise RefusedError("witness", f"[{start}, {stop}) is no part of the text")
        for edge in {start, stop} - {0, len(self._ground.text)}:
            self._require_certain(edge)
        for low, high in list(self._gaps(start, stop)):
            self._scan(low, high)
        self._join(start, stop)
        if not (self._marks[start] and self._marks[stop]):
            raise RefusedError("region", f"an edge of [{start}, {stop}) lies inside a pre-token")

    def _gaps(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """What of [start, stop) was not scanned; both ends of each are certain cuts."""
        for k in range(bisect_right(self._stops, start), bisect_left(self._starts, stop)):
            if start < self._starts[k]:
                yield start, self._starts[k]
            start = self._stops[k]
        if start < stop:
            yield start, stop

    def _scan(self, start: int, stop: int) -> None:
        text = self._ground.text
        if self._in_vain > IN_VAIN * len(text):
            raise RefusedError(
                "work", f"not looked at: {self._in_vain} characters of regions were refused before"
            )
        try:
            content = self._ground.raw.touching(text, start, stop)
            if content is not None:
                raise RefusedError("added token", f"{content!r} occurs over [{start}, {stop})")
            edges = self._edges(start, stop)
        except RefusedError:
            self._in_vain += stop - start
            raise
        for edge in edges.tolist():
            self._marks[edge] = 1
        self._join(start, stop)

    def _join(self, start: int, stop: int) -> None:
        """[start, stop) was scanned: one stretch with those it touches."""
        first, last = bisect_left(self._stops, start), bisect_right(self._starts, stop)
        if first < last:
            start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
        self._starts[first:last], self._stops[first:last] = [start], [stop]

    def _require_certain(self, edge: int) -> None:
        try:
            self._require_cut(edge)
        except RefusedError as refusal:
            raise RefusedError("region", f"edge {edge} is no certain cut: {refusal}") from None

    def _edges(self, start: int, stop: int) -> IntArray:
        edges = self.scanner.edges(self._ground.text[start:stop])
        if edges is None:
            raise RefusedError("context", f"engines may differ on a character of [{start}, {stop})")
        return edges + start

    def _require_share(self, start: int, stop: int) -> None:
        """Longer than any token: a model that looks whole pieces up never finds it (0'.7a)."""
        longest = self._ground.facts.longest_token
        if stop - start <= longest and byte_length(self._ground.text[start:stop]) <= longest:
            raise RefusedError(
                "share", f"[{start}, {stop}) of the pre-token is not above {longest} bytes"
            )

    def _require_closed(self, region: Region, start: int, stop: int) -> None:
        if (start, stop) not in self._parts:
            _forget_oldest(self._parts)
            self._parts[start, stop] = self._edges(start, stop)
        expected = np.concatenate(([start], region.edges(start + 1, stop), [stop]))
        if not np.array_equal(self._parts[start, stop], expected):
            raise RefusedError(
                "split-closed", f"[{start}, {stop}) alone has other pre-tokens than in the text"
            )


def _forget_oldest(known: dict[tuple[int, int], _Value]) -> None:
    if len(known) >= _REMEMBERED:
        del known[next(iter(known))]
