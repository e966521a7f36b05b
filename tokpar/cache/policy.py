"""What of a text is learnt, decided where the text is, from that text alone; and what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

MOST_NEW = 0.7
"""Share of the bytes of a text, or of a wave of a long one, in new segments above which nothing is
learnt from it: it goes to the engine as it is."""
FIRST_WAVE, LARGEST_WAVE = 1 << 17, 1 << 20
"""Code points; a wave is as large as what it writes is still in the processor's cache when it is
read, and small while a cache knows little, so that what comes again soon is known."""


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """When looking up pays. `most_new`: share of a wave's bytes in new segments up to which the
    wave counts as known. `first`: bytes of a call that are looked up whatever they are; of the
    others four times as many as are known at its beginning. `young`: of a cache that looked up
    fewer bytes all is learnt."""

    most_new: float = 1.0
    first: int = 1 << 62
    young: int = 0

    @property
    def bounded(self) -> bool:
        """A budget bounds what is learnt, not the share of new bytes."""
        return self.first < 1 << 62

    def most(self, known: int) -> int:
        """How many bytes of a call are looked up."""
        return max(self.first, 4 * known)


USUAL = CachePolicy()
OFFSETS = CachePolicy(young=1 << 20)
"""For a cache of offsets, which is made when somebody asks: the engine must be asked anyway."""
QUICK = CachePolicy(most_new=0.05, first=1 << 15)
"""For an engine that encodes new text sooner than a cache learns it: what is new costs some 100 ns
a byte, what is known 2.5, where the engine takes 7 to 13 (DeepSeek-V3, tokenizers 1.0.0rc3)."""
MOST_BUDGET = 1 << 22
KNOWN_EARNS, STRAIGHT_EARNS = 20, 400
"""So many pay for a new byte: learning takes what is saved, and 3 % of the engine's time."""


@dataclass(frozen=True, slots=True)
class CacheState:
    """What a cache has seen. `looked`: bytes that were looked up; `segments` in them, and how
    many of these were not known, `missed`; `new`: bytes of different ones among these, of each
    wave; `straight`: code points of texts that went to the
    engine as they are; `pieces`: pre-tokens of missed segments that were encoded without it, and
    how many of these were `merged`, being new. `budget`: bytes of new
    text that may still be learnt, where the engine is quick about it."""

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
        """By name, for a report."""
        return asdict(self)

    def after(self, looked: int, new: int, segments: int, missed: int) -> CacheState:
        """Behind a wave that was looked up."""
        return replace(
            self,
            looked=self.looked + looked,
            segments=self.segments + segments,
            missed=self.missed + missed,
            new=self.new + new,
        )

    def solved(self, pieces: int, merged: int) -> CacheState:
        """After so many pieces of segments, so many of them new."""
        return replace(self, pieces=self.pieces + pieces, merged=self.merged + merged)

    def ended(self, known: int, new: int, rest: int) -> CacheState:
        """After a call with `known` bytes at its beginning, `new` ones in new segments, and `rest`
        code points that go straight: what pays for learning."""
        earned = known // KNOWN_EARNS + rest // STRAIGHT_EARNS
        budget = min(MOST_BUDGET, self.budget + earned - new)
        return replace(self, straight=self.straight + rest, budget=budget)
