"""All that a splitter needs: ``from tokpar.plugin.split import SplitterKind, hookimpl``."""

from __future__ import annotations

from tokpar.contract.interfaces import Splitter, TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.pipeline.chunks_at_cuts import chunks_between, licensed
from tokpar.process.limits import require_count
from tokpar.registry.hooks import SplitterKind, hookimpl
from tokpar.types import Chunk, Split

__all__ = [
    "Chunk",
    "CutFinder",
    "Split",
    "Splitter",
    "SplitterKind",
    "TokenizerAdapter",
    "chunks_between",
    "facts_of",
    "finder_for",
    "hookimpl",
    "licensed",
    "require_count",
]
