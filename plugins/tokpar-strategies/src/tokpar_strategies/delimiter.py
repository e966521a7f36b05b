"""`delimiter`: cuts at the delimiter nearest to each chunk length, and concatenates the ids.

Approximate, because a delimiter may lie inside a token (" the" is one token). A cut that is also a
certified cut names its rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokpar import OptionError, Seam
from tokpar.plugin.merge import Chunks, Join, Joins, Pieces, TokenizerAdapter, joins_at_cuts
from tokpar.plugin.split import (
    Split,
    chunk_chars_for,
    chunks_between,
    facts_of,
    finder_for,
    require_choice,
    require_sizes,
    split_without_overlaps,
)


@dataclass(frozen=True)
class DelimiterSplitter:
    """Cuts near each multiple of `chunk_chars` (None: a size that suits the tokenizer and text).

    `side`: "after": a chunk ends with its delimiter. "before": the next chunk begins with it. One
    chunk for attempt 1 and later, for a text without the delimiter, and for lone surrogates."""

    chunk_chars: int | None = None
    delimiter: str = " "
    side: Literal["after", "before"] = "before"

    def __post_init__(self) -> None:
        require_sizes(self.chunk_chars)
        if not isinstance(self.delimiter, str) or not self.delimiter:
            raise OptionError(
                f"delimiter must be a str of at least 1 character, got {self.delimiter!r}"
            )
        require_choice("side", self.side, ("after", "before"))

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        size = len(text) if attempt > 0 else size
        whole = split_without_overlaps(text, tokenizer, size, plan_cuts=False)
        if whole is not None:
            return whole
        finder, seams = finder_for(facts_of(tokenizer)), []
        refused = finder.refusal_for(text) is not None
        for p in nearest_cuts(text, self.delimiter, size, self.side):
            seam = None if refused else finder.certify(text, p)
            # the absorb rule leaves out a space that this method keeps in the right chunk
            certified = seam is not None and "absorbed" not in dict(seam.witness)
            seams.append(seam if seam is not None and certified else Seam(p, None, ""))
        if not seams:
            return Split.whole(text, f"no cut {self.side} {self.delimiter!r}")
        cuts = f"{len(seams):,} cuts {self.side} {self.delimiter!r}"
        return Split(chunks_between(text, seams), cuts)


@dataclass(frozen=True)
class ConcatenatingMerger:
    """Concatenates all pieces, whether or not a rule licenses the cuts between them."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        return [
            join or Join(Seam(right.core_start, None, ""), len(piece.ids), 0)
            for join, right, piece in zip(
                joins_at_cuts(chunks, pieces), chunks[1:], pieces, strict=False
            )
        ]


def nearest_cuts(
    text: str, delimiter: str, size: int, side: Literal["after", "before"] = "after"
) -> Iterator[int]:
    """For each multiple of `size` inside the text the place after (before) a delimiter nearest to
    it, the earlier of two; each once, ascending: "a b cd e" at " " by 3 -> 2, 7. Linear time."""
    shift = len(delimiter) if side == "after" else 0
    left = right = last = 0  # the places on either side of the target; 0: none
    for target in range(size, len(text), size):
        if right <= target:
            found = text.rfind(delimiter, max(0, right - shift), target - shift + len(delimiter))
            left = max(left, right, found + shift if found >= 0 else 0)
            found = text.find(delimiter, max(0, target - shift + 1))
            right = found + shift if found >= 0 else len(text)
        nearest = left
        if right < len(text) and (left == 0 or right - target < target - left):
            nearest = right
        if nearest > last:
            yield nearest
            last = nearest


def build(
    *,
    chunk_chars: int | None = None,
    delimiter: str = " ",
    side: Literal["after", "before"] = "before",
) -> tuple[DelimiterSplitter, ConcatenatingMerger]:
    """`chunk_chars`: size of a chunk in code points, aimed at; tuned to tokenizer and text if None.
    `delimiter`: the string to cut at. `side`: of the delimiter, on which to cut; no code of the
    paper is public, and cutting before the delimiter is what gives its accuracies their order."""
    return DelimiterSplitter(chunk_chars, delimiter, side), ConcatenatingMerger()
