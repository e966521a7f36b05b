"""All that strategies with overlapping chunks need besides: ``from tokpar.plugin.overlap import
OverlapMerger, overlapping_chunks``.

`overlapping_chunks` makes the chunks. `OverlapMerger` joins the pieces where a function accepts a
seam (`Accept`): `by_cut` accepts certified cuts only, `by_match` what LoPT accepts."""

from __future__ import annotations

from tokpar.arrays import IdArray, IntArray
from tokpar.methods.acceptance import Accept, as_published, by_cut, by_match
from tokpar.methods.mergers import OverlapMerger
from tokpar.methods.overlapping_chunks import ChunkEdge, move_to_cut, overlapping_chunks
from tokpar.methods.overlaps import Licences, Overlap, PieceLocator, overlap_of

__all__ = [
    "Accept",
    "ChunkEdge",
    "IdArray",
    "IntArray",
    "Licences",
    "Overlap",
    "OverlapMerger",
    "PieceLocator",
    "as_published",
    "by_cut",
    "by_match",
    "move_to_cut",
    "overlap_of",
    "overlapping_chunks",
]
