"""Find where added tokens forbid a cut: the A-safe condition (theorem 6.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter

from tokpar.arrays import SPACES
from tokpar.types import AddedToken

# A cut in a longer run of white space counts as unsafe if some token strips white space.
LONGEST_STRIPPED_RUN = 4096
_HALF_RUN = LONGEST_STRIPPED_RUN // 4  # three such runs may meet
"""Longest run of white space that `absent` accepts on each side of a segment edge."""
_DEEPEST = 8
"""Deepest nesting of regex groups; Python's regex compiler recurses once per level."""
_BEHIND_OTHER = re.compile(f"[^{re.escape(SPACES)}] ")
_LONG_RUN = re.compile(rf"[\s\u200b\u180e\ufeff]{{{_HALF_RUN}}}")


def maybe_space(char: str) -> bool:
    """True unless `char` is provably not white space to any engine (a superset of \\s)."""
    return char.isspace() or char in "\u200b\u180e\ufeff"


def maybe_word(char: str) -> bool:
    """True unless `char` is provably outside \\w of every engine: only ASCII can be proved."""
    return not char.isascii() or char.isalnum() or char == "_"


def group_by_mark(contents: Iterable[str]) -> Iterator[tuple[str, set[str]]]:
    """Group the non-empty contents by a character that all contents of the group have.

    Yields (character, contents). Rare characters come first."""
    left = {content for content in contents if content}
    while left:
        counts = Counter(chain.from_iterable(map(set, left)))
        mark = max(counts, key=lambda c: (not c.isascii(), not c.isalnum(), counts[c], c))
        group = {content for content in left if mark in content}
        yield mark, group
        left -= group


def _either(contents: Sequence[str], depth: int = 0) -> str:
    """A regex that matches exactly where one of the ascending `contents` begins.

    The regex has each common prefix once: it compiles five times faster and searches faster."""
    ends = zip(contents[0], contents[-1], strict=False)
    size = next((k for k, (one, other) in enumerate(ends) if one != other), len(contents[0]))
    begins = contents[0][:size]
    if begins == contents[0]:  # every other content begins with contents[0]
        return re.escape(begins)
    rests = [content[size:] for content in contents]
    if depth == _DEEPEST:
        parts = list(map(re.escape, rests))
    else:
        parts = [_either([*some], depth + 1) for _, some in groupby(rests, itemgetter(0))]
    return f"{re.escape(begins)}(?:{'|'.join(parts)})"


@dataclass(frozen=True)
class _Group:
    """Contents that all have the character `mark`.

    A search for one character is thirty times faster than a search for the contents."""

    mark: str
    contents: frozenset[str]

    @cached_property
    def _some(self) -> re.Pattern[str]:
        return re.compile(_either(sorted(self.contents)))

    @cached_property
    def _mark_offsets(self) -> tuple[int, ...]:
        """For each content, the number of code points before its first mark; sorted, distinct."""
        return tuple(sorted({content.index(self.mark) for content in self.contents}))

    def starts(self, text: str) -> Iterator[int]:
        """Yield the positions where contents begin in a text, in no fixed order."""
        at = text.find(self.mark)
        while at >= 0:
            yield from (
                at - k
                for k in self._mark_offsets
                if k <= at and self._some.match(text, at - k) is not None
            )
            at = text.find(self.mark, at + 1)

    def lacks(self, text: str, first: int, last: int) -> bool:
        """True if no content of this group occurs in [first, last).

        The search follows the marks while they are rare, then runs the regex over the rest. If
        every content begins with the mark, the regex runs from the first mark: it then searches
        for one character, too."""
        at = text.find(self.mark, first, last)
        rare = (last - first) // (64 * len(self._mark_offsets)) if self._mark_offsets != (0,) else 1
        for _ in range(rare):
            if at < 0:
                return True
            for start in (at - before for before in self._mark_offsets):
                if start >= first and self._some.match(text, start, last) is not None:
                    return False
            at = text.find(self.mark, at + 1, last)
        return (
            at < 0 or self._some.search(text, max(first, at - self._mark_offsets[-1]), last) is None
        )


