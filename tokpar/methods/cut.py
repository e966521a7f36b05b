"""`cut`: cut where a rule proves that both sides may be encoded alone; then concatenate.

No overlap and nothing to match: the seam is certified before anything is tokenized (rules K1-K3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokpar.cuts.finder import finder_for
from tokpar.interfaces import Remembers, Strategy, TokenizerAdapter, facts_of
from tokpar.methods.edges import absorbed
from tokpar.methods.options import require_count
from tokpar.methods.sizes import chunk_chars_for
from tokpar.types import Chunk, Join, Piece, Seam, Split, stands_apart

WINDOW = 4096
SURROGATE = "the text holds a lone surrogate"


@dataclass(frozen=True)
class CutSplitter:
    """Chunks of at least `chunk_chars` code points, each ending at the next certified cut.

    None: a size that suits the tokenizer and the text. Attempt 1 and later: one chunk.
    """

    chunk_chars: int | None = None

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        facts = facts_of(tokenizer)
        finder = finder_for(facts)
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        if attempt > 0 or len(text) <= size:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        refused = finder.refusal_for(text)
        if refused is not None:
            return Split.whole(text, refused)
        seams = finder.find_each(text, size, min(WINDOW, max(8, size)))
        if not seams:
            return Split.whole(text, "no place in the text is a certified cut")
        chunks = chunks_between(text, seams)
        rules = Counter(seam.rule for seam in seams)
        kinds = ", ".join(f"{count:,} {rule}" for rule, count in sorted(rules.items()))
        regions = long_regions(chunks, size)
        why = f"{len(regions)} regions without a certified cut" if regions else "no region is left"
        return licensed(Split(chunks, f"certified cuts: {kinds}", why, regions), text, tokenizer)


@dataclass(frozen=True)
class CutMerger:
    """Concatenates pieces whose left edges the planner has certified."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        return [
            join_at_cut(left, right, piece)
            for (left, right), piece in zip(pairwise(chunks), pieces, strict=False)
        ]


def join_at_cut(left: Chunk, right: Chunk, piece: Piece) -> Join | None:
    """The join of two chunks that meet at a certified cut; `piece` is the left one's."""
    if right.cut is None or not meet_at_cut(left, right):
        return None
    return Join(right.cut, len(piece.ids), 0)


def meet_at_cut(left: Chunk, right: Chunk) -> bool:
    """The two chunks end and begin, without overlap, at a cut that the planner has certified."""
    cut = right.cut
    if cut is None or cut.rule is None:
        return False
    return (left.stop, right.start) == (cut.position, cut.position + absorbed(cut))


def long_regions(chunks: Sequence[Chunk], size: int) -> tuple[tuple[int, int], ...]:
    """[start, stop) of the chunks that are much longer than asked for (K7)."""
    return tuple(
        (chunk.core_start, chunk.core_stop)
        for chunk in chunks
        if chunk.run is None and chunk.core_stop - chunk.core_start > 2 * size + WINDOW
    )


def licensed(split: Split, text: str, tokenizer: TokenizerAdapter) -> Split:
    """The split for whom a memory may divide further: chunks that stand apart, in which every space
    behind anything but white space is a certified cut, are marked."""
    finder = finder_for(facts_of(tokenizer))
    if finder.at_spaces is None or not (isinstance(tokenizer, Remembers) and tokenizer.remembers):
        return split
    chunks, everywhere = split.chunks, finder.spaces_safe(text, 0, len(text))
    marked = [
        replace(chunk, divisible=True)
        if stands_apart(chunks, i, len(text))
        and (everywhere or finder.spaces_safe(text, chunk.start, chunk.stop))
        else chunk
        for i, chunk in enumerate(chunks)
    ]
    return replace(split, chunks=marked, licence=finder.at_spaces)


def chunks_between(text: str, seams: Sequence[Seam]) -> list[Chunk]:
    """The chunks that these seams cut the text into, without overlap."""
    edges = [0, *(seam.position for seam in seams), len(text)]
    cuts: list[Seam | None] = [None, *seams]
    chunks = []
    for start, stop, cut in zip(edges[:-1], edges[1:], cuts, strict=True):
        left_out = absorbed(cut)
        chunks.append(Chunk(start + left_out, stop, start, stop, left_out, cut=cut))
    return chunks


def build(*, chunk_chars: int | None = None) -> tuple[CutSplitter, CutMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    if chunk_chars is not None:
        require_count("chunk_chars", chunk_chars)
    return CutSplitter(chunk_chars), CutMerger()


STRATEGY = Strategy(
    name="cut",
    lossless=True,
    source="theorems 14 and 18-22 (proofs/), pair-local rules 4.8, absorb rule 6.4",
    conditions="a known pre-tokenizer (GPT-2, cl100k, o200k, Qwen2, Llama-3, DeepSeek-V3, Tekken, "
    "BERT, Metaspace, Llama-style SentencePiece-BPE); anything else is encoded serially",
    build=build,
)
