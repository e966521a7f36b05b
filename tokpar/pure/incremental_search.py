"""Which of the tokens that the bytes so far end with is the last token of their tokenization.

The tokens that end a token l are the nodes of a tree, each below its right part, which ends l too:
the suffix-successor tree of l. Those that merging makes at the end of the bytes are a path from the
single byte down, and the last token is the lower end of it. The path goes through a node exactly if
the token before the node's right part lies in the node's range, and the ranges of the children of a
node share nothing. So a part of the tree that holds the end of the path is halved by one question
to a centroid of it: not on the path, then the end is above; else it is the centroid, or below the
one child that a binary search among the ranges gives. That is O(log t) questions of O(log t).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from tokpar.pure.incremental_forest import NO_NODE, Forest

SHORT = 16
"""Chains of at most so many suffixes are tried from the longest down, which is faster."""
MEMO_TREES = 1 << 12


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the tree by its centroid, `node`. `above`: what is left without the nodes below it.
    `lows`, `highs`, `below`: the ranges of the children and their parts, in ascending order."""

    node: int
    above: Part | None
    lows: list[int]
    highs: list[int]
    below: list[Part]


class Search:
    """`longest_suffix`: per node the longest token that is a proper suffix of it, or `NO_NODE`."""

    def __init__(self, forest: Forest, longest_suffix: Sequence[int], short: int = SHORT) -> None:
        self._forest = forest
        self._longest_suffix = longest_suffix
        self._short = short
        self._tree = lru_cache(MEMO_TREES)(partial(suffix_tree, forest, longest_suffix))
        self._count = [1] * len(longest_suffix)
        for node in sorted(range(len(longest_suffix)), key=forest.size.__getitem__):
            if longest_suffix[node] != NO_NODE:
                self._count[node] = self._count[longest_suffix[node]] + 1

    def last_token(self, longest: int, last: Sequence[int]) -> int:
        """The last token, a node. `longest`: the longest token at the end. `last`: the last tokens
        of all shorter texts but the empty one."""
        if self._count[longest] <= self._short:
            return self.by_trying(longest, last)
        return self.by_halving(longest, last)

    def by_trying(self, longest: int, last: Sequence[int]) -> int:
        """Suffix after suffix, O(t)."""
        forest, shorter = self._forest, self._longest_suffix
        right_size, low, high = forest.right_size, forest.low, forest.high
        node = longest
        while size := right_size[node]:
            if low[node] <= last[-size] < high[node]:
                break
            node = shorter[node]
        return node

    def by_halving(self, longest: int, last: Sequence[int]) -> int:
        """By centroids, O(log^2 t) once the tree of `longest` is there."""
        forest = self._forest
        part = self._tree(longest)
        while True:
            node = part.node
            size = forest.right_size[node]
            if size and not forest.low[node] <= last[-size] < forest.high[node]:
                assert part.above is not None
                part = part.above
                continue
            if not part.lows:
                return node
            before = last[-forest.size[node]]
            i = bisect_right(part.lows, before) - 1
            if i < 0 or before >= part.highs[i]:
                return node
            part = part.below[i]


def suffix_tree(forest: Forest, longest_suffix: Sequence[int], longest: int) -> Part:
    """The suffix-successor tree of a token, divided at centroids all the way down."""
    chain = []
    node = longest
    while node != NO_NODE:
        chain.append(node)
        node = longest_suffix[node]
    chain.reverse()
    children: dict[int, list[int]] = {node: [] for node in chain}
    for node in chain[1:]:
        children[forest.parent[node]].append(node)
    sizes: dict[int, int] = {}
    for node in reversed(chain):
        sizes[node] = 1 + sum(sizes[child] for child in children[node])
    return _divide(chain[0], children, sizes, forest)


def _divide(
    root: int, children: dict[int, list[int]], sizes: dict[int, int], forest: Forest
) -> Part:
    """The part below `root`; takes the nodes below each centroid out of `children`."""
    half = sizes[root] // 2
    path = [root]
    while heavy := [child for child in children[path[-1]] if sizes[child] > half]:
        path.append(heavy[0])
    centre = path.pop()
    inner = sorted(children[centre], key=forest.low.__getitem__)
    lows, highs = [forest.low[node] for node in inner], [forest.high[node] for node in inner]
    below = [_divide(node, children, sizes, forest) for node in inner]
    if not path:
        return Part(centre, None, lows, highs, below)
    children[path[-1]].remove(centre)
    for node in path:
        sizes[node] -= sizes[centre]
    return Part(centre, _divide(root, children, sizes, forest), lows, highs, below)
