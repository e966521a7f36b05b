"""The successor forest: each token below its right part, and which tokens may precede that part.

Say the bytes so far end with the right part of a token t, and the bytes before that part end, when
merged alone, with a token w. Then t is made if and only if the left part of t is among the last
parts that w grew through (w, its right part, the right part of that ...), and the next of them is
made later than t. In the forest, where a token hangs below its right part, children that are made
later come first and nodes are numbered in preorder, all such w have numbers [low, high).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from tokpar.pure.incremental_dictionary import BYTE, Dictionary

NO_NODE = -1


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
        below = children(dictionary)
        self.token = list(_preorder(dictionary, below))
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
                self.high[node] = self._high(token, below[dictionary.left[token]])

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


def _preorder(dictionary: Dictionary, below: list[list[int]]) -> Iterator[int]:
    stack = [token for token, right in enumerate(dictionary.right) if right == BYTE][::-1]
    while stack:
        token = stack.pop()
        yield token
        stack.extend(reversed(below[token]))
