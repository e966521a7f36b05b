"""`blocks`: encodes blocks that fit a processor's cache in parallel, merged left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tokpar.plugin.merge import Join
from tokpar.plugin.overlap import (
    ChunkEdge,
    Licences,
    Overlap,
    OverlapMerger,
    as_published,
    by_cut,
    move_to_cut,
    overlapping_chunks,
)
from tokpar.plugin.split import (
    Split,
    TokenizerAdapter,
    facts_of,
    finder_for,
    require_choice,
    require_count,
    require_sizes,
    split_without_overlaps,
)

BLOCK_CHARS = 8192
CERTIFIED_REACH = 64
MARGIN = 64
ACCEPTANCES = ("certified", "paper")


@dataclass(frozen=True)
class BlocksSplitter:
    """Makes blocks of `chunk_chars` code points that reach `overlap_chars` over their edges.

    `overlap_chars` None: three times the longest token and a margin, as published, or 64 at
    certified cuts (`plan_cuts`)."""

    chunk_chars: int
    overlap_chars: int | None
    plan_cuts: bool

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size = self.chunk_chars << attempt
        found = split_without_overlaps(text, tokenizer, size, self.plan_cuts)
        if found is not None:
            return found
        chunks = overlapping_chunks(len(text), self._edges(text, tokenizer, size))
        why = "edges moved to certified cuts" if self.plan_cuts else "as published"
        return Split(chunks, f"{len(chunks):,} blocks of {self.chunk_chars:,} code points", why)

    def _edges(self, text: str, tokenizer: TokenizerAdapter, size: int) -> list[ChunkEdge]:
        facts = facts_of(tokenizer)
        finder = finder_for(facts) if self.plan_cuts else None
        reach = self.overlap_chars
        if reach is None:
            reach = CERTIFIED_REACH if finder else reach_without_boundary(facts.longest_token)
        edges: list[ChunkEdge] = []
        place = size
        while place < len(text):
            edges.append(move_to_cut(finder, text, ChunkEdge(place, reach), len(text)))
            place = edges[-1].position + size
        return edges


def reach_without_boundary(longest_token: int) -> int:
    """Returns how far chunks reach over an edge that is no boundary of the text, code points."""
    return 3 * longest_token + MARGIN


def by_midpoint(overlap: Overlap, licences: Licences, last: int = 0) -> Join:
    """Returns the join of the midpoint filter as published.

    The left side keeps the tokens that start before the right chunk's core. The right side keeps
    the other tokens. This is no proof (proofs/midpoint-filter.md)."""
    position = overlap.right.core_start
    offset = overlap.edges[position - overlap.start]
    left = int(np.count_nonzero(overlap.left_spans[:, 0] < offset))
    right = int(np.count_nonzero(overlap.right_spans[:, 0] < offset))
    return as_published(overlap, licences, position, left, right)


def build(
    *,
    chunk_chars: int = BLOCK_CHARS,
    overlap_chars: int | None = None,
    acceptance: Literal["certified", "paper"] = "certified",
) -> tuple[BlocksSplitter, OverlapMerger]:
    """`chunk_chars`: size of a block, code points. `overlap_chars`: how far blocks reach over their
    edges on either side; None for 3 * longest token + 64, or 64 at certified cuts. `acceptance`:
    "certified", or "paper" for the published midpoint filter."""
    require_count("chunk_chars", chunk_chars)
    require_sizes(None, overlap_chars)
    require_choice("acceptance", acceptance, ACCEPTANCES)
    paper = acceptance == "paper"
    splitter = BlocksSplitter(chunk_chars, overlap_chars, plan_cuts=not paper)
    return splitter, OverlapMerger(by_midpoint if paper else by_cut)


def build_splitter(
    *, chunk_chars: int = BLOCK_CHARS, overlap_chars: int | None = None
) -> BlocksSplitter:
    """The splitter of `build`, to be combined with another merger."""
    return build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]


def build_midpoint() -> OverlapMerger:
    """Joins in the middle of each overlap."""
    return OverlapMerger(by_midpoint)
