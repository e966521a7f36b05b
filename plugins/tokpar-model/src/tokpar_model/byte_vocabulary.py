"""The tokens of a byte-level vocabulary as arrays, by id (gate of theorem 32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of, range_indices
from tokpar.certificate.canonical_form import is_id
from tokpar.certificate.check_context import require
from tokpar.certificate.own_vocabulary import LETTERS
from tokpar.process.cached_property import cached_property

NO_TOKEN = -1
_LATIN = {**dict.fromkeys(range(256), "\u0100"), **{ord(c): chr(b) for c, b in LETTERS.items()}}
"""The byte of each letter as a character of Latin-1; U+0100 for what is no letter."""
_SPARSE = 16


def bytes_of_letters(token: str) -> bytes | None:
    """Returns the bytes that a token in the byte alphabet stands for; None if a letter is no byte.

    "Ġa" -> b" a"."""
    try:
        return token.translate(_LATIN).encode("latin-1")
    except UnicodeEncodeError:
        return None


class ByteVocabulary:
    """Tokens by number: 0, 1, ... in the order of their ids.

    `ids`: the id of each token, int64, ascending. `spellings`: the bytes of each token.
    `number_of`: the number of each spelling."""

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        named = {id_: token for token, id_ in tokens.items() if is_id(id_)}
        require(named, "vocabulary", "the vocabulary has no token with an id")
        require(len(named) == len(tokens), "shared id", "two tokens have one id, or one has none")
        ordered = sorted(named)
        self.ids: IntArray = np.array(ordered, dtype=np.int64)
        self.spellings = [named[id_] for id_ in ordered]
        self.number_of = {token: number for number, token in enumerate(self.spellings)}
        self.lengths: IntArray = np.fromiter(map(len, self.spellings), np.int64, len(ordered))
        self.longest = int(self.lengths.max())
        self.atoms = [self.number_of.get(bytes([byte]), NO_TOKEN) for byte in range(256)]

    @cached_property
    def missing_bytes(self) -> bytes:
        """The bytes that are no token."""
        return bytes(byte for byte, number in enumerate(self.atoms) if number == NO_TOKEN)

    @cached_property
    def _by_id(self) -> NDArray[np.int32] | None:
        """The number of each id; None if ids are so sparse that the table would be large."""
        most = int(self.ids[-1])
        if most > _SPARSE * (len(self.ids) + (1 << 16)):
            return None
        table = np.full(most + 2, NO_TOKEN, dtype=np.int32)
        table[self.ids] = np.arange(len(self.ids), dtype=np.int32)
        return table

    def numbers(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """Returns the number of each id, `NO_TOKEN` for an id that is no token."""
        if self._by_id is not None:
            return self._by_id.take(ids, mode="clip")  # the last entry is NO_TOKEN
        places = np.searchsorted(self.ids, ids)
        found = places.clip(max=len(self.ids) - 1).astype(np.int32)
        found[self.ids[found] != ids] = NO_TOKEN
        return found

    @cached_property
    def _data(self) -> tuple[NDArray[np.uint8], IntArray]:
        return np.frombuffer(b"".join(self.spellings), dtype=np.uint8), offsets_of(self.lengths)

    def spelled_by(self, numbers: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Returns the bytes of these tokens, one after the other."""
        data, starts = self._data
        return data.take(range_indices(starts[numbers], self.lengths[numbers]))
