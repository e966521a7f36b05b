# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Looks up segments of text in a table of their ids, and puts new segments into the table.

A segment begins at the start of a row, or at an ASCII space after a character that is not white
space (U1, theorem 20). For some tokenizers, a table of bytes bars such spaces (theorem 50).

The table is three arrays. A slot has four words of 64 bits:

    slots   word 0           word 1            word 2                    word 3
            bytes 0-7 of     bytes 8-15 of     one or two ids: bits      bits  0-14  length, bytes
            the segment      the segment       0-31 and 32-63;           bit     15  a pre-token
                                               more: their place         bits 16-31  number of ids
                                               in `ids`                  bits 32-63  place in `keys`
    keys    the bytes of segments of more than 16 bytes, one after the other
    ids     the ids of segments with more than two ids, one after the other

A slot whose word 3 is 0 is free. Bit 15 is set in slots of tokens (`_merges`), so a lookup
of a segment never finds them. A lookup compares all bytes of the segment.

Arrays belong to the callers, who make them long enough; 16 bytes of `data` lie behind the last row.
`seeds` are two words that nobody can guess, and a mask of the bits of a hash that count (fewer in
tests). Cython compiles this file. Uncompiled, and given memoryviews, it is the oracle of its own
tests."""

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
    same_bytes: Any = None
    spaces_at: Any = None
    utf8_of: Any = None

COMPILED = cython.compiled
BLOCK = 2048
"""Bytes in which cuts are found together. A block has at most as many segments."""

_BLOCK = cython.declare(cython.Py_ssize_t, 2048)
_GROUP = cython.declare(cython.Py_ssize_t, 64)
_KEYED = cython.declare(cython.Py_ssize_t, 2048 + 4)
_LOW = cython.declare(cython.ulonglong, 0xFFFFFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _white_before(p: cython.p_uchar, start: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
    r"""True if the character before byte `i`, which begins at `start` or later, is white space: one
    of the 25 characters of ``\s`` (`tokpar.arrays.SPACES`)."""
    c: cython.int = p[i - 1]
    if c < 0x80:
        return c == 32 or 9 <= c <= 13
    if i - start >= 2 and p[i - 2] == 0xC2:
        return c == 0x85 or c == 0xA0
    if i - start < 3:
        return False
    a: cython.int = p[i - 3]
    b: cython.int = p[i - 2]
    if a == 0xE2 and b == 0x80:
        return c <= 0x8A or c == 0xA8 or c == 0xA9 or c == 0xAF
    if a == 0xE1:
        return b == 0x9A and c == 0x80
    return (a == 0xE2 and b == 0x81 and c == 0x9F) or (a == 0xE3 and b == 0x80 and c == 0x80)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _cuts(
    p: cython.p_uchar,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    lo: cython.Py_ssize_t,
    hi: cython.Py_ssize_t,
    neighbours: cython.p_uchar,
    barred: cython.bint,
    found: cython.p_ulonglong,
) -> cython.Py_ssize_t:
    """Writes the cuts in [lo, hi) of the row [start, stop) to `found`. Returns how many there are.

    start < lo. With `barred`, a cut counts only if `neighbours` has these bits for the bytes next
    to the space, as far as the row has these bytes:

        byte    p[at - 2]   p[at - 1]   space   p[at + 1]
        bit         2           1                   4
    """
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    wide: cython.int[1] = [0]
    count: cython.Py_ssize_t = spaces_at(p, lo, hi, found, wide)
    kept: cython.Py_ssize_t = 0
    if wide[0]:
        for i in range(count):
            found[kept] = found[i]
            kept += not _white_before(p, start, found[i])
        count, kept = kept, 0
    if not barred:
        return count
    for i in range(count):
        at = found[i]
        found[kept] = at
        kept += (
            neighbours[p[at - 1]] & 1 != 0
            and (at - start < 2 or neighbours[p[at - 2]] & 2 != 0)
            and (at + 1 >= stop or neighbours[p[at + 1]] & 4 != 0)
        )
    return kept


def look_up(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    rows: cython.longlong[::1],
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    ids: cython.uint[::1],
    older_slots: cython.ulonglong[::1],
    older_keys: cython.uchar[::1],
    older_ids: cython.uint[::1],
    seeds: cython.ulonglong[::1],
    scratch: cython.ulonglong[::1],
    out: cython.uint[::1],
    ends: cython.longlong[::1],
    passed: cython.longlong[::1],
    misses: cython.longlong[::1],
    neighbours: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
) -> int:
    """Looks up the segments of all rows in two tables. Returns the number of misses, or -1 if `out`
    or `misses` is too short.

    `neighbours` has 256 bytes (see `_cuts`), or one byte if it bars nothing.

        data      | row 0: segment, segment, ...  | row 1 | ...  | 16 bytes that may be read |
        rows      0                               rows[1]        rows[-1]
        out       | ids of row 0 without those of misses | ids of row 1 | ...
        ends[r]   number of ids written up to the end of row r
        passed[r] number of misses up to the end of row r; the last place: number of segments
        misses    | first byte | bytes | ids written before | ... three numbers for each miss

    `scratch` (`near`) has the cuts of one block of a row, and what the tables are asked for one
    group of its segments:

        near      | cuts, up to BLOCK + 1     | hash, bytes 0-7, bytes 8-15 of each segment |
                  0                           _KEYED          up to _GROUP segments

    Hashes of a group are computed, and their slots fetched, before the first comparison.
    """
    if (
        ends.shape[0] < rows.shape[0] - 1
        or passed.shape[0] < rows.shape[0]
        or scratch.shape[0] < 4 * BLOCK + 4
        or data.shape[0] < rows[rows.shape[0] - 1] + 16
        or rows[0] < 0
    ):
        raise ValueError("arrays too short")
    room: cython.Py_ssize_t = out.shape[0]
    spare: cython.Py_ssize_t = misses.shape[0] // 3
    last: cython.ulonglong = slots.shape[0] // 4 - 1
    older_last: cython.ulonglong = older_slots.shape[0] // 4 - 1
    p: cython.p_uchar
    q: cython.p_uchar
    older_q: cython.p_uchar
    s: cython.p_ulonglong
    t: cython.p_ulonglong
    older_t: cython.p_ulonglong
    near: cython.p_ulonglong
    u: cython.p_uint
    older_u: cython.p_uint
    sides: cython.p_uchar
    barred: cython.bint = neighbours.shape[0] == 256
    if cython.compiled:
        sides = cython.cast(cython.p_uchar, cython.address(neighbours[0]))
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        q, older_q = cython.address(keys[0]), cython.address(older_keys[0])
        s, near = cython.address(seeds[0]), cython.address(scratch[0])
        t, older_t = cython.address(slots[0]), cython.address(older_slots[0])
        u, older_u = cython.address(ids[0]), cython.address(older_ids[0])
    else:
        p, q, older_q, s, near = data, keys, older_keys, seeds, scratch
        t, older_t, u, older_u = slots, older_slots, ids, older_ids
        sides = neighbours
    written: cython.Py_ssize_t = 0
    missed: cython.Py_ssize_t = 0
    segments: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    k: cython.Py_ssize_t
    wide: cython.Py_ssize_t = 2048
    with cython.nogil:
        for row in range(rows.shape[0] - 1):
            start: cython.Py_ssize_t = rows[row]
            stop: cython.Py_ssize_t = rows[row + 1]
            begin: cython.Py_ssize_t = start
            done: cython.Py_ssize_t = start + 1
            while begin < stop:
                hi: cython.Py_ssize_t = done + wide if done + wide < stop else stop
                cuts: cython.Py_ssize_t = _cuts(p, start, stop, done, hi, sides, barred, near)
                done = hi
                if hi >= stop:
                    near[cuts] = stop
                    cuts += 1
                segments += cuts
                at: cython.Py_ssize_t = begin
                group: cython.Py_ssize_t = 0
                while group < cuts:
                    behind: cython.Py_ssize_t = group + _GROUP if group + _GROUP < cuts else cuts
                    # all hashes and first slots before all comparisons: the processor fetches ahead
                    for k in range(group, behind):
                        end: cython.Py_ssize_t = near[k]
                        n: cython.Py_ssize_t = end - at
                        k0: cython.ulonglong = low_of(p, at, n)
                        k1: cython.ulonglong = high_of(p, at, n)
                        h: cython.ulonglong = hash_of(p, at, n, n, k0, k1, s)
                        near[_KEYED + 3 * (k - group)] = h
                        near[_KEYED + 3 * (k - group) + 1] = k0
                        near[_KEYED + 3 * (k - group) + 2] = k1
                        fetch(t, 4 * (h & last))
                        at = end
                    for k in range(group, behind):
                        end = near[k]
                        n = end - begin
                        h = near[_KEYED + 3 * (k - group)]
                        k0 = near[_KEYED + 3 * (k - group) + 1]
                        k1 = near[_KEYED + 3 * (k - group) + 2]
                        table: cython.p_ulonglong = t
                        many: cython.p_uint = u
                        e: cython.Py_ssize_t = find_slot(t, last, q, h, k0, k1, p, begin, n, n)
                        if e < 0:
                            table, many = older_t, older_u
                            e = find_slot(older_t, older_last, older_q, h, k0, k1, p, begin, n, n)
                        if e < 0:
                            if missed >= spare:
                                with cython.gil:
                                    return -1
                            misses[3 * missed] = begin
                            misses[3 * missed + 1] = n
                            misses[3 * missed + 2] = written
                            missed += 1
                            begin = end
                            continue
                        given: cython.Py_ssize_t = (table[e + 3] >> 16) & 0xFFFF
                        if written + given + 2 > room:
                            with cython.gil:
                                return -1
                        value: cython.ulonglong = table[e + 2]
                        if given <= 2:
                            out[written] = value & _LOW
                            out[written + 1] = value >> 32
                        else:
                            first: cython.Py_ssize_t = value
                            i: cython.Py_ssize_t
                            for i in range(given):
                                out[written + i] = many[first + i]
                        written += given
                        begin = end
                    group = behind
            ends[row] = written
            passed[row] = missed
    passed[rows.shape[0] - 1] = segments
    return missed


def distinct(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    misses: cython.longlong[::1],
    count: cython.Py_ssize_t,
    seeds: cython.ulonglong[::1],
    table: cython.longlong[::1],
    which: cython.longlong[::1],
    firsts: cython.longlong[::1],
    kinds: cython.uchar[::1],
) -> int:
    """Returns the number of distinct segments among the first `count` of `misses`.

    which[k]    the index, among the distinct segments, of miss k
    firsts[i]   the first miss of distinct segment i
    kinds[i]    bit 0: segment i does not begin with a space; bit 1: it ends in white space
    table       the index of a distinct segment, or -1: a power of two of places, at least twice
                as many as misses, all -1 at first
    """
    if which.shape[0] < count or firsts.shape[0] < count or kinds.shape[0] < count:
        raise ValueError("arrays too short")
    if table.shape[0] < 2 * count or misses.shape[0] < 3 * count:
        raise ValueError("arrays too short")
    found: cython.Py_ssize_t = 0
    last: cython.ulonglong = table.shape[0] - 1
    k: cython.Py_ssize_t
    p: cython.p_uchar
    s: cython.p_ulonglong
    if cython.compiled:
        if count == 0:
            return 0
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        s = cython.address(seeds[0])
    else:
        p, s = data, seeds
    with cython.nogil:
        for k in range(count):
            at: cython.Py_ssize_t = misses[3 * k]
            n: cython.Py_ssize_t = misses[3 * k + 1]
            k0: cython.ulonglong = low_of(p, at, n)
            k1: cython.ulonglong = high_of(p, at, n)
            slot: cython.ulonglong = hash_of(p, at, n, n, k0, k1, s) & last
            while table[slot] >= 0:
                other: cython.Py_ssize_t = firsts[table[slot]]
                if misses[3 * other + 1] == n and same_bytes(p, at, p, misses[3 * other], n):
                    break
                slot = (slot + 1) & last
            if table[slot] < 0:
                table[slot] = found
                firsts[found] = k
                kinds[found] = (p[at] != 32) + 2 * _white_before(p, at, at + n)
                found += 1
            which[k] = table[slot]
    return found


def put(
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    ids: cython.uint[::1],
    used: cython.longlong[::1],
    seeds: cython.ulonglong[::1],
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.longlong[::1],
    lengths: cython.longlong[::1],
    given: cython.uint[::1],
    firsts: cython.longlong[::1],
    stops: cython.longlong[::1],
    first: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
    met: cython.longlong[::1],
    door: cython.uchar[::1],
) -> int:
    """Puts segments, from index `first` on, into a table. Returns the index after the last segment
    that was handled: smaller than the number of segments if the table is full.

    Leaves out a segment of more than `most` bytes or ids (below 32768), one whose stop is below its
    first, and one that was met once only: met[k] < 2, and `door`, a Bloom filter of one hash, does
    not have it from an earlier call. A `door` of one byte lets all segments in.

        given       the ids of segment k are given[firsts[k] : stops[k]]
        used        | entries | bytes of `keys` | places of `ids` |
        slots       three eighths stay free
        keys        8 bytes after the last key stay free
        door        a power of two of bytes, 1 where a hash was met
    """
    total: cython.Py_ssize_t = lengths.shape[0]
    if min(starts.shape[0], firsts.shape[0], stops.shape[0]) < total or used.shape[0] < 3:
        raise ValueError("arrays too short")
    if door.shape[0] > 1 and met.shape[0] < total:
        raise ValueError("arrays too short")
    last: cython.ulonglong = slots.shape[0] // 4 - 1
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    p: cython.p_uchar
    q: cython.p_uchar
    s: cython.p_ulonglong
    t: cython.p_ulonglong
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(data[0]))
        q = cython.address(keys[0])
        s = cython.address(seeds[0])
        t = cython.address(slots[0])
    else:
        p, q, s, t = data, keys, seeds, slots
    done: cython.Py_ssize_t = total
    doors: cython.ulonglong = door.shape[0]
    with cython.nogil:
        for k in range(first, total):
            at: cython.Py_ssize_t = starts[k]
            n: cython.Py_ssize_t = lengths[k]
            many: cython.Py_ssize_t = stops[k] - firsts[k]
            if n > most or many > most or many < 0:
                continue
            k0: cython.ulonglong = low_of(p, at, n)
            k1: cython.ulonglong = high_of(p, at, n)
            h: cython.ulonglong = hash_of(p, at, n, n, k0, k1, s)
            if doors > 1 and met[k] < 2 and door[h & (doors - 1)] == 0:
                door[h & (doors - 1)] = 1
                continue
            if (
                8 * (used[0] + 1) > 5 * (slots.shape[0] // 4)
                or (n > 16 and used[1] + n + 8 > keys.shape[0])
                or (many > 2 and used[2] + many > ids.shape[0])
            ):
                done = k
                break
            if find_slot(t, last, q, h, k0, k1, p, at, n, n) >= 0:
                continue
            e: cython.Py_ssize_t = free_slot(t, last, h)
            if e < 0:
                continue
            place: cython.ulonglong = 0
            value: cython.ulonglong = 0
            if n > 16:
                place = used[1]
                for i in range(n):
                    q[used[1] + i] = p[at + i]
                used[1] += n
            if many > 2:
                value = used[2]
                for i in range(many):
                    ids[used[2] + i] = given[firsts[k] + i]
                used[2] += many
            else:
                for i in range(many):
                    value |= cython.cast(cython.ulonglong, given[firsts[k] + i]) << (32 * i)
            t[e] = k0
            t[e + 1] = k1
            t[e + 2] = value
            t[e + 3] = (
                cython.cast(cython.ulonglong, n)
                | cython.cast(cython.ulonglong, many) << 16
                | place << 32
            )
            used[0] += 1
    return done


def copy_to_larger(
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    larger: cython.ulonglong[::1],
    seeds: cython.ulonglong[::1],
) -> int:
    """Copies all entries of `slots` into `larger`. Returns the number of copied entries."""
    last: cython.ulonglong = larger.shape[0] // 4 - 1
    count: cython.Py_ssize_t = slots.shape[0] // 4
    k: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    q: cython.p_uchar
    s: cython.p_ulonglong
    t: cython.p_ulonglong
    if cython.compiled:
        q = cython.address(keys[0])
        s = cython.address(seeds[0])
        t = cython.address(larger[0])
    else:
        q, s, t = keys, seeds, larger
    with cython.nogil:
        for k in range(count):
            about: cython.ulonglong = slots[4 * k + 3]
            if about == 0:
                continue
            n: cython.Py_ssize_t = about & 0x7FFF
            h: cython.ulonglong = hash_of(
                q, about >> 32, n, about & 0xFFFF, slots[4 * k], slots[4 * k + 1], s
            )
            e: cython.Py_ssize_t = free_slot(t, last, h)
            if e >= 0:
                t[e] = slots[4 * k]
                t[e + 1] = slots[4 * k + 1]
                t[e + 2] = slots[4 * k + 2]
                t[e + 3] = about
                found += 1
    return found


def count_code_points(texts: list[object], found: cython.longlong[::1]) -> int:
    """Writes the code points of each text to `found`. Returns the index of the first text that is
    no str, or of a subclass of str; -1 if there is none."""
    k: cython.Py_ssize_t
    for k in range(found.shape[0]):
        text = texts[k]
        if type(text) is not str:
            return k
        found[k] = len(text)
    return -1


def write_utf8(texts: list[object], rows: cython.longlong[::1], data: cython.uchar[::1]) -> int:
    """Writes the texts in UTF-8 to `data`, as far as they fit. Returns their number of bytes.

    `rows` becomes the first byte of each text, and the end. Raises UnicodeEncodeError for lone
    surrogates."""
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    size: cython.Py_ssize_t[1] = [0]
    at: cython.Py_ssize_t = 0
    for k in range(rows.shape[0] - 1):
        p: cython.p_uchar = utf8_of(texts[k], size)
        rows[k] = at
        if at + size[0] <= data.shape[0]:
            for i in range(size[0]):
                data[at + i] = p[i]
        at += size[0]
    rows[rows.shape[0] - 1] = at
    return at


def gather(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.longlong[::1],
    lengths: cython.longlong[::1],
    target: cython.uchar[::1],
    places: cython.longlong[::1],
) -> None:
    """Copies data[starts[k] : starts[k] + lengths[k]] to target[places[k] : ...], for all k."""
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    if starts.shape[0] < lengths.shape[0] or places.shape[0] < lengths.shape[0]:
        raise ValueError("arrays too short")
    with cython.nogil:
        for k in range(lengths.shape[0]):
            for i in range(lengths[k]):
                target[places[k] + i] = data[starts[k] + i]


def splice(
    known: cython.uint[::1],
    count: cython.Py_ssize_t,
    misses: cython.longlong[::1],
    which: cython.longlong[::1],
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    fresh: cython.uint[::1],
    target: cython.uint[::1],
) -> None:
    """Writes the first `count` ids of `known` to `target`, with the ids of each miss put in.

    known      | ids  | ids        | ids |
    misses            ^ miss 0     ^ miss 1    misses[3 * k + 2]: the ids before miss k
    fresh      the ids of miss k are fresh[starts[w] : stops[w]], w = which[k]
    """
    done: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        for k in range(which.shape[0]):
            for i in range(done, misses[3 * k + 2]):
                target[at] = known[i]
                at += 1
            done = misses[3 * k + 2]
            for i in range(starts[which[k]], stops[which[k]]):
                target[at] = fresh[i]
                at += 1
        for i in range(done, count):
            target[at] = known[i]
            at += 1
