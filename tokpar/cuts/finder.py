"""Finds places where a text can be cut and each half encoded alone: rules K1, K3, K9 and K10.

A cut is proved here before anything is tokenized; the proof travels as a Seam with its witness.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokpar.arrays import IntArray, has_surrogate
from tokpar.cuts.added_token_edges import TokenEdges
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.local_pairs import LocalPairs
from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.facts.space_stages import MARK, SpaceCut, space_cuts
from tokpar.patterns.class_tables import WHITESPACE, Family, Spelling, family_named, range_class
from tokpar.types import Facts, Rule, Seam, Witness

if TYPE_CHECKING:
    from tokpar.cuts.window_seams import WindowSeams

SPACE = frozenset(chr(point) for low, high in WHITESPACE for point in range(low, high + 1))
_TOLD = 1 << 12
_REGEX_UNIVERSAL: Witness = (("left", "non-space"), ("right", "space"))
_ANY_SPACE: Witness = (("left", "any"), ("right", "space"))
_ABSORBED: Witness = (("absorbed", 1),)
_AFTER_OTHER = re.compile(f" (?<!{range_class(WHITESPACE)} )")


@dataclass(frozen=True, eq=False)
class CutFinder:
    """The certified cuts of one tokenizer; build it with `finder_for`."""

    facts: Facts
    family: Family | None
    added: AddedTokenGuard
    normalized: NormalizerGuard
    edges: TokenEdges

    @cached_property
    def refusal(self) -> str | None:
        """Why this tokenizer has no certified cut but at edges of added tokens (K9), or None."""
        if self.facts.unprovable is not None:
            return self.facts.unprovable
        if self.facts.scheme in ("none", "whole"):
            return "it has no pre-tokenizer, so no place is a pre-token boundary whatever follows"
        known = self.family is not None or self.facts.scheme in ("dummy", "spaces")
        if not known and (self.facts.family is not None or self.facts.scheme != "regex"):
            return f"no cut table is known by the name of {self.facts.family!r}"
        if self.facts.scheme == "regex" and not self._stored and isinstance(self._windows, str):
            return self._windows
        if self.facts.scheme not in ("bert", "spaces") and self.normalized.unsupported:
            return f"nothing is proved about its normalizer {self.normalized.unsupported}"
        if not self.normalized.tokens_followed:
            return "an added token with normalized=true cannot be followed through its normalizer"
        return None

    @cached_property
    def _stored(self) -> bool:
        """The windows of the regex are stored, and need not be read to know that they are there."""
        spelling = Spelling(self.facts.engine, self.facts.patterns)
        return self.family is not None and spelling in self.family.sources

    @cached_property
    def _windows(self) -> WindowSeams | str:
        """The windows of a regex, or why there are none."""
        from tokpar.cuts.window_seams import window_seams  # other schemes do without

        return window_seams(self.facts, self.added, self.normalized)

    @property
    def windows(self) -> WindowSeams | None:
        """Who finds the K10 seams; None where the tokenizer is not cut by them."""
        if self.refusal is not None or self.facts.scheme != "regex":
            return None
        return None if isinstance(self._windows, str) else self._windows

    @cached_property
    def _pairs(self) -> LocalPairs | None:
        """Who finds the pairs of a pre-tokenizer that looks at two characters only."""
        if self.family is None or self.facts.scheme not in ("bert", "metaspace"):
            return None
        return LocalPairs(self.facts, self.family, self.normalized, self.tokens_safe)

    def refusal_for(self, text: str) -> str | None:
        """Why no cut of `text` is certified, or None."""
        if self.refusal is not None and not self.at_edges_only(text):
            return self.refusal
        return "the text holds a lone surrogate" if has_surrogate(text) else None

    def at_edges_only(self, text: str) -> bool:
        """The tokenizer has no certified cut but at edges of added tokens, and such tokens occur in
        `text`."""
        if self.refusal is None or self.edges.refusal is not None:
            return False
        return self.edges.occur(text)

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p` if a rule licenses it; assumes refusal_for() is None."""
        if not 0 < p < len(text):
            return None
        return self._in_context(text, p, far=True) or self.edges.certify(text, p)

    def certify_context(self, text: str, p: int) -> Seam | None:
        """The same by rules K1, K3 and K10 alone, of which K10 looks at 1,024 code points before
        `p` and `windows.ahead` behind it, the others at nothing but what is beside it."""
        if not 0 < p < len(text):
            return None
        return self._in_context(text, p)

    def _in_context(self, text: str, p: int, far: bool = False) -> Seam | None:
        if self.refusal is not None and self.edges.refusal is None:  # refusal_for() may be None
            return None
        found = self._space(text, p)
        if found is None and self.windows is not None:
            return self.windows.far(text, p) if far else self.windows.at(text, p)
        if found is None and self._pairs is not None:
            found = self._pairs.at(text, p)
        return found or self._find_unjoined(text, p, p + 1)

    def certify_pair(self, text: str, p: int) -> Seam | None:
        """The same where the two characters at the sides of `p` license it in any text."""
        if not 0 < p < len(text) or self.windows is None:
            return None
        return self._space(text, p) or self.windows.at(text, p, far=0)

    def find_each(self, text: str, size: int, window: int = 4096) -> list[Seam]:
        """Certified cuts, each the first that is `size` code points or more behind the one before;
        assumes refusal_for() is None."""
        seams: list[Seam] = []
        target = size
        while target < len(text):
            seam = self.find(text, target, len(text), window, seams[-1] if seams else None)
            if seam is None:
                break
            seams.append(seam)
            target = seam.position + size
        return seams

    def places(self, text: str, told: Callable[[int], object] = lambda done: None) -> IntArray:
        """Where all certified cuts of the text are, code points, ascending: at once by arrays where
        windows read the text as it is and no added token is near, else asked one by one, and `told`
        how many were."""
        if self.refusal_for(text) is not None:
            return np.zeros(0, np.int64)
        changed = bool(self.facts.normalizers) or self.facts.prefix_space
        near = None if self.windows is None or changed else self.added.near(text)
        if near is None:
            return self._asked(text, 1, len(text), told)
        found, done = [], 0
        for start, stop in (*near, (len(text), len(text))):
            found += [self._between(text, done, start, told), self._asked(text, start, stop, told)]
            done = stop
        return np.concatenate(found)

    def _asked(self, text: str, start: int, stop: int, told: Callable[[int], object]) -> IntArray:
        """The certified cuts in [start, stop), but at 0, each place asked about."""
        found = []
        for p in range(max(1, start), stop):
            if self.certify(text, p) is not None:
                found.append(p)
            if p % _TOLD == 0:
                told(_TOLD)
        return np.array(found, np.int64)

    def _between(self, text: str, start: int, stop: int, told: Callable[[int], object]) -> IntArray:
        """The certified cuts in [start, stop), to which no added token is near, by windows that
        begin at the first of them (theorem 44), or with the text."""
        from tokpar.cuts.all_cuts import every_window  # finding a few does without

        assert self.windows is not None
        ahead = self.windows.ahead
        first = start
        while 0 < first < stop and self.certify(text, first) is None:
            first += 1
        rest, last = first, stop if stop == len(text) else max(first, stop - ahead)
        if first > 0:  # what certifies the first may reach so far
            rest = min(first + ahead + 1, last)
        part = every_window(self.windows.finder, text[first:stop], ahead) + first
        part = part[np.searchsorted(part, rest) : np.searchsorted(part, last)]
        asked = partial(self._asked, text, told=told)
        return np.concatenate([asked(first, rest), part, asked(last, stop)])

    def find(
        self, text: str, start: int, stop: int, window: int = 4096, after: Seam | None = None
    ) -> Seam | None:
        """First certified cut in [start, stop), code points, best kind first in each window.
        `after`, the cut before it, may tell what a far window is read from."""
        start, stop = max(start, 1), min(stop, len(text))
        for lo in range(start, stop, window):
            hi = min(lo + window, stop)
            seam = self._find_context(text, lo, hi, after) or self.edges.find(text, lo, hi)
            if seam is not None:
                return seam
        return None

    def find_pair(self, text: str, start: int, stop: int, window: int = 4096) -> Seam | None:
        """First seam in [start, stop), code points, that two characters of a regex license."""
        for lo in range(max(start, 1), stop if self.windows is not None else 0, window):
            hi = min(lo + window, stop, len(text))
            seam = self._find_space(text, lo, hi)
            if seam is None and self.windows is not None:
                seam = self.windows.find_pair(text, lo, hi)
            if seam is not None:
                return seam
        return None

    def _find_context(self, text: str, lo: int, hi: int, after: Seam | None) -> Seam | None:
        if self.refusal is not None:
            return None
        found = self._find_space(text, lo, hi)
        if found is None and self.windows is not None:
            return self.windows.find(text, lo, hi, after)
        if found is None and self._pairs is not None:
            found = self._pairs.find(text, lo, hi)
        return found or self._find_unjoined(text, lo, hi)

    @cached_property
    def spaces(self) -> tuple[SpaceCut, ...]:
        """What theorem 50 says of the tokenizer's stages, if there is nothing better."""
        return space_cuts(self.facts) if self.facts.scheme == "spaces" else ()

    @cached_property
    def at_spaces(self) -> Seam | None:
        """What licenses a cut before any ASCII space that follows a character other than white
        space, where no added token forbids it, and the characters beside it are not `spared`; None
        for tokenizers that need a closer look. By theorem 6.4 it licenses those of whole texts."""
        if self.refusal is not None or self.facts.prefix_space or self.normalized.tokens:
            return None
        if self.facts.scheme == "regex":
            return self._universal if self.normalized.keeps_universal else None
        if self.facts.scheme == "dummy":
            return Seam(0, "K3", "6.4", _ABSORBED)
        if self.spaces and self.spaces[0].behind == " ":
            left, spared = self.spaces[0].left, self.spaces[0].spared_ascii
            return Seam(0, "K3", "50", (("left", left), ("right", "space"), ("spared", spared)))
        return self._seam(0, "K3", "4.8", _ANY_SPACE) if self.facts.scheme == "bert" else None

    @cached_property
    def _universal(self) -> Seam | None:
        """What licenses U1 behind a regex, or None."""
        if self.family is not None:
            return self._seam(0, "K1", "20", _REGEX_UNIVERSAL)
        return None if self.windows is None else self.windows.universal

    def spaces_safe(self, text: str, start: int, stop: int) -> bool:
        """All these spaces strictly inside [start, stop) are certified cuts, see `at_spaces`."""
        if (
            self.at_spaces is None or self.facts.scheme == "dummy"
        ):  # whose parts are not of one kind
            return False
        if not self.added.at_spaces.absent(text, start, stop):
            return False
        return not self.spaces or self.spaces[0].everywhere(text, start, stop)

    def _find_space(self, text: str, lo: int, hi: int) -> Seam | None:
        if not self.spaces:
            others = (match.start() for match in _AFTER_OTHER.finditer(text, lo, hi))
            return next(filter(None, (self._space(text, p) for p in others)), None)
        for sign in (" ", "\n") if len(self.spaces) > 1 else " ":
            p = text.find(sign, lo, hi)
            while p >= 0:
                seam = self._space(text, p)
                if seam is not None:
                    return seam
                p = text.find(sign, p + 1, hi)
        return None

    def _find_unjoined(self, text: str, lo: int, hi: int) -> Seam | None:
        """Two characters, both of them tokens, that no token has side by side (theorem 50)."""
        if self._adjacent is None:
            return None
        window = text[lo - 1 : hi].replace(" ", MARK)
        for p, (before, behind) in enumerate(pairwise(window), lo):
            if before + behind in self._adjacent or not self._adjacent.issuperset((before, behind)):
                continue
            if self.tokens_safe(text, p):
                witness = ("left", "unjoined"), ("right", "unjoined")
                return Seam(p, "K3", "50", witness)
        return None

    @cached_property
    def _adjacent(self) -> frozenset[str] | None:
        return None if self.facts.adjacent is None else frozenset(self.facts.adjacent())

    def tokens_safe(self, text: str, p: int) -> bool:
        """Added tokens are matched the same way with a cut before code point `p`."""
        return self.added.safe(text, p) and self.normalized.tokens_safe(text, p)

    def _space(self, text: str, p: int) -> Seam | None:
        """U1 with an ASCII space: safe for every scheme (theorems 20, 4.8, 6.3, 6.4, 50)."""
        if self.spaces:
            return self._by_stages(text, p)
        if text[p] != " " or text[p - 1] in SPACE:
            return None
        if self.facts.scheme == "dummy":
            return self._absorbed(text, p)
        if not self._universal_context(text, p) or not self.tokens_safe(text, p):
            return None
        if self.facts.scheme == "regex":
            found = self._universal
            return None if found is None else Seam(p, found.rule, found.theorem, found.witness)
        return self._seam(p, "K3", "4.8", _ANY_SPACE)

    def _by_stages(self, text: str, p: int) -> Seam | None:
        for cut in self.spaces:
            if cut.holds(text, p) and self.tokens_safe(text, p):
                right = "space" if cut.behind == " " else "line end"
                return Seam(p, "K3", "50", (("left", cut.left), ("right", right)))
        return None

    def _universal_context(self, text: str, p: int) -> bool:
        if self.facts.scheme == "bert" or self.normalized.keeps_universal:
            return True
        context = self.normalized.context(text, p)
        return context is not None and context[0] not in SPACE and context[1] == " "

    def _absorbed(self, text: str, p: int) -> Seam | None:
        """The absorb rule: the space at `p` is left out, the right chunk's dummy prefix is it."""
        if p + 1 >= len(text) or text[p - 1] == "▁" or text[p + 1] in " ▁":
            return None
        if text[p - 1] in (self.facts.chars_before_mark or ()):
            return None
        apart = self.added.clear(text, p - 1, p + 2)
        if not apart or not self.added.safe(text, p) or not self.added.safe(text, p + 1):
            return None
        return Seam(p, "K3", "6.4", _ABSORBED)

    def _seam(self, p: int, rule: Rule, theorem: str, witness: Witness) -> Seam:
        return Seam(p, rule, theorem, (("family", str(self.facts.family)), *witness))


def finder_for(facts: Facts) -> CutFinder:
    """The finder for these facts, kept with them."""
    return facts.derived(_finder)


def _finder(facts: Facts) -> CutFinder:
    after = tuple(t for t in facts.added_tokens if t.normalized and facts.normalizers)
    before = AddedTokenGuard(tuple(t for t in facts.added_tokens if t not in after))
    family = family_named(facts.family) if facts.family else None
    return CutFinder(
        facts, family, before, NormalizerGuard(facts.normalizers, after), TokenEdges(facts)
    )


def at_pair(seam: Seam) -> bool:
    """The two characters at its sides license the seam, whatever stands around them: U1, or a
    window of two. They do wherever they stand, in every tokenizer of the same regex."""
    sides = tuple(value for _, value in seam.witness[1:])
    window = seam.rule == "K10" and seam.theorem != "44"
    return seam.rule == "K1" or (window and sides in ((1, 1), ("non-space", "space")))
