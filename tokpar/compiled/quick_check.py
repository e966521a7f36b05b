"""The quick check of normal forms (UAX 15): which characters a normalizer leaves as they are."""

from __future__ import annotations

import sys
import unicodedata
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

CHANGES = 255
"""Of a character that a normalizer may change."""
CODE_POINTS = sys.maxunicode + 1
_UNKNOWN = ("Cn", "Cs")  # not assigned; surrogates
_PRIVATE = (slice(0xF0000, 0xFFFFE), slice(0x100000, 0x10FFFE))
_PLANES = (range(0x40000), range(0xE0000, 0xF0000))  # the others are empty, or private
_COMPOSING_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))
_APART = "\U0010ffff"
_BLOCK = 1 << 13
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
_OF_ONE_CHARACTER = "Lowercase", "StripAccents"
NORMALIZERS = f"{', '.join((*FORMS, _OF_ONE_CHARACTER[0]))} and {_OF_ONE_CHARACTER[1]}"
"""The normalizers that `quick_check` knows, in words."""
UNMOVED = frozenset(" \t\n\r")
"""White space that `_KEEPS` neither make nor change: it has no decomposition, is in none, and
composes with nothing."""
_KEEPS = frozenset({"NFC", "NFD", "Lowercase"})
"""Normalizers that leave something of each character, and make no ASCII white space. StripAccents
takes a mark between two spaces away; NFKC makes spaces."""


@lru_cache(maxsize=8)
def quick_check(kinds: tuple[str, ...]) -> NDArray[np.uint8] | None:
    """Returns a number for each code point, uint8 (1,114,112,); None for other normalizers.

    0: a row of normalizers of these `kinds` leaves the character as it is, whatever stands around.
    1 to 254: its canonical combining class; it stays where it is if the classes of neighbours do
    not fall. `CHANGES`: it may change, compose with the character before it, or is not assigned.

    Characters keep these properties in later versions of Unicode, and a version that does not know
    a character leaves it alone."""
    if not {*FORMS, *_OF_ONE_CHARACTER}.issuperset(kinds):
        return None
    found = np.full(CODE_POINTS, CHANGES, dtype=np.uint8)
    chars, categories = assigned_characters()
    for start in range(0, len(chars), _BLOCK):
        block = slice(start, start + _BLOCK)
        _check_block(found, chars[block], categories[block], kinds)
    for private in _PRIVATE:
        found[private] = 0
    if not {"NFC", "NFKC"}.isdisjoint(kinds):
        found[_composing(chars)] = CHANGES
    return found


def leaves_alone(kinds: tuple[str, ...], content: str) -> bool:
    """True if a text has `content` where its form behind a row of normalizers of these `kinds` has
    it, and the form is that of the left side, `content`, that of the right side."""
    return bool(kinds) and _KEEPS.issuperset(kinds) and UNMOVED.issuperset(content)


def _check_block(
    found: NDArray[np.uint8], chars: list[str], categories: list[str], kinds: tuple[str, ...]
) -> None:
    """Puts the numbers of some characters into `found`. They are few, because no other thread runs
    while Python normalizes a text."""
    places = np.array([*map(ord, chars)])
    found[places] = [*map(unicodedata.combining, chars)]
    joined = _APART.join(chars)
    for kind in kinds:
        if kind == "StripAccents":  # takes away what is a mark to its own version of Unicode
            from tokpar.formats.char_classes import single  # few tokenizers have the stage

            marks = [single("mark").match(char) is not None for char in chars]
            found[places[marks | np.char.startswith(categories, "M")]] = CHANGES
            continue
        form = next((form for form in FORMS if form == kind), None)
        image = joined.lower() if form is None else unicodedata.normalize(form, joined)
        found[places[[a != b for a, b in zip(chars, image.split(_APART), strict=True)]]] = CHANGES


@lru_cache(maxsize=1)
def assigned_characters() -> tuple[list[str], list[str]]:
    """Returns the assigned characters but for the private planes and surrogates, and the general
    category of each."""
    codes = (chr(code) for plane in _PLANES for code in plane)
    kinds = {char: unicodedata.category(char) for char in codes}
    found = {char: kind for char, kind in kinds.items() if kind not in _UNKNOWN}
    return [*found], [*found.values()]


def _composing(chars: list[str]) -> list[int]:
    """Returns the characters that may compose with the character before them."""
    seconds = {*_COMPOSING_JAMO}
    for parts in (unicodedata.decomposition(char).split() for char in chars):
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(int(parts[1], 16))
    return sorted(seconds)
