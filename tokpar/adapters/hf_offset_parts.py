"""Parts of texts between certified cuts. Token offsets are found one part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray
from tokpar.concatenation import Part


@dataclass(frozen=True, slots=True)
class RowPart:
    """A part of the text with index `row`.

    `is_whole`: True if the part is a whole text."""

    row: int
    part: Part
    is_whole: bool = False

    @property
    def first(self) -> int:
        """The first code point that the tokenizer gets."""
        return self.part.start + self.part.absorbed_chars

    @property
    def length(self) -> int:
        """How many code points the tokenizer gets."""
        return self.part.stop - self.first


def group_parts(parts: Sequence[RowPart], most: int) -> Iterator[Sequence[RowPart]]:
    """Yields groups of parts, one for each call of the engine: at most `most` code points, or one
    part."""
    first = size = 0
    for i, part in enumerate(parts):
        if i > first and size + part.length > most:
            yield parts[first:i]
            first, size = i, 0
        size += part.length
    if first < len(parts):
        yield parts[first:]


def check_spans(
    ids: IdArray, spans: SpanArray, part: RowPart, expected_ids: IdArray
) -> SpanArray | None:
    """Returns `spans`, the engine's offsets of a part, or None.

    None if `expected_ids` does not begin with the part's `ids`, or if a token reaches beyond a part
    that is not a whole text."""
    if not np.array_equal(ids, expected_ids[: len(ids)]):
        return None
    if not part.is_whole and not are_inside(spans, part.length).all():
        return None
    return spans


def are_inside(spans: SpanArray, code_points: int) -> NDArray[np.bool_]:
    """Returns which tokens lie in a part of `code_points` and begin before its end."""
    starts, stops = spans[:, 0], spans[:, 1]
    found: NDArray[np.bool_] = (starts <= stops) & (stops <= code_points) & (starts < code_points)
    return found
