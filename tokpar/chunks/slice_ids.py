"""The ids that a slice of a text has alone, taken from the whole text where that is proved."""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.arrays import IdArray
from tokpar.chunks.encoded_text import EncodedText
from tokpar.concatenation import concatenate
from tokpar.types import Seam, Theorem

_REACH, _BLOCK = 256, 64
"""Code points at the ends of a slice in which a cut of the slice is looked for, and how many of
them at once."""


@dataclass(frozen=True, slots=True, eq=False)
class SliceIds:
    """Finds the ids of slices of one text (proofs/chunks.md)."""

    whole: EncodedText

    def find_ids(self, start: int, stop: int) -> tuple[IdArray, bool]:
        """Returns the ids of the slice [start, stop) encoded alone, before special tokens.

        True with ids that are a slice of the ids of the whole text, because both ends are certified
        cuts or ends of the text."""
        whole = self.whole
        begins, ends = self.begins_alone(start), self.ends_alone(stop)
        if begins and ends:
            first = whole.tokens_before_cut(start)
            return whole.ids_between(first, whole.tokens_before_cut(stop)), True
        if not whole.has_cuts:
            return whole.encode_slice(start, stop), False
        left, right, resume = start, stop, stop
        part = whole.text[start:stop]
        if not begins:
            first_cut = self._first_cut(part, start)
            if first_cut is None:
                return whole.encode_slice(start, stop), False
            left = first_cut.position
        if not ends:
            last_cut = self._last_cut(part, start, left)
            if last_cut is None:
                return whole.encode_slice(start, stop), False
            right, resume = last_cut.position, last_cut.position + last_cut.absorbed
        head = [] if begins else [whole.encode_slice(start, left)]
        tail = [] if ends else [whole.encode_slice(resume, stop)]
        first = whole.tokens_before_cut(left)
        inner = whole.ids_between(first, whole.tokens_before_cut(right))
        return concatenate([*head, inner, *tail]), False

    def begins_alone(self, position: int) -> bool:
        """True if the text from `position` on has the ids that it has in the whole text."""
        if position == 0 or self.whole.is_space_cut(position):
            return True
        seam = self.whole.certify(position)
        return seam is not None and not seam.absorbed

    def ends_alone(self, position: int) -> bool:
        """True if the text before `position` has the ids that it has in the whole text."""
        return position == len(self.whole.text) or self.is_cut(position)

    def is_cut(self, position: int) -> bool:
        """True if `position`, inside the text, is a certified cut."""
        return self.whole.is_space_cut(position) or self.whole.certify(position) is not None

    def first_cut(self, start: int, stop: int) -> int | None:
        """Returns the first cut near the beginning of a slice that is a cut of the slice and of the
        text, or None."""
        seam = self._first_cut(self.whole.text[start:stop], start)
        return None if seam is None else seam.position

    def last_cut(self, start: int, stop: int) -> int | None:
        """Returns the last cut near the end of a slice that is a cut of the slice and of the text,
        or None."""
        part = self.whole.text[start:stop]
        seam = self._last_cut(part, start, start)
        return None if seam is None else seam.position

    def _first_cut(self, part: str, start: int) -> Seam | None:
        """Returns the first seam near the beginning of a slice that is a cut of the slice and of
        the text, or None. `part`: the slice. The position of the seam counts from the text's start.
        """
        finder, stop = self.whole.finder, min(len(part), _REACH)
        pairs = self.whole.sure_pairs_at(start)
        if pairs is not None:
            at = int(pairs.searchsorted(start + 1))
            if at < len(pairs) and pairs[at] < start + stop:
                return Seam.licensed_by(Theorem.PAIR, int(pairs[at]))
        if finder.refusal_for(part) is not None:
            return None
        place, stop = 1, len(part) if finder.pairs is not None else stop
        while place < stop:
            seam = finder.find(part, place, stop, _BLOCK)
            if seam is None:
                return None
            found = self._find_in_text(seam, start)
            if found is not None:
                return found
            place = seam.position + 1
        return None

    def _last_cut(self, part: str, start: int, lowest: int) -> Seam | None:
        """Returns the last seam near the end of a slice, at `lowest` or behind it, that is a cut of
        the slice and of the text, or None."""
        finder, stop = self.whole.finder, start + len(part)
        least = max(1, lowest - start, len(part) - _REACH)
        pairs = self.whole.sure_pairs_at(stop - 1)
        if pairs is not None:
            at = int(pairs.searchsorted(stop)) - 1
            if at >= 0 and pairs[at] >= start + least:
                return Seam.licensed_by(Theorem.PAIR, int(pairs[at]))
        if finder.refusal_for(part) is not None:
            return None
        if finder.pairs is not None:
            least = max(1, lowest - start)
        for place in finder.likely(part, least, len(part)):
            seam = finder.certify(part, place)
            found = None if seam is None else self._find_in_text(seam, start)
            if found is not None:
                return found
        return None

    def _find_in_text(self, seam: Seam, start: int) -> Seam | None:
        """Returns the seam of the text at the place of a seam of the slice from `start` on.

        None if there is none, or if it absorbs something else."""
        found = self.whole.certify(seam.position + start)
        return found if found and found.absorbed == seam.absorbed else None
