"""Makes the chunks between cuts, and finds chunks that meet at a certified cut."""

from collections.abc import Sequence
from itertools import pairwise

from tokpar.arrays import has_surrogate
from tokpar.contract.adapter import later_call_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
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
    if right.cut is None or not meet_at_cut(left, right):
        return None
    return Join(right.cut, len(piece.ids), 0)


def meet_at_cut(left: Chunk, right: Chunk) -> bool:
    """True if two chunks meet, without overlap, at a cut that names a rule."""
    cut = right.cut
    if cut is None or cut.rule is None:
        return False
    return (left.stop, right.start) == (cut.position, cut.position + cut.absorbed)


def are_certified(chunks: Sequence[Chunk]) -> bool:
    """True if all neighbours meet at certified cuts: each chunk then has the ids that the text has
    there."""
    return all(
        meet_at_cut(left, right) and right.cut is not None and right.cut.rule in CERTIFIED_CUTS
        for left, right in pairwise(chunks)
    )


def joins_at_cuts(chunks: Sequence[Chunk], pieces: Sequence[Piece]) -> list[Join | None]:
    """Returns `join_at_cut` of each pair of neighbours."""
    return [
        join_at_cut(left, right, piece)
        for (left, right), piece in zip(pairwise(chunks), pieces, strict=False)
    ]


def licence_for(tokenizer: TokenizerAdapter, text: str) -> Seam | None:
    """Returns the seam that licenses a cut of `text` at every certified space, or None. None
    without a compiled call."""
    may_divide = getattr(tokenizer, "may_divide", None)
    if may_divide is None or later_call_of(tokenizer) is None or not may_divide(text):
        return None
    return finder_for(facts_of(tokenizer)).at_spaces
