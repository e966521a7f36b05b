"""All that a merger needs: ``from tokpar.plugin.merge import MergerKind, hookimpl``."""

from __future__ import annotations

from tokpar.contract.interfaces import Merger, TokenizerAdapter, facts_of
from tokpar.pipeline.chunks_at_cuts import join_at_cut, joins_at_cuts
from tokpar.registry.hooks import MergerKind, hookimpl
from tokpar.types import Chunk, Chunks, Join, Joins, Piece, Pieces, Rule, Theorem

__all__ = [
    "Chunk",
    "Chunks",
    "Join",
    "Joins",
    "Merger",
    "MergerKind",
    "Piece",
    "Pieces",
    "Rule",
    "Theorem",
    "TokenizerAdapter",
    "facts_of",
    "hookimpl",
    "join_at_cut",
    "joins_at_cuts",
]
