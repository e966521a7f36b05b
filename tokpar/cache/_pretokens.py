# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Encodes segments of text without an engine.

A segment has the ids of its pre-tokens. The machines of the tokenizer's Splits find the pre-tokens
(Definition 39, theorem 51). The ids of a pre-token come from a table, or from the merges of a
byte-level BPE (theorem 52).

Cython compiles this file. Uncompiled, and given memoryviews, it is the oracle of its own tests.
Arrays belong to the callers, who make them long enough; 16 bytes of `data` lie behind the last
segment.

In reading order: pre-tokens; merges; slots; `encode`, which uses all three; and the functions that
fill the tables.

The machines of all Splits are one array. A state is the index of its first number:

    moves     | state 0                      | state `symbols + 1`          | ...
              | one number for each symbol, and one for the end of the text | ...
    number      bits 0-29   the next state
                bit    30   DEAD: no match can end after this symbol
                bit    31   HIT: a match ends before this symbol
    begins    the first state of each Split
    idle      256 bytes for each Split: 1 for an ASCII character that begins no match
    symbol_of the symbol of each code point; `symbols` for a code point that no segment may have

Tables of pre-tokens have the slots of `_segments`, with bit 15 of the length set (PIECE):

    slots     | bytes 0-7 | bytes 8-15 | ids, or their place | length, number of ids, key | ...
    keys      the bytes of keys that are longer than 16 bytes
    ids       the ids of entries that have more than two

Merges are a table of pairs, two words each; a free pair is two zeros:

    merges    | (left id << 32 | right id) + 1 | rank << 32 | id of the merged token | ...
    byte_ids  the id of each byte
