# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Finds the contents of added tokens in UTF-8 bytes, by the automaton of Aho and Corasick.

`table` is the automaton (`tokpar.cuts.added_token_contents`). Its first 256 words have the child of
the root for each byte, or 0. Then each node has four words, from the root, node 0, on. Children of
one node are neighbours, in the order of their bytes:

    word 0         word 1                        word 2                       word 3
    first child    bits 0-7   byte before it     node of the longest proper   the longest content
                   bits 8-31  number of          suffix of the node's bytes   that the node's bytes
                              children                                        end with, or -1

Cython compiles this file. Uncompiled, and given memoryviews, it is the oracle of its own tests."""

from __future__ import annotations

import cython

COMPILED = cython.compiled

_ROOT = cython.declare(cython.Py_ssize_t, 256)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _child(table: cython.p_int, node: cython.Py_ssize_t, byte: cython.int) -> cython.Py_ssize_t:
    """Returns the child of a node for a byte, or 0."""
    if node == 0:
        return table[byte]
    low: cython.Py_ssize_t = table[_ROOT + 4 * node]
    high: cython.Py_ssize_t = low + (table[_ROOT + 4 * node + 1] >> 8)
    # most children have bytes without gaps: one child, or digits
    near: cython.Py_ssize_t = low + byte - (table[_ROOT + 4 * low + 1] & 255)
    if low <= near < high and (table[_ROOT + 4 * near + 1] & 255) == byte:
        return near
    while low < high:
        middle: cython.Py_ssize_t = (low + high) >> 1
        found: cython.int = table[_ROOT + 4 * middle + 1] & 255
        if found == byte:
            return middle
        if found < byte:
            low = middle + 1
        else:
            high = middle
    return 0


def find_clusters(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    table: cython.const[cython.int][::1],  # type: ignore[valid-type]
    lengths: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
    by_code_points: cython.bint,
    out: cython.longlong[::1],
    last: cython.longlong[::1],
) -> int:
    """Writes the clusters of `data` to `out`. Returns their number, or -1 if `out` is too short.

    A cluster is a part of the text that occurrences of contents cover. Each occurrence shares a
    character with another one of its cluster; two clusters share none. It has three numbers: where
    it begins, where it ends, and which content it is, or -1 if no occurrence is the whole cluster.
    `lengths`: of each content, in code points or in bytes, as the numbers are counted. `last[0]`:
    becomes the node of the longest suffix of `data` that is a prefix of a content."""
    size: cython.Py_ssize_t = data.shape[0]
    room: cython.Py_ssize_t = out.shape[0] // 3
    count: cython.Py_ssize_t = 0
    inner: cython.Py_ssize_t = 0  # bytes so far that do not begin a character
    i: cython.Py_ssize_t = 0
    node: cython.Py_ssize_t = 0
    byte: cython.int
    after: cython.Py_ssize_t
    number: cython.int
    start: cython.longlong
    stop: cython.longlong
    fits: cython.bint = True
    if size == 0:
        last[0] = 0
        return 0
    words: cython.p_int
    words = cython.cast(cython.p_int, cython.address(table[0])) if cython.compiled else table
    with cython.nogil:
        while i < size:
            byte = data[i]
            i += 1
            if by_code_points and (byte & 0xC0) == 0x80:
                inner += 1
            after = _child(words, node, byte)
            while after == 0 and node != 0:
                node = words[_ROOT + 4 * node + 2]
                after = _child(words, node, byte)
            node = after
            if node == 0:
                continue
            number = words[_ROOT + 4 * node + 3]
            if number < 0:
                continue
            stop = i - inner
            start = stop - lengths[number]
            while count > 0 and out[3 * count - 2] > start:
                count -= 1
                if out[3 * count] < start:
                    start = out[3 * count]
                    number = -1
            if count == room:
                fits = False
                break
            out[3 * count] = start
            out[3 * count + 1] = stop
            out[3 * count + 2] = number
            count += 1
    last[0] = node
    return count if fits else -1


def build_table(
    data: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    starts: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
    lengths: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
    live: cython.longlong[::1],
    nodes: cython.longlong[::1],
    table: cython.int[::1],
    depth: cython.longlong[::1],
) -> int:
    """Writes the automaton of contents, which are distinct, not empty and ascending, to `table` and
    the bytes of each node to `depth`, both zeros. Returns the number of nodes.

    Content k is data[starts[k] : starts[k] + lengths[k]]. `live`: the numbers of all contents.
    `nodes`: as many zeros. The time is linear in the bytes of the contents."""
    many: cython.Py_ssize_t = starts.shape[0]
    count: cython.Py_ssize_t = 1
    level: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    left: cython.Py_ssize_t
    parent: cython.Py_ssize_t
    link: cython.Py_ssize_t
    byte: cython.int
    wanted: cython.longlong
    last: cython.longlong
    words: cython.p_int
    words = cython.cast(cython.p_int, cython.address(table[0])) if cython.compiled else table
    words[_ROOT + 3] = -1
    with cython.nogil:
        while many > 0:
            left = 0
            last = -1
            for j in range(many):
                k = live[j]
                byte = data[starts[k] + level]
                parent = nodes[k]
                wanted = (parent << 8) + byte
                if wanted != last:  # contents with one prefix are neighbours
                    last = wanted
                    link = 0
                    if parent == 0:
                        words[byte] = count
                    else:
                        at = words[_ROOT + 4 * parent + 2]
                        link = _child(words, at, byte)
                        while link == 0 and at != 0:
                            at = words[_ROOT + 4 * at + 2]
                            link = _child(words, at, byte)
                    if words[_ROOT + 4 * parent + 1] < 256:
                        words[_ROOT + 4 * parent] = count
                    words[_ROOT + 4 * parent + 1] += 256
                    words[_ROOT + 4 * count + 1] = byte
                    words[_ROOT + 4 * count + 2] = link
                    words[_ROOT + 4 * count + 3] = words[_ROOT + 4 * link + 3]
                    depth[count] = level + 1
                    count += 1
                nodes[k] = count - 1
                if lengths[k] > level + 1:
                    live[left] = k
                    left += 1
                else:
                    words[_ROOT + 4 * (count - 1) + 3] = k
            many = left
            level += 1
    return count
