"""Check that added tokens do not forbid a cut: theorem 6.1, conditions (a)-(d), read cautiously.

A character counts as a word character, or as white space, if *any* engine may treat it so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tokpar.certificate.content_index import ContentIndex
from tokpar.certificate.frozen_tables import SPACES
from tokpar.types import AddedToken

_SPACE_RUN = re.compile(r"\s*")
_CUT = re.compile("[^{}] ".format("".join(SPACES)))


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


class Occurrences:
    """Occurrences of added tokens in a text, checked position by position.

    The time of a check does not grow with the number of tokens. A run of white space is measured
    once for all successive positions in it."""

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        kept = [token for token in tokens if token.content]
        self.contents = ContentIndex(token.content for token in kept)
        self._single = {token.content for token in kept if token.single_word}
        self._left_stripping = ContentIndex(token.content for token in kept if token.lstrip)
        self._right_stripping = ContentIndex(token.content for token in kept if token.rstrip)
        firsts = {token.content for token in kept if token.single_word and token.content[0] == " "}
        across = {content for content in self.contents.contents if _CUT.search(content)}
        rights = self._right_stripping.contents
        self.forbidding = ContentIndex({*rights, *firsts, *across})
        """The tokens that may forbid a cut before an ASCII space after a non-space."""
        self._text, self._run = "", (0, -1)
        self._first_stop: tuple[int, str] | None = None
        self._last_start: tuple[int, str] | None = None

    def objection(self, text: str, position: int) -> str | None:
        """Why a cut at `position` may change which added tokens match, or None if it cannot."""
        if text is not self._text:
            self._text, self._run = text, (0, -1)
        return self._refusal_beside(position) or self._strip_refusal(position)

    def touching(self, text: str, start: int, stop: int) -> str | None:
        """A content that occurs over any character of [start, stop), or None."""
        reach = self.contents.longest - 1
        for place, content in self.contents.occurrences(text, start - reach, stop + reach):
            if place < stop and start < place + len(content):
                return content
        return None

    def _refusal_beside(self, position: int) -> str | None:
        """Why no cut is certain here, or None: a token occurs across it, or is a word beside it."""
        text, reach, beside = self._text, self.contents.longest, None
        near = self.contents.occurrences(text, position - reach, position + reach)
        for start, content in near:
            stop = start + len(content)
            if start < position < stop:
                return f"added token {content!r} occurs across it (6.1a)"
            ends = stop == position and possibly_word(text[position])
            starts = start == position and possibly_word(text[position - 1])
            if content in self._single and (ends or starts):
                beside = content
        if beside is None:
            return None
        return f"single_word token {beside!r} touches it beside a word character (6.1b)"

    def _strip_refusal(self, position: int) -> str | None:
        """Why no cut is certain here, or None: a token may strip the white space around it."""
        if self._right_stripping.longest and self._text[position].isspace():
            self._look_around(position)
            if self._first_stop is not None and self._first_stop[0] <= position:
                token = self._first_stop[1]
                return f"rstrip token {token!r} swallows white space across it (6.1c)"
        if self._left_stripping.longest and self._text[position - 1].isspace():
            self._look_around(position)
            if self._last_start is not None and self._last_start[0] >= position:
                token = self._last_start[1]
                return f"lstrip token {token!r} swallows white space across it (6.1d)"
        return None

    def _look_around(self, position: int) -> None:
        """Find where tokens first end, and last begin, in the white space around a position."""
        if self._run[0] <= position <= self._run[1]:
            return
        start, stop = self._run = run_around(self._text, position)
        rights, lefts = self._right_stripping, self._left_stripping
        ends = (
            (place + len(content), content)
            for place, content in rights.occurrences(self._text, start - rights.longest, stop)
        )
        self._first_stop = min((each for each in ends if each[0] >= start), default=None)
        begins = lefts.occurrences(self._text, start, stop + lefts.longest)
        self._last_start = max((each for each in begins if each[0] <= stop), default=None)
