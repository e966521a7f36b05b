"""Makes chunks that overlap at their edges, and moves an edge to a certified cut."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.cuts.finder import CutFinder
from tokpar.pipeline.chunks_at_cuts import FAR, SOON
from tokpar.types import Chunk, Rule, Seam


@dataclass(frozen=True, slots=True)
class ChunkEdge:
    """Where the core of one chunk ends and the core of the next chunk begins.

    `reach`: how far both chunks reach over the edge, code points. `cut`: the certified cut at the
    edge, or None."""

    position: int
    reach: int
    cut: Seam | None = None


def overlapping_chunks(length: int, edges: Sequence[ChunkEdge]) -> list[Chunk]:
    """Returns the chunks of a text of `length` code points between ascending edges.

    An overlap reaches at most half of the way to the next edge."""
    ends = [0, *(edge.position for edge in edges), length]
    seams = []
    for before, edge, after in zip(ends, edges, ends[2:], strict=False):
        reach = min(edge.reach, min(edge.position - before, after - edge.position) // 2)
        if edge.cut is not None and edge.cut.rule == Rule.EDGE:
            reach = 0  # neither side must see the other
        seams.append((edge.cut or Seam(edge.position, None, ""), reach))
    return _chunks_at(length, seams)


def move_to_cut(finder: CutFinder | None, text: str, edge: ChunkEdge, stop: int) -> ChunkEdge:
    """Returns the edge, moved to the next near certified cut before `stop` if there is one."""
    if finder is None:
        return edge
    cut = finder.find(text, edge.position, min(stop, edge.position + FAR), SOON)
    return edge if cut is None else ChunkEdge(cut.position, edge.reach, cut)


def _chunks_at(length: int, seams: Sequence[tuple[Seam, int]]) -> list[Chunk]:
    """Returns the chunks of a text of `length` code points, with (seam, reach) between them.

    Both chunks reach so many code points over their seam. Without overlap, the right chunk leaves
    out the space that the cut absorbs (6.4)."""
    chunks = []
    start = core_start = left_out = 0
    cut: Seam | None = None
    for seam, reach in seams:
        edge = seam.position
        chunks.append(Chunk(start, edge + reach, core_start, edge, left_out, cut=cut))
        cut, core_start = seam, edge
        left_out = 0 if reach else seam.absorbed
        start = edge - reach + left_out
    return [*chunks, Chunk(start, length, core_start, length, left_out, cut=cut)]
