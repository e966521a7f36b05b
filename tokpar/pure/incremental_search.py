"""The last token of a text by what its bytes end with: automaton, successor forest, search.

Automaton (Aho and Corasick): the longest token that the bytes read so far end with. A state is a
text that tokens begin with, the longest one that those bytes end with. The way to the next state
goes over shorter and shorter ones until one can be continued; each step makes the state shorter and
each byte makes it longer by one at most, so a byte costs O(1) on average.

Forest: each token below its right part, and which tokens may precede that part.
Say the bytes so far end with the right part of a token t, and the bytes before that part end, when
merged alone, with a token w. Then t is made if and only if the left part of t is among the last
parts that w grew through (w, its right part, the right part of that ...), and the next of them is
made later than t. In the forest, where a token hangs below its right part, children that are made
later come first and nodes are numbered in preorder, all such w have numbers [low, high).

Search: which of the tokens that the bytes end with is the last one of their tokenization. Those
that end a token l are the nodes of a tree, each below its right part, which ends l too: the
suffix-successor tree of l. Those that merging makes at the end of the bytes are a path from the
single byte down, and the last token is the lower end of it. The path goes through a node exactly if
the token before the node's right part lies in the node's range, and the ranges of the children of a
node share nothing. So a part of the tree that holds the end of the path is halved by one question
to a centroid of it: not on the path, then the end is above; else it is the centroid, or below the
one child that a binary search among the ranges gives. That is O(log t) questions of O(log t)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate

from tokpar.pure.incremental_dictionary import BYTE, Dictionary

START = 0
NO_NODE = -1
SHORT = 16
"""Chains of at most so many suffixes are tried from the longest down, which is faster."""
MEMO_TREES = 1 << 12


class Automaton:
    """`tokens`: no two alike, all 256 single bytes among them, known by their place.

    `next_state`: state * 256 + byte -> state. `shorter`: the state of the longest proper suffix.
    `depth`: bytes of the state. `longest`: place of the longest token that the state ends with.
    `longest_suffix`: per token the longest one that is a proper suffix of it, -1 for a byte.

    >>> bytes_ = [bytes([byte]) for byte in range(256)]
    >>> automaton = Automaton([*bytes_, b"abc", b"bcd"])
    >>> [automaton.longest[state] for state in automaton.states(b"abcd")]
    [97, 98, 256, 257]
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self.next_state: dict[int, int] = {}
        self.depth = [0]
        self._reached_by = [0]
        ends = self._grow(tokens)
        self.shorter = [START] * len(self.depth)
        self.longest = [-1] * len(self.depth)
        self.longest_suffix = [-1] * len(tokens)
        self._link(ends)

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        while (following := self.next_state.get(state << 8 | byte)) is None:
            state = self.shorter[state]
        return following

    def states(self, data: bytes) -> list[int]:
        """The state after each byte."""
        return list(accumulate(data, self.step, initial=START))[1:]

    def _grow(self, tokens: Sequence[bytes]) -> dict[int, int]:
        """The tree of all prefixes; the place of the token of each state that is one."""
        next_state, depth = self.next_state, self.depth
        ends = {}
        for place, token in enumerate(tokens):
            state = START
            for size, byte in enumerate(token, 1):
                key = state << 8 | byte
                following = next_state.get(key)
                if following is None:
                    following = next_state[key] = len(depth)
                    depth.append(size)
                    self._reached_by.append(key)
                state = following
            ends[state] = place
        return ends

    def _link(self, ends: dict[int, int]) -> None:
        """Shorter states first: a step goes over the `shorter` of shorter states alone."""
        for state in sorted(range(1, len(self.depth)), key=self.depth.__getitem__):
            before, byte = divmod(self._reached_by[state], 256)
            if before != START:
                self.shorter[state] = self.step(self.shorter[before], byte)
            self.longest[state] = suffix = self.longest[self.shorter[state]]
            place = ends.get(state)
            if place is not None:
                self.longest[state], self.longest_suffix[place] = place, suffix


