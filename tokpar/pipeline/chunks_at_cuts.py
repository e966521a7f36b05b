"""Makes the chunks between cuts, finds chunks that meet at a certified cut, and marks chunks that
the cache may divide."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from tokpar.arrays import has_surrogate
from tokpar.contract.interfaces import HasSegmentCache, TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.errors import OptionError
from tokpar.types import CERTIFIED_CUTS, Chunk, Join, Piece, Seam, Split

SOON, FAR = 256, 4096
SURROGATE = "the text holds a lone surrogate"


def chunks_between(text: str, seams: Sequence[Seam]) -> list[Chunk]:
    """Returns the chunks between the seams, without overlap. The right chunk leaves out the space
    that a cut absorbs (6.4). Raises OptionError for a place that is no seam."""
    for seam in seams:
        if not isinstance(seam, Seam):
            raise OptionError(
                "chunks_between needs seams, which finder_for(facts).certify(text, place) returns, "
                f"got {seam!r}"
            )
    chunks = []
    start = core_start = left_out = 0
    cut: Seam | None = None
    for seam in seams:
        edge = seam.position
        chunks.append(Chunk(start, edge, core_start, edge, left_out, cut=cut))
        cut, core_start, left_out = seam, edge, seam.absorbed
        start = edge + left_out
    return [*chunks, Chunk(start, len(text), core_start, len(text), left_out, cut=cut)]


def split_without_overlaps(
    text: str, tokenizer: TokenizerAdapter, size: int, plan_cuts: bool
) -> Split | None:
    """Returns a split without overlaps, or None if overlaps are needed.

    One chunk if the text has at most `size` code points or must not be cut. Else the parts between
    edges of added tokens, if only these edges are certified cuts."""
    if size >= len(text):
        return Split.whole(text, f"{len(text):,} code points fit one chunk")
    if has_surrogate(text):
        return Split.whole(text, SURROGATE)
    if not plan_cuts:
        return None
    finder = finder_for(facts_of(tokenizer))
    refused = finder.refusal_for(text)
    if refused is not None:
        return Split.whole(text, refused)
    if not finder.at_edges_only(text):
        return None
    seams = finder.find_each(text, size)
    if not seams:
        return Split.whole(text, "no place in the text is a certified cut")
    plan = f"{len(seams) + 1:,} chunks of {size:,} code points or more"
    return Split(chunks_between(text, seams), plan, "cut at edges of added tokens only (EDGE)")


def join_at_cut(left: Chunk, right: Chunk, piece: Piece) -> Join | None:
    """Returns the join of two chunks that meet, without overlap, at a certified cut, or None.

    `piece`: the piece of the left chunk."""
    cut = right.cut
    if cut is None or cut.rule is None:
        return None
    meet = (left.stop, right.start) == (cut.position, cut.position + cut.absorbed)
    return Join(cut, len(piece.ids), 0) if meet else None


def joins_at_cuts(chunks: Sequence[Chunk], pieces: Sequence[Piece]) -> list[Join | None]:
    """Returns `join_at_cut` of each pair of neighbours."""
    return [
        join_at_cut(left, right, piece)
        for (left, right), piece in zip(pairwise(chunks), pieces, strict=False)
    ]


def licensed(split: Split, text: str, tokenizer: TokenizerAdapter) -> Split:
    """Mark the chunks that the cache may split further.

    Both edges of such a chunk are certified cuts or ends of the text. Every space in the chunk that
    follows a character other than white space is a certified cut."""
    finder = dividing_finder(tokenizer)
    if finder is None:
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


def dividing_finder(tokenizer: TokenizerAdapter) -> CutFinder | None:
    """Returns the cut finder of a tokenizer with a cache and cuts before spaces, or None."""
    if not (isinstance(tokenizer, HasSegmentCache) and tokenizer.has_segment_cache):
        return None
    finder = finder_for(facts_of(tokenizer))
    return None if finder.at_spaces is None else finder


def licence_of_texts(tokenizer: TokenizerAdapter) -> Seam | None:
    """Returns the seam that licenses cuts before every space that follows a character other than
    white space, in whole texts. None if the tokenizer has no cache or no such cuts.

    An added token in a text may forbid a cut. The cache looks for such added tokens."""
    finder = dividing_finder(tokenizer)
    return None if finder is None else finder.at_spaces


def licence_for(tokenizer: TokenizerAdapter, text: str) -> Seam | None:
    """Returns the seam that licenses a cut of `text` at every certified space, or None."""
    if not isinstance(tokenizer, HasSegmentCache):
        return None
    may_divide = getattr(tokenizer, "may_divide", None)
    if may_divide is None or not may_divide(text):
        return None
    return licence_of_texts(tokenizer)


def stands_apart(chunks: Sequence[Chunk], i: int, length: int) -> bool:
    """True if both edges of chunk `i` are certified cuts or ends of the text, without overlap.

    Such a chunk has the same tokens as the whole text has there. `length`: code points of the
    text."""
    chunk = chunks[i]
    before = chunks[i - 1].stop if i else 0
    after = chunks[i + 1].start if i + 1 < len(chunks) else length
    return (before, chunk.stop) == (chunk.start, after) and all(
        _begins_apart(each, first=k == 0) for k, each in enumerate(chunks[i : i + 2], start=i)
    )


def _begins_apart(chunk: Chunk, *, first: bool) -> bool:
    """True if slice and core of `chunk` begin at one certified cut, or the chunk is the first."""
    if chunk.start != chunk.core_start:
        return False
    return first if chunk.cut is None else chunk.cut.rule in CERTIFIED_CUTS
