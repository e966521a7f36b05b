"""A splitter and a merger of which nothing is promised: what no rule licenses is left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokpar.cuts.finder import finder_for
from tokpar.interfaces import MatchesSpans, Mends, Merger, Splitter, TokenizerAdapter, facts_of
from tokpar.kernels import has_surrogate
from tokpar.overlap.chunks import absorbed, licensed
from tokpar.types import Chunk, Join, Piece, Split, fused


@dataclass(frozen=True)
class LicensedSplitter:
    """The chunks of a splitter, marked as divisible where tokpar finds them to be."""

    splitter: Splitter

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        split = self.splitter.split(text, tokenizer, attempt)
        if any(chunk.divisible for chunk in split.chunks):
            chunks = [replace(chunk, divisible=False) for chunk in split.chunks]
            split = replace(split, chunks=chunks, licence=None)
        return split if has_surrogate(text) else licensed(split, text, tokenizer)


@dataclass(frozen=True)
class LicensedMerger:
    """A merger without its joins that name no rule, or K1, K2 or K3 at a place where tokpar finds
    no certified cut. That a join counts its ids right, and every other rule, is the merger's
    word."""

    merger: Merger

    @property
    def matches_spans(self) -> bool:
        return isinstance(self.merger, MatchesSpans) and self.merger.matches_spans

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        joins = self.merger.merge(text, chunks, pieces, tokenizer)
        if has_surrogate(text) or facts_of(tokenizer).unprovable is not None:
            return [None] * len(joins)
        kept: list[Join | None] = []
        last = 0
        for join in joins:
            found = None if join is None else _licensed(join, text, tokenizer)
            if found is not None and found.seam.position <= last:  # two seams at one place are none
                found = None
            kept.append(found)
            last = last if found is None else found.seam.position
        return kept

    def mended(
        self, text: str, chunks: Sequence[Chunk], failed: Sequence[int], tokenizer: TokenizerAdapter
    ) -> list[Chunk] | None:
        if not isinstance(self.merger, Mends):
            return fused(chunks, failed)
        return self.merger.mended(text, chunks, failed, tokenizer)


def _licensed(join: Join, text: str, tokenizer: TokenizerAdapter) -> Join | None:
    """The join with the rule and witness that tokpar finds itself. Which ids it keeps depends on
    whether a space was left out (6.4), so about that both must agree."""
    seam = join.seam
    if seam.rule not in ("K1", "K2", "K3"):
        return None if seam.rule is None else join
    finder = finder_for(facts_of(tokenizer))
    if finder.refusal_for(text) is not None:
        return None
    found = finder.certify(text, seam.position)
    if found is None or absorbed(found) != absorbed(seam):
        return None
    return replace(join, seam=found)
