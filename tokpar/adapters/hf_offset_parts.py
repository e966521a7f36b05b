"""Parts of texts between certified cuts. Token offsets are found one part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.cache.offset_rows import are_inside
from tokpar.types import CERTIFIED_CUTS, Seam


@dataclass(frozen=True, slots=True)
class Part:
    """text[start:stop] of the text with index `row`.

    `absorbed_chars`: how many code points before `start` the tokenizer's prefix stands for. The
    tokenizer puts a prefix before each text, so also before this part (theorem 6.4). `way`: the
    source of the offsets: "lengths" (token lengths), "cache" (the cache, or the engine on a miss),
    or "engine". `is_whole`: True if the part is a whole text."""

    row: int
    start: int
    stop: int
    absorbed_chars: int = 0
    way: Literal["lengths", "cache", "engine"] = "engine"
    is_whole: bool = False


def parts_between(row: int, text: str, seams: Iterable[Seam]) -> Iterator[Part]:
    """Yields the parts of a text between certified cuts. Raises ValueError for another seam."""
    start = absorbed = 0
    for seam in seams:
        if seam.rule not in CERTIFIED_CUTS:
            raise ValueError(f"a part of a text ends at a certified cut, got {seam}")
        yield Part(row, start + absorbed, seam.position, absorbed)
        start, absorbed = seam.position, seam.absorbed
    yield Part(row, start + absorbed, len(text), absorbed)


def join_by_lengths(parts: Iterable[Part]) -> list[Part]:
    """Returns the parts. Neighbours whose offsets come from token lengths are joined into one
    part."""
    joined: list[Part] = []
    for part in parts:
        if joined and joined[-1].way == part.way == "lengths":
            joined[-1] = replace(joined[-1], stop=part.stop)
        else:
            joined.append(part)
    return joined


def group_parts(parts: Sequence[Part], most: int) -> Iterator[Sequence[Part]]:
    """Yields groups of parts, one for each call of the engine: at most `most` code points, or one
    part."""
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
"""Returns the offsets of a part's tokens, given the ids of the text from the part on. None if these
ids do not begin with the part's ids."""


def check_spans(
    ids: IdArray, spans: SpanArray, part: Part, expected_ids: IdArray
) -> SpanArray | None:
    """Returns `spans`, the engine's offsets of a part, or None.

    None if `expected_ids` does not begin with the part's `ids`, or if a token reaches beyond a part
    that is not a whole text."""
    if not np.array_equal(ids, expected_ids[: len(ids)]):
        return None
    if not part.is_whole and not are_inside(spans, part.stop - part.start).all():
        return None
    return spans


def shift_spans(spans: SpanArray, part: Part) -> SpanArray:
    """Returns the offsets of a part's tokens in the whole text."""
    found = spans + part.start
    if part.absorbed_chars and len(found):
        # The engine places the prefix on the character after it: the same character as the next
        # token, if the prefix is a token of its own. In the whole text, the prefix is the absorbed
        # space.
        found[0, 0] = part.start - part.absorbed_chars
        if len(found) > 1 and found[1, 0] == part.start:
            found[0, 1] = part.start
    return found
