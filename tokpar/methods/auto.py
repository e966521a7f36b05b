"""`auto`: cuts at certified cuts, as `cut` does, and divides long segments inside their pre-tokens.

A long segment between two cuts is divided by rules K4-K6 if the model is BPE. A segment that cannot
be divided is encoded in one call (rule K7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokpar.arrays import has_surrogate
from tokpar.cuts.finder import at_pair
from tokpar.cuts.within_pretoken import Place, PretokenPlanner, place_at, pretoken_planner
from tokpar.interfaces import Strategy, TokenizerAdapter, traits_of
from tokpar.limits import require_sizes
from tokpar.methods.cut import WINDOW, make_split
from tokpar.overlap.chunks import SURROGATE, chunks_at, licence_of_texts
from tokpar.overlap.mergers import InsideMerger
from tokpar.policy import chunk_chars_for
from tokpar.types import Seam, Split


@dataclass(frozen=True)
class AutoSplitter:
    """Makes the chunks of `cut`, and divides too long chunks inside pre-tokens.

    Chunks have at least `chunk_chars` code points (None: a size that suits the tokenizer and the
    text). Attempt 1 and later: one chunk."""

    chunk_chars: int | None = None

    def __post_init__(self) -> None:
        require_sizes(self.chunk_chars)

    def licence(self, tokenizer: TokenizerAdapter) -> Seam | None:
        return licence_of_texts(tokenizer)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        planner = pretoken_planner(tokenizer)
        if attempt > 0 or len(text) <= size:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        wants_one_thread = traits_of(tokenizer).wants_one_thread
        if self.chunk_chars is None and wants_one_thread is not None and wants_one_thread([text]):
            return Split.whole(
                text, "pre-tokens are so short that threads would wait for each other"
            )
        refused = planner.finder.refusal_for(text)
        has_cuts = refused is None
        if refused is not None and planner.refusal is None:  # cuts inside pre-tokens need no finder
            refused = SURROGATE if has_surrogate(text) else None
        if refused is not None:
            return Split.whole(text, refused)
        because = planner.refusal or "and without a long pre-token that could be divided"
        chunks = chunks_at(len(text), self._places(text, planner, size, has_cuts))
        return make_split(text, tokenizer, chunks, size, f", {because}")

    def _places(
        self, text: str, planner: PretokenPlanner, size: int, has_cuts: bool
    ) -> list[Place]:
        seams = list(_find_cuts(text, planner, size)) if has_cuts else []
        places = {seam.position: place_at(seam) for seam in seams}
        long = size * (2 if self.chunk_chars else 4)
        wide = size if self.chunk_chars else 4 * size  # a window costs as much as such a chunk
        if planner.refusal is None:
            for place in _find_inner_places(text, planner, seams, (size, wide), long):
                places.setdefault(place.seam.position, place)
        return [places[position] for position in sorted(places)]


def _find_cuts(text: str, planner: PretokenPlanner, size: int) -> Iterator[Seam]:
    """Yield certified cuts, each the first one `size` or more code points after the last."""
    window = min(WINDOW, max(8, size))
    seam = planner.next_cut(text, size, len(text), window)
    while seam is not None:
        yield seam
        seam = planner.next_cut(text, seam.position + size, len(text), window, seam)


def _find_inner_places(
    text: str, planner: PretokenPlanner, seams: Sequence[Seam], sizes: tuple[int, int], long: int
) -> Iterator[Place]:
    """Yield places inside the pre-tokens of each segment that is longer than `long`.

    `sizes`: the sizes of chunks between cuts, and between windows."""
    size = sizes[0]
    ends = [0, *(seam.position for seam in seams), len(text)]
    done = 0
    for k, (start, stop) in enumerate(pairwise(ends)):
        if stop - start <= long or start < done:
            continue
        near = planner.last_cut(text, start, min(stop, start + size))
        before = (seams[i] for i in range(k - 1, -1, -1))
        behind = (seams[i] for i in range(k, len(seams)))
        first = _first_k1(before, 0) if near is None else near
        last = _first_k1(behind, len(text))
        region = planner.region(text, first, last) if first >= done else None
        if region is not None:
            yield from planner.places(text, region, start, *sizes)
        done = last


def _first_k1(seams: Iterator[Seam], otherwise: int) -> int:
    return next((seam.position for seam in seams if at_pair(seam)), otherwise)


def build(*, chunk_chars: int | None = None) -> tuple[AutoSplitter, InsideMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    return AutoSplitter(chunk_chars), InsideMerger()


STRATEGY = Strategy(
    name="auto",
    lossless=True,
    source="tokpar",
    conditions="none: what cannot be proved is encoded serially, and the report says why",
    build=build,
)
