"""`overlap`, of ParallelTokenizer: joins overlapping chunks at the longest common run of ids.

Ids repeat, so this strategy is approximate. It is a baseline to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokpar.arrays import has_surrogate
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.pipeline.chunks_at_cuts import SURROGATE
from tokpar.process.limits import require_count
from tokpar.types import Chunk, Split
from tokpar_strategies.common_runs import RunMerger


@dataclass(frozen=True)
class OverlapSplitter:
    """Makes the chunks text[k * chunk_chars : (k + 1) * chunk_chars + overlap_chars], code points.

    One chunk for attempt 1 and later, and for a text with lone surrogates."""

    chunk_chars: int = 40960
    overlap_chars: int = 512

    def __post_init__(self) -> None:
        require_count("chunk_chars", self.chunk_chars)
        require_count("overlap_chars", self.overlap_chars)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size, length = self.chunk_chars, len(text)
        if attempt > 0 or length <= size:
            return Split.whole(text, f"{length:,} code points fit one chunk")
        if has_surrogate(text):
            return Split.whole(text, SURROGATE)
        reach = size + self.overlap_chars
        chunks = [
            Chunk(start, min(start + reach, length), start, min(start + size, length))
            for start in range(0, length, size)
        ]
        share = f"{size:,} code points and {self.overlap_chars:,} of overlap"
        return Split(chunks, f"{len(chunks):,} chunks of {share}", "joined at common runs of ids")


def build(
    *,
    chunk_chars: int = 40960,
    overlap_chars: int = 512,
    match: Literal["longest", "window"] = "longest",
) -> tuple[OverlapSplitter, RunMerger]:
    """`chunk_chars`: own share of a chunk, `overlap_chars`: what it shares with the next one, both
    in code points. `match`: compare all ids of two pieces, or those that touch the overlap."""
    return OverlapSplitter(chunk_chars, overlap_chars), RunMerger(match)
