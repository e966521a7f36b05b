"""Which ids two neighbouring pieces have in common: the kernel of ID-overlap matching."""

from __future__ import annotations

import numpy as np

from tokpar.kernels import IdArray, IntArray

# For each place of two rows: the number of the window that starts there among those that occur in
# both rows, or -1. Windows of one length; a row has as many places as such windows fit into it.
_Windows = tuple[IntArray, IntArray]


def longest_common_run(left: IdArray, right: IdArray) -> tuple[int, int, int]:
    """(i, j, length) of the longest run of ids in both rows, left[i : i + length] and
    right[j : j + length]: [1, 2, 3, 9] and [5, 2, 3] -> (1, 1, 2).

    Of several the last one in `left`, then the last one in `right`, as ParallelTokenizer takes it
    (it searches both rows backwards). No common id: (len(left), 0, 0). Exact, without hashing:
    windows of 1, 2, 4, ... ids are numbered by sorting, at most 2 log2(n) sorts of n numbers.
    """
    doubled = [_numbered(left.astype(np.int64), right.astype(np.int64))]
    if not _any(doubled[0]):
        return len(left), 0, 0
    while _any(longer := _followed(doubled[-1], doubled[-1], 1 << (len(doubled) - 1))):
        doubled.append(longer)
    length = 1 << (len(doubled) - 1)
    longest = doubled.pop()
    while doubled:
        extra = 1 << (len(doubled) - 1)
        longer = _followed(longest, doubled.pop(), length)
        if _any(longer):
            longest, length = longer, length + extra
    i = int(np.flatnonzero(longest[0] >= 0)[-1])
    j = int(np.flatnonzero(longest[1] == longest[0][i])[-1])
    return i, j, length


def _any(windows: _Windows) -> bool:
    return bool((windows[0] >= 0).any())


def _followed(first: _Windows, second: _Windows, length: int) -> _Windows:
    """Windows made of one of `first`, of `length` ids, and one of `second` right behind it."""
    count = 1 + max(int(row.max(initial=-1)) for row in second)
    rows = []
    for ahead, behind in zip(first, second, strict=True):
        behind = behind[length:]
        ahead = ahead[: len(behind)]
        rows.append(np.where((ahead >= 0) & (behind >= 0), ahead * count + behind, -1))
    return _numbered(*rows)


def _numbered(left: IntArray, right: IntArray) -> _Windows:
    """Equal numbers for equal values found in both rows, -1 for the others and for -1."""
    values = np.intersect1d(left, right)
    values = values[values >= 0]
    return _places(values, left), _places(values, right)


def _places(ascending: IntArray, row: IntArray) -> IntArray:
    if not len(ascending):
        return np.full(len(row), -1, dtype=np.int64)
    near = np.minimum(np.searchsorted(ascending, row), len(ascending) - 1)
    places: IntArray = np.where(ascending[near] == row, near, -1)
    return places
