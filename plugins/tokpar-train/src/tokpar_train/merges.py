"""Learn byte-pair encoding from counted pre-tokens: merge the most frequent pair of neighbours,
again and again.

All distinct pre-tokens lie in one array of symbols, joined by links. Each pair knows the places
where it may stand, and a merge looks at these places only. At each place, the merge withdraws the
pairs with the neighbours, makes the left symbol the new one, unlinks the right symbol, and
registers the new pairs. A pair is registered once, and from then on its count only falls. So a heap
has one entry per pair. The count of an entry is corrected when the entry comes to the top; a pair
that has become too rare is removed.

The merges are those of Hugging Face's `BpeTrainer`, which counts overlapping pairs, too ("aaa"
holds "aa" twice). No two pairs make the same token: every merge inside an occurrence of the token's
bytes comes before any merge across its edges, and depends on these bytes alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal, TypeAlias

import numpy as np

from tokpar.arrays import IntArray

Ties = Literal["huggingface", "lexicographic"]
TIES: tuple[Ties, ...] = ("huggingface", "lexicographic")
Pair = tuple[int, int]
Key: TypeAlias = int  # a pair as one number: left id * 2**32 + right id

NONE = -1
_RIGHT = (1 << 32) - 1
_COMPLEMENT = bytes(range(255, -1, -1))


@dataclass(frozen=True)
class Limits:
    """When learning stops, and which pairs are too long.

    `merges`: the most merges. `least_count`: a rarer pair is not merged. `length`: a pair of so
    many bytes or more is never merged, unless it is two single bytes; None: no limit."""

    merges: int
    least_count: int = 1
    length: int | None = None


def learn_merges(
    words: Mapping[bytes, int],
    byte_ids: Sequence[int],
    limits: Limits,
    ties: Ties,
    on_progress: Callable[[int], object] = lambda merges: None,
) -> list[Pair]:
    """The merges, in order; merge k makes the id ``max(byte_ids) + 1 + k``.

    `words`: pre-tokens, and how often each occurs; their order does not matter. `byte_ids`: the id
    of each of the 256 bytes.
    `ties`: which of several most frequent pairs is merged. "huggingface": the least (left id, right
    id). "lexicographic": the greatest (left bytes, right bytes).
    `on_progress`: called with the number of merges made since the last call.

    {b"abab": 2, b"b": 1} -> ("a", "b"), then ("ab", "ab")."""
    state = _MergingState(words, byte_ids, limits, ties)
    merges: list[Pair] = []
    while len(merges) < limits.merges and (pair := state.most_frequent()):
        state.merge(*pair)
        merges.append(pair)
        on_progress(1)
    return merges


class _MergingState:
    """The partly merged pre-tokens, and the pairs in them.

    `symbols` (ids), `next_places` and `previous_places` (places) and `weights` (the count of the
    pre-token) have one element per byte, and a NONE before and after each pre-token. A symbol that
    a merge unlinks becomes NONE, too."""

    def __init__(
        self, words: Mapping[bytes, int], byte_ids: Sequence[int], limits: Limits, ties: Ties
    ) -> None:
        self.limits, self.ties = limits, ties
        self.counts: dict[Key, int] = {}
        self.places: dict[Key, IntArray] = {}
        self.heap: list[tuple[int, Any, Key]] = []
        self.spelling = {id_: bytes([byte]) for byte, id_ in enumerate(byte_ids)}
        self.next_id = max(byte_ids) + 1
        self.symbols, self.weights = _laid_out(words, byte_ids)
        most = min(limits.merges, len(self.symbols))  # each merge unlinks a symbol
        self.lengths = np.ones(self.next_id + most, dtype=np.int64)
        self.previous_places = np.arange(-1, len(self.symbols) - 1)
        self.next_places = np.arange(1, len(self.symbols) + 1)
        left, right = self.symbols[:-1], self.symbols[1:]
        places = np.flatnonzero((left != NONE) & (right != NONE))
        self._register(left[places] << 32 | right[places], places, self.weights[places])

    def most_frequent(self) -> Pair | None:
        """The pair to merge next, or None if no pair is frequent enough."""
        while self.heap:
            negative, order, key = heappop(self.heap)
            count = self.counts[key]
            if count == -negative:
                return key >> 32, key & _RIGHT
            if count >= self.limits.least_count:
                heappush(self.heap, (-count, order, key))
            else:
                self._forget(key)
        return None

    def merge(self, left: int, right: int) -> None:
        """Merge the pair at each of its places, from left to right."""
        at = self._occurrences(left, right)
        self._forget(left << 32 | right)
        new, self.next_id = self.next_id, self.next_id + 1
        self.spelling[new] = self.spelling[left] + self.spelling[right]
        self.lengths[new] = len(self.spelling[new])
        tail = self.next_places[at]
        following = self.next_places[tail]
        weights = self.weights[at]
        beyond = self.symbols[following]
        self.symbols[at] = new
        self.symbols[tail] = NONE
        # If the place before is the tail of another occurrence, its `beyond` withdraws the pair.
        ahead = self.symbols[self.previous_places[at]]
        self._withdraw(ahead, left, weights)
        self._withdraw(right, beyond, weights)
        self.next_places[at] = following
        self.previous_places[following] = at
        self._register_around(at, following, weights, new)

    def _occurrences(self, left: int, right: int) -> IntArray:
        """The places of the pair, ascending. Of overlapping places, as in "aaa", every second
        one."""
        at = self.places[left << 32 | right]
        at = at[self.symbols[at] == left]
        at = at[self.symbols[self.next_places[at]] == right]
        return _drop_overlaps(at, self.next_places) if left == right else at

    def _forget(self, key: Key) -> None:
        del self.counts[key], self.places[key]

    def _withdraw(self, left: IntArray | int, right: IntArray | int, weights: IntArray) -> None:
        there = (left != NONE) & (right != NONE)
        keys = np.asarray(left << 32 | right)
        counts = self.counts
        for key, total, _ in _group_by_key(keys[there], weights[there]):
            if key in counts:
                counts[key] -= total

    def _register_around(
        self, places: IntArray, following: IntArray, weights: IntArray, new: int
    ) -> None:
        """Register the pair to the left of each new symbol, and the pair to its right unless that
        is a new symbol, too."""
        preceding = self.previous_places[places]
        ahead, beyond = self.symbols[preceding], self.symbols[following]
        first, second = ahead != NONE, (beyond != NONE) & (beyond != new)
        if self.limits.length is not None:
            room = self.limits.length - self.lengths[new]
            first &= self.lengths[ahead] < room
            second &= self.lengths[beyond] < room
        left, right = ahead[first] << 32 | new, new << 32 | beyond[second]
        self._register(left, preceding[first], weights[first])
        self._register(right, places[second], weights[second])

    def _register(self, keys: IntArray, places: IntArray, weights: IntArray) -> None:
        for key, total, members in _group_by_key(keys, weights):
            if total >= self.limits.least_count:
                self.counts[key] = total
                self.places[key] = places[members]
                heappush(self.heap, (-total, self._order(key), key))

    def _order(self, key: Key) -> Any:
        """The sort key of a pair among equally frequent pairs. The least key is merged first."""
        if self.ties == "huggingface":
            return key
        return _descending(self.spelling[key >> 32]), _descending(self.spelling[key & _RIGHT])


def _laid_out(words: Mapping[bytes, int], byte_ids: Sequence[int]) -> tuple[IntArray, IntArray]:
    """The symbols and weights of all pre-tokens of at least two bytes, with a NONE before and after
    each."""
    rows = [(word, count) for word, count in words.items() if len(word) > 1]
    lengths = np.array([len(word) for word, _ in rows], dtype=np.int64)
    row_of = np.repeat(np.arange(len(rows)), lengths)
    places = np.arange(len(row_of)) + row_of + 1
    symbols = np.full(len(row_of) + len(rows) + 1, NONE, dtype=np.int64)
    weights = np.zeros_like(symbols)
    content = np.frombuffer(b"".join(word for word, _ in rows), dtype=np.uint8)
    symbols[places] = np.array(byte_ids, dtype=np.int64)[content]
    weights[places] = np.array([count for _, count in rows], dtype=np.int64)[row_of]
    return symbols, weights


def _drop_overlaps(places: IntArray, next_places: IntArray) -> IntArray:
    """From ascending places of pairs of equal symbols, take the ones that do not overlap, from the
    left.

    In "aaaaa", 0 and 2 of 0, 1, 2, 3."""
    number = np.arange(len(places))
    starts = np.ones(len(places), dtype=np.bool_)
    starts[1:] = next_places[places[:-1]] != places[1:]
    within = number - np.maximum.accumulate(np.where(starts, number, 0))
    kept: IntArray = places[within % 2 == 0]
    return kept


def _group_by_key(keys: IntArray, weights: IntArray) -> Iterator[tuple[Key, int, IntArray]]:
    """Each distinct key, the sum of its weights, and the indices of its elements, ascending."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate(([0], edges))
    totals = np.add.reduceat(weights[order], starts)
    stops = [*edges.tolist(), len(keys)]
    rows = zip(ordered[starts].tolist(), totals.tolist(), starts.tolist(), stops, strict=True)
    yield from ((key, total, order[start:stop]) for key, total, start, stop in rows)


def _descending(token: bytes) -> str:
    """A sort key for descending order: greater bytes give a lesser string.

    The strings of b"a" < b"ab" < b"b" descend."""
    return token.translate(_COMPLEMENT).decode("latin-1") + "\u0100"
