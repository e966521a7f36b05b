# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Reads the vocabulary and the merges of a byte-level BPE from a `tokenizer.json` into arrays,
without an object for each token.

`text` is the file in UTF-8, which another library has read before, so a mistake in it is reported
by -1 only. `byte_of` has the byte that each character below its length stands for, or -1.

Cython compiles this file. Uncompiled, and given memoryviews, it is the oracle of its own tests."""

from __future__ import annotations

from typing import Any

import cython

if not cython.compiled:  # else from words.h; tests put in the same functions in Python
    low_of: Any = None
    token_at: Any = None

COMPILED = cython.compiled

_COMMENT = cython.declare(cython.ulonglong, 0x6E6F697372657623)  # "#version"


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _after_white(
    p: cython.p_uchar, at: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Returns the first place from byte `at` on that is not white space, at most `stop`."""
    while at < stop and (p[at] == 32 or 9 <= p[at] <= 13):
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hex(p: cython.p_uchar, at: cython.Py_ssize_t) -> cython.int:
    """Returns the value of four hexadecimal digits, or -1 for other characters."""
    value: cython.int = 0
    k: cython.Py_ssize_t
    for k in range(at, at + 4):
        c: cython.int = p[k]
        if 48 <= c <= 57:
            value = 16 * value + c - 48
        elif 97 <= (c | 32) <= 102:
            value = 16 * value + (c | 32) - 87
        else:
            return -1
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _string(
    p: cython.p_uchar,
    at: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    byte_of: cython.p_int,
    letters: cython.Py_ssize_t,
    to: cython.p_uchar,
    size: cython.p_longlong,
    space: cython.p_longlong,
) -> cython.Py_ssize_t:
    """Reads the JSON string whose opening quote is at `at`, and writes its bytes to `to`.

    Returns the place after the closing quote, or -1 if there is none. The bytes are written from
    index `size[0]` on, and `size[0]` grows by their number. If some of the n characters of the
    string are not in the byte alphabet, `size[0]` becomes -1 - n instead. If `space[0]` is -1, it
    becomes the value of `size[0]` at the first space, which is then left out: this is where "a b"
    is divided."""
    count: cython.Py_ssize_t = size[0]
    characters: cython.Py_ssize_t = 0
    fine: cython.bint = True
    at += 1
    while at < stop and p[at] != 34:
        c: cython.int = p[at]
        if c == 92 and at + 1 < stop:
            c = p[at + 1]
            at += 2
            if c == 117:
                if at + 4 > stop:
                    return -1
                c = _hex(p, at)
                if c < 0:
                    return -1
                at += 4
            elif c != 34 and c != 92 and c != 47:
                c = 0  # a control character, which is no letter
        elif c < 0x80:
            at += 1
        elif c < 0xE0:
            c = (c & 31) << 6 | (p[at + 1] & 63)
            at += 2
        else:
            at += 3 if c < 0xF0 else 4
            c = 0
        if c == 32 and space[0] == -1:
            space[0] = count
            continue
        if c < 0xDC00 or c > 0xDFFF:  # the second half of an escaped pair counts with the first
            characters += 1
        if c >= letters or byte_of[c] < 0:
            fine = False
            continue
        to[count] = byte_of[c]
        count += 1
    if at >= stop:
        return -1
    size[0] = count if fine else -1 - characters
    return at + 1


def value_end(text: cython.const[cython.uchar][::1], at: cython.Py_ssize_t) -> int:  # type: ignore[valid-type]
    """Returns the place after the JSON value at `at`, or -1 if the value does not end."""
    stop: cython.Py_ssize_t = text.shape[0]
    p: cython.p_uchar
    if at >= stop:
        return at
    p = cython.cast(cython.p_uchar, cython.address(text[0])) if cython.compiled else text
    with cython.nogil:
        at = _value_end(p, at, stop)
    return at  # noqa: RET504  # the GIL is needed to return


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _value_end(
    p: cython.p_uchar, at: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    depth: cython.Py_ssize_t = 0
    c: cython.int
    while at < stop:
        c = p[at]
        if c == 34:
            at += 1
            while at < stop and p[at] != 34:
                at += 2 if p[at] == 92 else 1
            if at >= stop:
                return -1
        elif c == 91 or c == 123:
            depth += 1
        elif c == 93 or c == 125:
            depth -= 1
            if depth < 0:
                return at
        elif c == 44 and depth == 0:
            return at
        at += 1
        if depth == 0 and (c == 34 or c == 93 or c == 125):
            return at
    return at if depth == 0 else -1


def read_vocabulary(
    text: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    byte_of: cython.int[::1],
    data: cython.uchar[::1],
    lengths: cython.longlong[::1],
    ids: cython.longlong[::1],
) -> int:
    """Reads the entries of the JSON object text[start:stop]. Returns how many there are.

    Returns -1 if an entry cannot be read, or if `lengths` and `ids` are too short. `data` is at
    least as long as the object.

        data      | bytes of token 0 | bytes of token 1 | ...
        lengths   bytes of each token, or -1 - n for a token of n characters that are not all in
                  the byte alphabet, which has no bytes in `data`
        ids       the id of each token
    """
    p: cython.p_uchar
    to: cython.p_uchar
    b: cython.p_int
    size: cython.longlong[1] = [0]
    space: cython.longlong[1] = [-2]
    letters: cython.Py_ssize_t = byte_of.shape[0]
    room: cython.Py_ssize_t = min(lengths.shape[0], ids.shape[0])
    count: cython.Py_ssize_t = 0
    used: cython.Py_ssize_t = 0
    if data.shape[0] < stop - start or text.shape[0] < stop:
        raise ValueError("arrays too short")
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(text[0]))
        to, b = cython.address(data[0]), cython.address(byte_of[0])
    else:
        p, to, b = text, data, byte_of
    with cython.nogil:
        at: cython.Py_ssize_t = _after_white(p, start + 1, stop)
        while at < stop and p[at] == 34:
            size[0] = used
            at = _string(p, at, stop, b, letters, to, size, space)
            if at < 0 or count == room:
                break
            at = _after_white(p, _after_white(p, at, stop) + 1, stop)
            value: cython.longlong = 0
            digits: cython.int = 0
            while at < stop and 48 <= p[at] <= 57 and digits < 18:
                value = 10 * value + p[at] - 48
                digits += 1
                at += 1
            if digits == 0:
                at = -1
                break
            ids[count] = value
            lengths[count] = size[0]
            if size[0] >= 0:
                lengths[count] = size[0] - used
                used = size[0]
            count += 1
            at = _after_white(p, at, stop)
            if at < stop and p[at] == 44:
                at = _after_white(p, at + 1, stop)
    return count if 0 <= at < stop and text[at] == 125 else -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_comment(to: cython.p_uchar, n: cython.Py_ssize_t) -> cython.bint:
    """True if the `n` bytes begin with "#version". The engine ignores such a merge if it is written
    "a b"."""
    return n >= 8 and low_of(to, 0, 8) == _COMMENT