"""

from __future__ import annotations

from typing import Any

import cython

if not cython.compiled:  # else from words.h; tests put in the same functions in Python
    fetch: Any = None
    find_slot: Any = None
    free_slot: Any = None
    hash_of: Any = None
    high_of: Any = None
    low_of: Any = None
    pair_hash: Any = None
    token_at: Any = None

COMPILED = cython.compiled
HIT, DEAD = 1 << 31, 1 << 30
PIECE = 1 << 15
BATCH = 256
"""Pre-tokens that are looked up together. A segment with more of them is one batch."""
SHORT = 40
"""The most bytes of a pre-token for which `_merge_short` is faster than `_merge_long`."""

_HIT = cython.declare(cython.uint, 1 << 31)
_DEAD = cython.declare(cython.uint, 1 << 30)
_STATE = cython.declare(cython.uint, (1 << 30) - 1)
_PIECE = cython.declare(cython.ulonglong, 1 << 15)
_SHORT = cython.declare(cython.Py_ssize_t, 40)
_MOST = cython.declare(cython.Py_ssize_t, 512)
_NONE = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_LOW = cython.declare(cython.ulonglong, 0xFFFFFFFF)


# --------------------------------------------------------------------------------------- pre-tokens


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code_point(p: cython.p_uchar, i: cython.Py_ssize_t, size: cython.p_longlong) -> cython.uint:
    """Returns the code point at byte `i`. size[0] becomes its number of UTF-8 bytes."""
    c: cython.uint = p[i]
    if c < 0x80:
        size[0] = 1
        return c
    if c < 0xE0:
        size[0] = 2
        return (c & 31) << 6 | (p[i + 1] & 63)
    if c < 0xF0:
        size[0] = 3
        return (c & 15) << 12 | (p[i + 1] & 63) << 6 | (p[i + 2] & 63)
    size[0] = 4
    return (c & 7) << 18 | (p[i + 1] & 63) << 12 | (p[i + 2] & 63) << 6 | (p[i + 3] & 63)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pretoken_ends(
    p: cython.p_uchar,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    symbol_of: cython.p_uchar,
    symbols: cython.uint,
    moves: cython.p_uint,
    begins: cython.p_longlong,
    idle: cython.p_uchar,
    stage: cython.Py_ssize_t,
    stages: cython.Py_ssize_t,
    ends: cython.p_longlong,
    count: cython.Py_ssize_t,
    left: cython.p_longlong,
) -> cython.Py_ssize_t:
    """Writes the ends of the pre-tokens of [start, stop) to `ends` from index `count` on.

    Returns the new count, or -1 for a character without a symbol, or if `left`, the steps that may
    still be taken, runs out. A match of `stage` is a pre-token, and so is the text between two
    matches. The later stages divide both again:

        bytes      start          i      hit    gap = i          stop
                   | gap          | match |     | gap            |
        stage + 1  | divides it   | divides it  | divides it     |
        ends       ...  ends[count]  ends[count + 1]  ...        stop
    """
    if stage == stages:
        ends[count] = stop
        return count + 1
    size: cython.longlong[1] = [0]
    gap: cython.Py_ssize_t = start
    i: cython.Py_ssize_t = start
    while i < stop:
        if idle[256 * stage + p[i]]:
            i += 1
            continue
        x: cython.uint = cython.cast(cython.uint, begins[stage])
        at: cython.Py_ssize_t = i
        hit: cython.Py_ssize_t = -1
        first: cython.Py_ssize_t = 0
        go: cython.uint = 0
        c: cython.uint
        while at < stop:
            c = p[at]
            if c < 0x80:
                size[0] = 1
            else:
                c = _code_point(p, at, size)
            c = symbol_of[c]
            if c == symbols:
                return -1
            go = moves[x + c]
            if go & _HIT:
                hit = at
            x = go & _STATE
            at += size[0]
            if first == 0:
                first = at
            if go & _DEAD:
                break
        left[0] -= at - i
        if left[0] < 0:
            return -1
        if at == stop and not go & _DEAD and moves[x + symbols] & _HIT:
            hit = stop
        if hit <= i:
            i = first
            continue
        if i > gap:
            count = _pretoken_ends(
                p,
                gap,
                i,
                symbol_of,
                symbols,
                moves,
                begins,
                idle,
                stage + 1,
                stages,
                ends,
                count,
                left,
            )
            if count < 0:
                return -1
        if stage + 1 == stages:
            ends[count] = hit
            count += 1
        else:
            count = _pretoken_ends(
                p,
                i,
                hit,
                symbol_of,
                symbols,
                moves,
                begins,
                idle,
                stage + 1,
                stages,
                ends,
                count,
                left,
            )
            if count < 0:
                return -1
        i = gap = hit
    if stop > gap:
        count = _pretoken_ends(
            p,
            gap,
            stop,
            symbol_of,
            symbols,
            moves,
            begins,
            idle,
            stage + 1,
            stages,
            ends,
            count,
            left,
        )
    return count


# ------------------------------------------------------------------------------------------- merges


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _merge_of(
    merges: cython.p_ulonglong, last: cython.ulonglong, a: cython.ulonglong, b: cython.ulonglong
) -> cython.ulonglong:
    """Returns rank << 32 | id for the merge of two ids, or all bits if the pair does not merge."""
    key: cython.ulonglong = ((a << 32) | b) + 1
    slot: cython.ulonglong = pair_hash(key) & last
    while merges[2 * slot] != 0:
        if merges[2 * slot] == key:
            return merges[2 * slot + 1]
        slot = (slot + 1) & last
    return _NONE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _merge_short(
    p: cython.p_uchar,
    at: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    merges: cython.p_ulonglong,
    last: cython.ulonglong,
    byte_ids: cython.p_uint,
    out: cython.p_uint,
    to: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Writes the ids of the pre-token p[at : at + n] to `out` from index `to` on. n is at most 40.

    Returns the number of ids. Merges the pair of least rank, the leftmost one of equal rank, until
    no pair merges (definition 1):

        out[to + i]  | id 0 | id 1 | id 2 | ... | id n-1 |
        ways[i]         | 0,1  | 1,2  | ...            rank << 32 | id of each neighbouring pair

    A merge at `best` writes out[to + best], moves the later entries of both arrays one place to the
    left, and looks up the two new pairs.
    """
    ways: cython.ulonglong[40]
    i: cython.Py_ssize_t
    best: cython.Py_ssize_t
    if not cython.compiled:
        ways = [0] * 40
    for i in range(n):
        out[to + i] = byte_ids[p[at + i]]
    for i in range(n - 1):
        ways[i] = _merge_of(merges, last, out[to + i], out[to + i + 1])
    while n > 1:
        best = 0
        for i in range(1, n - 1):
            if ways[i] < ways[best]:
                best = i
        if ways[best] == _NONE:
            break
        out[to + best] = cython.cast(cython.uint, ways[best] & _LOW)
        for i in range(best + 1, n - 1):
            out[to + i] = out[to + i + 1]
        for i in range(best, n - 2):
            ways[i] = ways[i + 1]
        n -= 1
        if best + 1 < n:
            ways[best] = _merge_of(merges, last, out[to + best], out[to + best + 1])
        if best > 0:
            ways[best - 1] = _merge_of(merges, last, out[to + best - 1], out[to + best])
    return n


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _heap_push(
    heap: cython.p_ulonglong, count: cython.Py_ssize_t, entry: cython.ulonglong
) -> cython.Py_ssize_t:
    """Puts `entry` into a heap of `count` entries, the least one first. Returns the new count."""
    k: cython.Py_ssize_t = count
    while k > 0 and heap[(k - 1) // 2] > entry:
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = entry
    return count + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _heap_pop(heap: cython.p_ulonglong, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Removes heap[0], the least entry, from a heap of `count` entries. Returns the new count."""
    entry: cython.ulonglong = heap[count - 1]
    k: cython.Py_ssize_t = 0
    below: cython.Py_ssize_t = 1
    count -= 1
    while below < count:
        if below + 1 < count and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= entry:
            break
        heap[k] = heap[below]
        k = below
        below = 2 * k + 1
    heap[k] = entry
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _merge_long(
    p: cython.p_uchar,
    at: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    merges: cython.p_ulonglong,
    last: cython.ulonglong,
    byte_ids: cython.p_uint,
    out: cython.p_uint,
    to: cython.Py_ssize_t,
    work: cython.p_ulonglong,
) -> cython.Py_ssize_t:
    """Does the same as `_merge_short`, for any n, in n log n steps.

    `work` has 7 words for each byte of the pre-token:

        ids[i]      the id that begins at byte i
        ways[i]     rank << 32 | id of the pair that begins at byte i; all bits: no pair
        behind[i]   the byte where the next id begins; n after the last id
        before[i]   the byte where the id before begins
        heap        up to 3 n entries: rank << 32 | byte where the pair begins

    An entry of the heap is stale unless the pair at its byte still has its rank.
    """
    ids: cython.p_ulonglong
    ways: cython.p_ulonglong
    behind: cython.p_ulonglong
    before: cython.p_ulonglong
    heap: cython.p_ulonglong
    if cython.compiled:
        ids, ways, behind, before = work, work + n, work + 2 * n, work + 3 * n
        heap = work + 4 * n
    else:
        ids, ways, behind, before = (work[k * n : (k + 1) * n] for k in range(4))
        heap = work[4 * n :]
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(n):
        ids[i] = byte_ids[p[at + i]]
        behind[i] = i + 1
        before[i] = i - 1 if i else 0
    ways[n - 1] = _NONE
    for i in range(n - 1):
        ways[i] = _merge_of(merges, last, ids[i], ids[i + 1])
        if ways[i] != _NONE:
            count = _heap_push(
                heap, count, (ways[i] >> 32) << 32 | cython.cast(cython.ulonglong, i)
            )
    while count > 0:
        entry: cython.ulonglong = heap[0]
        count = _heap_pop(heap, count)
        i = entry & _LOW
        if ways[i] == _NONE or ways[i] >> 32 != entry >> 32:
            continue
        j = behind[i]
        ids[i] = ways[i] & _LOW
        ways[j] = _NONE
        behind[i] = behind[j]
        ways[i] = _NONE
        if cython.cast(cython.Py_ssize_t, behind[i]) < n:
            before[behind[i]] = i
            ways[i] = _merge_of(merges, last, ids[i], ids[behind[i]])
            if ways[i] != _NONE:
                count = _heap_push(
                    heap, count, (ways[i] >> 32) << 32 | cython.cast(cython.ulonglong, i)
                )
        if i > 0:
            j = before[i]
            ways[j] = _merge_of(merges, last, ids[j], ids[i])
            if ways[j] != _NONE:
                count = _heap_push(
                    heap, count, (ways[j] >> 32) << 32 | cython.cast(cython.ulonglong, j)
                )
    i = count = 0
    while i < n:
        out[to + count] = cython.cast(cython.uint, ids[i])
        count += 1
        i = behind[i]
    return count


# --------------------------------------------------------------------------------- slots of a table


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _copy_ids(
    slots: cython.p_ulonglong,
    ids: cython.p_uint,
    e: cython.Py_ssize_t,
    out: cython.p_uint,
    to: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Copies the ids of the slot at `e` to `out` from index `to` on. Returns the number of ids.

    Two places of `out` are always written, even for a slot with one id."""
    given: cython.Py_ssize_t = (slots[e + 3] >> 16) & 0xFFFF
    value: cython.ulonglong = slots[e + 2]
    if given <= 2:
        out[to] = value & _LOW
        out[to + 1] = value >> 32
        return given
    first: cython.Py_ssize_t = value
    i: cython.Py_ssize_t
    for i in range(given):
        out[to + i] = ids[first + i]
    return given


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


# ---------------------------------------------------------------------------------- segments to ids


def encode(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.longlong[::1],
    lengths: cython.longlong[::1],
    symbol_of: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    symbols: cython.uint,
    moves: cython.uint[::1],
    begins: cython.longlong[::1],
    idle: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    merges: cython.ulonglong[::1],
    byte_ids: cython.uint[::1],
    tokens_slots: cython.ulonglong[::1],
    tokens_keys: cython.uchar[::1],
    newer_slots: cython.ulonglong[::1],
    newer_keys: cython.uchar[::1],
    newer_ids: cython.uint[::1],
    older_slots: cython.ulonglong[::1],
    older_keys: cython.uchar[::1],
    older_ids: cython.uint[::1],
    own_slots: cython.ulonglong[::1],
    own_keys: cython.uchar[::1],
    own_ids: cython.uint[::1],
    own_used: cython.longlong[::1],
    seeds: cython.ulonglong[::1],
    work: cython.ulonglong[::1],
    out: cython.uint[::1],
    firsts: cython.longlong[::1],
    stops: cython.longlong[::1],
    asked: cython.longlong[::1],
    mask: cython.ulonglong,
    merging: cython.bint,
    counts: cython.longlong[::1],
) -> int:
    """Encodes segments. Returns the number of ids written.

    Segment k is data[starts[k] : starts[k] + lengths[k]]. Its ids are out[firsts[k] : stops[k]].
    stops[k] is -1 if the segment has a character without a symbol, or takes too many steps.

    Tables, in the order in which a pre-token is looked up: `newer`; `own`, which new pre-tokens are
    put into as long as it has room; `older`; `tokens`, the tokens that are one id as whole
    pre-tokens. A pre-token that no table has is merged.

    Samples: a new pre-token whose hash has none of the bits of `mask` is written to `asked`, as
    long as there is room. Without `merging`, every new pre-token is written there instead of being
    merged, with 0 ids; then stops[k] is -2 for a segment that has one, and -1 if there was no room.

        asked   | first byte | bytes | first id | ids | ...
        counts  | samples | pre-tokens | new pre-tokens |
        out     2 places more than the segments have bytes

    `work` has 9 words for each byte of the longest segment, and for BATCH + 1 more:

        | ends, `room` words | hashes, `room` words | rest: 7 * room words, for `_merge_long` |
          end of each          hash of each           room = longest + BATCH + 1
          pre-token of         pre-token
          the batch
    """
    total: cython.Py_ssize_t = starts.shape[0]
    longest: cython.Py_ssize_t = 0
    bytes_: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    for k in range(total):
        bytes_ += lengths[k]
        if lengths[k] > longest:
            longest = lengths[k]
    if (
        min(lengths.shape[0], firsts.shape[0], stops.shape[0]) < total
        or work.shape[0] < 9 * (longest + BATCH + 1)
        or out.shape[0] < bytes_ + 2
        or counts.shape[0] < 3
        or symbol_of.shape[0] < 0x110000
        or byte_ids.shape[0] < 256
        or idle.shape[0] < 256 * begins.shape[0]
    ):
        raise ValueError("arrays too short")
    room: cython.Py_ssize_t = longest + BATCH + 1
    stages: cython.Py_ssize_t = begins.shape[0]
    most_asked: cython.Py_ssize_t = asked.shape[0] // 4
    m_last: cython.ulonglong = merges.shape[0] // 2 - 1
    t_last: cython.ulonglong = tokens_slots.shape[0] // 4 - 1
    n_last: cython.ulonglong = newer_slots.shape[0] // 4 - 1
    o_last: cython.ulonglong = older_slots.shape[0] // 4 - 1
    w_last: cython.ulonglong = own_slots.shape[0] // 4 - 1
    key_room: cython.Py_ssize_t = own_keys.shape[0]
    id_room: cython.Py_ssize_t = own_ids.shape[0]
    if total == 0:
        counts[0] = counts[1] = counts[2] = 0
        return 0
    p: cython.p_uchar
    sym: cython.p_uchar
    mv: cython.p_uint
    bg: cython.p_longlong
    idl: cython.p_uchar
    mg: cython.p_ulonglong
    bi: cython.p_uint
    ts: cython.p_ulonglong
    tk: cython.p_uchar
    ns: cython.p_ulonglong
    nk: cython.p_uchar
    ni: cython.p_uint
    os: cython.p_ulonglong
    ok: cython.p_uchar
    oi: cython.p_uint
    ws: cython.p_ulonglong
    wk: cython.p_uchar
    wi: cython.p_uint
    wu: cython.p_longlong
    sd: cython.p_ulonglong
    to: cython.p_uint
    ends: cython.p_longlong
    hashes: cython.p_ulonglong
    rest: cython.p_ulonglong
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        sym = cython.cast(cython.p_uchar, cython.address(symbol_of[0]))
        mv, bg = cython.address(moves[0]), cython.address(begins[0])
        idl = cython.cast(cython.p_uchar, cython.address(idle[0]))
        mg, bi = cython.address(merges[0]), cython.address(byte_ids[0])
        ts, tk = cython.address(tokens_slots[0]), cython.address(tokens_keys[0])
        ns, nk, ni = (
            cython.address(newer_slots[0]),
            cython.address(newer_keys[0]),
            cython.address(newer_ids[0]),
        )
        os, ok, oi = (
            cython.address(older_slots[0]),
            cython.address(older_keys[0]),
            cython.address(older_ids[0]),
        )
        ws, wk, wi = (
            cython.address(own_slots[0]),
            cython.address(own_keys[0]),
            cython.address(own_ids[0]),
        )
        wu, sd, to = (
            cython.address(own_used[0]),
            cython.address(seeds[0]),
            cython.address(out[0]),
        )
        ends = cython.cast(cython.p_longlong, cython.address(work[0]))
        hashes, rest = cython.address(work[room]), cython.address(work[2 * room])
    else:
        p, sym, mv, bg, mg, bi = data, symbol_of, moves, begins, merges, byte_ids
        idl = idle
        ts, tk, ns, nk, ni = tokens_slots, tokens_keys, newer_slots, newer_keys, newer_ids
        os, ok, oi, ws, wk, wi = older_slots, older_keys, older_ids, own_slots, own_keys, own_ids
        wu, sd, to = own_used, seeds, out
        ends, hashes, rest = work[:room], work[room : 2 * room], work[2 * room :]
    written: cython.Py_ssize_t = 0
    sampled: cython.Py_ssize_t = 0
    seen: cython.longlong = 0
    new: cython.longlong = 0
    lo: cython.Py_ssize_t
    j: cython.Py_ssize_t
    left: cython.longlong[1] = [0]
    wide: cython.Py_ssize_t = 256
    k = 0
    with cython.nogil:
        while k < total:
            count: cython.Py_ssize_t = 0
            lo = k
            # find the pre-tokens of some segments, then the ids of all of them
            while k < total and count < wide:
                left[0] = 64 * lengths[k] + 64
                got: cython.Py_ssize_t = _pretoken_ends(
                    p,
                    starts[k],
                    starts[k] + lengths[k],
                    sym,
                    symbols,
                    mv,
                    bg,
                    idl,
                    0,
                    stages,
                    ends,
                    count,
                    left,
                )
                stops[k] = got
                if got >= 0:
                    count = got
                k += 1
            seen += count
            piece: cython.Py_ssize_t = 0
            at: cython.Py_ssize_t
            # all hashes and first slots before all comparisons, so that the processor fetches ahead
            for j in range(lo, k):
                at = starts[j]
                while piece < stops[j]:
                    n: cython.Py_ssize_t = ends[piece] - at
                    k0: cython.ulonglong = low_of(p, at, n)
                    k1: cython.ulonglong = high_of(p, at, n)
                    size: cython.ulonglong = _PIECE + n
                    h: cython.ulonglong = hash_of(p, at, n, size, k0, k1, sd)
                    hashes[piece] = h
                    fetch(ns, 4 * (h & n_last))
                    fetch(ws, 4 * (h & w_last))
                    at = ends[piece]
                    piece += 1
            piece = 0
            for j in range(lo, k):
                firsts[j] = written
                lacks: cython.int = 0
                short: cython.bint = False
                at = starts[j]
                while piece < stops[j]:
                    n = ends[piece] - at
                    k0 = low_of(p, at, n)
                    k1 = high_of(p, at, n)
                    size = _PIECE + n
                    h = hashes[piece]
                    many: cython.Py_ssize_t = -1
                    e: cython.Py_ssize_t = find_slot(ns, n_last, nk, h, k0, k1, p, at, n, size)
                    if e >= 0:
                        many = _copy_ids(ns, ni, e, to, written)
                    else:
                        e = find_slot(ws, w_last, wk, h, k0, k1, p, at, n, size)
                        if e >= 0:
                            many = _copy_ids(ws, wi, e, to, written)
                        else:
                            e = find_slot(os, o_last, ok, h, k0, k1, p, at, n, size)
                            if e >= 0:
                                many = _copy_ids(os, oi, e, to, written)
                    if many < 0:
                        e = find_slot(ts, t_last, tk, h, k0, k1, p, at, n, size)
                        if e >= 0:
                            to[written] = ts[e + 2] & _LOW
                            many = 1
                    if many < 0 and not merging:
                        new += 1
                        lacks = -2
                        if sampled < most_asked:
                            asked[4 * sampled] = at
                            asked[4 * sampled + 1] = n
                            asked[4 * sampled + 2] = written
                            asked[4 * sampled + 3] = 0
                            sampled += 1
                        else:
                            short = True
                        at = ends[piece]
                        piece += 1
                        continue
                    if many < 0:
                        new += 1
                        if n <= _SHORT:
                            many = _merge_short(p, at, n, mg, m_last, bi, to, written)
                        else:
                            many = _merge_long(p, at, n, mg, m_last, bi, to, written, rest)
                        if h & mask == 0 and sampled < most_asked:
                            asked[4 * sampled] = at
                            asked[4 * sampled + 1] = n
                            asked[4 * sampled + 2] = written
                            asked[4 * sampled + 3] = many
                            sampled += 1
                    if e < 0 and n <= _MOST and many <= _MOST:
                        _put_slot(
                            ws,
                            w_last,
                            wk,
                            key_room,
                            wi,
                            id_room,
                            wu,
                            h,
                            k0,
                            k1,
                            size,
                            p,
                            at,
                            n,
                            to,
                            written,
                            many,
                        )
                    written += many
                    at = ends[piece]
                    piece += 1
                if stops[j] >= 0:
                    stops[j] = written if lacks == 0 else (-1 if short else -2)
    counts[0], counts[1], counts[2] = sampled, seen, new
    return written


# --------------------------------------------------------------------------------- tables of merges


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
) -> int:
    """Puts each way to make a token of two tokens into `merges`, a table of zeros.

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
            for i in range(1, n):
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


def merge_pieces(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.longlong[::1],
    lengths: cython.longlong[::1],
    merges: cython.ulonglong[::1],
    byte_ids: cython.uint[::1],
    short: cython.Py_ssize_t,
    work: cython.ulonglong[::1],
    out: cython.uint[::1],
    stops: cython.longlong[::1],
) -> None:
    """Encodes pre-tokens, which may be any bytes, by the merges alone (definition 1).

    The ids of all pre-tokens go to `out`, and the end of the ids of each to `stops`. Pre-tokens of
    at most `short` bytes use `_merge_short`; `short` is at most SHORT. `work` has 7 words for each
    byte of the longest pre-token."""
    total: cython.Py_ssize_t = starts.shape[0]
    last: cython.ulonglong = merges.shape[0] // 2 - 1
    k: cython.Py_ssize_t
    written: cython.Py_ssize_t = 0
    p: cython.p_uchar
    mg: cython.p_ulonglong
    bi: cython.p_uint
    to: cython.p_uint
    rest: cython.p_ulonglong
    for k in range(total):
        written += lengths[k]
        if 7 * lengths[k] > work.shape[0]:
            raise ValueError("arrays too short")
    if min(lengths.shape[0], stops.shape[0]) < total or out.shape[0] < written or short > SHORT:
        raise ValueError("arrays too short")
    if total == 0:
        return
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        mg, bi = cython.address(merges[0]), cython.address(byte_ids[0])
        to, rest = cython.address(out[0]), cython.address(work[0])
    else:
        p, mg, bi, to, rest = data, merges, byte_ids, out, work
    written = 0
    with cython.nogil:
        for k in range(total):
            n: cython.Py_ssize_t = lengths[k]
            if n <= short:
                written += _merge_short(p, starts[k], n, mg, last, bi, to, written)
            else:
                written += _merge_long(p, starts[k], n, mg, last, bi, to, written, rest)
            stops[k] = written


# ----------------------------------------------------------------------------- tables of pre-tokens


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


def token_id(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    n: cython.Py_ssize_t,
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    seeds: cython.ulonglong[::1],
) -> int:
    """Returns the id of the token of the first `n` bytes of `data`, or -1. 16 more bytes follow."""
    p: cython.p_uchar
    s: cython.p_ulonglong
    q: cython.p_uchar
    sd: cython.p_ulonglong
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        s, q, sd = cython.address(slots[0]), cython.address(keys[0]), cython.address(seeds[0])
    else:
        p, s, q, sd = data, slots, keys, seeds
    return token_at(s, slots.shape[0] // 4 - 1, q, sd, p, 0, n)


def put_pieces(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.longlong[::1],
    lengths: cython.longlong[::1],
    given: cython.uint[::1],
    firsts: cython.longlong[::1],
    stops: cython.longlong[::1],
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    ids: cython.uint[::1],
    used: cython.longlong[::1],
    seeds: cython.ulonglong[::1],
) -> int:
    """Puts different pre-tokens and their ids into a table that has none of them.

    Leaves out pre-tokens of more than 512 bytes, or with more ids than bytes. Returns the number of
    pre-tokens that were handled: less than there are if the table is full."""
    total: cython.Py_ssize_t = lengths.shape[0]
    last: cython.ulonglong = slots.shape[0] // 4 - 1
    k: cython.Py_ssize_t
    p: cython.p_uchar
    s: cython.p_ulonglong
    q: cython.p_uchar
    u: cython.p_uint
    g: cython.p_uint
    w: cython.p_longlong
    sd: cython.p_ulonglong
    if min(starts.shape[0], firsts.shape[0], stops.shape[0]) < total or used.shape[0] < 3:
        raise ValueError("arrays too short")
    if total == 0 or given.shape[0] == 0:
        return 0
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        s, q, u = cython.address(slots[0]), cython.address(keys[0]), cython.address(ids[0])
        g, w, sd = cython.address(given[0]), cython.address(used[0]), cython.address(seeds[0])
    else:
        p, s, q, u, g, w, sd = data, slots, keys, ids, given, used, seeds
    key_room: cython.Py_ssize_t = keys.shape[0]
    id_room: cython.Py_ssize_t = ids.shape[0]
    done: cython.Py_ssize_t = total
    with cython.nogil:
        for k in range(total):
            at: cython.Py_ssize_t = starts[k]
            n: cython.Py_ssize_t = lengths[k]
            many: cython.Py_ssize_t = stops[k] - firsts[k]
            if n > _MOST or many > n or many < 0:
                continue
            k0: cython.ulonglong = low_of(p, at, n)
            k1: cython.ulonglong = high_of(p, at, n)
            size: cython.ulonglong = _PIECE + n
            h: cython.ulonglong = hash_of(p, at, n, size, k0, k1, sd)
            if not _put_slot(
                s, last, q, key_room, u, id_room, w, h, k0, k1, size, p, at, n, g, firsts[k], many
            ):
                done = k
                break
    return done


def copy_entries(
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    ids: cython.uint[::1],
    into_slots: cython.ulonglong[::1],
    into_keys: cython.uchar[::1],
    into_ids: cython.uint[::1],
    used: cython.longlong[::1],
    seeds: cython.ulonglong[::1],
    first: cython.Py_ssize_t,
) -> int:
    """Copies the entries of a table, from slot `first` on, into another table that lacks them.

    Returns the slot after the last slot that was handled: smaller than the number of slots if the
    other table is full."""
    total: cython.Py_ssize_t = slots.shape[0] // 4
    last: cython.ulonglong = into_slots.shape[0] // 4 - 1
    k: cython.Py_ssize_t
    done: cython.Py_ssize_t = total
    p: cython.p_uchar
    s: cython.p_ulonglong
    g: cython.p_uint
    t: cython.p_ulonglong
    q: cython.p_uchar
    u: cython.p_uint
    w: cython.p_longlong
    sd: cython.p_ulonglong
    two: cython.uint[2]
    if cython.compiled:
        p, s, g = cython.address(keys[0]), cython.address(slots[0]), cython.address(ids[0])
        t, q = cython.address(into_slots[0]), cython.address(into_keys[0])
        u, w, sd = cython.address(into_ids[0]), cython.address(used[0]), cython.address(seeds[0])
    else:
        p, s, g, t, q, u, w, sd = keys, slots, ids, into_slots, into_keys, into_ids, used, seeds
        two = [0, 0]
    key_room: cython.Py_ssize_t = into_keys.shape[0]
    id_room: cython.Py_ssize_t = into_ids.shape[0]
    with cython.nogil:
        for k in range(first, total):
            about: cython.ulonglong = s[4 * k + 3]
            if about == 0:
                continue
            size: cython.ulonglong = about & 0xFFFF
            n: cython.Py_ssize_t = about & 0x7FFF
            k0: cython.ulonglong = s[4 * k]
            k1: cython.ulonglong = s[4 * k + 1]
            h: cython.ulonglong = hash_of(p, about >> 32, n, size, k0, k1, sd)
            if find_slot(t, last, q, h, k0, k1, p, about >> 32, n, size) >= 0:
                continue
            many: cython.Py_ssize_t = (about >> 16) & 0xFFFF
            if many <= 2:
                two[0] = s[4 * k + 2] & _LOW
                two[1] = s[4 * k + 2] >> 32
                put: cython.bint = _put_slot(
                    t,
                    last,
                    q,
                    key_room,
                    u,
                    id_room,
                    w,
                    h,
                    k0,
                    k1,
                    size,
                    p,
                    about >> 32,
                    n,
                    two,
                    0,
                    many,
                )
            else:
                put = _put_slot(
                    t,
                    last,
                    q,
                    key_room,
                    u,
                    id_room,
                    w,
                    h,
                    k0,
                    k1,
                    size,
                    p,
                    about >> 32,
                    n,
                    g,
                    s[4 * k + 2],
                    many,
                )
            if not put:
                done = k
                break
    return done
