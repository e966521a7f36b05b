"""Do ids spell a text: columns of bytes against one token after the other, up to the text's end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokpar.arrays import IntArray, byte_starts, offsets_of
from tokpar.certificate.spelling import _mask_words, spells
from tokpar.certificate.tokenizer_probe import Utf8Text


@dataclass(frozen=True)
class Decoder:
    """Joins what each id stands for."""

    tokens: Sequence[str]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.tokens[k] for k in ids)


TOKENS = (
    "a",
    "b",
    "ab",
    "é",
    "é!",
    "seven77",
    "eight888",
    "nine99999",
    "x" * 15,
    "y" * 16,
    "z" * 17,
)
tokens = st.lists(st.integers(0, len(TOKENS) - 1), min_size=1, max_size=12)


def laid(ids: Sequence[int]) -> tuple[IntArray, bytes]:
    parts = [TOKENS[k].encode() for k in ids]
    return offsets_of(map(len, parts)), b"".join(parts)


@given(tokens, st.data())
def test_ids_spell_what_their_tokens_are_and_nothing_else(
    ids: list[int], data: st.DataObject
) -> None:
    edges, text = laid(ids)
    codes = np.frombuffer(text, dtype=np.uint8)
    own, decoder = np.array(ids, dtype=np.uint32), Decoder(TOKENS)
    assert spells(own, edges, codes, decoder)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = bytearray(text)
    changed[place] ^= data.draw(st.sampled_from([1, 2, 4]))
    assert not spells(own, edges, np.frombuffer(bytes(changed), dtype=np.uint8), decoder)


@pytest.mark.parametrize("size", range(1, 40))
def test_the_first_bytes_of_stretches_up_to_the_end_of_a_text(size: int) -> None:
    text = bytes(range(1, size + 1))
    codes = np.frombuffer(text, dtype=np.uint8)
    padded = codes if size >= 8 else np.append(codes, np.zeros(8, dtype=np.uint8))
    words = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
    for length in range(1, 9):
        starts = np.arange(max(0, size - length + 1))
        found = _mask_words(words, starts, np.full(len(starts), length))
        expected = [int.from_bytes(text[k : k + length], "little") for k in starts]
        assert found.tolist() == expected


def test_places_far_into_a_text_are_those_of_its_bytes() -> None:
    """Behind several blocks of bytes, characters of one to four of them."""
    text = "aé一😀b " * 40_000
    starts = byte_starts(text)
    some = np.arange(0, len(text) + 1, 997)
    assert Utf8Text(text).byte_offsets(some).tolist() == starts[some].tolist()
