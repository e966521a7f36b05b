"""What encodes new segments by their pre-tokens, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tokpar.cache.generations import Generation
from tokpar.cache.segments import EncodeMany, SegmentIds, Segments

LONGEST = 1 << 18
"""The most bytes of a segment that is encoded here. Each byte needs 72 bytes of work space."""


@dataclass(frozen=True, slots=True, eq=False)
class SolvedSegments:
    """The ids of some segments.

    `fresh`: the ids; a segment that needs the engine has the stop -1. `table`: the new pieces.
    `pieces`: how many pieces there were. `new`: how many of them were new."""

    fresh: SegmentIds
    table: Generation
    pieces: int
    new: int


class SolvesSegments(Protocol):
    """An object that encodes new segments by their pre-tokens."""

    def solve(
        self, new: Segments, generations: Sequence[Generation], encode_many: EncodeMany
    ) -> SolvedSegments:
        """Returns the ids of `new`.

        `generations`: tables of known pieces. `encode_many`: the engine's batch call."""
