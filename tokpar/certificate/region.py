"""Stretches between two certain cuts, and the pre-tokens in them (THEORY 7.2, 7.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tokpar.certificate.ground import Between, Ground, RefusedError
from tokpar.certificate.scan import Scanner
from tokpar.kernels import IntArray, byte_length

_REMEMBERED = 4
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """[start, stop) between two certain cuts, code points; `edges` of its pre-tokens, both ends
    included. By theorem 14 these are pre-tokens of the whole text."""

    start: int
    stop: int
    edges: IntArray

    def piece(self, position: int) -> tuple[int, int]:
        """The pre-token [start, stop) that a place lies strictly inside of."""
        place = int(np.searchsorted(self.edges, position))
        if not self.start < position < self.stop or self.edges[place] == position:
            raise RefusedError("piece", f"position {position} is not inside a pre-token")
        return int(self.edges[place - 1]), int(self.edges[place])


class Regions:
    """Regions of one text, each judged once."""

    def __init__(self, ground: Ground, require_cut: Callable[[int], None]) -> None:
        self._ground = ground
        self._require_cut = require_cut
        self.scanner = Scanner(ground.facts)
        self._known: dict[tuple[int, int], Region | RefusedError] = {}
        self._parts: dict[tuple[int, int], IntArray] = {}

    def region(self, start: int, stop: int) -> Region:
        """The region [start, stop), or a refusal."""
        if (start, stop) not in self._known:
            _forget_oldest(self._known)
            try:
                self._known[start, stop] = self._judged(start, stop)
            except RefusedError as refusal:
                self._known[start, stop] = refusal
        found = self._known[start, stop]
        if isinstance(found, RefusedError):
            raise RefusedError(found.kind, str(found))
        return found

    def require_left(self, region: Region, between: Between) -> None:
        """The seam only adds itself to the pre-tokens of its left part, which holds enough of the
        divided one."""
        start, position = max(region.start, between.start), between.seam.position
        self._require_share(max(start, region.piece(position)[0]), position)
        self._require_closed(region, start, position)

    def require_right(self, region: Region, between: Between) -> None:
        """The same for its right part."""
        position, stop = between.seam.position, min(region.stop, between.stop)
        self._require_share(position, min(stop, region.piece(position)[1]))
        self._require_closed(region, position, stop)

    def _judged(self, start: int, stop: int) -> Region:
        text = self._ground.text
        if not 0 <= start < stop <= len(text):
            raise RefusedError("witness", f"[{start}, {stop}) is no part of the text")
        for edge in {start, stop} - {0, len(text)}:
            self._require_certain(edge)
        content = self._ground.raw.touching(text, start, stop)
        if content is not None:
            raise RefusedError("added token", f"{content!r} occurs over [{start}, {stop})")
        return Region(start, stop, self._edges(start, stop))

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
        low, high = np.searchsorted(region.edges, (start + 1, stop))
        expected = np.concatenate(([start], region.edges[low:high], [stop]))
        if not np.array_equal(self._parts[start, stop], expected):
            raise RefusedError(
                "split-closed", f"[{start}, {stop}) alone has other pre-tokens than in the text"
            )


def _forget_oldest(known: dict[tuple[int, int], _Value]) -> None:
    if len(known) >= _REMEMBERED:
        del known[next(iter(known))]
