"""Finds places where a text can be cut and each half encoded alone: rules K1, K2, K3, K9 and K10.

A cut is proved here before anything is tokenized; the proof travels as a Seam with its witness.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tokpar.cuts.added import AddedTokenGuard
from tokpar.cuts.edges import TokenEdges
from tokpar.cuts.normalized import NormalizerGuard
from tokpar.facts.spaces import MARK, SpaceCut, space_cuts
from tokpar.facts.tables import (
    WHITESPACE,
    CharSet,
    Family,
    char_set,
    family_named,
    load_atoms,
    pair_pattern,
    range_class,
)
from tokpar.kernels import has_surrogate
from tokpar.types import Facts, Rule, Seam, Witness

if TYPE_CHECKING:
    from tokpar.cuts.window_seams import WindowSeams

SPACE = frozenset(chr(point) for low, high in WHITESPACE for point in range(low, high + 1))
_REGEX_UNIVERSAL: Witness = (("left", "non-space"), ("right", "space"))
_ANY_SPACE: Witness = (("left", "any"), ("right", "space"))
_AFTER_OTHER = re.compile(f" (?<!{range_class(WHITESPACE)} )")
_NUMBER_ATOMS = ("ascii_digit", "N")
_BLOCK = 4096
# How far back the start of a run is looked for when no earlier seam tells it: keeps the work of a
# search linear in the text.
_FARTHEST = 1 << 16


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
        if self.facts.scheme not in ("dummy", "spaces") and self.family is None:
            if self.facts.family is not None or self.facts.scheme != "regex":
                return f"no cut table is known by the name of {self.facts.family!r}"
            if isinstance(self._windows, str):
                return self._windows
        if self.facts.scheme not in ("bert", "spaces") and self.normalized.unsupported:
            return f"nothing is proved about its normalizer {self.normalized.unsupported}"
        if not self.normalized.tokens_followed:
            return "an added token with normalized=true cannot be followed through its normalizer"
        return None

    @cached_property
    def _windows(self) -> WindowSeams | str:
        """The windows of a pattern that is of no known family, or why there are none."""
        from tokpar.cuts.window_seams import window_seams  # known families do without

        return window_seams(self.facts, self.added, self.normalized)

    @property
    def windows(self) -> WindowSeams | None:
        """Who finds the K10 seams, where these are what the tokenizer is cut by."""
        if self.refusal is not None or self.facts.scheme != "regex" or self.family is not None:
            return None
        return None if isinstance(self._windows, str) else self._windows

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
        found = self.certify_context(text, p) or self.edges.certify(text, p)
        return found or (self.windows.at(text, p) if self.windows is not None else None)

    def certify_context(self, text: str, p: int) -> Seam | None:
        """The same by rules K1, K2, K3 and K10 alone, of which K10 looks at `LEFT` and `RIGHT` code
        points beside `p`, the others at nothing else."""
        if not 0 < p < len(text):
            return None
        if self.refusal is not None and self.edges.refusal is None:  # refusal_for() may be None
            return None
        if self.windows is not None:
            return self._space(text, p) or self.windows.at(text, p, far=False)
        return (
            self._space(text, p)
            or self._pair(text, p)
            or self._digits(text, p)
            or self._find_unjoined(text, p, p + 1)
        )

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

    def find(
        self, text: str, start: int, stop: int, window: int = 4096, after: Seam | None = None
    ) -> Seam | None:
        """First certified cut in [start, stop), code points, best kind first in each window.
        `after`, the cut before it, spares measuring a long run of digits twice."""
        start, stop = max(start, 1), min(stop, len(text))
        for lo in range(start, stop, window):
            hi = min(lo + window, stop)
            seam = self._find_context(text, lo, hi, after) or self.edges.find(text, lo, hi)
            if seam is not None:
                return seam
        return None

    def _find_context(self, text: str, lo: int, hi: int, after: Seam | None) -> Seam | None:
        if self.refusal is not None:
            return None
        if self.windows is not None:
            return self._find_space(text, lo, hi) or self.windows.find(text, lo, hi)
        return (
            self._find_space(text, lo, hi)
            or self._find_pair(text, lo, hi)
            or self._find_digits(text, lo, hi, after)
            or self._find_unjoined(text, lo, hi)
        )

    @cached_property
    def spaces(self) -> tuple[SpaceCut, ...]:
        """What theorem 50 says of the tokenizer's stages, if there is nothing better."""
        return space_cuts(self.facts) if self.facts.scheme == "spaces" else ()

    @cached_property
    def at_spaces(self) -> Seam | None:
        """What licenses a cut before any ASCII space that follows a character other than white
        space, where no added token is near; None for tokenizers that need a closer look."""
        if self.refusal is not None or self.facts.prefix_space or self.normalized.tokens:
            return None
        if self.facts.scheme == "regex":
            return self._universal if self.normalized.keeps_universal else None
        return self._seam(0, "K3", "4.8", _ANY_SPACE) if self.facts.scheme == "bert" else None

    @cached_property
    def _universal(self) -> Seam | None:
        """What licenses U1 behind a regex, or None."""
        if self.family is not None:
            return self._seam(0, "K1", "20", _REGEX_UNIVERSAL)
        return None if self.windows is None else self.windows.universal

    def spaces_safe(self, text: str, start: int, stop: int) -> bool:
        """All these spaces strictly inside [start, stop) are certified cuts, see `at_spaces`."""
        return self.at_spaces is not None and self.added.absent(text, start, stop)

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

    def _find_pair(self, text: str, lo: int, hi: int) -> Seam | None:
        if self._pairs is None or self._alike(text, lo, hi):
            return None
        for start, stop in self._followed(text, lo, hi):
            for match in self._pairs.finditer(text, start, stop):
                seam = self._pair(text, match.start()) if match.start() < hi else None
                if seam is not None:
                    return seam
        return None

    def _alike(self, text: str, lo: int, hi: int) -> bool:
        """All characters around the places of [lo, hi) are of one class that is never parted."""
        assert self.family is not None
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
        assert family is not None
        own = {n: family.ranges(n) for n in family.classes if family.theorem(n, n) is None}
        return {name: char_set(r) for name, r in own.items() if r and r[0][0] <= 0xFFFF}

    def _followed(self, text: str, lo: int, hi: int) -> Iterable[tuple[int, int]]:
        """Where pairs in [lo, hi) may be cuts: between what is followed through the normalizer."""
        if self.facts.scheme == "bert" or not self.facts.normalizers:
            return ((lo, min(len(text), hi + 1)),)
        return self.normalized.known_places(text, lo, hi)

    def _find_digits(self, text: str, lo: int, hi: int, after: Seam | None) -> Seam | None:
        if self._digit_pairs is None:
            return None
        tried = -1
        for match in self._digit_pairs.finditer(text, lo, min(len(text), hi + 1)):
            if match.start() < tried:
                continue
            run = _run_start(text, match.start(), after)
            if run is None:
                tried = run_stop(text, match.start(), hi) + 1
                continue
            tried = match.start() + (run - match.start()) % 3
            seam = self._digits(text, tried, run) if tried < hi else None
            if seam is not None:
                return seam
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

    @cached_property
    def _pairs(self) -> re.Pattern[str] | None:
        return None if self.family is None else pair_pattern(self.family)

    @cached_property
    def _digit_pairs(self) -> re.Pattern[str] | None:
        if self.family is None or self.family.digit_phase is None or not self._digits_apart:
            return None
        return re.compile(f"(?<={_number_class()})(?={_number_class()})")

    @cached_property
    def _digits_apart(self) -> bool:
        """No added token begins or ends with what could be a digit, and no normalizer changes one:
        then a match that leaves p alone leaves the whole run of digits alone (correction 0'.4)."""
        if self.facts.normalizers:
            return False
        edges = {t.content[i] for t in self.facts.added_tokens if t.content for i in (0, -1)}
        return all(_is_number(char) is False for char in edges)

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
            return None if self._universal is None else replace(self._universal, position=p)
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
        if text[p - 1] in (self.facts.joined or ()):
            return None
        apart = self.added.clear(text, p - 1, p + 2)
        if not apart or not self.added.safe(text, p) or not self.added.safe(text, p + 1):
            return None
        return Seam(p, "K3", "6.4", (("absorbed", 1),))

    def _pair(self, text: str, p: int) -> Seam | None:
        """A decided context of one character on each side."""
        family = self.family
        if family is None or (self.facts.prefix_space and text[p] != " "):
            return None
        raw = self.facts.scheme == "bert"
        context = (text[p - 1], text[p]) if raw else self.normalized.context(text, p)
        if context is None:
            return None
        left, right = family.class_of(context[0]), family.class_of(context[1])
        theorem = None if left is None or right is None else family.theorem(left, right)
        if theorem is None or not self.tokens_safe(text, p):
            return None
        if theorem == "20":
            if self.facts.normalizers and text[p] != " ":
                return None  # of all white space only ' ' is proved to stay what it is
            return self._seam(p, "K1", theorem, _REGEX_UNIVERSAL)
        rule: Rule = "K1" if self.facts.scheme == "regex" else "K3"
        return self._seam(p, rule, theorem, (("left", str(left)), ("right", str(right))))

    def _digits(self, text: str, p: int, run: int | None = None) -> Seam | None:
        """A multiple of three digits after the start of a run of digits (theorem 22)."""
        if self._digit_pairs is None or self.facts.prefix_space:
            return None
        if not _is_number(text[p]) or not _is_number(text[p - 1]):
            return None
        run = _run_start(text, p) if run is None else run
        if run is None or p == run or (p - run) % 3 or not self.added.safe(text, p):
            return None
        return self._seam(p, "K2", "22", (("run", run),))

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


