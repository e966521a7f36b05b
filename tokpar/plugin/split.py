"""All that a splitter needs: ``from tokpar.plugin.split import SplitterKind, hookimpl``."""

from __future__ import annotations

from tokpar.contract.interfaces import Splitter, TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.pipeline.chunks_at_cuts import chunks_between, split_without_overlaps
from tokpar.pipeline.sizes import chunk_chars_for
from tokpar.process.limits import require_choice, require_count, require_sizes
from tokpar.registry.hooks import SplitterKind, hookimpl
from tokpar.types import Chunk, Split

__all__ = [
    "Chunk",
    "CutFinder",
    "Split",
    "Splitter",
    "SplitterKind",
    "TokenizerAdapter",
    "chunk_chars_for",
    "chunks_between",
    "facts_of",
    "finder_for",
    "hookimpl",
    "require_choice",
    "require_count",
    "require_sizes",
    "split_without_overlaps",
]
