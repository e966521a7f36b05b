"""All that a merger needs: ``from tokpar.plugin.merge import MergerKind, hookimpl``."""

from __future__ import annotations

from tokpar.contract.interfaces import Merger, TokenizerAdapter
from tokpar.pipeline.chunks_at_cuts import join_at_cut
from tokpar.registry.hooks import MergerKind, hookimpl
from tokpar.types import Chunk, Join, Piece, Rule, Theorem

__all__ = [
    "Chunk",
    "Join",
    "Merger",
    "MergerKind",
    "Piece",
    "Rule",
    "Theorem",
    "TokenizerAdapter",
    "hookimpl",
    "join_at_cut",
]
