"""A text in which each control token of its trusted runs is written as a name (definition 62).

A name is a private character, or up to three: it begins and ends with a word character where the
content of its token does, because `single_word` tokens look at their neighbours."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbelow

import numpy as np

from tokpar.arrays import IntArray, byte_starts
from tokpar.errors import OptionError
from tokpar.formats.char_classes import single
from tokpar.untrusted.trusted_search import Match

LETTERS = range(0x10600, 0x10737)
"""Letters of Linear A. One stands before and behind each name that must look like a word."""
ZONES = range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x40000, 0xE0000)
"""Characters that names are made of: private ones, then such as Unicode has not assigned."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedText:
    """`text`: with names. `ends`: where the parts after each name begin, in `text` and in the
    text without names; int64, (names + 1, 2), code points."""

    text: str
    ends: IntArray

    def original(self, places: IntArray) -> IntArray:
        """Returns places of the text without names. No place lies inside a name."""
        starts, targets = self.ends.T
        part = np.maximum(np.searchsorted(starts, places, side="right") - 1, 0)
        there: IntArray = targets[part] + (places - starts[part])
        return there

    def in_bytes(self, original: str) -> NamedText:
        """Returns the same text with `ends` in UTF-8 bytes. `original`: the text without names."""
        starts = byte_starts(self.text), byte_starts(original)
        ends = [starts[side][self.ends[:, side]] for side in (0, 1)]
        return NamedText(self.text, np.stack(ends, axis=1))


def named_text(text: str, matches: Sequence[Match], names: Mapping[str, str]) -> NamedText:
    """Returns the text with the names of the control tokens `matches`."""
    parts: list[str] = []
    ends, at, length = [(0, 0)], 0, 0
    for start, stop, content in matches:
        parts += text[at:start], names[content]
        length += start - at + len(names[content])
        at = stop
        ends.append((length, stop))
    parts.append(text[at:])
    return NamedText("".join(parts) if matches else text, np.array(ends, np.int64))


def first_free(count: int, zone: range, *texts: str) -> int | None:
    """Returns the first of `count` characters of a zone in a row that stand in none of `texts`,
    searched from a random place on; None if there is no such row.

    Who writes a text cannot know the names, and so cannot make each call look for others."""
    if count > len(zone):
        return None
    used = sorted({ord(c) for text in texts for c in {*text} if ord(c) in zone})
    middle = zone.start + randbelow(len(zone) - count + 1)
    for first, last in ((middle, zone.stop), (zone.start, zone.stop)):
        for code in (*(c for c in used if first <= c < last), last):
            if first + count <= code:
                return first
            first = code + 1
    return None


def has_private(text: str, first: int, count: int) -> bool:
    """True if one of `count` characters from `first` on stands in the text."""
    if text.isascii():
        return False
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return bool((codes - np.uint32(first) < count).any())


def names_from(first: int, control: Collection[str], vocabulary: str) -> dict[str, str]:
    """Returns the name of each control token: private characters from `first` on.

    A token that ends with the letter of the names would hide the name behind it, so no character
    of a name is one of the `vocabulary`. Raises OptionError if that leaves no letter."""
    word = single("word").match
    letter = next((chr(code) for code in LETTERS if chr(code) not in vocabulary), None)
    if letter is None:
        raise OptionError("tokens with all letters of Linear A leave none for names")
    return {
        content: (letter if word(content[0]) else "")
        + chr(first + k)
        + (letter if word(content[-1]) else "")
        for k, content in enumerate(sorted(control))
    }
