"""The ways to make a long token of two tokens, in time that is linear in the bytes of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_Chain = tuple[int, int, "_Chain | None"]
"""A long token: its bytes, its id, and the chain of the longest long token that it begins with."""


def halves_of_long_ranks(ranks: Mapping[bytes, int], longest: int) -> NDArray[np.uint32]:
    """Returns the ways to make each token of more than `longest` bytes of two tokens.

    Returns uint32, (3, n): the left ids, the right ids, and the ids of the tokens that they make.
    Halves of at most `longest` bytes are looked up. Longer ones are the long tokens that the token
    begins or ends with, which sorting brings together."""
    long = sorted(token for token in ranks if len(token) > longest)
    prefixes = _chains(long, [ranks[token] for token in long])
    backwards = sorted((token[::-1], ranks[token]) for token in long)
    suffixes = _chains([token for token, _ in backwards], [id_ for _, id_ in backwards])
    found: list[tuple[int, int, int]] = []
    for token in long:
        whole, size = ranks[token], len(token)
        parts = ((n, ranks.get(token[:n])) for n in range(1, longest + 1))
        left = dict(_long_parts(prefixes[whole])) | {n: i for n, i in parts if i is not None}
        parts = ((n, ranks.get(token[-n:])) for n in range(1, longest + 1))
        right = dict(_long_parts(suffixes[whole])) | {n: i for n, i in parts if i is not None}
        found += [(left[n], right[size - n], whole) for n in left if size - n in right]
    return np.ascontiguousarray(np.array(found, np.uint32).reshape(-1, 3).T)


def _chains(ascending: Sequence[bytes], ids: Sequence[int]) -> dict[int, _Chain]:
    """Returns the chain of each token, by its id. A token stands behind all that it begins with,
    so a stack has these."""
    chains: dict[int, _Chain] = {}
    stack: list[tuple[bytes, _Chain]] = []
    for token, id_ in zip(ascending, ids, strict=True):
        while stack and not token.startswith(stack[-1][0]):
            stack.pop()
        chains[id_] = (len(token), id_, stack[-1][1] if stack else None)
        stack.append((token, chains[id_]))
    return chains


def _long_parts(chain: _Chain) -> Iterable[tuple[int, int]]:
    """Yields the length and the id of each long token that a token begins with, but the token."""
    shorter = chain[2]
    while shorter is not None:
        yield shorter[0], shorter[1]
        shorter = shorter[2]
