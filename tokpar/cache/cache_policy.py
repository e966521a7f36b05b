"""Decides how large a cache is, and which parts of a text it looks up and learns; counts what it
saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from tokpar.errors import OptionError

CACHE_BYTES = 64 << 20
"""The most bytes that a cache uses, without the table that is being grown."""
LEAST_BYTES = 1 << 16

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
    bytes that were known at its beginning."""

    most_new: float = 1.0
    first: int = 1 << 62

    @property
    def has_budget(self) -> bool:
        """True if a budget limits what is learnt, and not the share of new bytes."""
        return self.first < 1 << 62


USUAL = CachePolicy()
FAST_ENGINE = CachePolicy(most_new=0.05, first=1 << 15)
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
    `straight`: code points of texts that went straight to the engine. `budget`: bytes of new text
    that may still be learnt, for a fast engine."""

    looked: int = 0
    segments: int = 0
    missed: int = 0
    new: int = 0
    straight: int = 0
    budget: int = MOST_BUDGET

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters by name, for a report."""
        return asdict(self)

    def count_call(self, call: CallState, straight: int) -> CacheState:
        """Returns the counters after a call.

        `straight`: code points that went straight to the engine. They raise the budget, and so do
        the bytes that were known at the start of the call. Bytes in new segments lower it."""
        earned = call.known_bytes // KNOWN_EARNS + straight // STRAIGHT_EARNS
        return replace(
            self,
            looked=self.looked + call.looked_bytes,
            segments=self.segments + call.segments,
            missed=self.missed + call.misses,
            new=self.new + call.new,
            straight=self.straight + straight,
            budget=min(MOST_BUDGET, self.budget + earned - call.new * call.policy.has_budget),
        )


@dataclass(slots=True, eq=False)
class CallState:
    """What one call of a cache did so far.

    `budget`: the most bytes in new segments, for a bounded policy. `wave`: code points that are
    looked up together. `size`: code points of all texts. `looked_bytes`: bytes looked up.
    `known_bytes`: bytes looked up before the first wave in which too much was new. `new`: bytes in
    new segments. `segments`, `misses`: `segments` and `missed` of `CacheState`, for this
    call."""

    policy: CachePolicy
    budget: int
    wave: int
    size: int = 0
    looked_bytes: int = 0
    known_bytes: int = 0
    new: int = 0
    segments: int = 0
    misses: int = 0

    @property
    def goes_on(self) -> bool:
        """True if the call looks up one more wave."""
        policy = self.policy
        if policy.has_budget and self.new >= self.budget:
            return False
        return self.looked_bytes < max(policy.first, 4 * self.known_bytes)

    def add(self, size: int, new: int, segments: int, misses: int) -> None:
        """Count a wave of `size` bytes, `new` of them in new segments."""
        if self.known_bytes == self.looked_bytes and new <= self.policy.most_new * size:
            self.known_bytes += size
        self.looked_bytes += size
        self.new += new
        self.segments += segments
        self.misses += misses


def require_bytes(cache_bytes: int) -> int:
    """Returns `cache_bytes`: a budget that a cache can keep, or 0 for none. Else OptionError."""
    whole = isinstance(cache_bytes, int) and not isinstance(cache_bytes, bool)
    if not whole or (cache_bytes != 0 and cache_bytes < LEAST_BYTES):
        least = f"0, or {LEAST_BYTES:,} or more"
        raise OptionError(f"cache_bytes must be {least}, got {cache_bytes!r}")
    return cache_bytes
