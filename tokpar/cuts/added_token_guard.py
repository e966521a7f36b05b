"""Find where added tokens forbid a cut: the A-safe condition (theorem 6.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import SPACES
from tokpar.cuts.added_token_contents import Contents
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken

# A cut in a longer run of white space counts as unsafe if some token strips white space.
LONGEST_STRIPPED_RUN = 4096
LONG_RUN = LONGEST_STRIPPED_RUN // 4  # three such runs may meet
"""Longest run of white space that `absent` accepts on each side of a segment edge."""
_BEHIND_OTHER = re.compile(f"[^{re.escape(SPACES)}] ")
_INVISIBLE = "\u200b\u180e\ufeff"
_LONG_RUN = re.compile(rf"[\s{_INVISIBLE}]{{{LONG_RUN}}}")


def maybe_space(char: str) -> bool:
    """True unless `char` is provably not white space to any engine (a superset of \\s)."""
    return char.isspace() or char in _INVISIBLE


@lru_cache(maxsize=1)
def maybe_spaces() -> str:
    """All characters that may be white space. All are below U+10000; U+FEFF is above the
    surrogates."""
    return "".join(filter(maybe_space, map(chr, range(0x10000))))


def maybe_word(char: str) -> bool:
    """True unless `char` is provably outside \\w of every engine: only ASCII can be proved."""
    return not char.isascii() or char.isalnum() or char == "_"


@dataclass(frozen=True)
class AddedTokenGuard:
    """Decides whether the engine matches the same added tokens with and without a cut.

    All positions are code points of the text in which the engine searches the tokens."""

    tokens: tuple[AddedToken, ...]

    @property
    def reach(self) -> int:
        """Length of the longest content, code points."""
        return self.contents.longest

    @cached_property
    def contents(self) -> Contents:
        """The contents of all tokens."""
        return Contents.of(token.content for token in self.tokens)

    @cached_property
    def _strips(self) -> bool:
        return any(token.lstrip or token.rstrip for token in self.tokens)

    def safe(self, text: str, p: int) -> bool:
        """True if a cut before code point `p`, 0 < p < len(text), meets conditions (a) to (d) of
        theorem 6.1."""
        near = self.contents.clusters(text, max(0, p - self.reach), min(len(text), p + self.reach))
        if any(start < p < stop for start, stop, _ in near.tolist()):
            return False  # (a)
        return self._single_word_safe(text, p) and self._strip_safe(text, p)

    def _single_word_safe(self, text: str, p: int) -> bool:
        """Condition (b), if no occurrence reaches over `p`. A `single_word` token that ends at `p`
        then ends a cluster, and one that begins at `p` begins one."""
        size, behind = self._single_words.longest, text[p - 1]
        if not size or not (maybe_word(behind) or maybe_word(text[p])):
            return True
        near = self._single_words.clusters(text, max(0, p - size), min(len(text), p + size))
        return not any(
            (stop == p and maybe_word(text[p])) or (start == p and maybe_word(behind))
            for start, stop, _ in near.tolist()
        )

    def _strip_safe(self, text: str, p: int) -> bool:
        """Conditions (c) and (d), if no occurrence reaches over `p`.

        False in a run of white space longer than `LONGEST_STRIPPED_RUN`."""
        if self._rstrips.longest and maybe_space(text[p]):
            first = _run_start(text, p)
            near = self._rstrips.clusters(text, max(0, first - self._rstrips.longest), p)
            if p - first > LONGEST_STRIPPED_RUN or (near[:, 1] >= first).any():
                return False
        if self._lstrips.longest and maybe_space(text[p - 1]):
            stop = _run_stop(text, p)
            near = self._lstrips.clusters(text, p, min(len(text), stop + self._lstrips.longest))
            if stop - p > LONGEST_STRIPPED_RUN or (near[:, 0] <= stop).any():
                return False
        return True

    @cached_property
    def _single_words(self) -> Contents:
        return Contents.of(token.content for token in self.tokens if token.single_word)

    @cached_property
    def _rstrips(self) -> Contents:
        return Contents.of(token.content for token in self.tokens if token.rstrip)

    @cached_property
    def _lstrips(self) -> Contents:
        return Contents.of(token.content for token in self.tokens if token.lstrip)

    def crossed_positions(self, text: str, start: int, stop: int) -> NDArray[np.bool_] | None:
        """For each p in [start, stop), True if an occurrence reaches over p; None if none does.

        `safe` is False there."""
        first, last = max(0, start - self.reach), min(len(text), stop + self.reach)
        near = self.contents.clusters(text, first, last)
        near = near[(near[:, 0] + 1 < stop) & (near[:, 1] > start)]
        if not len(near):
            return None
        changes = np.zeros(stop - start + 1, np.int8)
        changes[np.maximum(near[:, 0] + 1 - start, 0)] += 1  # clusters share no position
        changes[np.minimum(near[:, 1], stop) - start] -= 1
        found: NDArray[np.bool_] = np.cumsum(changes[:-1], dtype=np.int8).view(np.bool_)
        return found

    def clear(self, text: str, start: int, stop: int) -> bool:
        """True if no occurrence of any token shares a code point with [start, stop)."""
        first, last = max(0, start - self.reach), min(len(text), stop + self.reach)
        near = self.contents.clusters(text, first, last)
        return not ((near[:, 0] < stop) & (near[:, 1] > start)).any()

    def absent(self, text: str, start: int, stop: int) -> bool:
        """True if no token is near [start, stop). Then `safe` holds for start < p < stop."""
        if not self.reach:
            return True
        if self._strips:
            if self.may_strip_far(text, start, stop):
                return False
            first, last = _run_start(text, start), _run_stop(text, stop)
            if start - first > LONG_RUN or last - stop > LONG_RUN:
                return False
            start, stop = first, last
        first, last = max(0, start - self.reach), min(len(text), stop + self.reach)
        return not len(self.contents.clusters(text, first, last))

    def may_strip_far(self, text: str, start: int, stop: int) -> bool:
        """True if a token may strip a run of white space in [start, stop) that `safe` may refuse
        for its length."""
        return self._strips and _LONG_RUN.search(text, start, stop) is not None

    def parts_near_tokens(self, text: str) -> list[tuple[int, int]] | None:
        """The parts of the text where an occurrence of a token may forbid a cut.

        Returns disjoint [start, stop), ascending. None if the text may have a token that strips
        white space: such a token may reach any distance."""
        if self._strips:
            return [] if self.absent(text, 0, len(text)) else None
        clusters = self.contents.clusters(text)
        if not len(clusters):
            return []
        starts = np.maximum(clusters[:, 0] - self.reach, 0)
        stops = np.minimum(clusters[:, 1] + self.reach, len(text))
        firsts = np.flatnonzero(np.append(True, starts[1:] > stops[:-1]))
        lasts = np.append(firsts[1:], len(stops)) - 1
        return list(zip(starts[firsts].tolist(), stops[lasts].tolist(), strict=True))

    @cached_property
    def at_spaces(self) -> AddedTokenGuard:
        """The guard of the tokens that may forbid a cut before an ASCII space that follows a
        character other than white space.

        The remaining tokens never forbid such a cut (corollary 2 of theorem 27)."""
        return AddedTokenGuard(tuple(filter(_forbids_spaces, self.tokens)))


def _forbids_spaces(token: AddedToken) -> bool:
    first = token.single_word and token.content.startswith(" ")
    return token.rstrip or first or _BEHIND_OTHER.search(token.content) is not None


def run_around(text: str, p: int) -> int | None:
    """Length of the run of white space around `p`, in code points.

    None if the run is longer than `LONGEST_STRIPPED_RUN`."""
    length = _run_stop(text, p) - _run_start(text, p)
    return length if length <= LONGEST_STRIPPED_RUN else None


def _run_start(text: str, p: int) -> int:
    least = max(0, p - LONGEST_STRIPPED_RUN - 1)
    return least + len(text[least:p].rstrip(maybe_spaces()))


def _run_stop(text: str, p: int) -> int:
    part = text[p : p + LONGEST_STRIPPED_RUN + 1]
    return p + len(part) - len(part.lstrip(maybe_spaces()))
