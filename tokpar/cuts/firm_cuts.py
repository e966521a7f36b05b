"""Find the cuts that a few characters on either side certify, whatever stands elsewhere.

A cut is *firm* in a text if it is stable and co-stable in the window of `reach` code points on
either side (lemma 35): it is a certified cut of each text that has this window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.types import Facts, Seam

_LEAST_REACH = 8
"""Code points on either side of a cut that a rule may read, and some white space."""

_FIRST_BLOCK, _LAST_BLOCK, _MOST_TRIED = 32, 1 << 12, 8
"""Code points of the parts of a text in which a cut is searched, and places tried in each."""


@dataclass(frozen=True, slots=True, eq=False)
class FirmCuts:
    """Finds the firm cuts of one tokenizer. Build it with `firm_cuts_for`.

    `reach`: code points on either side of a cut, at least 1."""

    cuts: StableCuts
    reach: int

    @property
    def refusal(self) -> str | None:
        """Why no text of the tokenizer has a certified cut, or None."""
        return self.cuts.refusal

    def seam(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p` of `text` if it is a firm cut, or None."""
        if not self.reach <= p <= len(text) - self.reach:
            return None
        seam = Window(self.cuts, text[p - self.reach : p + self.reach]).seam(self.reach)
        return None if seam is None else replace(seam, position=p)

    def last_before(self, text: str, stop: int) -> Seam | None:
        """The last firm cut of `text` whose window ends at code point `stop` or before it, or None
        if the places that are tried have none. It is one of each text that begins with
        text[:stop]."""
        stop -= self.reach - 1
        if self.refusal is not None:
            return None
        likely = islice(
            self.cuts.finder.likely(text, max(1, stop - _LAST_BLOCK), stop), _MOST_TRIED
        )
        return next(filter(None, (self.seam(text, p) for p in likely)), None)

    def spread(self, text: str, size: int) -> list[Seam]:
        """Firm cuts of `text`, each at least `size` code points after the one before.

        Only some places of each part of the text are tried, so that the search ends soon in a text
        that has none."""
        seams: list[Seam] = []
        target, block, stop = max(size, self.reach), _FIRST_BLOCK, len(text) - self.reach + 1
        while target < stop and self.refusal is None:
            end = min(target + block, stop)
            likely = islice(self.cuts.finder.likely(text, target, end), _MOST_TRIED)
            seam = next(filter(None, (self.seam(text, p) for p in likely)), None)
            if seam is None:
                target, block = end, min(4 * block, _LAST_BLOCK)
            else:
                seams.append(seam)
                target, block = seam.position + size, _FIRST_BLOCK
        return seams


def firm_cuts_for(facts: Facts) -> FirmCuts:
    """The `FirmCuts` for these facts. The facts cache the object."""
    return facts.derive(_firm_cuts)


def _firm_cuts(facts: Facts) -> FirmCuts:
    cuts = stable_cuts_for(facts)
    if cuts.refusal is not None:
        return FirmCuts(cuts, 1)
    return FirmCuts(cuts, max(_LEAST_REACH, cuts.parts.longest + cuts.looks_ahead + 3))
