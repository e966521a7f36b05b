"""Find the common prefix and suffix of two texts by comparing large blocks of memory."""

from __future__ import annotations

from bisect import bisect_left

_BLOCK = 1 << 15


def common_prefix(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in code points: "abcd", "abx" -> 2."""
    most, start = min(len(one), len(other)), 0
    if most == len(one) and other.startswith(one):
        return most  # nothing is copied; below, only one of the two texts is
    while start < most and other.startswith(one[start : start + _BLOCK], start):
        start += _BLOCK
    start, stop = min(start, most), min(start + _BLOCK, most)
    while start < stop:  # the first difference, if any, is in [start, stop)
        middle = (start + stop + 1) // 2
        if one[start:middle] == other[start:middle]:
            start = middle
        else:
            stop = middle - 1
    return start


def common_suffix(one: str, other: str, most: int) -> int:
    """The length of the common suffix in code points, at most `most`: "abc", "xbc" -> 2."""
    size = 0
    while size < most and other.endswith(_end(one, size, size + _BLOCK), 0, len(other) - size):
        size += _BLOCK
    lengths = range(min(size, most), min(size + _BLOCK, most))
    return lengths.start + bisect_left(
        lengths, True, key=lambda k: _end(one, size, k + 1) != _end(other, size, k + 1)
    )


def _end(text: str, first: int, last: int) -> str:
    """The characters of `text` from its last `last` ones on, without its last `first` ones."""
    return text[max(0, len(text) - last) : len(text) - first]
