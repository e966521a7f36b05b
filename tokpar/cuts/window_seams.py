"""Find seams that a pair of characters certifies: rule PAIR, `window` (theorems 40 to 43).

The pair is read in the normalized text. It may lie across the edge of a segment between added
tokens, because this edge is always a pre-token edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import NormalizerGuard, crossed_positions
from tokpar.cuts.window_tables import (
    SURE,
    IntArray,
    SymbolArray,
    WindowFinder,
    code_points,
    pair_status,
    window_finder,
)
from tokpar.patterns.class_tables import WHITESPACE
from tokpar.patterns.stored_windows import CODE_POINTS, DecidedWindows, stored_windows
from tokpar.types import Facts, Rule, Seam, Theorem, Witness

_FEW = 64


@dataclass(frozen=True, eq=False)
class WindowSeams:
    """Finds the PAIR seams of one tokenizer.

    All seams may be joined at once: a pair has one character on the right (theorem 43)."""

    facts: Facts
    token_guard: AddedTokenGuard
    normalizer_guard: NormalizerGuard
    finder: WindowFinder
    proof: tuple[str, str]

    @cached_property
    def theorem(self) -> str:
        """The theorem that licenses the pairs."""
        return Theorem.PAIR if len(self.facts.patterns) == 1 else Theorem.PAIR_OF_SPLITS

    @cached_property
    def universal(self) -> Seam | None:
        """The seam that licenses each cut before an ASCII space after a character that is not white
        space, or None."""
        spaces = np.zeros(len(self.finder.symbol_of), np.bool_)
        for low, high in WHITESPACE:
            spaces[low : high + 1] = True
        others = np.unique(self.finder.symbol_of[~spaces])
        space = int(self.finder.symbol_of[ord(" ")])
        known = others[others < self.finder.size].astype(np.int64)
        if not (self.finder.pairs[known + 256 * space] == SURE).all():
            return None
        return self._seam(0, (("left", "non-space"), ("right", "space")))

    def find(self, text: str, start: int, stop: int) -> Seam | None:
        """The first seam in [start, stop), 0 < start, code points, or None."""
        seams = (self.certify(text, p) for p in self.likely(text, start, stop))
        return next(filter(None, seams), None)

    def likely(self, text: str, start: int, stop: int) -> list[int]:
        """The positions in [start, stop), 0 < start, that `certify` may certify, ascending.

        `certify` refuses some of them."""
        places = self._likely_pairs(text, start, stop)
        if not places:
            return places
        crossed = crossed_positions(
            self.token_guard, self.normalizer_guard, text, places[0], places[-1] + 1
        )
        if crossed is None:
            return places
        return [p for p in places if not crossed[p - places[0]]]

    def _likely_pairs(self, text: str, start: int, stop: int) -> list[int]:
        """The positions in [start, stop) where the images of the two characters certify a cut.

        Behind a normalizer, the image of the next character must be known, too."""
        if self.normalizer_guard.stages:
            symbols = self._image_symbols.take(code_points(text[start - 1 : stop + 1]), mode="clip")
            sure = pair_status(symbols, self.pairs) == SURE
            sure[: len(symbols) - 2] &= symbols[2:] < self.finder.size
            sure = sure[: stop - start]
        elif stop - start <= _FEW:
            return [*self._sure_among_few(text, start, stop)]
        else:
            return list(map(int, self.sure_places(text, start, stop)))
        found: list[int] = (np.flatnonzero(sure) + start).tolist()
        return found

    @cached_property
    def _image_symbols(self) -> SymbolArray:
        """The symbol of each character's image, uint8, (0x110000,); `finder.size` for a character
        without a known image."""
        found = np.full(CODE_POINTS, self.finder.size, np.uint8)
        chars, images = self.normalizer_guard.char_images
        found[code_points(chars)] = self.finder.symbols(images)
        return found

    def _sure_among_few(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Yield the positions in [start, stop) that a pair certifies, by a loop: faster than arrays
        for few positions."""
        pairs, symbols = self._pair_bytes, self.finder.each_symbol(text[start - 1 : stop])
        for p, (left, right) in enumerate(pairwise(symbols), start):
            if pairs[left + 256 * right] == SURE:
                yield p

    @cached_property
    def _pair_bytes(self) -> bytes:
        return self.pairs.tobytes()

    def sure_pairs(self, text: str, start: int, stop: int) -> IntArray | None:
        """The positions in (start, stop) where two characters license a cut, whatever stands around
        them; int64, ascending.

        None where a normalizer, a prefix or an added token near [start, stop) needs a look at each
        position."""
        changes = self.facts.normalizers or self.facts.prefix_space
        if changes or not self.token_guard.absent(text, start, stop):
            return None
        return self.sure_places(text, start + 1, stop)

    def sure_places(self, text: str, start: int, stop: int) -> IntArray:
        """The positions in [start, stop), 0 < start, with two characters that license a cut in
        every text without stages and added tokens; int64, ascending."""
        status = pair_status(self.finder.symbols(text[start - 1 : stop]), self.pairs)
        return np.flatnonzero(status == SURE) + start

    @cached_property
    def pairs(self) -> SymbolArray:
        """As `finder.pairs`. A space after an unknown character is `SURE`, too, if the tokenizer
        always splits before a space after a character that is not white space."""
        if self.universal is None:
            return self.finder.pairs
        found = self.finder.pairs.copy()
        found[self.finder.size + 256 * int(self.finder.symbol_of[ord(" ")])] = SURE
        return found

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), or None."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        sides = self.normalizer_guard.context(text, p)
        safe = (
            sides is not None
            and self.finder.is_sure(*sides)
            and self.token_guard.safe(text, p)
            and self.normalizer_guard.tokens_safe(text, p)
        )
        return self._seam(p, (("left", 1), ("right", 1))) if safe else None

    def _seam(self, p: int, witness: Witness) -> Seam:
        return Seam(p, Rule.PAIR, self.theorem, (self.proof, *witness))


def window_seams(
    facts: Facts, token_guard: AddedTokenGuard, normalizer_guard: NormalizerGuard
) -> WindowSeams | str:
    """The finder of PAIR seams for these facts, or the reason why there are no windows."""
    found = _load_windows(facts)
    if isinstance(found, str):
        return found
    return WindowSeams(facts, token_guard, normalizer_guard, window_finder(found), found.proof)


def _load_windows(facts: Facts) -> DecidedWindows | str:
    if facts.family is not None:
        found = stored_windows(facts.family, facts.engine, facts.patterns)
        return found or f"no windows of {facts.family!r} are known for its engine and patterns"
    from tokpar.patterns.window_cache import windows_of  # not needed for known families

    return windows_of(facts)


def doubt(facts: Facts, text: str, p: int) -> tuple[str, str] | None:
    """Texts (before, after) around the two characters at `p` that would make the cut at `p` wrong.

    The two texts explain why the pair does not certify the cut. None if the pair certifies the cut,
    or if the pairs of the patterns cannot be computed."""
    from tokpar.patterns.pattern_reader import UnsupportedPatternError
    from tokpar.patterns.splits import decide_windows
    from tokpar.patterns.window_cache import splits_of

    if facts.scheme != "regex" or not facts.patterns or not 0 < p < len(text):
        return None
    try:
        return decide_windows(splits_of(facts)).witness(text[p - 1], text[p])
    except UnsupportedPatternError:
        return None
