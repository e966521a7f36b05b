"""Builds the automaton that finds the contents of added tokens (Aho and Corasick, 1975).

It is built level by level with arrays: 10,000 contents take some 30 ms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of

ROOT = 256
"""Words of the table before the root: the child of the root for each byte, or 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """The automaton of some contents, which are distinct, not empty and ascending.

    `table`: int32; see `tokpar.cache._contents`. `edges`: for each node but the root, 256 times its
    parent, plus the byte between them; ascending. `depth`: bytes of each node; int64."""

    table: NDArray[np.int32]
    edges: IntArray
    depth: IntArray

    def children(self, nodes: IntArray, bytes_: NDArray[np.uint8]) -> IntArray:
        """Returns the child of each node for a byte, or 0."""
        return _children(self.edges, nodes, bytes_)


def build_automaton(contents: Sequence[bytes]) -> Automaton:
    """Returns the automaton of distinct contents that are not empty and ascend."""
    lengths = np.fromiter(map(len, contents), np.int64, len(contents))
    data, starts = np.frombuffer(b"".join(contents), np.uint8), offsets_of(lengths)[:-1]
    edges, ends, sizes = _tree(data, starts, lengths)
    count = len(edges) + 1
    depth = np.repeat(np.arange(len(sizes)), sizes)
    shorter, longest = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    longest[ends] = np.arange(len(contents))
    firsts = offsets_of(sizes)
    for first, stop in zip(firsts[2:-1].tolist(), firsts[3:].tolist(), strict=True):
        own = edges[first - 1 : stop - 1]
        shorter[first:stop] = _links(edges[: first - 1], shorter, own >> 8, own & 255)
        linked = longest[shorter[first:stop]]
        longest[first:stop] = np.where(longest[first:stop] < 0, linked, longest[first:stop])
    table = np.zeros(ROOT + 4 * count, np.int32)
    table[edges[: firsts[2] - 1]] = np.arange(1, firsts[2])
    nodes = table[ROOT:].reshape(-1, 4)
    parents = np.arange(count)
    nodes[:, 0] = np.minimum(1 + np.searchsorted(edges, parents << 8), count - 1)
    nodes[:, 1] = np.bincount(edges >> 8, minlength=count) << 8
    nodes[1:, 1] |= (edges & 255).astype(np.int32)
    nodes[:, 2], nodes[:, 3] = shorter, longest
    return Automaton(table, edges, depth)


def _tree(
    data: NDArray[np.uint8], starts: IntArray, lengths: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The tree of all prefixes of the contents, level by level.

    Returns the edges (`Automaton.edges`), the node of each content, and the nodes of each level."""
    node = np.zeros(len(lengths), np.int64)
    edges, sizes = [], [1]
    for level in range(int(lengths.max(initial=0))):
        live = np.flatnonzero(lengths > level)
        wanted = (node[live] << 8) + data[starts[live] + level]
        is_new = np.diff(wanted, prepend=-1) != 0  # contents with one prefix are neighbours
        node[live] = sum(sizes) - 1 + np.cumsum(is_new)
        edges.append(wanted[is_new])
        sizes.append(int(is_new.sum()))
    return np.concatenate([*edges, np.empty(0, np.int64)]), node, np.array(sizes)


def _links(edges: IntArray, shorter: IntArray, parents: IntArray, bytes_: IntArray) -> IntArray:
    """The node of the longest proper suffix of each new node, below `parents` by `bytes_`.

    `edges`: those of all levels before."""
    found, at = np.zeros(len(parents), np.int64), parents
    open_ = np.arange(len(parents))
    while len(open_):
        at = shorter[at]
        child = _children(edges, at, bytes_[open_])
        found[open_] = child
        still = (child == 0) & (at != 0)
        open_, at = open_[still], at[still]
    return found


def _children(edges: IntArray, nodes: IntArray, bytes_: NDArray[np.integer]) -> IntArray:
    wanted = (nodes << 8) + bytes_
    places = np.searchsorted(edges, wanted)
    is_there = edges.take(np.minimum(places, len(edges) - 1)) == wanted
    found: IntArray = np.where(is_there, places + 1, 0)
    return found
