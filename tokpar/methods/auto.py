"""`auto`: the ladder. Certified cuts where there are any, else inside pre-tokens, else serial.

Rung 1 is `cut`. Rung 2 divides what lies far between two cuts, if it is BPE, inside its pre-tokens
(rules K4-K6). Rung 3 is what is left between two seams, which is encoded in one call (rule K7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokpar.cuts.inside import Inside, Place, at, inside_of
from tokpar.interfaces import Strategy, TokenizerAdapter
from tokpar.kernels import has_surrogate
from tokpar.methods.cut import SURROGATE, WINDOW, chunks_between, licensed, long_regions
from tokpar.methods.inside import InsideMerger
from tokpar.methods.options import require_count
from tokpar.methods.sizes import chunk_chars_for
from tokpar.types import Chunk, Seam, Split

_KINDS: dict[str | None, str] = {None: "windows (K5)", "K6": "runs (K6)"}


@dataclass(frozen=True)
class AutoSplitter:
    """Chunks of at least `chunk_chars` code points: `cut`'s, and those too long divided inside
    pre-tokens.

    None: a size that suits the tokenizer and the text. Attempt 1 and later: one chunk.
    """

    chunk_chars: int | None = None

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        inside = inside_of(tokenizer)
        if attempt > 0 or len(text) <= size:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        refused = self._refusal(text, inside)
        if refused is not None:
            return Split.whole(text, refused)
        chunks = list(_chunks(text, self._places(text, inside, size)))
        if len(chunks) == 1:
            return Split.whole(text, "no place in the text is a certified cut")
        regions = long_regions(chunks, size)
        why = "no region is left"
        if regions:
            because = inside.refusal or "and without a long pre-token that could be divided"
            why = f"{len(regions)} regions without a certified cut, {because}"
        plan = _counted(chunk.cut for chunk in chunks if chunk.cut)
        return licensed(Split(chunks, plan, why, regions), text, tokenizer)

    def _places(self, text: str, inside: Inside, size: int) -> list[Place]:
        certified = inside.finder.refusal is None
        seams = list(_certified(text, inside, size)) if certified else []
        places = {seam.position: at(seam) for seam in seams}
        long = size * (2 if self.chunk_chars else 4)
        if inside.refusal is None:
            for place in _divided(text, inside, seams, size, long):
                places.setdefault(place.seam.position, place)
        return [places[position] for position in sorted(places)]

    def _refusal(self, text: str, inside: Inside) -> str | None:
        """Why nothing of the text may be cut, or None."""
        why = inside.finder.refusal_for(text)
        if why is None or inside.refusal is not None:
            return why
        return SURROGATE if has_surrogate(text) else None


def _counted(cuts: Iterable[Seam]) -> str:
    """ "certified cuts: 12 K1; inside pre-tokens: 3 K4, 2 windows (K5), 1 run (K6)"."""
    rules = Counter(_KINDS.get(cut.rule, str(cut.rule)) for cut in cuts)
    kinds = {"certified cuts": ("K1", "K2", "K3"), "inside pre-tokens": ("K4", *_KINDS.values())}
    parts = []
    for kind, names in kinds.items():
        counts = [f"{rules[name]:,} {name}" for name in names if rules[name]]
        parts += [f"{kind}: {', '.join(counts)}"] if counts else []
    return "; ".join(parts)


def _certified(text: str, inside: Inside, size: int) -> Iterator[Seam]:
    """Certified cuts, each the first one `size` or more behind the one before."""
    window = min(WINDOW, max(8, size))
    seam = inside.next_cut(text, size, len(text), window)
    while seam is not None:
        yield seam
        seam = inside.next_cut(text, seam.position + size, len(text), window, seam)


def _divided(
    text: str, inside: Inside, seams: Sequence[Seam], size: int, long: int
) -> Iterator[Place]:
    """Places inside the pre-tokens of whatever is longer than `long` between two seams."""
    ends = [0, *(seam.position for seam in seams), len(text)]
    done = 0
    for k, (start, stop) in enumerate(pairwise(ends)):
        if stop - start <= long or start < done:
            continue
        if not inside.promising(text, start, stop, size):
            continue
        near = inside.last_cut(text, start, min(stop, start + size))
        before = (seams[i] for i in range(k - 1, -1, -1))
        behind = (seams[i] for i in range(k, len(seams)))
        first = _first_k1(before, 0) if near is None else near
        last = _first_k1(behind, len(text))
        region = inside.region(text, first, last) if first >= done else None
        if region is not None:
            yield from inside.places(text, region, start, size)
        done = last


def _first_k1(seams: Iterator[Seam], otherwise: int) -> int:
    return next((seam.position for seam in seams if seam.rule == "K1"), otherwise)


def _chunks(text: str, places: Sequence[Place]) -> Iterator[Chunk]:
    """The chunks between these places."""
    whole = chunks_between(text, [place.seam for place in places])
    starts = [0, *(place.start for place in places)]
    stops = [*(place.stop for place in places), len(text)]
    runs = [*(place.run for place in places), None]
    for chunk, start, stop, run in zip(whole, starts, stops, runs, strict=True):
        yield replace(
            chunk,
            start=start + chunk.absorbed,
            stop=stop,
            kind="text" if run is None else "run",
            run=run,
        )


def build(*, chunk_chars: int | None = None) -> tuple[AutoSplitter, InsideMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    if chunk_chars is not None:
        require_count("chunk_chars", chunk_chars)
    return AutoSplitter(chunk_chars), InsideMerger()


STRATEGY = Strategy(
    name="auto",
    lossless=True,
    source="tokpar",
    conditions="none: what cannot be proved is encoded serially, and the report says why",
    build=build,
)