class Forest:
    """Nodes 0, 1, ... in preorder, one for each token of a dictionary.

    `token`: its number in the dictionary; `node`: the way back. `parent`: the node of the right
    part, `NO_NODE` for bytes. `size`, `right_size`: bytes of the token and of its right part, which
    is 0 for bytes. `low`, `high`: see above.

    >>> from tokpar.pure.incremental_dictionary import dictionary
    >>> bytes_ = {bytes([byte]): byte for byte in range(256)}
    >>> f = Forest(dictionary("", bytes_ | {b"ab": 256, b"bc": 257}, [(97, 98, 1), (98, 99, 0)]))
    >>> f.spelling[f.low[f.node[257]] : f.high[f.node[257]]]  # "abc": bc comes before ab
    [b'b', b'ab']
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        child_lists = children(dictionary)
        self.token = list(_preorder(dictionary, child_lists))
        self.node = [0] * len(self.token)
        for node, token in enumerate(self.token):
            self.node[token] = node
        spelling, right = dictionary.spelling, dictionary.right
        self.spelling = [spelling[token] for token in self.token]
        self.ids = [dictionary.ids[token] for token in self.token]
        self.size = [len(bytes_) for bytes_ in self.spelling]
        self.parent = [
            NO_NODE if right[token] == BYTE else self.node[right[token]] for token in self.token
        ]
        self.right_size = [0 if up == NO_NODE else self.size[up] for up in self.parent]
        self._ends = self._subtree_ends()
        self.low = [0] * len(self.token)
        self.high = [len(self.token)] * len(self.token)
        for node, token in enumerate(self.token):
            if self.right_size[node]:
                self.low[node] = self.node[dictionary.left[token]]
                self.high[node] = self._high(token, child_lists[dictionary.left[token]])

    def _subtree_ends(self) -> list[int]:
        ends = list(range(1, len(self.token) + 1))
        for node in range(len(ends) - 1, -1, -1):
            up = self.parent[node]
            if up != NO_NODE:
                ends[up] = max(ends[up], ends[node])
        return ends

    def _high(self, token: int, rivals: list[int]) -> int:
        """Where the tokens end before which `token` is made: those below its left part, but for the
        children of that part, `rivals`, that are not made later."""
        beats = self.dictionary.beats
        beaten = bisect_left(rivals, True, key=lambda rival: not beats(token, rival))
        if beaten < len(rivals):
            return self.node[rivals[beaten]]
        return self._ends[self.node[self.dictionary.left[token]]]


def children(dictionary: Dictionary) -> list[list[int]]:
    """Tokens by their right part, those first that are made last."""
    found: list[list[int]] = [[] for _ in dictionary.spelling]
    level, bound = dictionary.level, dictionary.right_bound
    for token, right in enumerate(dictionary.right):
        if right != BYTE:
            found[right].append(token)
    for some in found:
        some.sort(key=lambda token: (-level[token], -bound[token]))
    return found


def _preorder(dictionary: Dictionary, child_lists: list[list[int]]) -> Iterator[int]:
    stack = [token for token, right in enumerate(dictionary.right) if right == BYTE][::-1]
    while stack:
        token = stack.pop()
        yield token
        stack.extend(reversed(child_lists[token]))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the tree by its centroid, `node`. `rest`: what is left without the nodes below it.
    `lows`, `highs`, `child_parts`: the ranges of the children and their parts, in ascending
    order."""

    node: int
    rest: Part | None
    lows: list[int]
    highs: list[int]
    child_parts: list[Part]


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
                assert part.rest is not None
                part = part.rest
                continue
            if not part.lows:
                return node
            before = last[-forest.size[node]]
            i = bisect_right(part.lows, before) - 1
            if i < 0 or before >= part.highs[i]:
                return node
            part = part.child_parts[i]


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
    child_parts = [_divide(node, children, sizes, forest) for node in inner]
    if not path:
        return Part(centre, None, lows, highs, child_parts)
    children[path[-1]].remove(centre)
    for node in path:
        sizes[node] -= sizes[centre]
    return Part(centre, _divide(root, children, sizes, forest), lows, highs, child_parts)
