"""The places where a chunk may begin and end: between tokens, at certified cuts, at ends of lines
or sentences. All positions are code points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, Protocol

from tokpar.chunks.encoded_text import EncodedText

Boundary = Literal["token", "cut", "line", "sentence"]
BOUNDARIES: tuple[Boundary, ...] = ("token", "cut", "line", "sentence")
LINE_END = re.compile(r"\r\n?|\n")
SENTENCE_END = re.compile(
    "[.!?\u2026]+[\"'\u201d\u2019)\\]\u00bb]*(?!\\S)"
    "|[\u3002\uff01\uff1f\uff61][\u3002\uff01\uff1f\uff61\u201d\u2019\u300d\u300f\uff09\u3011]*"
    r"|\r\n?|\n"
)
"""A sentence ends after . ! ? or an ellipsis, with the quotes and brackets that close it, before
white space; after the Chinese and Japanese full stop, exclamation and question mark; and where a
line ends."""
_WINDOW, _GROWTH = 64, 4
"""Code points in which the ends of matches are looked for first, and how much more next."""


class Places(Protocol):
    """The places of one boundary in one text."""

    def descend(self, lower_bound: int, last: int) -> Iterator[int]:
        """Yield the places in (lower_bound, last], last first. The end of the text is a place."""

    def first(self, start: int, stop: int) -> int | None:
        """Returns the first place in [start, stop), 0 < start, or None."""


class BoundaryPlaces:
    """The places between two tokens of the whole text that share no character."""

    def __init__(self, whole: EncodedText) -> None:
        self._whole = whole

    def descend(self, lower_bound: int, last: int) -> Iterator[int]:
        whole = self._whole
        if last == len(whole.text):
            yield last
            last -= 1
        for token in range(int(whole.starts.searchsorted(last, "right")) - 1, -1, -1):
            place = int(whole.starts[token])
            if place <= lower_bound:
                return
            if whole.is_edge(token):
                yield place

    def first(self, start: int, stop: int) -> int | None:
        whole = self._whole
        for token in range(int(whole.starts.searchsorted(start)), len(whole.ids)):
            if whole.starts[token] >= stop:
                return None
            if whole.is_edge(token):
                return int(whole.starts[token])
        return None


class CutPlaces:
    """The certified cuts of the whole text."""

    def __init__(self, whole: EncodedText) -> None:
        self._whole = whole

    def descend(self, lower_bound: int, last: int) -> Iterator[int]:
        whole = self._whole
        if last == len(whole.text):
            yield last
            last -= 1
        if whole.has_cuts:
            likely = whole.finder.likely(whole.text, lower_bound + 1, last + 1)
            yield from (place for place in likely if whole.seam(place) is not None)

    def first(self, start: int, stop: int) -> int | None:
        whole = self._whole
        if not whole.has_cuts:
            return None
        seam = whole.finder.find(whole.text, start, stop, 64)
        return None if seam is None else seam.position


class MatchPlaces:
    """The ends of the matches of a regex."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._text, self._pattern = text, pattern

    def descend(self, lower_bound: int, last: int) -> Iterator[int]:
        if last == len(self._text):
            yield last
            last -= 1
        size = _WINDOW
        while last > lower_bound:
            low = max(lower_bound, last - size)
            yield from reversed(self._ends(low, last))
            last, size = low, _GROWTH * size

    def first(self, start: int, stop: int) -> int | None:
        return next(iter(self._ends(start - 1, stop - 1)), None)

    def _ends(self, lower_bound: int, last: int) -> list[int]:
        """Returns the ends in (lower_bound, last].

        A match may begin earlier, and looks at one character behind its end."""
        text = self._text
        low, high = max(0, lower_bound - 64), min(len(text), last + 1)
        ends = (match.end() for match in self._pattern.finditer(text, low, high))
        return [end for end in ends if lower_bound < end <= last]


def places_of(boundary: Boundary, whole: EncodedText) -> list[Places]:
    """Returns the places of `boundary`, then the places to fall back to, in order."""
    tokens, cuts = BoundaryPlaces(whole), CutPlaces(whole)
    found: dict[Boundary, list[Places]] = {
        "token": [tokens],
        "cut": [cuts, tokens],
        "line": [MatchPlaces(whole.text, LINE_END), cuts, tokens],
        "sentence": [MatchPlaces(whole.text, SENTENCE_END), cuts, tokens],
    }
    return found[boundary]
