"""Finds the contents of added tokens in texts, by one automaton for all contents of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of
from tokpar.process import kernel_modules
from tokpar.process.cached_property import cached_property

Clusters = IntArray
"""The clusters of a text: int64, (n, 3), ascending.

Occurrences of contents that share characters make a cluster. Clusters share no character. A row
is [start, stop) of the cluster, and the index in `Contents.contents` of the content that is the
whole cluster, -1 if there is none. A position is strictly inside a cluster if and only if an
occurrence reaches over it."""
_FEW = 4
_BLOCK = 1 << 16
_NO_CLUSTERS: Clusters = np.empty((0, 3), np.int64)


class Contents:
    """The distinct non-empty `contents` of some added tokens, ascending."""

    def __init__(self, contents: tuple[str, ...]) -> None:
        self.contents = contents
        self.longest = max(map(len, contents), default=0)
        """Length of the longest content, code points; 0 without contents."""
        self._firsts = "".join({content[0] for content in contents})
        self._bytes = [content.encode(errors="surrogatepass") for content in contents]
        self._chars = np.array([*map(len, contents)], np.int64)
        self._sizes = np.array([*map(len, self._bytes)], np.int64)
        self._shortest = int(self._sizes.min(initial=1 << 62))
        self._automaton: ContentAutomaton | None = (
            build_automaton(self._bytes) if contents else None
        )

    @classmethod
    def of(cls, contents: Iterable[str]) -> Contents:
        """Returns the `Contents` of any strings. Equal sets share the last automata."""
        return _contents_of(tuple(sorted({*contents} - {""})))

    def clusters(self, text: str, lo: int = 0, hi: int | None = None) -> Clusters:
        """Returns the clusters of text[lo:hi], as positions of `text`, in code points."""
        hi = len(text) if hi is None else hi
        if len(self._firsts) <= _FEW:  # a search for one character is the fastest
            starts = [at for c in self._firsts if (at := text.find(c, lo, hi)) >= 0]
            lo = min(starts, default=hi)
        if lo >= hi:
            return _NO_CLUSTERS
        part = text[lo:hi]
        data = np.frombuffer(part.encode(errors="surrogatepass"), np.uint8)
        found, _ = self._search(data, None if part.isascii() else self._chars)
        found[:, :2] += lo
        return found

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield [start, stop) of the leftmost contents, and of these the longest, in code points:
        what the engine matches if no token has a flag."""
        for start, stop, number in self.clusters(text).tolist():
            if number >= 0:
                yield start, stop
                continue
            at = start
            while at < stop:
                fits = (n for n in self._distinct_sizes if at + n <= stop)
                size = next((n for n in fits if text[at : at + n] in self._set), 0)
                if size:
                    yield at, at + size
                at += size or 1

    def unfinished_start(self, text: str, start: int = 0) -> int:
        """The least p >= `start` where text[p:] is a proper prefix of a content.

        For the content "<s>", "a <s" -> 2. The length of the text if there is none."""
        part = text[max(start, len(text) - self.longest + 1) :]
        if not part or self._automaton is None:
            return len(text)
        data = np.frombuffer(part.encode(errors="surrogatepass"), np.uint8)
        size = self._search(data, None)[1]
        return len(text) - len(data[len(data) - size :].tobytes().decode(errors="surrogatepass"))

    def _search(self, data: NDArray[np.uint8], lengths: IntArray | None) -> tuple[Clusters, int]:
        """The clusters, and the bytes of the longest suffix that is a proper prefix of a content.

        `lengths`: of contents in code points; None: positions are bytes."""
        if self._automaton is None:
            return _NO_CLUSTERS, 0
        if kernel_modules.CONTENTS is None:
            return self._search_by_arrays(self._automaton, data, lengths)
        table, node = self._automaton.table, np.zeros(1, np.int64)
        given = self._sizes if lengths is None else lengths
        room = min(len(data) // self._shortest + 1, max(64, len(data) // 8))
        count = -1
        while count < 0:  # the last of few times: the array was too short
            out = np.empty((room, 3), np.int64)
            count = kernel_modules.CONTENTS.find_clusters(
                data, table, given, lengths is not None, out.ravel(), node
            )
            room *= 8
        last = int(node[0])
        while last and not table[ROOT + 4 * last + 1] >> 8:
            last = int(table[ROOT + 4 * last + 2])
        return out[:count], int(self._automaton.depth[last])

    def _search_by_arrays(
        self, automaton: ContentAutomaton, data: NDArray[np.uint8], lengths: IntArray | None
    ) -> tuple[Clusters, int]:
        """As `_search`, without the compiled kernel: arrays follow the tree from all positions."""
        size, rest = len(data), 0
        nodes_ = automaton.table[ROOT:].reshape(-1, 4)
        found = [_NO_CLUSTERS]
        for first in range(0, size, _BLOCK):
            starts = first + np.flatnonzero(automaton.table[data[first : first + _BLOCK]])
            nodes, depth = automaton.table[data[starts]].astype(np.int64), 1
            while len(starts):
                numbers = nodes_[nodes, 3].astype(np.int64)
                is_content = (numbers >= 0) & (self._sizes[numbers] == depth)
                ends = starts[is_content], starts[is_content] + depth, numbers[is_content]
                found.append(np.stack(ends, axis=1))
                at_end = starts + depth == size
                if (nodes_[nodes[at_end], 1] >> 8).any():
                    rest = max(rest, depth)
                starts, nodes = starts[~at_end], nodes[~at_end]
                nodes = automaton.children(nodes, data[starts + depth])
                starts, nodes, depth = starts[nodes > 0], nodes[nodes > 0], depth + 1
        clusters = _clusters_of(np.concatenate(found))
        if lengths is not None:
            before = offsets_of((data & 0xC0 != 0x80).astype(np.int64))
            clusters[:, :2] = before[clusters[:, :2]]
        return clusters, rest

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self.contents)

    @cached_property
    def _distinct_sizes(self) -> list[int]:
        return sorted({*self._chars.tolist()}, reverse=True)


