"""What `words.h` has, in Python: `p` is a memoryview of bytes, `found` and `words` of uint64."""

from __future__ import annotations

from collections.abc import Sequence

_MASK = 2**64 - 1
PROBES, PIECE = 32, 0x8000


def low_of(p: bytes, i: int, n: int) -> int:
    return int.from_bytes(p[i : i + min(n, 8)], "little")


def high_of(p: bytes, i: int, n: int) -> int:
    return int.from_bytes(p[i + 8 : i + min(n, 16)], "little")


def _mixed(h: int, word: int) -> int:
    h = ((h ^ word) * 0x9E3779B97F4A7C15) & _MASK
    return h ^ (h >> 32)


def hash_of(p: bytes, i: int, n: int, size: int, k0: int, k1: int, seeds: Sequence[int]) -> int:
    h = _mixed(seeds[0], k0)
    for done in range(16, n, 8):
        h = _mixed(h, int.from_bytes(p[i + done : i + min(n, done + 8)], "little"))
    h = ((h + (k1 ^ seeds[1]) + size) * 0xD6E8FEB86659FD93) & _MASK
    return (h >> 32) & seeds[2]


def same_bytes(p: bytes, i: int, q: bytes, j: int, n: int) -> bool:
    return p[i : i + n] == q[j : j + n]


def find_slot(
    slots: Sequence[int],
    last: int,
    keys: bytes,
    h: int,
    k0: int,
    k1: int,
    p: bytes,
    i: int,
    n: int,
    size: int,
) -> int:
    if n >= PIECE:
        return -1
    for tried in range(PROBES):
        e = 4 * ((h + tried) & last)
        about = slots[e + 3]
        alike = (slots[e], slots[e + 1], about & 0xFFFF) == (k0, k1, size)
        if alike and (n <= 16 or same_bytes(p, i, keys, about >> 32, n)):
            return e
        if about == 0:
            return -1
    return -1


def free_slot(slots: Sequence[int], last: int, h: int) -> int:
    for tried in range(PROBES):
        if slots[4 * ((h + tried) & last) + 3] == 0:
            return 4 * ((h + tried) & last)
    return -1


def token_at(
    slots: Sequence[int], last: int, keys: bytes, seeds: Sequence[int], p: bytes, at: int, n: int
) -> int:
    k0, k1, size = low_of(p, at, n), high_of(p, at, n), PIECE + n
    h = hash_of(p, at, n, size, k0, k1, seeds)
    e = find_slot(slots, last, keys, h, k0, k1, p, at, n, size)
    return -1 if e < 0 else slots[e + 2] & 0xFFFFFFFF


def pair_hash(pair: int) -> int:
    pair = (pair * 0x9E3779B97F4A7C15) & _MASK
    return pair ^ (pair >> 29)
