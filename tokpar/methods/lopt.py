"""`lopt`: joins overlapping chunks where both sides found the same tokens at the same places.

Such a match is no proof. `acceptance="certified"` joins at certified cuts, and, without overlap, at
the edges of added tokens (EDGE)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.methods.acceptance import by_cut, by_match
from tokpar.methods.mergers import OverlapMerger
from tokpar.pipeline.chunks_at_cuts import FAR, SOON, split_without_overlaps
from tokpar.pipeline.sizes import chunk_chars_for
from tokpar.process.limits import (
    ACCEPTANCES,
    ON_FAILURE,
    require_choice,
    require_count,
    require_min_match,
    require_sizes,
)
from tokpar.types import Chunk, Rule, Split

OVERLAP_CHARS = 512


@dataclass(frozen=True)
class LoptSplitter:
    """Makes the chunks text[Lc * (i - 1) : Lc * i + Lo]. Each attempt after the first doubles Lc.

    Without `chunk_chars`, Lc is four times the chunk size of other strategies, because each seam
    costs a match. `plan_cuts`: look for a certified cut in each overlap, and extend an overlap
    without a cut to the next cut. Ordinary text then never needs a second attempt."""

    chunk_chars: int | None
    overlap_chars: int
    plan_cuts: bool

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size = (self.chunk_chars or 4 * chunk_chars_for(tokenizer, len(text))) << attempt
        found = split_without_overlaps(text, tokenizer, size, self.plan_cuts)
        if found is not None:
            return found
        chunks = self._chunks(text, tokenizer, size)
        if len(chunks) == 1:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        share = f"{chunks[0].core_stop:,} code points and {self.overlap_chars:,} of overlap"
        why = "certified cuts were looked for" if self.plan_cuts else "as published"
        return Split(chunks, f"{len(chunks):,} chunks of {share}", why)

    def _chunks(self, text: str, tokenizer: TokenizerAdapter, size: int) -> list[Chunk]:
        finder = finder_for(facts_of(tokenizer)) if self.plan_cuts else None
        chunks: list[Chunk] = []
        start, cut = 0, None
        while True:
            edge = max(start + size, chunks[-1].stop if chunks else 0)
            if edge + self.overlap_chars >= len(text):
                return [*chunks, Chunk(start, len(text), start, len(text), cut=cut)]
            far = min(len(text), edge + 1 + max(FAR, self.overlap_chars))
            planned = None if finder is None else finder.find(text, edge + 1, far, SOON)
            if planned is not None and planned.rule == Rule.EDGE:
                place = planned.position  # nothing need overlap there
                chunks.append(Chunk(start, place, start, place, cut=cut))
                start, cut = place, planned
                continue
            stop = edge + self.overlap_chars
            if planned is not None:
                stop = max(stop, planned.position + self.overlap_chars // 2 + 1)
            chunks.append(Chunk(start, min(stop, len(text)), start, edge, cut=cut))
            start, cut = edge, planned


def build(
    *,
    chunk_chars: int | None = None,
    overlap_chars: int = OVERLAP_CHARS,
    acceptance: Literal["certified", "paper"] = "certified",
    min_match: int | Literal["longest"] = 2,
    on_failure: Literal["repair", "restart"] = "repair",
) -> tuple[LoptSplitter, OverlapMerger]:
    """`chunk_chars`: own share of a chunk, code points; tuned to tokenizer and text if None (the
    paper divides the text by the number of workers). `overlap_chars`: code points that two chunks
    share. `acceptance`: what licenses a seam. `min_match`: tokens in a row that both sides must
    have found, or "longest" for more bytes than the longest token has. `on_failure`: repair the two
    chunks at the seam, or double `chunk_chars` and encode everything again, as the paper does."""
    require_sizes(chunk_chars)
    require_count("overlap_chars", overlap_chars)
    require_choice("acceptance", acceptance, ACCEPTANCES)
    require_choice("on_failure", on_failure, ON_FAILURE)
    require_min_match(min_match)
    paper = acceptance == "paper"
    accept = partial(by_match if paper else by_cut, least=min_match)
    splitter = LoptSplitter(chunk_chars, overlap_chars, plan_cuts=not paper)
    return splitter, OverlapMerger(accept, restart=on_failure == "restart")


def build_splitter(
    *, chunk_chars: int | None = None, overlap_chars: int = OVERLAP_CHARS
) -> LoptSplitter:
    """The splitter of `build`, to be combined with another merger."""
    return build(chunk_chars=chunk_chars, overlap_chars=overlap_chars)[0]