def read_merges(
    text: cython.const[cython.uchar][::1],  # type: ignore[valid-type]
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    byte_of: cython.int[::1],
    slots: cython.ulonglong[::1],
    keys: cython.uchar[::1],
    seeds: cython.ulonglong[::1],
    scratch: cython.uchar[::1],
    left: cython.uint[::1],
    right: cython.uint[::1],
    both: cython.uint[::1],
) -> int:
    """Reads the merges of the JSON array text[start:stop]. Returns how many there are.

    A merge is "a b" or ["a", "b"]. Merge k makes the token both[k] of left[k] and right[k]: ids of
    a table of tokens (`_merges.put_tokens`). A merge with a character outside the byte alphabet
    is left out, because no text leads to it. Returns -1 if a merge cannot be read, has a part that
    is no token, or looks like a comment. `scratch` is 16 bytes longer than the array:

        scratch   | bytes of a | bytes of b | 16 bytes that may be read |
                  0            space[0]     size[0]
    """
    p: cython.p_uchar
    to: cython.p_uchar
    q: cython.p_uchar
    b: cython.p_int
    t: cython.p_ulonglong
    s: cython.p_ulonglong
    size: cython.longlong[1] = [0]
    space: cython.longlong[1] = [-1]
    letters: cython.Py_ssize_t = byte_of.shape[0]
    room: cython.Py_ssize_t = min(left.shape[0], right.shape[0], both.shape[0])
    last: cython.ulonglong = slots.shape[0] // 4 - 1
    count: cython.Py_ssize_t = 0
    if scratch.shape[0] < stop - start + 16 or text.shape[0] < stop:
        raise ValueError("arrays too short")
    if cython.compiled:
        p = cython.cast(cython.p_uchar, cython.address(text[0]))
        to, q = cython.address(scratch[0]), cython.address(keys[0])
        b, t, s = (
            cython.address(byte_of[0]),
            cython.address(slots[0]),
            cython.address(seeds[0]),
        )
    else:
        p, to, q, b, t, s = text, scratch, keys, byte_of, slots, seeds
    with cython.nogil:
        at: cython.Py_ssize_t = _after_white(p, start + 1, stop)
        while at < stop and (p[at] == 34 or p[at] == 91):
            two: cython.bint = p[at] == 91
            size[0] = 0
            space[0] = -2 if two else -1
            if two:
                at = _after_white(p, at + 1, stop)
                if at >= stop or p[at] != 34:
                    at = -1
                    break
            at = _string(p, at, stop, b, letters, to, size, space)
            if at < 0:
                break
            fine: cython.bint = size[0] >= 0
            if two:
                space[0] = size[0]
                at = _after_white(p, at, stop)
                at = _after_white(p, at + 1, stop)
                if not fine:
                    size[0] = 0
                if at >= stop or p[at] != 34:
                    at = -1
                    break
                at = _string(p, at, stop, b, letters, to, size, space)
                if at < 0:
                    break
                fine = fine and size[0] >= 0
                at = _after_white(p, at, stop) + 1
            elif space[0] < 0 or (fine and _is_comment(to, space[0])):
                at = -1
                break
            at = _after_white(p, at, stop)
            if at < stop and p[at] == 44:
                at = _after_white(p, at + 1, stop)
            if not fine:
                continue
            one: cython.longlong = token_at(t, last, q, s, to, 0, space[0])
            other: cython.longlong = token_at(t, last, q, s, to, space[0], size[0] - space[0])
            whole: cython.longlong = token_at(t, last, q, s, to, 0, size[0])
            if one < 0 or other < 0 or whole < 0 or count == room:
                at = -1
                break
            left[count] = cython.cast(cython.uint, one)
            right[count] = cython.cast(cython.uint, other)
            both[count] = cython.cast(cython.uint, whole)
            count += 1
    return count if 0 <= at < stop and text[at] == 93 else -1
