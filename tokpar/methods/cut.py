"""`cut`: cuts where a rule proves that each side may be encoded alone, and concatenates the ids.

Chunks do not overlap. Seams are certified before the tokenizer runs (rules K1, K3, K9, K10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.cuts.finder import finder_for
from tokpar.interfaces import Strategy, TokenizerAdapter, facts_of
from tokpar.limits import require_sizes
from tokpar.overlap.chunks import chunks_between, joins_at_cuts, licence_of_texts, licensed
from tokpar.policy import chunk_chars_for
from tokpar.types import CERTIFIED_CUTS, Chunk, Chunks, Joins, Pieces, Rule, Seam, Split

WINDOW = 4096
_KINDS: dict[str | None, str] = {None: "windows (K5)", Rule.CONSTANT_RUN: "runs (K6)"}


@dataclass(frozen=True)
class CutSplitter:
    """Chunks of at least `chunk_chars` code points, each ending at the next certified cut.

    None: a size that suits the tokenizer and the text. Attempt 1 and later: one chunk."""

    chunk_chars: int | None = None

    def __post_init__(self) -> None:
        require_sizes(self.chunk_chars)

    def licence(self, tokenizer: TokenizerAdapter) -> Seam | None:
        return licence_of_texts(tokenizer)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        finder = finder_for(facts_of(tokenizer))
        size = self.chunk_chars or chunk_chars_for(tokenizer, len(text))
        if attempt > 0 or len(text) <= size:
            return Split.whole(text, f"{len(text):,} code points fit one chunk")
        refused = finder.refusal_for(text)
        if refused is not None:
            return Split.whole(text, refused)
        seams = finder.find_each(text, size, min(WINDOW, max(8, size)))
        return make_split(text, tokenizer, chunks_between(text, seams), size)


@dataclass(frozen=True)
class CutMerger:
    """Concatenates pieces whose left edges the planner has certified."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        return joins_at_cuts(chunks, pieces)


def make_split(
    text: str, tokenizer: TokenizerAdapter, chunks: Sequence[Chunk], size: int, because: str = ""
) -> Split:
    """Returns the split into these chunks. Much too long chunks become `serial_regions` (K7)."""
    if len(chunks) == 1:
        return Split.whole(text, "no place in the text is a certified cut")
    regions = tuple(
        (chunk.core_start, chunk.core_stop)
        for chunk in chunks
        if chunk.run is None and chunk.core_stop - chunk.core_start > 2 * size + WINDOW
    )
    why = f"{len(regions)} regions without a certified cut{because}"
    split = Split(chunks, _describe_rules(chunks), why if regions else "no region is left", regions)
    return licensed(split, text, tokenizer)


def _describe_rules(chunks: Sequence[Chunk]) -> str:
    """Returns words such as "certified cuts: 12 K1; inside pre-tokens: 3 K4, 1 runs (K6)"."""
    rules = Counter(_KINDS.get(chunk.cut.rule, chunk.cut.rule) for chunk in chunks if chunk.cut)
    kinds = {
        "certified cuts": CERTIFIED_CUTS,
        "inside pre-tokens": (Rule.NO_TOKEN_ACROSS, *_KINDS.values()),
    }
    parts = []
    for kind, names in kinds.items():
        counts = [f"{rules[name]:,} {name}" for name in names if rules[name]]
        parts += [f"{kind}: {', '.join(counts)}"] if counts else []
    return "; ".join(parts)


def build(*, chunk_chars: int | None = None) -> tuple[CutSplitter, CutMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    return CutSplitter(chunk_chars), CutMerger()


STRATEGY = Strategy(
    name="cut",
    lossless=True,
    source="theorems 14, 18-22, 29 and 40-44 (proofs/), pair-local rules 4.8, absorb rule 6.4",
    conditions="a known pre-tokenizer (GPT-2, cl100k, o200k, Qwen2, Llama-3, DeepSeek-V3, Tekken, "
    "BERT, Metaspace, Llama-style SentencePiece-BPE), a pattern whose windows can be decided "
    "(K10), or added tokens in the text (K9); anything else is encoded serially",
    build=build,
)
