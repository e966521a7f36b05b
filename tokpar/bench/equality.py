"""How many of the ids are the tokenizer's own, where not all of them are."""

from __future__ import annotations

import numpy as np

from tokpar.kernels import IdArray

WINDOW = 1024
RUN = 4
"""Ids in a row that must be equal for two sequences to count as in step again."""


def shared_ids(ids: IdArray, own: IdArray) -> float:
    """Share of the longer sequence that stands in both, in step: [1, 2, 9, 4, 5, 6, 7] and
    [1, 2, 3, 4, 5, 6, 7] -> 6 / 7. Where they part, the nearest RUN equal ids within WINDOW end the
    difference; without them all that follows counts as wrong. 1.0 only for equal sequences."""
    i = j = shared = 0
    while True:
        same = equal_prefix(ids[i:], own[j:])
        shared, i, j = shared + same, i + same, j + same
        step = _in_step_again(ids[i : i + WINDOW], own[j : j + WINDOW])
        if step is None:
            longer = max(len(ids), len(own))
            return shared / longer if longer else 1.0
        i, j = i + step[0], j + step[1]


def equal_prefix(left: IdArray, right: IdArray) -> int:
    """How many leading ids are equal: [1, 2, 3] and [1, 2, 4] -> 2."""
    length = min(len(left), len(right))
    differing = np.flatnonzero(left[:length] != right[:length])
    return int(differing[0]) if len(differing) else length


def _in_step_again(left: IdArray, right: IdArray) -> tuple[int, int] | None:
    """How many ids to leave out on either side, as few as possible together."""
    places: dict[bytes, int] = {}
    for place in range(len(right) - RUN, -1, -1):
        places[right[place : place + RUN].tobytes()] = place
    found = (
        (place, places[key])
        for place in range(len(left) - RUN + 1)
        if (key := left[place : place + RUN].tobytes()) in places
    )
    return min(found, key=lambda steps: steps[0] + steps[1], default=None)
