"""Parts of texts between certified cuts, whose token offsets are found one part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.cache.offset_rows import inside
from tokpar.types import CERTIFIED_CUTS, Seam


@dataclass(frozen=True, slots=True)
class Part:
    """text[start:stop] of text number `row`.

    `absorbed`: code points before `start` for which the prefix stands that the tokenizer puts in
    front of the part (theorem 6.4). `way`: what tells the offsets of its tokens: their lengths, the
    cache or else the engine, the engine. `is_whole`: the text has no other parts."""

    row: int
    start: int
    stop: int
    absorbed: int = 0
    way: Literal["lengths", "cache", "engine"] = "engine"
    is_whole: bool = False


def parts_between(row: int, text: str, seams: Iterable[Seam]) -> Iterator[Part]:
    """The parts of a text between certified cuts."""
    start = absorbed = 0
    for seam in seams:
        assert seam.rule in CERTIFIED_CUTS
        yield Part(row, start + absorbed, seam.position, absorbed)
        start, absorbed = seam.position, int(dict(seam.witness).get("absorbed", 0))
    yield Part(row, start + absorbed, len(text), absorbed)


def joined_by_lengths(parts: Iterable[Part]) -> list[Part]:
    """The same, one part in place of neighbours whose offsets lengths tell."""
    joined: list[Part] = []
    for part in parts:
        if joined and joined[-1].way == part.way == "lengths":
            joined[-1] = replace(joined[-1], stop=part.stop)
        else:
            joined.append(part)
    return joined


def together(parts: Sequence[Part], most: int) -> Iterator[Sequence[Part]]:
    """Parts for one call of the engine each time: `most` code points, or a single part."""
    first = size = 0
    for i, part in enumerate(parts):
        length = part.stop - part.start
        if i > first and size + length > most:
            yield parts[first:i]
            first, size = i, 0
        size += length
    if first < len(parts):
        yield parts[first:]


OffsetsByIds = Callable[[IdArray], SpanArray | None]
"""The offsets of a part's tokens, given the ids of the text from the part on; None if these do not
begin with the part's ids."""


def checked(ids: IdArray, spans: SpanArray, part: Part, expected: IdArray) -> SpanArray | None:
    """The engine's offsets of a part, if `expected` begins with the part's ids, and unless the part
    is a whole text all tokens lie in it."""
    if not np.array_equal(ids, expected[: len(ids)]):
        return None
    if not part.is_whole and not inside(spans, part.stop - part.start).all():
        return None
    return spans


def moved(spans: SpanArray, part: Part) -> SpanArray:
    """The offsets of a part's tokens in the whole text."""
    found = spans + part.start
    if part.absorbed and len(found):
        # The engine places the prefix on the character behind it: on the same as the next token, if
        # the prefix is a token of its own. In the whole text it stands for the absorbed space.
        found[0, 0] = part.start - part.absorbed
        if len(found) > 1 and found[1, 0] == part.start:
            found[0, 1] = part.start
    return found
