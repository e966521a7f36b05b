"""Decides which parts of a text the segment cache looks up and learns, and counts what it saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

MOST_NEW = 0.7
"""If new segments have a larger share of the bytes of a text, or of a wave of a long text, the text
goes straight to the engine, and nothing is learnt."""
FIRST_WAVE, LARGEST_WAVE = 1 << 17, 1 << 20
"""Code points of a wave. What the largest wave writes still fits into the processor's cache when it
is read. The first wave is small, so that segments that repeat soon are already learnt."""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """When a lookup pays.

    `most_new`: a wave counts as known up to this share of its bytes in new segments. `first`: the
    bytes of a call that are always looked up; after them, the call looks up at most four times the
    bytes that were known at its beginning. `young`: a cache that looked up fewer bytes learns every
    new segment."""

    most_new: float = 1.0
    first: int = 1 << 62
    young: int = 0

    @property
    def bounded(self) -> bool:
        """True if a budget limits what is learnt, and not the share of new bytes."""
        return self.first < 1 << 62

    def most(self, known: int) -> int:
        """Returns the most bytes that a call looks up. `known`: known bytes at its start."""
        return max(self.first, 4 * known)


USUAL = CachePolicy()
OFFSETS = CachePolicy(young=1 << 20)
"""For a cache of offsets. A caller asked for offsets, so the engine would run anyway."""
QUICK = CachePolicy(most_new=0.05, first=1 << 15)
"""For an engine that encodes new text faster than a cache learns it. A new byte costs the cache
some 100 ns and a known byte 2.5 ns. The engine takes 7 to 13 ns (DeepSeek-V3,
tokenizers 1.0.0rc3)."""
MOST_BUDGET = 1 << 22
KNOWN_EARNS, STRAIGHT_EARNS = 20, 400
"""Learning one new byte is paid for by 20 known bytes, or by 400 that went straight to the engine.
Learning so costs the time that the cache saved, and 3 % of the engine's time."""


@dataclass(frozen=True, slots=True)
class CacheState:
    """The counters of a segment cache.

    `looked`: bytes that were looked up. `segments`: segments in these bytes. `missed`: segments
    that the cache did not know. `new`: bytes of the distinct missed segments of each wave.
    `straight`: code points of texts that went straight to the engine. `pieces`: pre-tokens of
    missed segments that were encoded without the engine. `merged`: how many of these pre-tokens
    were new. `budget`: bytes of new text that may still be learnt, for a fast engine."""

    looked: int = 0
    segments: int = 0
    missed: int = 0
    new: int = 0
    straight: int = 0
    pieces: int = 0
    merged: int = 0
    budget: int = MOST_BUDGET

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters by name, for a report."""
        return asdict(self)

    def after(self, looked: int, new: int, segments: int, missed: int) -> CacheState:
        """Returns the counters after one more wave was looked up."""
        return replace(
            self,
            looked=self.looked + looked,
            segments=self.segments + segments,
            missed=self.missed + missed,
            new=self.new + new,
        )

    def solved(self, pieces: int, merged: int) -> CacheState:
        """Returns the counters after `pieces` more pre-tokens, `merged` of them new."""
        return replace(self, pieces=self.pieces + pieces, merged=self.merged + merged)

    def ended(self, known: int, new: int, rest: int) -> CacheState:
        """Returns the counters after a call.

        `known`: known bytes at the start of the call. `new`: bytes in new segments. `rest`: code
        points that went straight to the engine. `known` and `rest` raise the budget; `new` lowers
        the budget."""
        earned = known // KNOWN_EARNS + rest // STRAIGHT_EARNS
        budget = min(MOST_BUDGET, self.budget + earned - new)
        return replace(self, straight=self.straight + rest, budget=budget)
