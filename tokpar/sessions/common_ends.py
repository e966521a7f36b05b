"""Find the common prefix and suffix of two texts by comparing large blocks of memory."""

from __future__ import annotations

_BLOCK = 1 << 15


def common_prefix(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in code points: "abcd", "abx" -> 2."""
    most = min(len(one), len(other))
    if len(one) != len(other):  # one text is often the beginning of the other
        shorter, longer = sorted((one, other), key=len)
        if longer.startswith(shorter):
            return most
    start = 0
    # only one of the two texts is copied
    while start < most and other.startswith(one[start : start + _BLOCK], start):
        start += _BLOCK
    start, stop = min(start, most), min(start + _BLOCK, most)
    while start < stop:  # the first difference is in [start, stop], by halves
        middle = (start + stop + 1) // 2
        if one[start:middle] == other[start:middle]:
            start = middle
        else:
            stop = middle - 1
    return start


def common_suffix(one: str, other: str, most: int) -> int:
    """The length of the common suffix in code points, at most `most`: "abc", "xbc" -> 2."""
    size = 0
    while size < most and other.endswith(_end(one, size, _BLOCK), 0, len(other) - size):
        size += _BLOCK
    size, stop = min(size, most), min(size + _BLOCK, most)
    while size < stop:
        step = (stop - size + 1) // 2
        if _end(one, size, step) == _end(other, size, step):
            size += step
        else:
            stop = size + step - 1
    return size


def _end(text: str, size: int, block: int) -> str:
    """Up to `block` characters of `text` that stand before its last `size` characters."""
    stop = len(text) - size
    return text[max(0, stop - block) : stop]
