"""The greedy merging of `tokpar.pure.bpe`, written for speed. Every possible merge has a code, an
int; the least is made first, the leftmost of equal ones. Up to `SCAN_ATOMS` atoms it is found with
`min`, which costs less than keeping order; more are merged in O(n log n) with heaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import AnyStr

Codes = dict[tuple[int, int], int]
"""(left id, right id) -> priority * 2**32 + merged id."""

Span = tuple[int, int, int]
"""(id, start, stop) of a token."""

SCAN_ATOMS = 200
ID_BITS = 32
ID_MASK = (1 << ID_BITS) - 1
NEVER = 1 << 80


def merge_ids(ids: list[int], codes: Codes) -> list[int]:
    """`ids` merged by pairs: [0, 1, 2] with {(1, 2): 7} -> [0, 7]. Changes the list."""
    if len(ids) > SCAN_ATOMS:
        return [id_ for id_, _ in merge_ids_in_place(ids, codes)]
    get = codes.get
    waiting = [get(pair, NEVER) for pair in pairwise(ids)]
    while waiting and (best := min(waiting)) != NEVER:
        i = waiting.index(best)
        merged = ids[i] = best & ID_MASK
        del ids[i + 1], waiting[i]
        if i:
            waiting[i - 1] = get((ids[i - 1], merged), NEVER)
        if i < len(waiting):
            waiting[i] = get((merged, ids[i + 1]), NEVER)
    return ids


def merge_ids_in_place(ids: list[int], codes: Codes) -> list[tuple[int, int]]:
    """The same by heap: (id, number of its first atom) of each part. Changes the list."""
    get = codes.get

    def code(i: int, j: int, _: int) -> int:
        return get((ids[i], ids[j]), NEVER)

    def join(i: int, code: int) -> None:
        ids[i] = code & ID_MASK

    return [(ids[i], i) for i in merge_by_queue(len(ids), code, join)[:-1]]


def merge_text(text: AnyStr, codes: Mapping[AnyStr, int]) -> list[int]:
    """Where parts of `text` begin, and its length, if any two may merge whose text together has a
    code: "xaab", {"aa": 5, "ab": 7} -> [0, 1, 3, 4]. Atoms are characters or bytes."""
    size = len(text)
    get = codes.get
    if size > SCAN_ATOMS:
        return merge_by_queue(size, lambda i, _, k: get(text[i:k], NEVER), lambda *_: None)
    starts = list(range(size + 1))
    waiting = [get(text[i : i + 2], NEVER) for i in range(size - 1)]
    while waiting and (best := min(waiting)) != NEVER:
        i = waiting.index(best)
        del starts[i + 1], waiting[i]
        if i:
            waiting[i - 1] = get(text[starts[i - 1] : starts[i + 1]], NEVER)
        if i < len(waiting):
            waiting[i] = get(text[starts[i] : starts[i + 2]], NEVER)
    return starts


def merge_by_queue(
    size: int, code: Callable[[int, int, int], int], join: Callable[[int, int], None]
) -> list[int]:
    """First atoms of the parts that are left of `size` atoms, and `size`. `code(i, j, k)`: of
    merging the parts [i, j) and [j, k), or `NEVER`; asked once for every pair. `join(i, code)` is
    told of each merge. Pairs wait under their code by their first atom, until that has another."""
    after = list(range(1, size + 2))
    before = list(range(-1, size))
    current = [NEVER] * size
    order: list[int] = []
    waiting: dict[int, list[int]] = {}

    def offer(i: int, j: int, k: int) -> None:
        current[i] = found = code(i, j, k)
        if found != NEVER:
            if found not in waiting:
                waiting[found] = []
                heappush(order, found)
            heappush(waiting[found], i)

    for i in range(size - 1):
        offer(i, i + 1, i + 2)
    while order:
        least = order[0]
        if not waiting[least]:
            del waiting[heappop(order)]
            continue
        i = heappop(waiting[least])
        if current[i] != least:
            continue
        join(i, least)
        j = after[i]
        k = after[i] = after[j]
        after[j] = 0
        before[k] = i
        current[i] = current[j] = NEVER
        if k < size:
            offer(i, k, after[k])
        if before[i] >= 0:
            offer(before[i], i, k)
    return [*(i for i in range(size) if after[i]), size]


def cover_characters(spans: Sequence[Span], piece: str) -> list[Span]:
    """Returns byte spans as code points, each with all characters that it touches: "é" with
    [(7, 1, 2)] -> [(7, 0, 1)]."""
    if piece.isascii():
        return list(spans)
    owner = [i for i, character in enumerate(piece) for _ in character.encode("utf-8")]
    return [(id_, owner[start], owner[stop - 1] + 1) for id_, start, stop in spans]


class Memo(dict[str, tuple[int, ...]]):
    """Ids of the last pre-tokens, at most `PIECES` of at most `CHARACTERS` each; emptied when full.
    A dict that computes what it lacks is asked without a Python call for what it has. Safe to share
    between threads: the worst a race does is to compute a pre-token twice."""

    PIECES = 1 << 16
    CHARACTERS = 64

    def __init__(self, ids: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._compute = ids

    def __missing__(self, piece: str) -> tuple[int, ...]:
        ids = self._compute(piece)
        if len(piece) <= self.CHARACTERS:
            if len(self) >= self.PIECES:
                self.clear()
            self[piece] = ids
        return ids

    def encode(self, piece: str) -> tuple[int, ...]:
        """Ids of one pre-token; of "", none."""
        return self[piece]

    def encode_all(self, pieces: Sequence[str]) -> list[int]:
        """Ids of all pre-tokens in order."""
        return list(chain.from_iterable(map(self.__getitem__, pieces)))
