"""The stretches of one text between K1 cuts, in which pre-tokens are known (theorem 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokpar.cuts.inside import Inside, Region
from tokpar.cuts.numbers import run_stop
from tokpar.methods.chunks import FAR
from tokpar.types import Join, Seam


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
        return self._between(int(named["start"]), int(named["stop"]))

    def around(self, start: int, stop: int) -> Region | None:
        """The region that [start, stop) lies in: between the nearest K1 cuts that are found, or the
        ends of the text. None where it cannot be known."""
        for (first, last), region in self.known.items():
            if first <= start and stop <= last:
                return region
        return self._between(self._before(start), self._behind(stop))

    def closed(self, seam: Seam, start: int, stop: int) -> bool:
        """The part [start, stop) of the text, beside a seam, is scanned as in the text as far as
        the seam's region reaches."""
        region = self.of(seam)
        return region is not None and self.inside.closed(self.text, region, start, stop)

    def kept(self, joins: Sequence[Join | None]) -> list[Join | None]:
        """The joins without those of rule K5 beside a part that is not scanned as in the text;
        parts end at seams. Where one is missing the chunks will be encoded anew anyway."""
        places = (None if join is None else join.seam.position for join in joins)
        ends = [0, *places, len(self.text)]

        def closed(seam: Seam, start: int | None, stop: int | None) -> bool:
            return start is None or stop is None or self.closed(seam, start, stop)

        return [
            join
            if join is None
            or join.seam.rule != "K5"
            or (closed(join.seam, before, here) and closed(join.seam, here, after))
            else None
            for join, before, here, after in zip(joins, ends, ends[1:], ends[2:], strict=False)
        ]

    def _between(self, start: int, stop: int) -> Region | None:
        if (start, stop) not in self.known:
            self.known[start, stop] = self.inside.region(self.text, start, stop)
        return self.known[start, stop]

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
