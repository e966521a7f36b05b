"""The midpoint filter: joins two overlapping chunks at the start of the right one's core."""

import numpy as np

from tokpar.methods.acceptance import as_published
from tokpar.methods.mergers import OverlapMerger
from tokpar.methods.overlaps import Licences, Overlap
from tokpar.types import Join


def by_midpoint(overlap: Overlap, licences: Licences, last: int = 0) -> Join:
    """Returns the join of the midpoint filter as published.

    The left side keeps the tokens that start before the right chunk's core. The right side keeps
    the other tokens. This is no proof (proofs/midpoint-filter.md)."""
    position = overlap.right.core_start
    offset = overlap.edges[position - overlap.start]
    left = int(np.count_nonzero(overlap.left_spans[:, 0] < offset))
    right = int(np.count_nonzero(overlap.right_spans[:, 0] < offset))
    return as_published(overlap, licences, position, left, right)


def build() -> OverlapMerger:
    """Joins in the middle of each overlap."""
    return OverlapMerger(by_midpoint)