def _clusters_of(occurrences: Clusters) -> Clusters:
    """The clusters of all occurrences, in any order."""
    if not len(occurrences):
        return occurrences
    starts, stops, numbers = occurrences[np.lexsort(occurrences[:, :2].T)].T
    least = np.minimum.accumulate(starts[::-1])[::-1]  # of all that end there or later
    firsts = np.flatnonzero(np.append(True, least[1:] >= stops[:-1]))
    begins, ends = least[firsts], stops[np.append(firsts[1:], len(stops)) - 1]
    longest = np.searchsorted(stops, ends)  # of those with one end, the longest comes first
    whole = np.where(starts[longest] == begins, numbers[longest], -1)
    return np.stack([begins, ends, whole], axis=1)


@lru_cache(maxsize=16)
def _contents_of(contents: tuple[str, ...]) -> Contents:
    return Contents(contents)


# ---- the automaton (Aho and Corasick, 1975)

ROOT = 256
"""Words of the table before the root: the child of the root for each byte, or 0."""


@dataclass(frozen=True, slots=True, eq=False)
class ContentAutomaton:
    """The automaton of some contents, which are distinct, not empty and ascending.

    `table`: int32; see `tokpar.compiled._contents`. `edges`: for each node but the root, 256 times
    its parent, plus the byte between them; ascending. `depth`: bytes of each node; int64."""

    table: NDArray[np.int32]
    edges: IntArray
    depth: IntArray

    def children(self, nodes: IntArray, bytes_: NDArray[np.uint8]) -> IntArray:
        """Returns the child of each node for a byte, or 0."""
        return _children(self.edges, nodes, bytes_)


def build_automaton(contents: Sequence[bytes]) -> ContentAutomaton:
    """Returns the automaton of distinct contents that are not empty and ascend."""
    lengths = np.fromiter(map(len, contents), np.int64, len(contents))
    data, starts = np.frombuffer(b"".join(contents), np.uint8), offsets_of(lengths)[:-1]
    if kernel_modules.CONTENTS is None:
        return _build_by_arrays(data, starts, lengths)
    table = np.zeros(ROOT + 4 * (len(data) + 1), np.int32)
    depth = np.zeros(len(data) + 1, np.int64)
    room = np.arange(len(contents)), np.zeros(len(contents), np.int64), table, depth
    count = kernel_modules.CONTENTS.build_table(data, starts, lengths, *room)
    table, depth = table[: ROOT + 4 * count].copy(), depth[:count].copy()
    nodes = table[ROOT:].reshape(-1, 4)
    parents = np.repeat(np.arange(count), nodes[:, 1] >> 8)
    return ContentAutomaton(table, (parents << 8) + (nodes[1:, 1] & 255), depth)


def _build_by_arrays(
    data: NDArray[np.uint8], starts: IntArray, lengths: IntArray
) -> ContentAutomaton:
    """As `build_automaton`, without the compiled kernel: level by level."""
    edges, ends, sizes = _tree(data, starts, lengths)
    count = len(edges) + 1
    depth = np.repeat(np.arange(len(sizes)), sizes)
    shorter, longest = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    longest[ends] = np.arange(len(lengths))
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
    return ContentAutomaton(table, edges, depth)


def _tree(
    data: NDArray[np.uint8], starts: IntArray, lengths: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The tree of all prefixes of the contents, level by level.

    Returns the edges (`ContentAutomaton.edges`), the node of each content, and the nodes of each
    level."""
    node = np.zeros(len(lengths), np.int64)
    edges, sizes, count = [], [1], 1
    for level in range(int(lengths.max(initial=0))):
        live = np.flatnonzero(lengths > level)
        wanted = (node[live] << 8) + data[starts[live] + level]
        is_new = np.diff(wanted, prepend=-1) != 0  # contents with one prefix are neighbours
        node[live] = count - 1 + np.cumsum(is_new)
        edges.append(wanted[is_new])
        sizes.append(len(edges[-1]))
        count += sizes[-1]
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
