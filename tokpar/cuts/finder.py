"""Find the certified cuts of a text, by rules PAIR, STAGE and EDGE.

At a certified cut, the ids of the text are the ids of the left part followed by the ids of the
right part. The finder proves a cut before any tokenization, and returns a `Seam` with its witness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import SPACES, IntArray, has_surrogate
from tokpar.cuts.added_token_edges import TokenEdges
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import NormalizerGuard, crossed_positions
from tokpar.facts.space_stages import MARK, SpaceCut, space_cuts
from tokpar.patterns.known_pattern import KnownPattern, pattern_of_classes, shipped_pattern
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, Seam, Theorem, Witness

_REPORTED = 1 << 12
_MOST_PAIRS = 1 << 16
_FIRST_WINDOW = 64
_FIRST_BLOCK, _LAST_BLOCK = 64, 1 << 12
OnChecked = Callable[[int], object]
"""Is called with the number of positions that were checked since the last call."""
if TYPE_CHECKING:
    from tokpar.cuts.pair_seams import PairSeams

SPACE = frozenset(SPACES)
_BY_PAIRS = ("regex", "bert", "metaspace")
_ABSORBED: Witness = (("absorbed", "1"),)
_SPACES = re.compile("[ \n]")
"""The characters before which a cut may need no pair."""
_AFTER_OTHER = re.compile(f" (?<![{re.escape(SPACES)}] )")


@dataclass(frozen=True, eq=False)
class CutFinder:
    """Finds the certified cuts for one tokenizer. Build the finder with `finder_for`."""

    facts: Facts
    token_guard: AddedTokenGuard
    normalizer_guard: NormalizerGuard
    edges: TokenEdges

    @cached_property
    def refusal(self) -> str | None:
        """Why this tokenizer has no certified cut except at edges of added tokens, or None."""
        if self.facts.unprovable is not None:
            return self.facts.unprovable
        if self.facts.scheme in ("none", "whole"):
            return "it has no pre-tokenizer, so no place is a pre-token boundary whatever follows"
        if self.facts.scheme in _BY_PAIRS and not isinstance(pattern_of(self.facts), KnownPattern):
            return str(pattern_of(self.facts))
        if self.facts.scheme not in ("bert", "spaces") and self.normalizer_guard.unsupported_stage:
            return (
                f"nothing is proved about its normalizer {self.normalizer_guard.unsupported_stage}"
            )
        if not self.normalizer_guard.tokens_followed:
            return "an added token with normalized=true cannot be followed through its normalizer"
        return None

    @cached_property
    def pairs(self) -> PairSeams | None:
        """The finder of PAIR seams; None if rule PAIR does not apply to the tokenizer."""
        from tokpar.cuts.pair_seams import PairSeams  # cuts at spaces need no pairs

        if self._pattern is None:
            return None
        return PairSeams(self.facts, self.token_guard, self.normalizer_guard, self._pattern)

    @cached_property
    def _pattern(self) -> KnownPattern | None:
        if self.refusal is not None or self.facts.scheme not in _BY_PAIRS:
            return None
        pattern = pattern_of(self.facts)
        return pattern if isinstance(pattern, KnownPattern) else None

    def refusal_for(self, text: str) -> str | None:
        """Why no cut of `text` is certified, or None."""
        if self.refusal is not None and not self.at_edges_only(text):
            return self.refusal
        return "the text holds a lone surrogate" if has_surrogate(text) else None

    def at_edges_only(self, text: str) -> bool:
        """True if only edges of added tokens are certified cuts and `text` has such tokens."""
        if self.refusal is None or self.edges.refusal is not None:
            return False
        return self.edges.occur(text)

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p` if a rule licenses it; assumes refusal_for() is None."""
        if not 0 < p < len(text):
            return None
        return self._in_context(text, p) or self.edges.certify(text, p)

    def certify_context(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p` by rule PAIR or STAGE, or None; never by EDGE.

        The rules read only the neighbours of `p`."""
        if not 0 < p < len(text):
            return None
        return self._in_context(text, p)

    def _in_context(self, text: str, p: int) -> Seam | None:
        if self.refusal is not None and self.edges.refusal is None:  # refusal_for() may be None
            return None
        found = self._space(text, p)
        if found is None and self.pairs is not None:
            return self.pairs.certify(text, p)
        return found or self._find_unjoined(text, p, p + 1)

    def find_each(self, text: str, size: int, window: int = 4096, *, start: int = 0) -> list[Seam]:
        """Certified cuts that are `size` code points or more apart.

        Each cut is what `find` finds from `size` on after the previous cut, the first one after
        `start`. Assumes that `refusal_for` returned None."""
        seams: list[Seam] = []
        target = start + size
        while target < len(text):
            seam = self.find(text, target, len(text), window)
            if seam is None:
                break
            seams.append(seam)
            target = seam.position + size
        return seams

    def places(self, text: str, on_checked: OnChecked = lambda done: None) -> IntArray:
        """The positions of all certified cuts of the text: code points, ascending, int64.

        Arrays find the cuts where pairs are read in the unchanged text and no added token is near.
        Elsewhere the finder checks one position after the other, and reports the number of checked
        positions to `on_checked`."""
        if self.refusal_for(text) is not None:
            return np.zeros(0, np.int64)
        pairs = self.pairs
        arrays = pairs is not None and pairs.by_arrays
        near = self.token_guard.parts_near_tokens(text) if arrays else None
        if pairs is None or near is None:
            return self._check_each(text, 1, len(text), on_checked)
        found, done = [], 0
        for start, stop in (*near, (len(text), len(text))):
            found += [
                pairs.sure_places(text, max(1, done), start),
                self._check_each(text, start, stop, on_checked),
            ]
            done = stop
        return np.concatenate(found)

    def _check_each(self, text: str, start: int, stop: int, on_checked: OnChecked) -> IntArray:
        """The certified cuts in [start, stop) without 0, by checking each position."""
        found = []
        for p in range(max(1, start), stop):
            if self.certify(text, p) is not None:
                found.append(p)
            if p % _REPORTED == 0:
                on_checked(_REPORTED)
        return np.array(found, np.int64)

    def find(self, text: str, start: int, stop: int, window: int = 4096) -> Seam | None:
        """A certified cut in [start, stop), code points, or None if there is none.

        The search goes window by window, of growing size up to `window`. In the first window that
        has cuts it returns the first one by the cheapest rule that licenses any."""
        start, stop = max(start, 1), min(stop, len(text))
        size = min(window, _FIRST_WINDOW)
        while start < stop:
            end = min(start + size, stop)
            seam = self.edges.find(text, start, end)
            seam = seam or self._find_context(text, start, end)
            if seam is not None:
                return seam
            start, size = end, min(4 * size, window)
        return None

    def find_last(self, text: str, start: int, stop: int) -> Seam | None:
        """The last certified cut in [start, stop), 0 < start, or None."""
        seams = (self.certify(text, p) for p in self.likely(text, start, stop))
        return next(filter(None, seams), None)

    def likely(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Yield the positions in [start, stop), 0 < start, that may be certified cuts, last first.

        The first positions are checked one by one, since most searches end there. Arrays search the
        blocks behind them, which grow."""
        size = _FIRST_BLOCK
        while start < stop:
            low = max(start, stop - size)
            yield from self._likely_in(text, low, stop)
            stop, size = low, min(_LAST_BLOCK, 8 * size)

    @cached_property
    def _may_cut(self) -> PairsThatMayCut:
        return PairsThatMayCut(self)

    def may_cut_between(self, pair: str) -> bool:
        """False if no text with these two neighbours has a certified cut between them."""
        if self.edges.refusal is None and self.edges.may_be_edge(pair, 1):
            return True
        if self.pairs is None:
            at_space = self.facts.scheme == "dummy" and pair[1] == " "
            at_space = at_space or any(cut.holds(pair, 1) for cut in self.spaces)
            return at_space or self._find_unjoined(pair, 1, 2) is not None
        return bool(self.pairs.likely_pairs(pair, 1, 2))

    def _likely_in(self, text: str, start: int, stop: int) -> Iterable[int]:
        only_spaces = self.pairs is None and self._adjacent is None
        if not only_spaces and (self.pairs is None or stop - start <= _FIRST_BLOCK):
            may_cut = self._may_cut
            return (p for p in range(stop - 1, start - 1, -1) if may_cut[text[p - 1 : p + 1]])
        crossed = self.crossed_positions(text, start, stop)
        spaces = (match.start() for match in _SPACES.finditer(text, start, stop))
        pairs = () if self.pairs is None else self.pairs.likely(text, start, stop)
        found = {*pairs, *spaces, *self.edges.likely(text, start, stop)}
        falling = sorted(found, reverse=True)
        return falling if crossed is None else (p for p in falling if not crossed[p - start])

    def _find_context(self, text: str, lo: int, hi: int) -> Seam | None:
        if self.refusal is not None:
            return None
        found = self._find_space(text, lo, hi)
        if found is None and self.pairs is not None:
            return self.pairs.find(text, lo, hi)
        return found or self._find_unjoined(text, lo, hi)

    @cached_property
    def spaces(self) -> tuple[SpaceCut, ...]:
        """The cuts that theorem 50 licenses for the tokenizer's stages; empty for schemes other
        than "spaces"."""
        return space_cuts(self.facts) if self.facts.scheme == "spaces" else ()

    @cached_property
    def at_spaces(self) -> Seam | None:
        """A seam that licenses every cut before an ASCII space after a character that is not white
        space, or None.

        The license does not hold where an added token forbids the cut, or where a neighbour of the
        cut is in `spared`. None if the tokenizer needs a check at each space. A seam of theorem 6.4
        licenses only cuts of whole texts."""
        if self.refusal is not None or self.facts.prefix_space or self.normalizer_guard.tokens:
            return None
        if self.facts.scheme == "dummy":
            return Seam.licensed_by(Theorem.ABSORBED_SPACE, 0, _ABSORBED)
        if self.spaces and self.spaces[0].space_char == " ":
            left, spared = self.spaces[0].left, self.spaces[0].spared_ascii
            witness = ("left", left), ("right", "space"), ("spared", spared)
            return Seam.licensed_by(Theorem.STAGES_AT_SPACE, 0, witness)
        if self._pattern is None or self.facts.scheme == "metaspace":
            return None
        return self._pattern.space_seam(0) if self._keeps_spaces else None

    @property
    def _keeps_spaces(self) -> bool:
        """True if the normalizer leaves each space and what stands beside it as they are."""
        return self.facts.scheme == "bert" or self.normalizer_guard.keeps_universal

    @property
    def cuts_each_space(self) -> bool:
        """True if each cut before an ASCII space after a character other than white space is
        certified, where no added token forbids it: the scheme is "regex" or "bert"."""
        if self.refusal is not None or self._pattern is None or self.facts.scheme == "metaspace":
            return False
        return self._keeps_spaces and self._pattern.space_seam(0) is not None

    def spaces_safe(self, text: str, start: int, stop: int) -> bool:
        """True if every space of the kind in `at_spaces`, strictly inside [start, stop), is a
        certified cut."""
        if (
            self.at_spaces is None or self.facts.scheme == "dummy"
        ):  # "dummy" segments are not all alike: the absorb rule drops a space between two of them
            return False
        if not self.token_guard.at_spaces.absent(text, start, stop):
            return False
        return not self.spaces or self.spaces[0].everywhere(text, start, stop)

    def divides(self, text: str) -> bool:
        """True if `at_spaces` licenses a cut of the whole text at every space of its kind."""
        if self.at_spaces is None:
            return False
        if self.facts.scheme != "dummy":
            return self.spaces_safe(text, 0, len(text))
        joined = (self.facts.chars_before_mark or frozenset()) | {MARK}
        if text.startswith(" ") or text.endswith(" ") or any(map(str.isascii, joined)):
            return False  # the licence bars no character
        return self.token_guard.absent(text, 0, len(text)) and not any(
            f"{char} " in text for char in joined
        )

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
        """The first seam between two characters that are both tokens, while no token has the two
        characters side by side (theorem 50)."""
        if self._adjacent is None:
            return None
        window = text[lo - 1 : hi]
        window = window.replace(" ", MARK) if self.facts.normalizers else window
        for p, (before, behind) in enumerate(pairwise(window), lo):
            if before + behind in self._adjacent or not self._adjacent.issuperset((before, behind)):
                continue
            if self.tokens_safe(text, p):
                witness = ("left", "unjoined"), ("right", "unjoined")
                return Seam.licensed_by(Theorem.STAGES_AT_SPACE, p, witness)
        return None

    @cached_property
    def _adjacent(self) -> frozenset[str] | None:
        return None if self.facts.adjacent is None else frozenset(self.facts.adjacent())

    def crossed_positions(self, text: str, start: int, stop: int) -> NDArray[np.bool_] | None:
        """For each p in [start, stop): see `normalized_context.crossed_positions`."""
        return crossed_positions(self.token_guard, self.normalizer_guard, text, start, stop)

    def tokens_safe(self, text: str, p: int) -> bool:
        """True if the engine matches the same added tokens with and without a cut before `p`."""
        return self.token_guard.safe(text, p) and self.normalizer_guard.tokens_safe(text, p)

    def _space(self, text: str, p: int) -> Seam | None:
        """The U1 seam before an ASCII space at `p`, or None (theorems 20, 4.8, 6.3, 6.4, 50)."""
        if self.spaces:
            return self._by_stages(text, p)
        if text[p] != " " or text[p - 1] in SPACE:
            return None
        if self.facts.scheme == "dummy":
            return self._by_absorb_rule(text, p)
        if self._pattern is None or self._pattern.spaces is None:
            return None
        safe = self._universal_context(text, p) and self.tokens_safe(text, p)
        return self._pattern.space_seam(p) if safe else None

    def _by_stages(self, text: str, p: int) -> Seam | None:
        for cut in self.spaces:
            if cut.holds(text, p) and self.tokens_safe(text, p):
                right = "space" if cut.space_char == " " else "line end"
                witness = ("left", cut.left), ("right", right)
                return Seam.licensed_by(Theorem.STAGES_AT_SPACE, p, witness)
        return None

    def _universal_context(self, text: str, p: int) -> bool:
        if self.facts.scheme == "bert" or self.normalizer_guard.keeps_universal:
            return True
        context = self.normalizer_guard.context(text, p)
        return context is not None and context[0] not in SPACE and context[1] == " "

    def _by_absorb_rule(self, text: str, p: int) -> Seam | None:
        """The seam by the absorb rule: the right chunk begins after the space at `p`, and its dummy
        prefix stands for that space."""
        if p + 1 >= len(text) or text[p - 1] == "▁" or text[p + 1] in " ▁":
            return None
        if text[p - 1] in (self.facts.chars_before_mark or ()):
            return None
        apart = self.token_guard.clear(text, p - 1, p + 2)
        if (
            not apart
            or not self.token_guard.safe(text, p)
            or not self.token_guard.safe(text, p + 1)
        ):
            return None
        return Seam.licensed_by(Theorem.ABSORBED_SPACE, p, _ABSORBED)


class PairsThatMayCut(dict[str, bool]):
    """`CutFinder.may_cut_between` of the pairs of characters that were asked for."""

    def __init__(self, finder: CutFinder) -> None:
        super().__init__()
        self._finder = finder

    def __missing__(self, pair: str) -> bool:
        if len(self) >= _MOST_PAIRS:
            self.clear()
        self[pair] = found = self._finder.may_cut_between(pair)
        return found


def pattern_of(facts: Facts) -> KnownPattern | str:
    """What is known of the pre-tokenizer of these facts, whose scheme is one of `_BY_PAIRS`, or why
    nothing is. The facts keep it."""
    return facts.derive(_find_pattern)


def _find_pattern(facts: Facts) -> KnownPattern | str:
    if facts.scheme != "regex":
        return pattern_of_classes(facts.scheme)
    known = shipped_pattern(facts.engine, facts.patterns)
    if known is not None:
        return known
    from tokpar.patterns.decided_pattern import decide_pattern  # shipped values need no engine

    return decide_pattern(facts)


def finder_for(facts: Facts) -> CutFinder:
    """The finder for these facts. The facts cache the finder."""
    return facts.derive(_finder)


def _finder(facts: Facts) -> CutFinder:
    changed = bool(facts.normalizers)
    normalized_tokens = tuple(t for t in facts.added_tokens if t.normalized and changed)
    token_guard = AddedTokenGuard(
        tuple(t for t in facts.added_tokens if not (t.normalized and changed))
    )
    return CutFinder(
        facts,
        token_guard,
        NormalizerGuard(facts.normalizers, normalized_tokens),
        TokenEdges(facts),
    )
