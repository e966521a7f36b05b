"""Finds the last token of a text from the tokens that its bytes end with.

Automaton (Aho and Corasick). It finds the longest token that is a suffix of the bytes read so far.
A state is the longest suffix of these bytes that is a prefix of some token. To read a byte, the
automaton tries shorter and shorter states until one can be continued by the byte. Each try shortens
the state, and each byte lengthens it by at most one, so a byte costs O(1) on average.

Forest. The parent of a token is its right part. The *last parts* of a token w are w, its right
part, the right part of its right part, and so on. Let the text end with a token t = (left, right),
and let w be the last token of the text before `right`. Then merging makes t at the end of the text
if and only if

- the left part of t is a last part of w, and
- it is w itself, or the next longer last part of w is made later than t.

Children of a node are ordered by the time when they are made, the latest first, and nodes are
numbered in preorder. Then all these tokens w have the numbers [low, high): see "Ranges" in
proofs/incremental-bpe.md.

Search. Let l be the longest token that the text ends with. The tokens that are suffixes of l form a
tree in which the parent of a token is its right part: the suffix-successor tree of l. The tokens
that merging makes at the end of the text are a path in this tree, from the single byte down. The
lower end of the path is the last token of the text. A node is on the path if and only if the last
token before the node's right part lies in the range of the node. The ranges of sibling nodes are
disjoint. So one test of a centroid at least halves the tree:

- The centroid is not on the path: the end of the path is above the centroid.
- It is on the path: the end is the centroid, or lies below the one child whose range has the token
  before the centroid. A binary search in the ranges of the children finds this child.

This takes O(log t) tests of O(log t) each, for tokens of at most t bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate

from tokpar_incremental.dictionary import BYTE, Dictionary

START = 0
NO_NODE = -1
SHORT = 16
"""If a text ends with at most this many tokens, they are tried from the longest down, which is
faster than halving."""
MEMO_TREES = 1 << 12


class TokenAutomaton:
    """The automaton of Aho and Corasick over `tokens`, which are distinct and have all 256 single
    bytes. A token is known by its index in `tokens`.

    `next_state`: state * 256 + byte -> state, where the state can be continued.
    Per state: `shorter`: the state of the longest proper suffix. `depth`: its length in bytes.
    `longest`: the index of the longest token that the state ends with, -1 for the first state.
    Per token: `longest_suffix`: the index of the longest token that is a proper suffix, or -1.

    >>> bytes_ = [bytes([byte]) for byte in range(256)]
    >>> automaton = TokenAutomaton([*bytes_, b"abc", b"bcd"])
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
        """Returns the state after one more byte."""
        while (following := self.next_state.get(state << 8 | byte)) is None:
            state = self.shorter[state]
        return following

    def states(self, data: bytes) -> list[int]:
        """Returns the state after each byte of `data`."""
        return list(accumulate(data, self.step, initial=START))[1:]

    def _grow(self, tokens: Sequence[bytes]) -> dict[int, int]:
        """Builds the tree of all prefixes of tokens. Returns state -> index of the token, for each
        state that is a token."""
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
        """Fills in `shorter`, `longest` and `longest_suffix`. Takes shorter states first, because
        `step` needs the `shorter` of all shorter states."""
        for state in sorted(range(1, len(self.depth)), key=self.depth.__getitem__):
            before, byte = divmod(self._reached_by[state], 256)
            if before != START:
                self.shorter[state] = self.step(self.shorter[before], byte)
            self.longest[state] = suffix = self.longest[self.shorter[state]]
            place = ends.get(state)
            if place is not None:
                self.longest[state], self.longest_suffix[place] = place, suffix


class Forest:
    """The successor forest: nodes 0, 1, ... in preorder, one for each token of a dictionary.

    Per node: `token`: its number in the dictionary. `spelling`, `ids`: its bytes and its id.
    `parent`: the node of its right part, `NO_NODE` for a single byte.
    `size`, `right_size`: the bytes of the token and of its right part, 0 for a single byte.
    `low`, `high`: the range of the tokens that may precede the right part (see the module).
    Per token number: `node`: its node.

    >>> from tokpar_incremental.dictionary import dictionary
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
        """Returns the end of the range of `token`.

        The range starts with the left part of `token`. Then come the subtrees of some children of
        the left part (`rivals`): the children that are made later than `token`, which come first in
        the order of the children."""
        beats = self.dictionary.beats
        beaten = bisect_left(rivals, True, key=lambda rival: not beats(token, rival))
        if beaten < len(rivals):
            return self.node[rivals[beaten]]
        return self._ends[self.node[self.dictionary.left[token]]]


def children(dictionary: Dictionary) -> list[list[int]]:
    """Returns, for each token number, the tokens that have it as right part, those made latest
    first."""
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
class TreePart:
    """A part of a suffix-successor tree, divided at its centroid.

    `node`: the centroid. `rest`: the part without the centroid and all nodes below; None if the
    centroid is the root. `lows`, `highs`, `child_parts`: the ranges of the children of the
    centroid, and the parts below these children, in ascending order of the ranges."""

    node: int
    rest: TreePart | None
    lows: list[int]
    highs: list[int]
    child_parts: list[TreePart]


class Search:
    """Finds the last token of a text. Caches `MEMO_TREES` suffix-successor trees.

    `longest_suffix`: per node, the longest token that is a proper suffix, or `NO_NODE`.
    `short`: see `SHORT`."""

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
        """Returns the last token of a text, as a node. `longest`: the longest token that the text
        ends with. `last`: the last token of each shorter prefix, from one byte on."""
        if self._count[longest] <= self._short:
            return self.by_trying(longest, last)
        return self.by_halving(longest, last)

    def by_trying(self, longest: int, last: Sequence[int]) -> int:
        """Finds the last token by trying one suffix after the other: O(t)."""
        forest, shorter = self._forest, self._longest_suffix
        right_size, low, high = forest.right_size, forest.low, forest.high
        node = longest
        while size := right_size[node]:
            if low[node] <= last[-size] < high[node]:
                break
            node = shorter[node]
        return node

    def by_halving(self, longest: int, last: Sequence[int]) -> int:
        """Finds the last token by centroids: O(log^2 t) if the tree of `longest` is cached."""
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


def suffix_tree(forest: Forest, longest_suffix: Sequence[int], longest: int) -> TreePart:
    """Returns the suffix-successor tree of the token `longest`, divided recursively at its
    centroids."""
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
) -> TreePart:
    """Returns the part of the tree below `root`, divided recursively. Removes each centroid from
    the list of its parent in `children`, and updates `sizes`."""
    half = sizes[root] // 2
    path = [root]
    while heavy := [child for child in children[path[-1]] if sizes[child] > half]:
        path.append(heavy[0])
    centre = path.pop()
    inner = sorted(children[centre], key=forest.low.__getitem__)
    lows, highs = [forest.low[node] for node in inner], [forest.high[node] for node in inner]
    child_parts = [_divide(node, children, sizes, forest) for node in inner]
    if not path:
        return TreePart(centre, None, lows, highs, child_parts)
    children[path[-1]].remove(centre)
    for node in path:
        sizes[node] -= sizes[centre]
    return TreePart(centre, _divide(root, children, sizes, forest), lows, highs, child_parts)
