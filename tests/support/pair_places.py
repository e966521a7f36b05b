"""The places of a text that a pair of characters certifies."""

from __future__ import annotations

import numpy as np

from tokpar.cuts.window_tables import SURE, WindowFinder, pair_status


def pair_places(finder: WindowFinder, text: str) -> list[int]:
    """Code points, ascending."""
    status = pair_status(finder.symbols(text), finder.pairs)
    found: list[int] = (np.flatnonzero(status == SURE) + 1).tolist()
    return found
