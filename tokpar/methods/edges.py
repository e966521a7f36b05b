"""Chunks that reach over the edges between them, to both sides (recursive, blocks)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.cuts.inside import Inside
from tokpar.types import Chunk, Seam

FAR = 4096


@dataclass(frozen=True, slots=True)
class Edge:
    """Where one chunk's own share ends and the next one's begins, how far both reach over it (code
    points), and the certified cut at it, if it is one."""

    position: int
    reach: int
    cut: Seam | None = None


def at_cut(inside: Inside, text: str, edge: Edge, stop: int) -> Edge:
    """The edge moved to the next certified cut before `stop` and not far away, if there is one."""
    cut = inside.cut_soon(text, edge.position, min(stop, edge.position + FAR))
    return edge if cut is None else Edge(cut.position, edge.reach, cut)


def chunks_over(length: int, edges: Sequence[Edge]) -> list[Chunk]:
    """The chunks between ascending edges. Two overlaps never meet: each takes at most half of the
    space to its neighbours."""
    places = [0, *(edge.position for edge in edges), length]
    reaches = [0]
    for k, edge in enumerate(edges, start=1):
        room = min(edge.position - places[k - 1], places[k + 1] - edge.position)
        reach = min(edge.reach, room // 2)
        in_phase = edge.cut is not None and edge.cut.rule == "K2"  # a run of digits goes by threes
        reaches.append(reach - reach % 3 if in_phase else reach)
    reaches.append(0)
    cuts = [None, *(edge.cut for edge in edges)]
    left_out = [0 if reach else absorbed(cut) for reach, cut in zip(reaches, cuts, strict=False)]
    return [
        Chunk(
            start=places[k] - reaches[k] + left_out[k],
            stop=places[k + 1] + reaches[k + 1],
            core_start=places[k],
            core_stop=places[k + 1],
            absorbed=left_out[k],
            cut=cuts[k],
        )
        for k in range(len(edges) + 1)
    ]


def absorbed(cut: Seam | None) -> int:
    """Code points behind a cut that the right chunk leaves out where nothing overlaps (6.4)."""
    return 0 if cut is None else int(dict(cut.witness).get("absorbed", 0))
