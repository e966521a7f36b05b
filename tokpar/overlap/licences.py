"""What licenses seams in one text: certified cuts, and pre-tokens known between K1 cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tokpar.cuts.finder import CutFinder, run_stop
from tokpar.cuts.inside import Inside, Region, inside_of
from tokpar.interfaces import TokenizerAdapter
from tokpar.kernels import has_surrogate
from tokpar.overlap.chunks import FAR
from tokpar.overlap.joining import Overlap
from tokpar.types import Join, Seam

_MOST_TRIED = 16


@dataclass(frozen=True)
class Licences:
    """What may be licensed in one text; `regions`: those that were asked for, each scanned once
    (theorem 14)."""

    text: str
    inside: Inside
    regions: dict[tuple[int, int], Region | None] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, tokenizer: TokenizerAdapter) -> Licences:
        return cls(text, inside_of(tokenizer))

    @property
    def finder(self) -> CutFinder:
        return self.inside.finder

    @cached_property
    def refused(self) -> bool:
        """No place of the text is a certified cut."""
        return self.finder.refusal_for(self.text) is not None

    @cached_property
    def none_inside(self) -> bool:
        """No pre-token of the text may be divided."""
        return self.inside.refusal is not None or has_surrogate(self.text)

    def in_all(self, overlap: Overlap, position: int, end: bool = False) -> Seam | None:
        """The seam at a place that is a certified cut of the text, and of each of the two chunks
        taken as texts of their own (window lemma); `end`: or the left chunk ends there."""
        if self.refused:
            return None
        text, left, right = overlap.text, overlap.left, overlap.right
        for chunk in (right,) if end and position == left.stop else (left, right):
            own = text[chunk.start : chunk.stop]
            if self.finder.certify(own, position - chunk.start) is None:
                return None
        return self.finder.certify(text, position)

    def cuts(self, overlap: Overlap) -> Iterator[Seam]:
        """Certified cuts of the overlap, the planned one first."""
        if self.refused:
            return
        text, planned = overlap.text, overlap.right.cut
        place = overlap.start + 1
        found = planned
        if planned is None or planned.rule is None:
            found = self.finder.find(text, place, overlap.stop)
        tried: set[int] = set()
        while found is not None and len(tried) < _MOST_TRIED:
            position = found.position
            if found is not planned:
                place = position + 1
            if position not in tried and overlap.start < position < overlap.stop:
                seam = self.in_all(overlap, position)
                if seam is not None:
                    yield seam
                elif found.rule == "K2":  # a chunk begins out of phase: no better in the whole run
                    place = max(place, run_stop(text, position, overlap.stop))
            tried.add(position)
            found = self.finder.find(text, place, overlap.stop)

    def as_certified(
        self, overlap: Overlap, join: Join, position: int, end: bool = False
    ) -> Join | None:
        """The same join by the rule of a certified cut in [start, stop] of the overlap, see
        `in_all`, if that parts the tokens of both sides like this."""
        seam = self.in_all(overlap, position, end)
        found = None if seam is None else overlap.join(seam)
        return found if found is not None and replace(found, seam=join.seam) == join else None

    def region_of(self, seam: Seam) -> Region | None:
        """The region that a seam's witness names; None if it names none, or there is none."""
        named = dict(seam.witness)
        if not {"start", "stop"} <= named.keys():
            return None
        return self._between(int(named["start"]), int(named["stop"]))

    def around(self, start: int, stop: int) -> Region | None:
        """The region that [start, stop) lies in: between the nearest K1 cuts that are found, or the
        ends of the text. None where it cannot be known."""
        for (first, last), region in self.regions.items():
            if first <= start and stop <= last:
                return region
        return self._between(self._before(start), self._behind(stop))

    def closed(self, seam: Seam, start: int, stop: int) -> bool:
        """The part [start, stop) of the text, beside a seam, is scanned as in the text as far as
        the seam's region reaches."""
        region = self.region_of(seam)
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
        if (start, stop) not in self.regions:
            self.regions[start, stop] = self.inside.region(self.text, start, stop)
        return self.regions[start, stop]

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
