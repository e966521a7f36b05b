"""Checks the pairs of one Split by the proof that came with them (theorems 40 and 41).

The text may begin anywhere. So an attempt after a text that ends with symbol c is in any state that
a word with the last symbol c reaches, whatever attempts stood before it. A gap may be c alone."""

from __future__ import annotations

from functools import cached_property

from tokpar.certificate.pattern_machine import Machine


class PairChecker(Machine):
    """Checks pairs of one pattern by a proof that holds. Raises `RefusedProofError` for another
    proof."""

    def refusal(self, left: int, right: int) -> str | None:
        """Returns why the cut between two symbols is not proved, or None."""
        if not (0 <= left < self.size and 0 <= right < self.size):
            return "no pair"
        for x in self._states_after[left]:
            if self.hit[x][self.size] != self.hit[x][right]:
                return "the cut itself is seen"
            if self.target[x][right] not in self.dead:
                return "perhaps a longer match"
        alone = self.target[0][left]
        matched = alone in self.sure or self.hit[alone][self.size]
        if not matched and self.target[0][right] not in self.sure:
            return "a gap may go on over the cut"
        return None

    @cached_property
    def _states_after(self) -> list[set[int]]:
        """For each symbol, the states after it that may still match."""
        symbols = range(self.size)
        return [{row[c] for row in self.target} - self.dead for c in symbols]
