"""Pieces of ids that stand together in memory are joined without a copy, others with one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokpar.arrays import concatenate_ids, concatenate_or_view

BASE = np.arange(100, 130, dtype=np.uint32)
spans = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)


@given(st.lists(spans, max_size=5))
def test_pieces_of_one_array_in_any_order_are_joined_as_they_stand(cuts: list[list[int]]) -> None:
    pieces = [BASE[start:stop] for start, stop in cuts]
    assert concatenate_or_view(pieces).tolist() == concatenate_ids(pieces).tolist()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6).map(sorted))
def test_neighbours_are_not_copied(edges: list[int]) -> None:
    pieces = [BASE[a:b] for a, b in zip([0, *edges], edges, strict=False)]
    found = concatenate_or_view(pieces)
    assert found.tolist() == BASE[: edges[-1]].tolist()
    assert not len(found) or np.shares_memory(found, BASE)


def test_a_gap_steps_and_another_array_are_seen() -> None:
    gap, steps = [BASE[:3], BASE[4:6]], [BASE[:6:2], BASE[6:8]]
    another = [BASE[:3], BASE.copy()[3:6]]
    for pieces in (gap, steps, another):
        assert concatenate_or_view(pieces).tolist() == np.concatenate(pieces).tolist()
