"""Cuts of pre-tokenizers that look at two neighbouring characters only (section 4.8): BERT and
Metaspace, by stored pairs of classes of characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.patterns.class_tables import CharSet, Family, char_set, pair_pattern
from tokpar.types import Facts, Seam


@dataclass(frozen=True, eq=False)
class LocalPairs:
    """The K3 seams of one tokenizer at pairs; `tokens_safe` asks about added tokens."""

    facts: Facts
    family: Family
    normalized: NormalizerGuard
    tokens_safe: Callable[[str, int], bool]

    def at(self, text: str, p: int) -> Seam | None:
        """The seam between the characters around `p`, code points, if their classes license it."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        raw = self.facts.scheme == "bert"
        context = (text[p - 1], text[p]) if raw else self.normalized.context(text, p)
        if context is None:
            return None
        left, right = map(self.family.class_of, context)
        theorem = None if left is None or right is None else self.family.theorem(left, right)
        if theorem is None or not self.tokens_safe(text, p):
            return None
        witness = ("family", self.family.name), ("left", str(left)), ("right", str(right))
        return Seam(p, "K3", theorem, witness)

    def find(self, text: str, lo: int, hi: int) -> Seam | None:
        """The first seam in [lo, hi), code points."""
        if self._alike(text, lo, hi):
            return None
        for start, stop in self._followed(text, lo, hi):
            for match in self._pattern.finditer(text, start, stop):
                seam = self.at(text, match.start()) if match.start() < hi else None
                if seam is not None:
                    return seam
        return None

    def _alike(self, text: str, lo: int, hi: int) -> bool:
        """All characters around the places of [lo, hi) are of one class that is never parted."""
        part, class_of = text[lo - 1 : hi + 1], self.family.class_of
        name = class_of(text[lo])
        if name is None:
            return all(class_of(char) is None for char in set(part))
        run = self._unparted.get(name)
        return run is not None and run.holds(part)

    @cached_property
    def _unparted(self) -> dict[str, CharSet]:
        """By name, the classes that are no pair with themselves."""
        family = self.family
        own = {n: family.ranges(n) for n in family.classes if family.theorem(n, n) is None}
        return {name: char_set(r) for name, r in own.items()}

    def _followed(self, text: str, lo: int, hi: int) -> Iterable[tuple[int, int]]:
        """Where pairs in [lo, hi) may be cuts: between what is followed through the normalizer."""
        if self.facts.scheme == "bert" or not self.facts.normalizers:
            return ((lo, min(len(text), hi + 1)),)
        return self.normalized.known_places(text, lo, hi)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return pair_pattern(self.family)
