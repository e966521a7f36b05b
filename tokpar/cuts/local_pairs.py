"""Find the cuts of BERT and Metaspace pre-tokenizers from stored pairs of character classes.

These pre-tokenizers decide by two neighbouring characters alone (section 4.8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.patterns.class_tables import CharSet, Family, char_set, pair_pattern
from tokpar.types import Facts, Rule, Seam


@dataclass(frozen=True, eq=False)
class LocalPairs:
    """Finds the PAIR seams of one tokenizer at pairs of characters.

    `tokens_safe(text, p)` is True if no added token forbids the cut at `p`."""

    facts: Facts
    family: Family
    normalizer_guard: NormalizerGuard
    tokens_safe: Callable[[str, int], bool]

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p` if the classes of its neighbours license the cut."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        raw = self.facts.scheme == "bert"
        context = (text[p - 1], text[p]) if raw else self.normalizer_guard.context(text, p)
        if context is None:
            return None
        left, right = map(self.family.class_of, context)
        theorem = None if left is None or right is None else self.family.theorem(left, right)
        if theorem is None or not self.tokens_safe(text, p):
            return None
        witness = ("family", self.family.name), ("left", str(left)), ("right", str(right))
        return Seam(p, Rule.PAIR, theorem, witness)

    def find(self, text: str, lo: int, hi: int) -> Seam | None:
        """The first seam in [lo, hi), code points, or None."""
        if self._alike(text, lo, hi):
            return None
        for start, stop in self._known_parts(text, lo, hi):
            for match in self._pattern.finditer(text, start, stop):
                seam = self.certify(text, match.start()) if match.start() < hi else None
                if seam is not None:
                    return seam
        return None

    def _alike(self, text: str, lo: int, hi: int) -> bool:
        """True if all characters of text[lo - 1 : hi + 1] have one class, and no pair of this class
        with itself is a cut."""
        part, class_of = text[lo - 1 : hi + 1], self.family.class_of
        name = class_of(text[lo])
        if name is None:
            return all(class_of(char) is None for char in set(part))
        run = self._uncut_classes.get(name)
        return run is not None and run.holds(part)

    @cached_property
    def _uncut_classes(self) -> dict[str, CharSet]:
        """Map name to members, for the classes whose pair with itself is no cut."""
        family = self.family
        own = {n: family.ranges(n) for n in family.classes if family.theorem(n, n) is None}
        return {name: char_set(r) for name, r in own.items()}

    def _known_parts(self, text: str, lo: int, hi: int) -> Iterable[tuple[int, int]]:
        """[start, stop) where pairs in [lo, hi) may be cuts: where the normalizer's output is
        known."""
        if self.facts.scheme == "bert" or not self.facts.normalizers:
            return ((lo, min(len(text), hi + 1)),)
        return self.normalizer_guard.known_places(text, lo, hi)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return pair_pattern(self.family)
