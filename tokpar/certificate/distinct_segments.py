"""Find the distinct segments of a text in arrays: equal bytes, one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.certificate.tokenizer_probe import Bytes

Words = NDArray[np.uint64]
_WORD = 8
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], dtype=np.uint64)
_LONGEST = 8 * _WORD
"""UTF-8 bytes of a segment that is compared in arrays. Longer segments are rare."""
_BLOCK = 1 << 14
"""Segments per block: the arrays of a block fit in the processor's cache."""
_ROUNDS = 8
"""Rounds after which the segments that still share a place of the table are compared one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class DistinctSegments:
    """The distinct segments of a text.

    `first`: one segment of each kind, as an index into all segments, int64, (distinct,). `kinds`:
    for each segment its index in `first`, int64, (segments,)."""

    first: IntArray
    kinds: IntArray


def distinct_segments(codes: Bytes, starts: IntArray, stops: IntArray) -> DistinctSegments:
    """Returns which segments of a text have equal bytes.

    `codes`: the UTF-8 bytes of the text. Segment k is codes[starts[k] : stops[k]]. Two segments get
    one number only if all their bytes are compared and equal; hashes only say which to compare.

    >>> text = np.frombuffer(b"to be or to do", np.uint8)
    >>> edges = np.array([0, 2, 5, 8, 11, 14])
    >>> found = distinct_segments(text, edges[:-1], edges[1:])
    >>> found.first.tolist(), found.kinds.tolist()
    ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    >>> distinct_segments(text, np.array([0, 9, 2]), np.array([2, 11, 5])).kinds.tolist()
    [0, 0, 1]
    """
    like = np.arange(len(starts), dtype=np.int64)  # an equal segment, the same one for all equal
    lengths = stops - starts
    padded = np.append(codes, np.zeros(_WORD, dtype=np.uint8))
    counts, left = (lengths + _WORD - 1) // _WORD, list[IntArray]()
    for count in range(1, _LONGEST // _WORD + 1):
        chosen = np.flatnonzero(counts == count)
        if len(chosen):
            words = _words(padded, starts[chosen], lengths[chosen], count)
            found, others = _alike(words, lengths[chosen])
            like[chosen] = chosen[found]
            left.append(chosen[others])
    chosen = np.concatenate([*left, np.flatnonzero((lengths > _LONGEST) | (lengths == 0))])
    known: dict[bytes, int] = {}
    at = zip(chosen.tolist(), starts[chosen].tolist(), stops[chosen].tolist(), strict=True)
    for k, start, stop in at:
        like[k] = known.setdefault(codes[start:stop].tobytes(), k)
    own = like == np.arange(len(like))
    numbers = np.cumsum(own) - 1
    return DistinctSegments(np.flatnonzero(own), numbers[like])


def _words(padded_codes: Bytes, starts: IntArray, lengths: IntArray, count: int) -> Words:
    """Returns the bytes of segments as `count` words each, zeros behind the last byte."""
    every: Words = np.ndarray(len(padded_codes) - _WORD + 1, "<u8", padded_codes, 0, (1,))
    words: Words = np.empty((count, len(starts)), dtype=np.uint64)
    for k in range(count - 1):
        words[k] = every[starts + k * _WORD]
    last = (count - 1) * _WORD
    words[-1] = every[starts + last] & _MASKS[lengths - last]
    return words


def _alike(words: Words, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Returns for each segment the index of an equal segment, the same one for all equal ones, and
    the segments that are still to be compared.

    A round writes each open segment to a place of a table, by a hash of its own. A segment is done
    if it equals the one that it finds there. The seeds differ in every call, so no text can be made
    whose segments share their places."""
    like = np.arange(len(lengths), dtype=np.int64)
    left = like
    random = np.random.default_rng()
    for _ in range(_ROUNDS):
        seeds = random.integers(1, 1 << 63, size=len(words), dtype=np.uint64) | np.uint64(1)
        bits = max(8, len(left).bit_length() - 1)
        table = np.full(1 << bits, -1, dtype=np.int64)
        blocks = range(0, len(left), _BLOCK)
        left = np.concatenate(
            [_one_round(words, lengths, left[k : k + _BLOCK], seeds, table, like) for k in blocks]
        )
        if not len(left):
            break
    return like, left


def _one_round(
    words: Words, lengths: IntArray, block: IntArray, seeds: Words, table: IntArray, like: IntArray
) -> IntArray:
    """Set `like` of the segments of `block` that are in the table or get a place. Returns the
    others.

    A place that is taken stays as it is, or equal segments of two blocks would get two numbers."""
    own = words[:, block]
    mixed = (lengths[block].astype(np.uint64) + np.uint64(1)) * seeds[0]
    for word, seed in zip(own, seeds, strict=True):
        mixed ^= word * seed
        mixed ^= mixed >> np.uint64(32)
        mixed *= seed
    places = (mixed >> np.uint64(65 - len(table).bit_length())).astype(np.int64)
    found = table[places]
    free = found < 0
    if free.any():
        table[places[free]] = block[free]
        found = table[places]
    same = lengths[found] == lengths[block]
    for every, word in zip(words, own, strict=True):
        same &= every[found] == word
    like[block[same]] = found[same]
    rest: IntArray = block[~same]
    return rest
