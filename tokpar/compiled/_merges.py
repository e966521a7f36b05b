# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Makes tables of the tokens and of the merges of a byte-level BPE.

Cython compiles this file. Uncompiled, and given memoryviews, it is the oracle of its own tests.
Arrays belong to the callers, who make them long enough.

words.h has a picture of a table of tokens. Merges are a table of pairs, two words each; a free pair
is two zeros:

    merges    | (left id << 32 | right id) + 1 | rank << 32 | id of the merged token | ...
"""

from __future__ import annotations

from typing import Any

import cython

if not cython.compiled:  # else from words.h; tests put in the same functions in Python
    find_slot: Any = None
    free_slot: Any = None
    hash_of: Any = None
    high_of: Any = None
    low_of: Any = None
    pair_hash: Any = None
    token_at: Any = None

COMPILED = cython.compiled
_PIECE = cython.declare(cython.ulonglong, 1 << 15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_slot(
    slots: cython.p_ulonglong,
    last: cython.ulonglong,
    keys: cython.p_uchar,
    key_room: cython.Py_ssize_t,
    ids: cython.p_uint,
    id_room: cython.Py_ssize_t,
    used: cython.p_longlong,
    h: cython.ulonglong,
    k0: cython.ulonglong,
    k1: cython.ulonglong,
    size: cython.ulonglong,
    p: cython.p_uchar,
    at: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    given: cython.p_uint,
    first: cython.Py_ssize_t,
    many: cython.Py_ssize_t,
) -> cython.bint:
    """Puts a key of `n` bytes, which the table does not have, into the table.

    Returns False, and changes nothing, if the table is full. `used` counts entries, bytes of `keys`
    and places of `ids`. The ids are given[first : first + many]."""
    e: cython.Py_ssize_t
    i: cython.Py_ssize_t
    wanted: cython.ulonglong = 8 * (used[0] + 1)
    if (
        wanted > 5 * (last + 1)
        or (n > 16 and used[1] + n + 8 > key_room)
        or (many > 2 and used[2] + many > id_room)
    ):
        return False
    e = free_slot(slots, last, h)
    if e < 0:
        return True
    place: cython.ulonglong = 0
    value: cython.ulonglong = 0
    if n > 16:
        place = used[1]
        for i in range(n):
            keys[used[1] + i] = p[at + i]
        used[1] += n
    if many > 2:
        value = used[2]
        for i in range(many):
            ids[used[2] + i] = given[first + i]
        used[2] += many
    else:
        for i in range(many):
            value |= cython.cast(cython.ulonglong, given[first + i]) << (32 * i)
    slots[e] = k0
    slots[e + 1] = k1
    slots[e + 2] = value
    slots[e + 3] = size | cython.cast(cython.ulonglong, many) << 16 | place << 32
    used[0] += 1
    return True


def put_tokens(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    lengths: cython.longlong[::1],
    token_ids: cython.uint[::1],
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    seeds: cython.ulonglong[::1],
) -> int:
    """Puts tokens into a table of zeros, as pre-tokens with one id.

    `data` has the bytes of all tokens, one after the other. Returns the number of tokens in the
    table: less than there are if two are equal, one is too long, or `slots` is too small."""
    total: cython.Py_ssize_t = token_ids.shape[0]
    last: cython.ulonglong = slots.shape[0] // 4 - 1
    used: cython.longlong[3] = [0, 0, 0]
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    p: cython.p_uchar
    s: cython.p_ulonglong
    q: cython.p_uchar
    g: cython.p_uint
    sd: cython.p_ulonglong
    if total == 0:
        return 0
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        s, q = cython.address(slots[0]), cython.address(keys[0])
        g, sd = cython.address(token_ids[0]), cython.address(seeds[0])
    else:
        p, s, q, g, sd = data, slots, keys, token_ids, seeds
    key_room: cython.Py_ssize_t = keys.shape[0]
    with cython.nogil:
        for k in range(total):
            n: cython.Py_ssize_t = lengths[k]
            if n < 32768:
                k0: cython.ulonglong = low_of(p, at, n)
                k1: cython.ulonglong = high_of(p, at, n)
                size: cython.ulonglong = _PIECE + n
                h: cython.ulonglong = hash_of(p, at, n, size, k0, k1, sd)
                if find_slot(s, last, q, h, k0, k1, p, at, n, size) < 0:
                    _put_slot(s, last, q, key_room, g, 0, used, h, k0, k1, size, p, at, n, g, k, 1)
            at += n
    return used[0]


def put_merges(
    left: cython.uint[::1],
    right: cython.uint[::1],
    both: cython.uint[::1],
    merges: cython.ulonglong[::1],
) -> None:
    """Puts all merges into `merges`, a table of zeros with places for twice as many.

    Merge k has rank k, and makes both[k] of left[k] and right[k]. Of equal pairs the last counts.
    """
    count: cython.Py_ssize_t = both.shape[0]
    if min(left.shape[0], right.shape[0]) < count or merges.shape[0] < 4 * count + 2:
        raise ValueError("arrays too short")
    last: cython.ulonglong = merges.shape[0] // 2 - 1
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(count):
            key: cython.ulonglong = (
                (cython.cast(cython.ulonglong, left[k]) << 32)
                | cython.cast(cython.ulonglong, right[k])
            ) + 1
            slot: cython.ulonglong = pair_hash(key) & last
            while merges[2 * slot] != 0 and merges[2 * slot] != key:
                slot = (slot + 1) & last
            merges[2 * slot] = key
            merges[2 * slot + 1] = cython.cast(cython.ulonglong, k) << 32 | cython.cast(
                cython.ulonglong, both[k]
            )


def put_ranks(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    lengths: cython.longlong[::1],
    token_ids: cython.uint[::1],
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    seeds: cython.ulonglong[::1],
    merges: cython.ulonglong[::1],
    longest: cython.Py_ssize_t,
) -> int:
    """Puts each way to make a token of two tokens into `merges`, a table of zeros.

    Tokens of more than `longest` bytes are left to `put_pairs`: each place of a token is looked up,
    which takes quadratic time.

    The rank of a merge is the id of the token that it makes, as in tiktoken. `slots`, `keys`: all
    tokens, from `put_tokens`. Returns the number of merges, or -1 if they take more than half of
    the table."""
    total: cython.Py_ssize_t = token_ids.shape[0]
    t_last: cython.ulonglong = slots.shape[0] // 4 - 1
    last: cython.ulonglong = merges.shape[0] // 2 - 1
    most: cython.Py_ssize_t = merges.shape[0] // 4
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    p: cython.p_uchar
    s: cython.p_ulonglong
    q: cython.p_uchar
    sd: cython.p_ulonglong
    if total == 0:
        return 0
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        s, q, sd = cython.address(slots[0]), cython.address(keys[0]), cython.address(seeds[0])
    else:
        p, s, q, sd = data, slots, keys, seeds
    with cython.nogil:
        for k in range(total):
            n: cython.Py_ssize_t = lengths[k]
            for i in range(1, n if n <= longest else 0):
                left: cython.longlong = token_at(s, t_last, q, sd, p, at, i)
                if left < 0:
                    continue
                right: cython.longlong = token_at(s, t_last, q, sd, p, at + i, n - i)
                if right < 0:
                    continue
                if count == most:
                    count = -1
                    break
                key: cython.ulonglong = (
                    (cython.cast(cython.ulonglong, left) << 32)
                    | cython.cast(cython.ulonglong, right)
                ) + 1
                slot: cython.ulonglong = pair_hash(key) & last
                while merges[2 * slot] != 0:
                    slot = (slot + 1) & last
                whole: cython.ulonglong = token_ids[k]
                merges[2 * slot] = key
                merges[2 * slot + 1] = whole << 32 | whole
                count += 1
            if count < 0:
                break
            at += n
    return count


def put_pairs(
    left: cython.uint[::1],
    right: cython.uint[::1],
    whole: cython.uint[::1],
    merges: cython.ulonglong[::1],
    known: cython.Py_ssize_t,
) -> int:
    """Puts further ways to make a token of two tokens into `merges`, which has `known` already.

    Returns the number of merges, or -1 if they take more than half of the table."""
    count: cython.Py_ssize_t = whole.shape[0]
    if min(left.shape[0], right.shape[0]) < count:
        raise ValueError("arrays too short")
    if known + count > merges.shape[0] // 4:
        return -1
    last: cython.ulonglong = merges.shape[0] // 2 - 1
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(count):
            key: cython.ulonglong = (
                (cython.cast(cython.ulonglong, left[k]) << 32)
                | cython.cast(cython.ulonglong, right[k])
            ) + 1
            slot: cython.ulonglong = pair_hash(key) & last
            while merges[2 * slot] != 0:
                slot = (slot + 1) & last
            made: cython.ulonglong = whole[k]
            merges[2 * slot] = key
            merges[2 * slot + 1] = made << 32 | made
    return known + count
