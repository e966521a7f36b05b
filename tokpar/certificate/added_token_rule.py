"""Check that added tokens do not forbid a cut: theorem 6.1, conditions (a)-(d), read cautiously.

A character counts as a word character, or as white space, if *any* engine may treat it so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from tokpar.certificate.frozen_tables import SPACES
from tokpar.types import AddedToken

_SPACE_RUN = re.compile(r"\s*")
_CUT = re.compile("[^{}] ".format("".join(SPACES)))
_RARE = 1 << 14


def possibly_word(char: str) -> bool:
    """True unless the character is ASCII and not ``\\w``: True for "_" and "é", False for "-"."""
    return not char.isascii() or char.isalnum() or char == "_"


def run_around(text: str, position: int) -> tuple[int, int]:
    """The widest [start, stop) around a position in which every character may be white space."""
    reach, low, kept = 64, position, 0
    while low and not kept:
        low = max(0, position - reach)
        kept = len(text[low:position].rstrip())
        reach *= 4
    stop = _SPACE_RUN.match(text, position)
    assert stop is not None
    return low + kept, stop.end()


def occurring(contents: Iterable[str], text: str) -> list[str]:
    """The contents that occur in a text.

    Most contents have a character that the text lacks. The search groups the remaining contents by
    first character."""
    contents = [content for content in contents if content]
    lacking = {char for char in set().union(*contents) if char not in text}
    groups: dict[str, list[str]] = {}
    for content in contents:
        if lacking.isdisjoint(content):
            groups.setdefault(content[0], []).append(content)
    found = []
    for first, group in groups.items():
        if _one_occurs(first, group, text):
            found += [content for content in group if content in text]
    return found


def _one_occurs(first: str, contents: list[str], text: str) -> bool:
    """True if one of the contents occurs in the text. All contents begin with `first`.

    While `first` is rare in the text, a search for `first` is ten times faster than for contents.
    """
    pattern = re.compile("|".join(map(re.escape, contents)))
    starts = tuple({content[:4] for content in contents})
    place = text.find(first)
    for _ in range(_RARE):
        if place < 0 or (text.startswith(starts, place) and pattern.match(text, place)):
            return place >= 0
        place = text.find(first, place + 1)
    return place >= 0 and pattern.search(text, place) is not None


class Occurrences:
    """Occurrences of added tokens in a text, checked position by position.

    A run of white space is measured once for all successive positions in it."""

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        self._text = ""
        kept = [token for token in tokens if token.content]
        self.contents = sorted({token.content for token in kept})
        self._single = sorted({token.content for token in kept if token.single_word})
        self._left_stripping = sorted({token.content for token in kept if token.lstrip})
        self._right_stripping = sorted({token.content for token in kept if token.rstrip})
        firsts = {token.content for token in kept if token.single_word and token.content[0] == " "}
        across = {content for content in self.contents if _CUT.search(content)}
        self.forbidding = sorted({*self._right_stripping, *firsts, *across})
        """The tokens that may forbid a cut before an ASCII space after a non-space."""
        self._run = (0, -1)
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}

    @cached_property
    def _contents_by_pair(self) -> dict[str, list[str]]:
        """Map each pair of adjacent characters to the contents that have the pair."""
        found: dict[str, list[str]] = {}
        for content in self.contents:
            for pair in {content[i : i + 2] for i in range(len(content) - 1)}:
                found.setdefault(pair, []).append(content)
        return found

    def objection(self, text: str, position: int) -> str | None:
        """Why a cut at `position` may change which added tokens match, or None if it cannot."""
        if text is not self._text:
            self._text, self._run = text, (0, -1)
        return (
            self._crossing(position) or self._word_edge(position) or self._strip_refusal(position)
        )

    def touching(self, text: str, start: int, stop: int) -> str | None:
        """A content that occurs over any character of [start, stop), or None."""
        for content in self.contents:
            low = max(0, start - len(content) + 1)
            if text.find(content, low, stop + len(content) - 1) >= 0:
                return content
        return None

    def reaching(self, text: str, start: int, stop: int) -> str | None:
        """As `touching`, or a content that may strip white space in [start, stop)."""
        if self._left_stripping or self._right_stripping:
            start, stop = run_around(text, start)[0] - 1, run_around(text, stop)[1] + 1
        return self.touching(text, max(0, start), stop)

    def _crossing(self, position: int) -> str | None:
        for content in self._contents_by_pair.get(self._text[position - 1 : position + 1], ()):
            reach = len(content) - 1
            low = max(0, position - reach)
            if self._text.find(content, low, position + reach) >= 0:
                return f"added token {content!r} occurs across it (6.1a)"
        return None

    def _word_edge(self, position: int) -> str | None:
        before, after = self._text[position - 1], self._text[position]
        for content in self._single:
            begin = position - len(content)
            ends = begin >= 0 and self._text.startswith(content, begin) and possibly_word(after)
            starts = self._text.startswith(content, position) and possibly_word(before)
            if ends or starts:
                return f"single_word token {content!r} touches it beside a word character (6.1b)"
        return None

    def _strip_refusal(self, position: int) -> str | None:
        """Why no cut is certain here, or None: a token may strip the white space around it."""
        if self._right_stripping and self._text[position].isspace():
            self._look_around(position)
            for content in self._right_stripping:
                if 0 <= self._first[content] <= position - len(content):
                    return f"rstrip token {content!r} swallows white space across it (6.1c)"
        if self._left_stripping and self._text[position - 1].isspace():
            self._look_around(position)
            for content in self._left_stripping:
                if self._last[content] >= position:
                    return f"lstrip token {content!r} swallows white space across it (6.1d)"
        return None

    def _look_around(self, position: int) -> None:
        """Find where tokens first end, and last begin, in the white space around a position."""
        if self._run[0] <= position <= self._run[1]:
            return
        start, stop = self._run = run_around(self._text, position)
        for content in self._right_stripping:
            self._first[content] = self._text.find(content, max(0, start - len(content)), stop)
        for content in self._left_stripping:
            self._last[content] = self._text.rfind(content, start, stop + len(content))
