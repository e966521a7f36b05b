"""`cut`: cut where a rule proves that both sides may be encoded alone; then concatenate.

No overlap and nothing to match: the seam is certified before anything is tokenized (rules K1-K3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokpar.cuts.finder import finder_for
from tokpar.interfaces import Plan, Strategy, TokenizerAdapter, facts_of
from tokpar.kernels import concatenate_ids
from tokpar.methods.edges import absorbed
from tokpar.methods.options import require_count
from tokpar.methods.sizes import chunk_chars_for
from tokpar.types import Chunk, Joined, Piece, Seam, Unjoined

WINDOW = 4096


@dataclass(frozen=True)
class CutSplitter:
    """Chunks of at least `chunk_chars` code points, each ending at the next certified cut.

    None: a size that suits the tokenizer and the text. Attempt 1 and later: one chunk.
    """

    chunk_chars: int | None = None

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        finder = finder_for(facts_of(tokenizer))
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        if attempt > 0 or len(text) <= size or finder.refusal_for(text) is not None:
            return chunks_between(text, [])
        seams = finder.find_each(text, size, min(WINDOW, max(8, size)))
        return chunks_between(text, seams)

    def explain(self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter) -> Plan:
        """The cuts by rule, or why there are none; and which chunks stayed serial regions (K7)."""
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        if len(chunks) == 1:
            if len(text) <= size:
                return Plan("serial", f"{len(text):,} code points fit one chunk")
            why = finder_for(facts_of(tokenizer)).refusal_for(text)
            return Plan("serial", why or "no place in the text is a certified cut")
        rules = Counter(chunk.cut.rule for chunk in chunks if chunk.cut is not None)
        kinds = ", ".join(f"{count:,} {rule}" for rule, count in sorted(rules.items()))
        regions = [
            (chunk.core_start, chunk.core_stop)
            for chunk in chunks
            if chunk.core_stop - chunk.core_start > 2 * size + WINDOW
        ]
        why = f"{len(regions)} regions without a certified cut" if regions else "no region is left"
        return Plan(f"certified cuts: {kinds}", why, tuple(regions))


@dataclass(frozen=True)
class CutMerger:
    """Concatenates pieces whose left edges the planner has certified."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> Joined | Unjoined:
        failed = [i for i in range(1, len(chunks)) if not meet_at_cut(chunks[i - 1], chunks[i])]
        if failed:
            return Unjoined(tuple(failed), "the chunks do not meet at a cut that is certified")
        seams: list[Seam] = []
        before = len(pieces[0].ids)
        for chunk, piece in zip(chunks[1:], pieces[1:], strict=True):
            assert chunk.cut is not None
            seams.append(replace(chunk.cut, token=before))
            before += len(piece.ids)
        return Joined(concatenate_ids([piece.ids for piece in pieces]), tuple(seams))


def meet_at_cut(left: Chunk, right: Chunk) -> bool:
    """The two chunks end and begin, without overlap, at a cut that the planner has certified."""
    cut = right.cut
    if cut is None or cut.rule is None:
        return False
    return (left.stop, right.start) == (cut.position, cut.position + absorbed(cut))


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
