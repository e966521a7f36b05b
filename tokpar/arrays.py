"""Plain functions on arrays and strings; imports nothing of tokpar."""

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Value = TypeVar("_Value")
IdArray = NDArray[np.uint32]
"""Ids, shape (n,)."""
IntArray = NDArray[np.int64]
"""Positions, lengths or counts, shape (n,)."""
NO_INTS: IntArray = np.empty(0, dtype=np.int64)
SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""``\\s`` of python-regex, Oniguruma and fancy-regex alike: 25 code points (theorem 20)."""
_SPACE_CODES = np.array([ord(char) for char in SPACES], dtype=np.uint32)
SpanArray = NDArray[np.int64]
"""[start, stop) of each token, shape (n, 2), UTF-8 bytes unless a name says otherwise."""


LONG_ROW = 150  # ids per row from which on copying row by row is faster than by one mask


def byte_starts(text: str) -> IntArray:
    """Returns the UTF-8 byte offset of each code point, then the total: "aé😀" -> [0, 1, 3, 7]."""
    if text.isascii():
        return np.arange(len(text) + 1, dtype=np.int64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    width = 1 + (codes >= 0x80).astype(np.int8) + (codes >= 0x800) + (codes >= 0x10000)
    starts = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(width, out=starts[1:])
    return starts


SHORT_TEXT = 65536
"""Code points below which encoding a text again is faster than asking Python for its UTF-8 copy."""
_as_utf8 = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyUnicode_AsUTF8AndSize", ctypes.pythonapi)
)
"""Returns the address of the UTF-8 bytes of a text. Python keeps these bytes with the text, so only
the first call for a long text costs time. Every engine that gets the text makes Python do this."""


def byte_length(text: str) -> int:
    """Returns the length of `text` in UTF-8 bytes. A lone surrogate counts as 3 bytes."""
    if text.isascii():
        return len(text)
    if len(text) < SHORT_TEXT:
        return len(text.encode("utf-8", "surrogatepass"))
    size = ctypes.c_ssize_t()
    try:
        _as_utf8(text, ctypes.byref(size))
    except UnicodeEncodeError:
        return len(text.encode("utf-8", "surrogatepass"))
    return size.value


def utf8_bytes(text: str) -> NDArray[np.uint8]:
    """Returns the UTF-8 bytes of `text`, read-only, not copied: the bytes that Python keeps.

    Raises UnicodeEncodeError for lone surrogates."""
    data: NDArray[np.uint8] = np.asarray(_Utf8(text))
    return data


class _Utf8:
    """The UTF-8 bytes of a text for `numpy.asarray`.

    The array refers to this object, which keeps the text alive."""

    def __init__(self, text: str) -> None:
        size = ctypes.c_ssize_t()
        address = _as_utf8(text, ctypes.byref(size))
        self.text = text
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (size.value,),
            "data": (address, True),
        }


def plain_text(text: _Value) -> _Value:
    """Returns a text of a subclass of str as a str with the same characters, another value as it
    is.

    A subclass may override slicing, `+` or `len`: `markupsafe.Markup` escapes what is added."""
    if isinstance(text, str) and type(text) is not str:
        return str.__str__(text)  # type: ignore[return-value]
    return text


def has_surrogate(text: str) -> bool:
    """True if `text` cannot be written as UTF-8: "a" -> False, "\\ud800" -> True."""
    if text.isascii():
        return False
    try:
        if len(text) < SHORT_TEXT:
            text.encode("utf-8")
        else:
            _as_utf8(text, None)
    except UnicodeEncodeError:
        return True
    return False


def spans_from_lengths(lengths: IntArray) -> SpanArray:
    """Returns the spans of tokens that tile a text: lengths [2, 1] (bytes) -> [[0, 2], [2, 3]].

    Read-only, because the end of a token and the start of the next token share one number in
    memory."""
    return spans_between(offsets_of(lengths))


def spans_between(edges: IntArray) -> SpanArray:
    """Returns the spans between the edges of tokens that tile: [0, 2, 3] -> [[0, 2], [2, 3]].

    Read-only, see `spans_from_lengths`."""
    spans: SpanArray = np.ndarray((len(edges) - 1, 2), edges.dtype, edges, strides=(8, 8))
    spans.flags.writeable = False
    return spans


def code_point_spans(spans: SpanArray, text: str) -> SpanArray:
    """Returns UTF-8 byte spans as code point spans.

    An offset inside a code point moves to the start of the code point (left ends) or to its end
    (right ends), so each span covers every code point it touches. For ASCII text, returns `spans`
    itself."""
    if text.isascii():
        return spans
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.int8)
    before = np.zeros(len(data) + 2, dtype=np.int32 if len(data) < 1 << 31 else np.int64)
    np.cumsum(
        data >= -64, dtype=before.dtype, out=before[1:-1]
    )  # all but 10xxxxxx begin a code point
    before[-1] = before[-2] + 1
    found: SpanArray = np.empty(spans.shape, dtype=np.int64)
    found[:, 0] = before[spans[:, 0] + 1] - 1
    found[:, 1] = before[spans[:, 1]]
    return found


def frozen_ids(ids: IdArray) -> IdArray:
    """Returns a read-only view of `ids`. The array `ids` itself does not change."""
    view: IdArray = ids.view()
    view.flags.writeable = False
    return view


def concatenate_ids(pieces: Sequence[IdArray]) -> IdArray:
    """Returns one array of all ids, in order. Without pieces, the array is empty."""
    if not pieces:
        return np.empty(0, dtype=np.uint32)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def offsets_of(lengths: Iterable[int] | IntArray) -> IntArray:
    """Returns where each row begins, and the end: lengths [2, 0, 1] -> [0, 2, 2, 3]."""
    sizes = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=offsets[1:])
    return offsets


def lengths_of(texts: Sequence[str]) -> IntArray:
    """Returns the code points of each text, int64, (texts,). `Utf8Texts` know them."""
    known: IntArray | None = getattr(texts, "lengths", None)
    if known is not None:
        return known
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def range_indices(starts: IntArray, lengths: IntArray) -> IntArray:
    """Returns the indices of all ranges, one after the other: [5, 0], [2, 3] -> [5, 6, 0, 1, 2]."""
    shift = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    shift += np.arange(len(shift))
    return shift


def copy_rows(
    source: IdArray, first: IntArray, lengths: IntArray, target: IdArray, start: IntArray
) -> None:
    """Copy source[first[k] : first[k] + lengths[k]] to target[start[k] : ...], for all k."""
    if len(first) == 1 or len(first) * LONG_ROW <= len(target):
        for a, n, b in zip(first.tolist(), lengths.tolist(), start.tolist(), strict=True):
            target[b : b + n] = source[a : a + n]
        return
    full = lengths > 0
    places = _is_in_range(len(target), start[full], (start + lengths)[full])
    if int(lengths.sum()) == len(source):
        target[places] = source
    else:
        target[places] = source[_is_in_range(len(source), first[full], (first + lengths)[full])]


def _is_in_range(count: int, starts: IntArray, stops: IntArray) -> NDArray[np.bool_]:
    """Returns which of `count` places lie in one of the ranges: 4, [1], [3] -> [F, T, T, F].

    No range is empty."""
    steps = np.zeros(count + 1, dtype=np.int8)
    steps[starts] += 1
    steps[stops] -= 1
    inside: NDArray[np.bool_] = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
    return inside


def spaces_behind_text(text: str, start: int, stop: int, neighbour_bits: bytes = b"") -> IntArray:
    """Returns each place in (start, stop) before an ASCII space and after a character other than
    white space: "a  b c", 0, 6 -> [1, 4]. Code points, ascending.

    `neighbour_bits`: empty, or 129 bytes: one for each ASCII character, and one for all others.
    Bit 1: the character may stand directly before the space. Bit 2: it may stand two places before
    the space. Bit 4: it may stand directly after the space. Characters outside of [start, stop) are
    not checked."""
    part = text[start:stop]
    if part.isascii():
        codes: NDArray[Any] = np.frombuffer(part.encode("ascii"), dtype=np.uint8)
    else:
        codes = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), "<u4")
    places = np.flatnonzero(codes[1:] == ord(" "))
    kept = places[~(np.isin(codes[places], _SPACE_CODES))] + 1
    if neighbour_bits:
        bits = np.frombuffer(neighbour_bits, np.uint8)[np.minimum(codes, 128)]
        bits = np.concatenate(([7], bits, [7]))  # characters outside of the range are not checked
        kept = kept[bits[kept] & bits[kept - 1] >> 1 & bits[kept + 2] >> 2 & 1 == 1]
    found: IntArray = kept.astype(np.int64) + start
    return found


def sides_of_spaces(left_side: str, excluded_chars: str) -> bytes:
    """Returns the argument `neighbour_bits` of `spaces_behind_text` for a licence of theorem 50.

    Every character but the ASCII characters in `excluded_chars` may stand before and after the
    space. If `left_side` is "sure", only visible ASCII may stand next to the space, and only
    visible ASCII or blanks two places before the space."""
    bits = bytearray([7] * 128 + [0 if left_side == "sure" else 7])
    for code in range(128):
        char = chr(code)
        if left_side == "sure":
            visible = "!" <= char <= "~"
            bits[code] = 5 * visible + 2 * (visible or char in " \t\n\r")
        if char in excluded_chars:
            bits[code] = 0 if left_side == "sure" else 6
    return bytes(bits)


def equal_tokens(
    left_spans: SpanArray, left_ids: IdArray, right_spans: SpanArray, right_ids: IdArray
) -> tuple[IntArray, IntArray]:
    """Returns the indices (i, j) of tokens with equal span and id, both ascending.

    Spans: int64, (n, 2). [[0, 2], [2, 3]], ids [7, 8] and [[1, 2], [2, 3]], ids [9, 8] ->
    ([1], [1]). A token that starts where a neighbour starts is never matched, because its span may
    belong to either token."""
    if not len(left_ids) or not len(right_ids):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    starts = right_spans[:, 0]
    places = np.searchsorted(starts, left_spans[:, 0])
    near = np.minimum(places, len(starts) - 1)
    equal = (right_spans[near] == left_spans).all(axis=1) & (right_ids[near] == left_ids)
    equal &= is_unique(left_spans[:, 0]) & is_unique(starts)[near]
    found = np.flatnonzero(equal)
    return found, near[found]


def is_unique(ascending: IntArray) -> NDArray[np.bool_]:
    """Returns which ascending values differ from both neighbours: [1, 2, 2] -> [T, F, F]."""
    differs = np.concatenate([[True], ascending[1:] != ascending[:-1], [True]])
    kept: NDArray[np.bool_] = differs[:-1] & differs[1:]
    return kept


def clean_split(spans: SpanArray, offset: int) -> int | None:
    """Returns how many tokens lie before a byte offset: [[0, 2], [3, 5]], 2 -> 1.

    None if a token lies across the offset, if an empty token lies at the offset, or if the tokens
    before the offset are not the first tokens."""
    before = spans[:, 1] <= offset
    count = int(np.count_nonzero(before))
    if np.count_nonzero(before[:count]) < count or np.count_nonzero(spans[count:, 0] < offset):
        return None
    empty_there = (spans[:, 0] == offset) & (spans[:, 1] == offset)
    return None if np.count_nonzero(empty_there) else count


def first_difference(expected: IdArray, got: IdArray) -> int:
    """Returns the index of the first id that differs: [1, 2], [1, 3] -> 1. Returns the shorter
    length if there is none."""
    length = min(len(expected), len(got))
    different = np.flatnonzero(expected[:length] != got[:length])
    return int(different[0]) if len(different) else length
