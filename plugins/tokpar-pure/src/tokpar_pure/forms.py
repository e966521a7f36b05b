"""Unicode normalization forms as Hugging Face's engine makes them, from tables of Unicode 9.

Characters that are newer than the engine's tables ("inert", see `tokpar.formats.char_classes`) stay
unchanged. Python's `unicodedata` normalizes the text between them; on that text every version of
Python agrees with the engine."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Literal, get_args

from tokpar.formats.char_classes import single
from tokpar_pure.classes import none_of, present

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)

Edit = tuple[str, int]
"""(character, change): a character of the output, and by how many characters it makes the output
longer than the input. 0: it replaces one character of the input. 1: it is inserted. -2: it replaces
three characters, as a composed letter does."""


def normalized(form: Form, text: str) -> str:
    """Returns `text` in a normalization form."""
    if text.isascii() or not present("inert", text):
        return unicodedata.normalize(form, text)
    return re.sub(none_of("inert"), lambda part: unicodedata.normalize(form, part[0]), text)


def trace(form: Form, text: str) -> list[int]:
    """Returns, for each character of `normalized(form, text)`, the index of the character of `text`
    that it stands for: "é" in NFD -> [0, 0].

    A reordered mark has the index of the mark whose place it took. A composed character has the
    index of its first part."""
    if text.isascii():
        return list(range(len(text)))
    edits = _decompose(form, text)
    return indices(_compose(edits) if form in ("NFC", "NFKC") else edits)


def indices(edits: Iterable[Edit]) -> list[int]:
    """Returns, for each edit, the index of the input character that it stands for."""
    found, after = [], 0
    for _, more in edits:
        found.append(after - 1 if more > 0 else after)
        after += 1 - more
    return found


def _decompose(form: Form, text: str) -> Iterator[Edit]:
    """Yields the full decomposition of `text`, with combining marks in canonical order."""
    whole: Form = "NFKD" if "K" in form else "NFD"
    taken_apart = (_decompose_char(whole, char) for char in text)
    edits = ((part, int(i > 0)) for parts in taken_apart for i, part in enumerate(parts))
    for _, run in groupby(edits, key=lambda edit: not _combining_class(edit[0])):
        yield from sorted(run, key=lambda edit: _combining_class(edit[0]))


def _compose(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yields the canonical composition: a starter absorbs each mark after it that is not blocked by
    a mark between the two."""
    held: list[Edit] = []  # a starter, and the marks after it that it did not absorb
    for char, more in edits:
        own = _combining_class(char)
        blocked = len(held) > 1 and _combining_class(held[-1][0]) >= own
        pair = _compose_pair(held[0][0], char) if held and not blocked else None
        if pair is not None:
            held[0] = pair, held[0][1] + more - 1
        elif own == 0:
            yield from held
            held = [(char, more)]
        elif held:
            held.append((char, more))
        else:
            yield char, more
    yield from held


_decompose_char = lru_cache(maxsize=1 << 14)(normalized)


@lru_cache(maxsize=1 << 14)
def _combining_class(char: str) -> int:
    return 0 if single("inert").match(char) else unicodedata.combining(char)


@lru_cache(maxsize=1 << 14)
def _compose_pair(first: str, second: str) -> str | None:
    """Returns the character that the two characters compose to, or None."""
    both = normalized("NFC", first + second)
    return both if len(both) == 1 else None
