"""Where the joined ids are not the serial ones, and which seam is nearest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokpar.agreement.differing import first_difference
from tokpar.kernels import IdArray, SpanArray

Located = tuple[IdArray, SpanArray | None]
_Token = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DifferingRange:
    """joined[first:last] stands where serial[other_first:other_last] should. `start`, `stop`: what
    both cover, UTF-8 bytes of the text; -1 where tokens are not located. `seams`: those inside,
    else the nearest."""

    first: int
    last: int
    other_first: int
    other_last: int
    start: int
    stop: int
    seams: tuple[int, ...]


def differences(
    joined: Located, serial: Located, seams: Sequence[tuple[int, int]], exact: bool
) -> tuple[DifferingRange, ...]:
    """All differences, ascending; `seams`: (ids before it, byte offset) of each. Tokens are
    the same if id and place are; not `exact`: if the places touch, since engines place the tokens
    of a chunk's first word in more than one way. Without places: all between the ids that both
    begin and end with, as one."""
    (ids, spans), (serial_ids, serial_spans) = joined, serial
    if spans is None or serial_spans is None:
        return (_middle(ids, serial_ids, [token for token, _ in seams]),)
    places = [offset for _, offset in seams]
    left, right = _tokens(ids, spans), _tokens(serial_ids, serial_spans)
    found = []
    for first, last, other_first, other_last in _unequal(left, right, exact):
        covered = [*left[first:last], *right[other_first:other_last]]
        start, stop = min(token[0] for token in covered), max(token[1] for token in covered)
        laid_to = _nearest(places, start, stop)
        found.append(DifferingRange(first, last, other_first, other_last, start, stop, laid_to))
    return tuple(found)


def _tokens(ids: IdArray, spans: SpanArray) -> list[_Token]:
    return list(zip(*spans.T.tolist(), ids.tolist(), strict=True))


def _unequal(
    left: Sequence[_Token], right: Sequence[_Token], exact: bool
) -> Iterator[tuple[int, int, int, int]]:
    """[i, j) and [k, l) of what does not match; of two tokens that differ the one that lies first
    is passed over, so text that is there twice, or is missing, differs alone."""
    i = k = first = other = 0
    while i < len(left) and k < len(right):
        if _same(left[i], right[k], exact):
            if (first, other) != (i, k):
                yield first, i, other, k
            i, k = i + 1, k + 1
            first, other = i, k
        elif left[i][:2] <= right[k][:2]:
            i += 1
        else:
            k += 1
    if first < len(left) or other < len(right):
        yield first, len(left), other, len(right)


def _same(one: _Token, other: _Token, exact: bool) -> bool:
    if exact:
        return one == other
    return one[2] == other[2] and one[0] <= other[1] and other[0] <= one[1]


def _middle(joined: IdArray, serial: IdArray, seams: Sequence[int]) -> DifferingRange:
    """What is left when equal ids in front and at the end are taken away."""
    front = first_difference(joined, serial)
    back = first_difference(joined[front:][::-1], serial[front:][::-1])
    last, other_last = len(joined) - back, len(serial) - back
    return DifferingRange(front, last, front, other_last, -1, -1, _nearest(seams, front, last))


def _nearest(places: Sequence[int], start: int, stop: int) -> tuple[int, ...]:
    """The numbers of the places in [start, stop], else the nearest one; `places` ascend."""
    first, last = bisect_left(places, start), bisect_right(places, stop)
    if first < last:
        return tuple(range(first, last))
    beside = [n for n in (first - 1, first) if 0 <= n < len(places)]
    return tuple(sorted(beside, key=lambda n: max(start - places[n], places[n] - stop))[:1])
