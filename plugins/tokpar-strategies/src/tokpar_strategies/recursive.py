"""`recursive`: halves the text again and again, at a paragraph, a sentence or white space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokpar.plugin.overlap import (
    ChunkEdge,
    OverlapMerger,
    by_cut,
    move_to_cut,
    overlapping_chunks,
)
from tokpar.plugin.split import (
    CutFinder,
    Split,
    TokenizerAdapter,
    facts_of,
    finder_for,
    require_choice,
    require_count,
    split_without_overlaps,
)
from tokpar_strategies.blocks import (
    ACCEPTANCES,
    BLOCK_CHARS,
    BlocksSplitter,
    by_midpoint,
    reach_without_boundary,
)

DEPTHS = ((1_000_000, 4), (500_000, 3), (100_000, 2), (20_000, 1))
"""(least length of a text in code points, depth)."""
STREAM_FROM = 1_000_000
SEARCHED = 2048
_BOUNDARIES = (
    (re.compile(r"\n\n+"), 0.25),
    (re.compile(r"[.!?\u3002\uff01\uff1f]+[\"')\]]*\s"), 0.5),
    (re.compile(r"\s+"), 1.0),
)
"""Paragraph, sentence, white space: an edge is after the match. Overlap in longest tokens."""


@dataclass(frozen=True)
class RecursiveSplitter:
    """2 ** depth chunks; by length if `depth` is None: then texts of 1,000,000 code points and more
    go to `blocks`, as published. Overlap: a quarter, half or one longest token at a paragraph,
    sentence or white space (our figures), three and a margin elsewhere (the published one)."""

    depth: int | None
    plan_cuts: bool

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        if self.depth is None and len(text) >= STREAM_FROM:
            return BlocksSplitter(BLOCK_CHARS, None, self.plan_cuts).split(text, tokenizer, attempt)
        depth = max(0, (depth_for(len(text)) if self.depth is None else self.depth) - attempt)
        found = split_without_overlaps(text, tokenizer, max(1, len(text) >> depth), self.plan_cuts)
        if found is not None:
            return found
        facts = facts_of(tokenizer)
        finder = finder_for(facts) if self.plan_cuts else None
        longest = max(1, facts.longest_token)
        edges = list(_halve(text, 0, len(text), depth, longest, finder))
        why = "edges moved to certified cuts" if self.plan_cuts else "as published"
        return Split(
            overlapping_chunks(len(text), edges), f"{len(edges) + 1:,} chunks by halving", why
        )


def depth_for(length: int) -> int:
    """Returns how often a text of `length` code points is halved."""
    return next((depth for least, depth in DEPTHS if length >= least), 0)


def _halve(
    text: str, start: int, stop: int, depth: int, longest: int, finder: CutFinder | None
) -> Iterator[ChunkEdge]:
    if depth == 0 or stop - start < 2:
        return
    edge = move_to_cut(finder, text, _boundary(text, start, stop, longest), stop)
    yield from _halve(text, start, edge.position, depth - 1, longest, finder)
    yield edge
    yield from _halve(text, edge.position, stop, depth - 1, longest, finder)


def _boundary(text: str, start: int, stop: int, longest: int) -> ChunkEdge:
    """Returns the nearest boundary of the best kind near the middle of [start, stop)."""
    middle = (start + stop) // 2
    around = min(SEARCHED, (stop - start) // 4)
    for pattern, tokens in _BOUNDARIES:
        found = pattern.finditer(text, middle - around, middle + around)
        places = [match.end() for match in found if start < match.end() < stop]
        if places:
            best = min(places, key=lambda place: abs(place - middle))
            return ChunkEdge(best, max(1, int(tokens * longest)))
    return ChunkEdge(middle, reach_without_boundary(longest))


def build(
    *, depth: int | None = None, acceptance: Literal["certified", "paper"] = "certified"
) -> tuple[RecursiveSplitter, OverlapMerger]:
    """`depth`: the text is halved so often; by its length if None (1 from 20,000 code points on, 2
    from 100,000, 3 from 500,000; from 1,000,000 on `blocks`). `acceptance`: "certified", or "paper"
    for the published midpoint filter."""
    if depth is not None:
        require_count("depth", depth, least=0)
    require_choice("acceptance", acceptance, ACCEPTANCES)
    paper = acceptance == "paper"
    return RecursiveSplitter(depth, not paper), OverlapMerger(by_midpoint if paper else by_cut)


def build_splitter(*, depth: int | None = None) -> RecursiveSplitter:
    """The splitter of `build`, to be combined with another merger."""
    return build(depth=depth)[0]
