"""The merges of long ranks of tiktoken: all ways to make them, in linear time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.kernel_twins import TWINS, plain, twin_kernel
from tokpar.compiled import merges
from tokpar.compiled.long_ranks import halves_of_long_ranks

BYTES = [bytes([byte]) for byte in range(256)]


def ranks_with(tokens: list[bytes]) -> dict[bytes, int]:
    """The 256 bytes and further tokens, each with an id."""
    return {token: id_ for id_, token in enumerate(dict.fromkeys([*BYTES, *tokens]))}


def ways(ranks: Mapping[bytes, int]) -> set[tuple[int, int, int]]:
    """Each way to make a token of two, by trying each place."""
    return {
        (ranks[token[:n]], ranks[token[n:]], id_)
        for token, id_ in ranks.items()
        for n in range(1, len(token))
        if token[:n] in ranks and token[n:] in ranks
    }


def pairs_of(table: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> set[tuple[int, int, int]]:
    """The pairs of a table of merges, whose rank is the id of what they make."""
    pairs = [(int(key) - 1, int(value)) for key, value in table.reshape(-1, 2) if key]
    assert all(value >> 32 == value & 0xFFFFFFFF for _, value in pairs)
    return {(key >> 32, key & 0xFFFFFFFF, value >> 32) for key, value in pairs}


@pytest.mark.ids
@TWINS
@given(
    st.lists(st.text("ab", min_size=1, max_size=9).map(str.encode), max_size=40), st.integers(1, 9)
)
@example([b"a" * n for n in range(1, 40)], 3)
@example([b"ab" * n + b"a" * (n % 2) for n in range(1, 30)], 2)
def test_ranks_of_any_length_have_each_way_to_make_them(
    name: str, tokens: list[bytes], longest: int
) -> None:
    ranks = ranks_with(tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merges, "LONGEST_HALVED", longest)
        made = merges.ranks_of(ranks, twin_kernel(name))
    assert pairs_of(made.table) == ways(ranks)


class Looked(dict[bytes, int]):
    """Ranks that count the bytes that are looked up."""

    looked = 0

    def get(self, token: bytes, default: object = None) -> object:  # type: ignore[override]
        self.looked += len(token)
        return super().get(token)


def long_ranks(size: int) -> dict[bytes, int]:
    draw = random.Random(size)
    return ranks_with([draw.randbytes(size), b"a" * size, b"ab" * (size // 2)])


def test_what_is_looked_up_in_a_long_rank_does_not_grow_with_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, looked, in_table = plain("_merges")._module, [], []
    own = module.token_at

    def counted(*given: Any) -> int:
        in_table[-1] += given[-1]
        found: int = own(*given)
        return found

    monkeypatch.setattr(module, "token_at", counted)
    for size in (1000, 4000, 30_000):
        in_table.append(0)
        ranks = Looked(long_ranks(size))
        halves_of_long_ranks(ranks, merges.LONGEST_HALVED)
        merges.ranks_of(long_ranks(size) | {b"abc": 300}, twin_kernel("plain"))
        looked.append(ranks.looked)
    assert in_table == [in_table[0]] * 3
    assert looked == [looked[0]] * 3
    assert 0 < looked[0] <= 6 * merges.LONGEST_HALVED**2
    assert in_table[0] > 0
