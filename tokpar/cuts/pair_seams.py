"""Find seams that two characters certify: rule PAIR (theorems 20, 40 to 43 and 4.8).

The pair is read in the normalized text. It may lie across the edge of a segment between added
tokens, because this edge is always a pre-token edge. BERT's pairs are read in the text itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tokpar.arrays import IntArray
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import NormalizerGuard, crossed_positions
from tokpar.patterns.known_pattern import (
    CODE_POINTS,
    SURE,
    KnownPattern,
    PairTable,
    SymbolArray,
    code_points,
)
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, Rule, Seam

_FEW = 64


@dataclass(frozen=True, eq=False)
class PairSeams:
    """Finds the PAIR seams of one tokenizer.

    All seams may be joined at once: a pair has one character on the right (theorem 43)."""

    facts: Facts
    token_guard: AddedTokenGuard
    normalizer_guard: NormalizerGuard
    pattern: KnownPattern

    @property
    def table(self) -> PairTable:
        """The certified pairs."""
        return self.pattern.table

    @cached_property
    def _in_text(self) -> bool:
        """True if the pairs are those of the original text."""
        return self.facts.scheme == "bert" or not self.normalizer_guard.stages

    @cached_property
    def by_arrays(self) -> bool:
        """True if two characters of the original text license a cut wherever no added token is
        near."""
        moved = self.facts.prefix_space or self.normalizer_guard.tokens
        return self._in_text and not moved

    def find(self, text: str, start: int, stop: int) -> Seam | None:
        """The first seam in [start, stop), 0 < start, code points, or None."""
        seams = (self.certify(text, p) for p in self.likely(text, start, stop))
        return next(filter(None, seams), None)

    def likely(self, text: str, start: int, stop: int) -> list[int]:
        """The positions in [start, stop), 0 < start, that `certify` may certify, ascending.

        `certify` refuses some of them."""
        places = self.likely_pairs(text, start, stop)
        if not places:
            return places
        crossed = crossed_positions(
            self.token_guard, self.normalizer_guard, text, places[0], places[-1] + 1
        )
        if crossed is None:
            return places
        return [p for p in places if not crossed[p - places[0]]]

    def likely_pairs(self, text: str, start: int, stop: int) -> list[int]:
        """The positions in [start, stop) where the images of the two characters certify a cut.

        Behind a normalizer, the image of the next character must be known, too."""
        if not self._in_text:
            symbols = self._image_symbols.take(code_points(text[start - 1 : stop + 1]), mode="clip")
            sure = self.table.status(symbols) == SURE
            sure[: len(symbols) - 2] &= symbols[2:] < self.table.size
            found: list[int] = (np.flatnonzero(sure[: stop - start]) + start).tolist()
            return found
        if stop - start <= _FEW:
            return [*self._sure_among_few(text, start, stop)]
        return list(map(int, self.sure_places(text, start, stop)))

    @cached_property
    def _image_symbols(self) -> SymbolArray:
        """The symbol of each character's image, uint8, (0x110000,); `size` of the table for a
        character without a known image."""
        found = np.full(CODE_POINTS, self.table.size, np.uint8)
        chars, images = self.normalizer_guard.char_images
        found[code_points(chars)] = self.table.symbols(images)
        return found

    def _sure_among_few(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Yield the positions in [start, stop) that a pair certifies, by a loop: faster than arrays
        for few positions."""
        statuses, symbols = self.table.status_bytes, self.table.each_symbol(text[start - 1 : stop])
        for p, (left, right) in enumerate(pairwise(symbols), start):
            if statuses[left + 256 * right] == SURE:
                yield p

    def sure_places(self, text: str, start: int, stop: int) -> IntArray:
        """The positions in [start, stop), 0 < start, with two characters that license a cut in
        every text without stages and added tokens; int64, ascending."""
        return self.table.sure_places(text[start - 1 : stop]) + (start - 1)

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), or None."""
        if self.facts.prefix_space and text[p] != " ":
            return None
        if self._in_text:
            sides: tuple[str, str] | None = (text[p - 1], text[p])
        else:
            sides = self.normalizer_guard.context(text, p)
        safe = (
            sides is not None
            and self.table.is_sure(*sides)
            and self.token_guard.safe(text, p)
            and self.normalizer_guard.tokens_safe(text, p)
        )
        return Seam(p, Rule.PAIR, self.pattern.theorem, (self.pattern.proof,)) if safe else None


def doubt(facts: Facts, text: str, p: int) -> tuple[str, str] | None:
    """Texts (before, after) around the two characters at `p` that would make the cut at `p` wrong.

    The two texts explain why the pair does not certify the cut. None if the pair certifies the cut,
    or if the pairs of the patterns cannot be computed."""
    from tokpar.patterns.decided_pattern import splits_of
    from tokpar.patterns.pattern_reader import UnsupportedPatternError
    from tokpar.patterns.splits import decide_pairs

    if facts.scheme != "regex" or not facts.patterns or not 0 < p < len(text):
        return None
    try:
        return decide_pairs(splits_of(facts)).witness(text[p - 1], text[p])
    except UnsupportedPatternError:
        return None
