"""Parts of texts between certified cuts, whose token offsets are found one part at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tokpar.kernel.offset_rows import inside
from tokpar.kernels import IdArray, SpanArray
from tokpar.types import CERTIFIED_CUTS, Seam


@dataclass(frozen=True, slots=True)
class Part:
    """text[start:stop] of text number `row`.

    `absorbed`: code points before `start` for which the prefix stands that the tokenizer puts in
    front of the part (theorem 6.4). `way`: what tells the offsets of its tokens: their lengths, the
    cache or else the engine, the engine."""

    row: int
    start: int
    stop: int
    absorbed: int = 0
    way: Literal["lengths", "cache", "engine"] = "engine"


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


def checked(
    ids: IdArray | None, spans: SpanArray, expected: IdArray, code_points: int | None
) -> SpanArray | None:
    """`spans`, if `expected` begins with these ids (None: as many of any), and no token lies
    elsewhere than in a part of so many code points."""
    if len(spans) > len(expected):
        return None
    if ids is not None and not np.array_equal(ids, expected[: len(ids)]):
        return None
    if code_points is not None and not inside(spans, code_points).all():
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
