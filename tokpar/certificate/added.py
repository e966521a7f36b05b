"""Is a place safe from added tokens? Theorem 6.1, conditions (a)-(d), each read cautiously.

Word characters and white space are whatever *could* be one: an engine may know fewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokpar.types import AddedToken

_SPACE_RUN = re.compile(r"\s*")


def possibly_word(char: str) -> bool:
    """True unless the character is ASCII and surely not ``\\w`` ("_" and "é" are, "-" is not)."""
    return not char.isascii() or char.isalnum() or char == "_"


def run_around(text: str, position: int) -> tuple[int, int]:
    """The widest [start, stop) around a position that is all possible white space."""
    reach = 64
    while True:
        low = max(0, position - reach)
        kept = len(text[low:position].rstrip())
        if kept or low == 0:
            break
        reach *= 4
    stop = _SPACE_RUN.match(text, position)
    assert stop is not None
    return low + kept, stop.end()


def occurring(contents: Iterable[str], text: str) -> list[str]:
    """Those that occur in a text. Few do: most have a character that it lacks, and the others begin
    with one that is searched for all of them at once."""
    known: dict[str, bool] = {}

    def holds(char: str) -> bool:
        if char not in known:
            known[char] = char in text
        return known[char]

    groups: dict[str, list[str]] = {}
    for content in contents:
        if content and all(map(holds, content)):
            groups.setdefault(content[0], []).append(content)
    found = []
    for first, group in groups.items():
        if _one_occurs(first, group, text):
            found += [content for content in group if content in text]
    return found


def _one_occurs(first: str, contents: Sequence[str], text: str) -> bool:
    """Some content occurs; all begin with the character `first`."""
    shortest = min(map(len, contents))
    heads, whole = {content[:shortest] for content in contents}, tuple(contents)
    place = text.find(first)
    while place >= 0:
        if text[place : place + shortest] in heads and text.startswith(whole, place):
            return True
        place = text.find(first, place + 1)
    return False


@dataclass(frozen=True)
class _Stripper:
    """A token that swallows white space beside it, and how much of it its own content holds."""

    content: str
    blank: bool
    leading: int
    trailing: int

    @classmethod
    def of(cls, content: str) -> _Stripper:
        return cls(
            content,
            blank=content.isspace(),
            leading=len(content) - len(content.lstrip()),
            trailing=len(content) - len(content.rstrip()),
        )


class Occurrences:
    """Where some tokens' contents occur in a text, asked place by place.

    A run of white space is measured once however many places in a row lie in it.
    """

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        self._text = ""
        kept = self.tokens = [token for token in tokens if token.content]
        self.contents = sorted({token.content for token in kept})
        self._single = sorted({token.content for token in kept if token.single_word})
        self._left = [_Stripper.of(token.content) for token in kept if token.lstrip]
        self._right = [_Stripper.of(token.content) for token in kept if token.rstrip]
        self._run = (0, -1)
        self._found: dict[tuple[str, str], int] = {}

    @cached_property
    def _across(self) -> dict[str, list[str]]:
        """Contents by the pairs of characters in them."""
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
            self._crossing(position)
            or self._word_edge(position)
            or self._stripped_right(position)
            or self._stripped_left(position)
        )

    def touching(self, text: str, start: int, stop: int) -> str | None:
        """A content that occurs over any character of [start, stop), or None."""
        for content in self.contents:
            low = max(0, start - len(content) + 1)
            if text.find(content, low, stop + len(content) - 1) >= 0:
                return content
        return None

    def _crossing(self, position: int) -> str | None:
        for content in self._across.get(self._text[position - 1 : position + 1], ()):
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

    def _stripped_right(self, position: int) -> str | None:
        if not self._right or not self._text[position].isspace():
            return None
        start, stop = self._white_run(position)
        for token in self._right:
            if token.blank:
                first = self._search(token.content, start, stop, "first")
                hit = first >= 0 and first + len(token.content) <= position
            else:
                end = start + token.trailing
                begin = end - len(token.content)
                hit = begin >= 0 and end <= position and self._text.startswith(token.content, begin)
            if hit:
                return f"rstrip token {token.content!r} swallows white space across it (6.1c)"
        return None

    def _stripped_left(self, position: int) -> str | None:
        if not self._left or not self._text[position - 1].isspace():
            return None
        start, stop = self._white_run(position)
        for token in self._left:
            if token.blank:
                hit = self._search(token.content, start, stop, "last") >= position
            else:
                begin = stop - token.leading
                hit = begin >= position and self._text.startswith(token.content, begin)
            if hit:
                return f"lstrip token {token.content!r} swallows white space across it (6.1d)"
        return None

    def _white_run(self, position: int) -> tuple[int, int]:
        if not self._run[0] <= position <= self._run[1]:
            self._run = run_around(self._text, position)
            self._found.clear()
        return self._run

    def _search(self, content: str, start: int, stop: int, which: str) -> int:
        if (content, which) not in self._found:
            find = self._text.find if which == "first" else self._text.rfind
            self._found[content, which] = find(content, start, stop)
        return self._found[content, which]
