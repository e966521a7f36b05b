"""Stretches between two certain cuts, and the pre-tokens in them (THEORY 7.2, 7.5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from tokpar.certificate.ground import Between, Ground, RefusedError, once
from tokpar.certificate.scan import Scanner
from tokpar.kernels import IntArray, byte_length

Region = tuple[int, int]
"""[start, stop) between two certain cuts, code points. By theorem 14 its pre-tokens are those of
the whole text."""

IN_VAIN = 2
"""How many times the length of the text may be scanned in regions that are then refused."""


class Regions:
    """Regions of one text. Each place is scanned once as part of them, however many regions it is
    in: what lies between two certain cuts is the same whichever of them is asked for."""

    def __init__(self, ground: Ground, require_cut: Callable[[int], None]) -> None:
        self._ground = ground
        self._require_cut = require_cut
        self.scanner = Scanner(ground.facts)
        self._marks = bytearray(len(ground.text) + 1)  # 1 where pre-tokens begin, and at the end
        self._starts: list[int] = []  # of the stretches that were scanned, apart and in order
        self._stops: list[int] = []
        self._in_vain = 0
        self._judged: dict[Region, RefusedError | None] = {}
        self._alone = lru_cache(maxsize=4)(self._edges)  # parts of two seams side by side
        self._piece = (0, 0)

    def require(self, region: Region) -> None:
        """Refuses what is no region."""
        once(self._judged, region, lambda: self._judge(*region))

    def piece(self, region: Region, position: int) -> tuple[int, int]:
        """The pre-token [start, stop) that a place lies strictly inside of; of the many seams of a
        long one only the first looks for it."""
        (start, stop), (low, high) = region, self._piece
        if not max(low, start) < position < min(high, stop):
            if not start < position < stop or self._marks[position]:
                raise RefusedError("piece", f"position {position} is not inside a pre-token")
            low, high = self._marks.rfind(1, start, position), self._marks.find(1, position)
            self._piece = low, high
        return low, high

    def require_parts(self, region: Region, between: Between, *, left: bool = True) -> None:
        """The seam only adds itself to the pre-tokens of its two parts, or of the right one alone,
        and each holds enough of the divided one."""
        position, (low, high) = between.seam.position, self.piece(region, between.seam.position)
        start, stop = max(region[0], between.start), min(region[1], between.stop)
        if left:
            self._require_share(max(start, low), position)
            self._require_closed(start, position)
        self._require_share(position, min(stop, high))
        self._require_closed(position, stop)

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

    def _require_closed(self, start: int, stop: int) -> None:
        marks = np.frombuffer(self._marks, np.uint8)[start + 1 : stop]
        inside = np.flatnonzero(marks) + start + 1
        if not np.array_equal(self._alone(start, stop), np.concatenate(([start], inside, [stop]))):
            raise RefusedError(
                "split-closed", f"[{start}, {stop}) alone has other pre-tokens than in the text"
            )
