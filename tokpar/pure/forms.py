"""Unicode normalization forms as Hugging Face's engine makes them, by tables of Unicode 9: newer
characters ("inert", see `tokpar.pure.classes`) stand between texts that Python normalizes, where a
Python of any version agrees with the engine."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Literal, get_args

from tokpar.pure.classes import none_of, present, single

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)

Edit = tuple[str, int]
"""A character and how many characters of the input it stands for, less one: 0 replaces one
character, 1 is one more than there were, -2 takes the place of three (as composed letters do)."""


def normalized(form: Form, text: str) -> str:
    """`text` in a normalization form."""
    if text.isascii() or not present("inert", text):
        return unicodedata.normalize(form, text)
    return re.sub(none_of("inert"), lambda part: unicodedata.normalize(form, part[0]), text)


def trace(form: Form, text: str) -> list[int]:
    """Index into `text` for each character of `normalized(form, text)`: "é" in NFD -> [0, 0]. After
    reordering that of the character whose place was taken; if composed, of the first part."""
    if text.isascii():
        return list(range(len(text)))
    edits = _decompose(form, text)
    return indices(_compose(edits) if form in ("NFC", "NFKC") else edits)


def indices(edits: Iterable[Edit]) -> list[int]:
    """Index of the input character that each edit stands for."""
    found, after = [], 0
    for _, more in edits:
        found.append(after - 1 if more > 0 else after)
        after += 1 - more
    return found


def _decompose(form: Form, text: str) -> Iterator[Edit]:
    """Full decomposition, combining marks in canonical order."""
    whole: Form = "NFKD" if "K" in form else "NFD"
    taken_apart = (_decompose_char(whole, char) for char in text)
    edits = ((part, int(i > 0)) for parts in taken_apart for i, part in enumerate(parts))
    for _, run in groupby(edits, key=lambda edit: not _combining_class(edit[0])):
        yield from sorted(run, key=lambda edit: _combining_class(edit[0]))


def _compose(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Canonical composition: a starter takes up the marks behind it that nothing blocks."""
    held: list[Edit] = []  # a starter and the marks behind it that it did not take up
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
    """Returns the character that two characters compose to, or None."""
    both = normalized("NFC", first + second)
    return both if len(both) == 1 else None
