"""Texts as segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tokpar.cache.segments import Segments

from tokpar.arrays import offsets_of


def segments(some: Sequence[str]) -> Segments:
    data = np.frombuffer("".join(some).encode() + bytes(16), dtype=np.uint8)
    places = offsets_of(len(each.encode()) for each in some)
    kinds = np.zeros(len(some), dtype=np.uint8)
    return Segments(data, places[:-1].copy(), np.diff(places), kinds)
