"""Compares the ids of two calls in the scripts that measure time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from tests.benchmarks.speed_engines import Subject
from tokpar.arrays import IdArray


class DifferError(Exception):
    """Ids are not those of the engine's own call: nothing else matters then."""


def special_ids(subject: Subject) -> IdArray:
    """The special tokens that the own call puts around a text; other engines leave them out."""
    return next(iter(subject.own().one.values()))("")


def same_ids(
    expected: Sequence[IdArray], rows: Sequence[IdArray], special: IdArray | None = None
) -> bool:
    """True if the rows are equal. With `special`, also if every row lacks these ids, the first few
    before the text and the rest after it."""
    if len(expected) != len(rows):
        return False
    if all(map(np.array_equal, expected, rows)):
        return True
    if special is None or not len(special):
        return False
    return any(
        all(map(partial(_is_framed, special[:k], special[k:]), expected, rows))
        for k in range(len(special) + 1)
    )


def _is_framed(before: IdArray, after: IdArray, expected: IdArray, ids: IdArray) -> bool:
    return np.array_equal(expected, np.concatenate([before, ids, after]))
