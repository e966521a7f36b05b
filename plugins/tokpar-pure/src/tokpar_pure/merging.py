"""The merge loops of BPE (`tokpar_pure.bpe`), written for speed.

Each possible merge has a code, an int. The lowest code merges first; of equal codes the leftmost.
Up to `SCAN_ATOMS` atoms, `min` finds the next merge, which is faster than a heap. Longer lists are
merged with heaps in O(n log n)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import AnyStr

Codes = dict[tuple[int, int], int]
"""(left id, right id) -> priority * 2**32 + merged id."""

Span = tuple[int, int, int]
"""(id, start, stop) of a token, in the units of the function: atoms, UTF-8 bytes or code points."""

SCAN_ATOMS = 200
ID_BITS = 32
ID_MASK = (1 << ID_BITS) - 1
NEVER = 1 << 80


def merge_ids(ids: list[int], codes: Codes) -> list[int]:
    """Merges pairs of `ids` and returns the result: [0, 1, 2] with {(1, 2): 7} -> [0, 7]. May
    change the list `ids`."""
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
    """Merges pairs of `ids` with a heap. Returns (id, index of its first atom) of each token.
    Changes the list `ids`."""
    get = codes.get

    def code(i: int, j: int, _: int) -> int:
        return get((ids[i], ids[j]), NEVER)

    def join(i: int, code: int) -> None:
        ids[i] = code & ID_MASK

    return [(ids[i], i) for i in merge_by_queue(len(ids), code, join)[:-1]]


def merge_text(text: AnyStr, codes: Mapping[AnyStr, int]) -> list[int]:
    """Merges two neighbours wherever their joined text has a code. Returns the positions at which
    the parts begin, and the length of `text`: "xaab" with {"aa": 5, "ab": 7} -> [0, 1, 3, 4].

    Atoms are characters of a `str`, or bytes."""
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
    """Merges `size` atoms with heaps. Returns the index of the first atom of each remaining part,
    and `size`.

    `code(i, j, k)`: returns the code for merging the parts [i, j) and [j, k), or `NEVER`; called
    once for each pair. `join(i, code)`: called for each merge, with the first atom of the pair.
    `waiting` has, for each code, a heap of the first atoms of its pairs. An entry is out of date
    once the pair at this atom has another code (`current`)."""
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
    """A cache: pre-token -> ids. `ids` computes the ids of a pre-token that is not cached.

    Holds at most `PIECES` pre-tokens of at most `CHARACTERS` characters each, and is emptied when
    full. A hit costs no Python call, because the cache is a dict with `__missing__`. Safe to share
    between threads: at worst two threads compute the same pre-token."""

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
        """Returns the ids of one pre-token; no ids for ""."""
        return self[piece]

    def encode_all(self, pieces: Sequence[str]) -> list[int]:
        """Returns the ids of all pre-tokens, in order, in one list."""
        return list(chain.from_iterable(map(self.__getitem__, pieces)))