@cache
def _number_class() -> str:
    atoms = load_atoms()
    return range_class(span for name in _NUMBER_ATOMS for span in atoms[name])


@cache
def _numbers() -> re.Pattern[str]:
    return re.compile(_number_class() + "+")


@cache
def _frozen() -> re.Pattern[str]:
    return re.compile(range_class(span for spans in load_atoms().values() for span in spans))


def _is_number(char: str) -> bool | None:
    r"""Whether `char` is \p{N}; None where the engines need not agree."""
    if _numbers().match(char):
        return True
    return False if _frozen().match(char) else None


def _run_start(text: str, p: int, after: Seam | None = None) -> int | None:
    """Start of the maximal run of numbers that `p` lies in, code points; None if the character
    before it is undecided or too far. `after`: an earlier seam, trusted if in the same run."""
    least, known = max(0, p - _FARTHEST), None
    if after is not None and after.rule == "K2" and after.position < p:
        least, known = after.position, int(dict(after.witness)["run"])
    start = p
    numbers = _numbers()
    while start > least and numbers.fullmatch(text, max(least, start - _BLOCK), start):
        start = max(least, start - _BLOCK)
    while start > least and numbers.match(text, start - 1, start):
        start -= 1
    if start == least and known is not None:
        return known
    return start if start == 0 or _is_number(text[start - 1]) is False else None


def run_stop(text: str, p: int, limit: int) -> int:
    """End of the run of numbers from `p` on, looked for up to `limit` (code points)."""
    found = _numbers().match(text, p, limit)
    return p if found is None else found.end()
