"""A text in which each control token of its trusted runs is written as a name (definition 62).

A name is a private character, or up to three: it begins and ends with a word character where the
content of its token does, because `single_word` tokens look at their neighbours."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tokpar.arrays import IntArray, byte_starts
from tokpar.errors import OptionError
from tokpar.pure.classes import single
from tokpar.trust.trusted_search import Match

_WORD = "\U00010600"
"""A letter of Linear A, before and behind a name that must look like a word."""
_BLOCKS = (0xE000, 0xF900), (0xF0000, 0xFFFFE), (0x100000, 0x10FFFE)
"""[first, last) of the private characters of Unicode."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedText:
    """`text`: with names. `ends`: where the parts after each name begin, in `text` and in the
    text without names; int64, (names + 1, 2), code points."""

    text: str
    ends: IntArray

    def original(self, places: IntArray) -> IntArray:
        """Returns places of the text without names. No place lies inside a name."""
        return _move(places, self.ends[:, 0], self.ends[:, 1])

    def with_names(self, places: IntArray) -> IntArray:
        """Returns places of the text with names. No place lies inside a control token."""
        return _move(places, self.ends[:, 1], self.ends[:, 0])

    def in_bytes(self, original: str) -> NamedText:
        """Returns the same text with `ends` in UTF-8 bytes. `original`: the text without names."""
        starts = byte_starts(self.text), byte_starts(original)
        ends = [starts[side][self.ends[:, side]] for side in (0, 1)]
        return NamedText(self.text, np.stack(ends, axis=1))


def _move(places: IntArray, starts: IntArray, targets: IntArray) -> IntArray:
    part = np.maximum(np.searchsorted(starts, places, side="right") - 1, 0)
    there: IntArray = targets[part] + (places - starts[part])
    return there


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


def first_free(count: int, texts: Iterable[str]) -> int:
    """Returns the first of `count` private characters in a row that stand in none of `texts`.

    Raises OptionError if there is no such row."""
    used = sorted({ord(c) for text in texts for c in {*text}})
    for first, last in _BLOCKS:
        for code in (*(c for c in used if first <= c < last), last):
            if first + count <= code:
                return first
            first = code + 1
    raise OptionError(f"the text uses too many private characters: {count} in a row are needed")


def has_private(text: str, first: int, count: int) -> bool:
    """True if one of `count` characters from `first` on stands in the text."""
    if text.isascii():
        return False
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return bool((codes - np.uint32(first) < count).any())


def names_from(first: int, control: Collection[str]) -> dict[str, str]:
    """Returns the name of each control token: private characters from `first` on."""
    word = single("word").match
    return {
        content: (_WORD if word(content[0]) else "")
        + chr(first + k)
        + (_WORD if word(content[-1]) else "")
        for k, content in enumerate(sorted(control))
    }
