"""Whether texts go through a memory of stretches: by what it has found so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

MOST_NEW = 0.7
"""Share of a wave's bytes in new stretches above which a memory does not pay."""
FIRST_WAVE, LARGEST_WAVE = 1 << 17, 1 << 20
"""Code points; a wave is as large as what it writes is still in the processor's cache when it is
read, and small where it may turn out that it does not pay."""
SHORTEST_PAUSE, LONGEST_PAUSE = 1 << 22, 1 << 26


@dataclass(frozen=True, slots=True)
class Pace:
    """What a memory has seen, and what follows from it, a pure function of that.

    `looked`: bytes that were looked up; `stretches` in them, and how many of these were not known,
    `missed`; `new`: bytes of different ones among these, of each wave; `straight`: code points that
    went to the engine without being looked up. `pause`: how many will when too much is new;
    `left`: of those, still to go. `wave`: code points that are looked up together."""

    looked: int = 0
    stretches: int = 0
    missed: int = 0
    new: int = 0
    straight: int = 0
    pause: int = SHORTEST_PAUSE
    left: int = 0
    wave: int = FIRST_WAVE

    @property
    def counters(self) -> Mapping[str, int]:
        """By name, for a report."""
        return asdict(self)

    def next(self, size: int) -> tuple[Pace, bool]:
        """Whether a wave of so many code points goes straight to the engine."""
        if self.left <= 0:
            return self, False
        return replace(self, straight=self.straight + size, left=self.left - size), True

    def after(self, looked: int, new: int, stretches: int, missed: int) -> tuple[Pace, bool]:
        """Whether it pays to encode what is new in a wave that was looked up, and remember it."""
        pays = new <= MOST_NEW * looked
        seen = replace(
            self,
            looked=self.looked + looked,
            stretches=self.stretches + stretches,
            missed=self.missed + missed,
            new=self.new + new,
        )
        if pays:
            wave = min(2 * self.wave, LARGEST_WAVE)
            return replace(seen, pause=SHORTEST_PAUSE, wave=wave), True
        pause = min(2 * self.pause, LONGEST_PAUSE)
        return replace(seen, pause=pause, left=self.pause, wave=FIRST_WAVE), False
