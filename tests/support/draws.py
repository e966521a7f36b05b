"""Many small numbers by one draw, and strategies made once: hypothesis takes some 20 µs for a draw,
and several times as long if its strategy is new."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item")
BOOLEANS = st.booleans()


@cache
def bytes_of(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


@cache
def up_to(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(max_size=size)


@cache
def between(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


def shuffled(draw: st.DrawFn, items: Sequence[Item]) -> list[Item]:
    """The items in any order, at best in their own."""
    drawn = iter(draw(bytes_of(len(items))))
    return sorted(items, key=lambda _: next(drawn))
