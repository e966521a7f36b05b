"""`blocks`: encodes blocks that fit a processor's cache in parallel, merged left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.methods.acceptance import by_cut
from tokpar.methods.mergers import OverlapMerger
from tokpar.pipeline.chunks_at_cuts import without_overlaps
from tokpar.process.limits import ACCEPTANCES, require_choice, require_count, require_sizes
from tokpar.types import Split
from tokpar_strategies.edges import Edge, at_cut, chunks_over
from tokpar_strategies.midpoint import by_midpoint

BLOCK_CHARS = 8192
CERTIFIED_REACH = 64
MARGIN = 64


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
        found = without_overlaps(text, tokenizer, size, self.plan_cuts)
        if found is not None:
            return found
        chunks = chunks_over(len(text), self._edges(text, tokenizer, size))
        why = "edges moved to certified cuts" if self.plan_cuts else "as published"
        return Split(chunks, f"{len(chunks):,} blocks of {self.chunk_chars:,} code points", why)

    def _edges(self, text: str, tokenizer: TokenizerAdapter, size: int) -> list[Edge]:
        facts = facts_of(tokenizer)
        finder = finder_for(facts) if self.plan_cuts else None
        reach = self.overlap_chars
        if reach is None:
            reach = CERTIFIED_REACH if finder else reach_without_boundary(facts.longest_token)
        edges: list[Edge] = []
        place = size
        while place < len(text):
            edges.append(at_cut(finder, text, Edge(place, reach), len(text)))
            place = edges[-1].position + size
        return edges


def reach_without_boundary(longest_token: int) -> int:
    """Returns how far chunks reach over an edge that is no boundary of the text, code points."""
    return 3 * longest_token + MARGIN


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
