"""The stretches of one text between K1 cuts, in which pre-tokens are known (theorem 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokpar.cuts.inside import Inside, Region
from tokpar.cuts.numbers import run_stop
from tokpar.methods.edges import FAR
from tokpar.types import Chunk, Seam

_INSIDE = (None, "K4", "K5", "K6")


def is_inside(cut: Seam | None) -> bool:
    """The seam divides a pre-token, or is proposed to."""
    return cut is not None and cut.rule in _INSIDE


@dataclass(frozen=True)
class Regions:
    """The regions that seams of one text name, each scanned once."""

    text: str
    inside: Inside
    known: dict[tuple[int, int], Region | None] = field(default_factory=dict)

    def of(self, seam: Seam) -> Region | None:
        """The region that a seam's witness names; None if it names none, or there is none."""
        named = dict(seam.witness)
        if not {"start", "stop"} <= named.keys():
            return None
        key = int(named["start"]), int(named["stop"])
        if key not in self.known:
            self.known[key] = self.inside.region(self.text, *key)
        return self.known[key]

    def around(self, start: int, stop: int) -> Region | None:
        """The region that [start, stop) lies in: between the nearest K1 cuts that are found, or the
        ends of the text. None where it cannot be known."""
        for (first, last), region in self.known.items():
            if first <= start and stop <= last:
                return region
        first, last = self._before(start), self._behind(stop)
        self.known[first, last] = self.inside.region(self.text, first, last)
        return self.known[first, last]

    def _before(self, place: int) -> int:
        """A K1 cut at or before a place, or 0; looked for in ever longer steps."""
        reach = FAR
        while self.inside.finder.refusal is None and place > reach:
            cut = self.inside.last_cut(self.text, place - reach, place + 1)
            if cut is not None:
                return cut
            reach *= 4
        return 0

    def _behind(self, place: int) -> int:
        """The first K1 cut that is found at or behind a place, or the end of the text."""
        text, seam = self.text, None
        while self.inside.finder.refusal is None and place < len(text):
            seam = self.inside.next_cut(text, place, len(text), FAR, seam)
            if seam is None:
                break
            if seam.rule == "K1":
                return seam.position
            place = max(seam.position + 1, run_stop(text, seam.position, len(text)))
        return len(text)

    def closed(self, chunk: Chunk, cuts: Sequence[Seam | None]) -> bool:
        """The chunk is scanned as in the text, as far as the regions of these cuts reach."""
        divided = [cut for cut in cuts if cut is not None and is_inside(cut)]
        return all(self._closed_in(self.of(cut), chunk.start, chunk.stop) for cut in divided)

    def closed_part(self, seam: Seam, start: int, stop: int) -> bool:
        """The same of any part of the text beside a seam."""
        return self._closed_in(self.of(seam), start, stop)

    def _closed_in(self, region: Region | None, start: int, stop: int) -> bool:
        return region is not None and self.inside.closed(self.text, region, start, stop)