@dataclass(frozen=True)
class AddedTokenGuard:
    """Decides whether the engine matches the same added tokens with and without a cut.

    All positions are code points of the text in which the engine searches the tokens."""

    tokens: tuple[AddedToken, ...]

    @cached_property
    def reach(self) -> int:
        """Length of the longest content, code points."""
        return max((len(token.content) for token in self.tokens), default=0)

    @cached_property
    def _strips(self) -> bool:
        return any(token.lstrip or token.rstrip for token in self.tokens)

    def safe(self, text: str, p: int) -> bool:
        """True if a cut before code point `p`, 0 < p < len(text), meets conditions (a) to (d) of
        theorem 6.1."""
        if not self._groups:
            return True
        window = self._window(text, p)
        if window is None:
            return False
        if self._none(text, *window):
            return True
        return all(
            _matches_alike(token, start, text, p)
            for token, start in self._occurrences(text, *window)
        )

    def clear(self, text: str, start: int, stop: int) -> bool:
        """True if no occurrence of any token shares a code point with [start, stop)."""
        if not self._groups:
            return True
        first, last = max(0, start - self.reach), min(len(text), stop + self.reach)
        if self._none(text, first, last):
            return True
        return all(
            at >= stop or at + len(token.content) <= start
            for token, at in self._occurrences(text, first, last)
        )

    def free_of_tokens(self, text: str, start: int, stop: int) -> bool:
        """True if no occurrence of any token shares a code point with [start, stop), where an
        occurrence includes the white space that the token may strip."""
        if self._strips:
            first, last = _run_start(text, start), _run_stop(text, stop)
            if max(start - first, last - stop) > LONGEST_STRIPPED_RUN:
                return False
            start, stop = max(0, first - 1), min(len(text), last + 1)
        return self.clear(text, start, stop)

    def absent(self, text: str, start: int, stop: int) -> bool:
        """True if no token is near [start, stop). Then `safe` holds for start < p < stop."""
        if not self._groups:
            return True
        if self._strips:
            if _LONG_RUN.search(text, start, stop) is not None:
                return False
            first, last = _run_start(text, start), _run_stop(text, stop)
            if start - first > _HALF_RUN or last - stop > _HALF_RUN:
                return False
            start, stop = first, last
        first, last = max(0, start - self.reach), min(len(text), stop + self.reach)
        return self._none(text, first, last)

    def parts_near_tokens(self, text: str) -> list[tuple[int, int]] | None:
        """The parts of the text where an occurrence of a token may forbid a cut.

        Returns disjoint [start, stop), ascending. None if the text may have a token that strips
        white space: such a token may reach any distance."""
        if self._strips:
            return [] if self.absent(text, 0, len(text)) else None
        found: list[tuple[int, int]] = []
        starts = sorted(set(chain.from_iterable(group.starts(text) for group in self._groups)))
        for at in starts:
            start, stop = max(0, at - self.reach), min(len(text), at + 2 * self.reach)
            if found and start <= found[-1][1]:
                start, _ = found.pop()
            found.append((start, stop))
        return found

    @cached_property
    def at_spaces(self) -> AddedTokenGuard:
        """The guard of the tokens that may forbid a cut before an ASCII space that follows a
        character other than white space.

        The remaining tokens never forbid such a cut (corollary 2 of theorem 27)."""
        return AddedTokenGuard(tuple(filter(_forbids_spaces, self.tokens)))

    @cached_property
    def between_spaces(self) -> bool:
        """True if no token contains a space after a character other than white space.

        A text may then be cut before all such spaces, and each occurrence lies in one segment."""
        return not any(_BEHIND_OTHER.search(token.content) for token in self.tokens)

    @property
    def marks(self) -> tuple[str, ...]:
        """Characters such that each token has at least one of them."""
        return tuple(group.mark for group in self._groups)

    def _none(self, text: str, first: int, last: int) -> bool:
        """True if no token occurs in [first, last)."""
        return all(group.lacks(text, first, last) for group in self._groups)

    @cached_property
    def _groups(self) -> tuple[_Group, ...]:
        groups = group_by_mark(token.content for token in self.tokens)
        return tuple(_Group(mark, frozenset(contents)) for mark, contents in groups)

    def _window(self, text: str, p: int) -> tuple[int, int] | None:
        """[lo, hi) that contains every occurrence which may forbid a cut at `p`.

        None if the run of white space around `p` is longer than `LONGEST_STRIPPED_RUN`."""
        lo = hi = p
        if self._strips:
            if maybe_space(text[p]):
                lo = _run_start(text, p)
            if maybe_space(text[p - 1]):
                hi = _run_stop(text, p)
            if hi - lo > LONGEST_STRIPPED_RUN:
                return None
        return max(0, lo - self.reach), min(len(text), hi + self.reach)

    def _occurrences(self, text: str, lo: int, hi: int) -> Iterator[tuple[AddedToken, int]]:
        for token in self.tokens:
            start = text.find(token.content, lo, hi) if token.content else -1
            while start >= 0:
                yield token, start
                start = text.find(token.content, start + 1, hi)


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
    while p > least and maybe_space(text[p - 1]):
        p -= 1
    return p


def _run_stop(text: str, p: int) -> int:
    most = min(len(text), p + LONGEST_STRIPPED_RUN + 1)
    while p < most and maybe_space(text[p]):
        p += 1
    return p


def _matches_alike(token: AddedToken, start: int, text: str, p: int) -> bool:
    """True if the engine treats the occurrence of `token` at `start` alike with and without a cut
    at `p`."""
    stop = start + len(token.content)
    if start < p < stop:
        return False
    if token.single_word and (
        (stop == p and maybe_word(text[p])) or (start == p and maybe_word(text[p - 1]))
    ):
        return False
    if token.rstrip and stop <= p and all(map(maybe_space, text[stop : p + 1])):
        return False
    return not (token.lstrip and start >= p and all(map(maybe_space, text[p - 1 : start])))
