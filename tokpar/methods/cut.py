"""`cut`: cuts where a rule proves that each side may be encoded alone, and concatenates the ids.

Chunks do not overlap. Seams are certified before the tokenizer runs (rules PAIR, STAGE, EDGE)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.contract.adapter import traits_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.pipeline.sizes import chunk_chars_for
from tokpar.process.limits import require_sizes
from tokpar.types import CERTIFIED_CUTS, Chunk, Chunks, Joins, Pieces, Split

WINDOW = 4096


@dataclass(frozen=True)
class CutSplitter:
    """Chunks of at least `chunk_chars` code points, each ending at the next certified cut.

    None: a size that suits the tokenizer and the text. Attempt 1 and later: one chunk."""

    chunk_chars: int | None = None

    def __post_init__(self) -> None:
        require_sizes(self.chunk_chars)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        from tokpar.cuts.finder import finder_for  # the compiled call does without cuts
        from tokpar.pipeline.chunks_at_cuts import chunks_between

        finder = finder_for(facts_of(tokenizer))
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        if attempt > 0 or len(text) <= size:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        wants_one_thread = traits_of(tokenizer).wants_one_thread
        if self.chunk_chars is None and wants_one_thread is not None and wants_one_thread([text]):
            return Split.whole(
                text, "pre-tokens are so short that threads would wait for each other"
            )
        refused = finder.refusal_for(text)
        if refused is not None:
            return Split.whole(text, refused)
        seams = finder.find_each(text, size, min(WINDOW, max(8, size)))
        return _make_split(text, tokenizer, chunks_between(text, seams), size)


@dataclass(frozen=True)
class CutMerger:
    """Concatenates pieces whose left edges the planner has certified."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        from tokpar.pipeline.chunks_at_cuts import joins_at_cuts  # see `split`

        return joins_at_cuts(chunks, pieces)


def _make_split(
    text: str, tokenizer: TokenizerAdapter, chunks: Sequence[Chunk], size: int
) -> Split:
    """Returns the split into these chunks. Much too long chunks become `serial_regions`."""
    if len(chunks) == 1:
        return Split.whole(text, "no place in the text is a certified cut")
    regions = tuple(
        (chunk.core_start, chunk.core_stop)
        for chunk in chunks
        if chunk.core_stop - chunk.core_start > 2 * size + WINDOW
    )
    rules = Counter(chunk.cut.rule for chunk in chunks if chunk.cut is not None)
    counts = ", ".join(f"{rules[rule]:,} {rule}" for rule in CERTIFIED_CUTS if rules[rule])
    why = f"{len(regions)} regions without a certified cut" if regions else "no region is left"
    return Split(chunks, f"certified cuts: {counts}", why, regions)


def build(*, chunk_chars: int | None = None) -> tuple[CutSplitter, CutMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    return CutSplitter(chunk_chars), CutMerger()
