"""Check that ids spell the text, for many millions of tokens that tile the text.

All occurrences of an id must cover the same bytes of the text. The decoder then checks one
occurrence of each id."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray
from tokpar.certificate.tokenizer_probe import Bytes
from tokpar.errors import EngineError
from tokpar.interfaces import Decodes

UNDECODABLE = (LookupError, ValueError, OverflowError, TypeError, EngineError)
Words = NDArray[np.uint64]
_WORD = 8
_BLOCK = 1 << 15
"""Ids per block: the arrays of one block fit in the processor's cache."""
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], dtype=np.uint64)
_SPARSE = 4
"""Ids are renumbered if they are few compared with the highest id. The tables are then short."""
_NO_BYTE = 0xFF  # occurs in no UTF-8
_MOST_IDS = 1 << 26  # no vocabulary has more; tables of this length are still small


def spells(ids: IdArray, edges: IntArray, codes: Bytes, tokenizer: Decodes) -> bool:
    """True if the tokenizer's decoder gives, for every id, the bytes between the id's edges.

    Also False if this is uncertain: the decoder changes the text that it joins, or an id has no
    bytes. `codes`: the text's UTF-8 bytes. `edges`: the byte offset of each id in `codes`, then the
    end."""
    if not len(ids):
        return not len(codes)
    most = int(ids.max())
    if most >= _MOST_IDS or not (edges[1:] > edges[:-1]).all():
        return False
    numbers = ids
    if most > _SPARSE * len(ids):
        numbers = np.unique(ids, return_inverse=True)[1].astype(np.uint32)
    where = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    places = np.arange(_BLOCK)
    for first in range(0, len(ids), _BLOCK):
        block = numbers[first : first + _BLOCK]
        where[block] = places[: len(block)]
        places += _BLOCK
    examples = where[where >= 0]
    if not _alike(numbers, edges, examples, codes):
        return False
    return _Examples(ids, edges, codes, tokenizer).decode(examples)


def _alike(ids: IdArray, edges: IntArray, examples: IntArray, codes: Bytes) -> bool:
    """True if each id covers the same bytes wherever it occurs."""
    if len(codes) < _WORD:
        codes = np.append(codes, np.zeros(_WORD, dtype=np.uint8))
    words: Words = np.ndarray(len(codes) - _WORD + 1, "<u8", codes, 0, (1,))
    numbers, starts = ids[examples].astype(np.int64), edges[examples]
    left = edges[examples + 1] - starts
    sizes = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    sizes[numbers] = left
    tables: list[Words] = []  # the first eight bytes of each id, the next eight, and so on
    while len(numbers):
        tables.append(np.zeros(len(sizes), dtype=np.uint64))
        tables[-1][numbers] = _mask_words(words, starts, left)
        numbers, starts, left = _longer(numbers, starts, left)
    return all(
        _block_alike(ids[k : k + _BLOCK], edges[k : k + _BLOCK + 1], sizes, tables, words)
        for k in range(0, len(ids), _BLOCK)
    )


def _block_alike(
    ids: IdArray, edges: IntArray, sizes: IntArray, tables: list[Words], words: Words
) -> bool:
    # convert once; numpy would convert at each lookup
    numbers, starts = ids.astype(np.int64), edges[:-1]
    left = edges[1:] - starts
    if not np.array_equal(sizes.take(numbers), left):
        return False
    for table in tables:
        if not np.array_equal(table.take(numbers), _mask_words(words, starts, left)):
            return False
        numbers, starts, left = _longer(numbers, starts, left)
    return True


def _longer(
    numbers: IntArray, starts: IntArray, lengths: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns the bytes after the first eight of each token that has more than eight."""
    some = np.flatnonzero(lengths > _WORD)
    return numbers[some], starts[some] + _WORD, lengths[some] - _WORD


def _mask_words(words: Words, starts: IntArray, lengths: IntArray) -> Words:
    """The first bytes, up to eight, of each token as one number.

    `words`: the number of the eight bytes at each offset."""
    last = len(words) - 1
    if len(starts) and int(starts.max()) > last:  # near the end of the text
        whole = np.minimum(starts, last)
        found: Words = words[whole] >> (8 * (starts - whole)).astype(np.uint64)
    else:
        found = words[starts]
    found &= _MASKS.take(lengths, mode="clip")
    return found


class _Examples:
    """Checks one occurrence of each id with the decoder."""

    def __init__(self, ids: IdArray, edges: IntArray, codes: Bytes, tokenizer: Decodes) -> None:
        self._ids = ids
        self._edges = edges
        self._codes = codes
        self._tokenizer = tokenizer

    def decode(self, examples: IntArray) -> bool:
        """True if the decoder gives the bytes of each example.

        An example that is a part of a character is decoded with its neighbours."""
        whole = self._is_char_edge(self._edges[examples]) & self._is_char_edge(
            self._edges[examples + 1]
        )
        parts = {self._char_range(place) for place in examples[~whole].tolist()}
        return self._decode_whole(examples[whole]) and all(self._decodes(*part) for part in parts)

    def _is_char_edge(self, edges: IntArray) -> NDArray[np.bool_]:
        """True for each edge that lies between two characters of the text, not inside one."""
        following = self._codes[np.minimum(edges, len(self._codes) - 1)]
        found: NDArray[np.bool_] = (edges == len(self._codes)) | (following & 0xC0 != 0x80)
        return found

    def _char_range(self, place: int) -> tuple[int, int]:
        first, last = place, place + 1
        while not self._is_char_edge(self._edges[first : first + 1])[0]:
            first -= 1
        while not self._is_char_edge(self._edges[last : last + 1])[0]:
            last += 1
        return first, last

    def _decode_whole(self, examples: IntArray) -> bool:
        """Check all examples in one decoder call, with a separator id between them.

        The separator is one ASCII character that few examples contain. An example with this
        character is decoded by itself."""
        starts = self._edges[examples]
        lengths = self._edges[examples + 1] - starts
        heads = np.cumsum(lengths + 1) - (lengths + 1)
        owner = np.repeat(np.arange(len(examples)), lengths + 1)
        # each with the byte before it, which the separator replaces
        pieces = self._codes[(starts - 1 - heads)[owner] + np.arange(len(owner))]
        pieces[heads] = _NO_BYTE
        letters = np.flatnonzero(lengths == 1)
        if not len(letters):
            return all(self._decodes(place, place + 1) for place in examples.tolist())
        counts = np.bincount(pieces, minlength=256)
        letter = letters[np.argmin(counts[self._codes[starts[letters]]])]
        between = self._codes[starts[letter]]
        holding = np.zeros(len(examples), dtype=np.bool_)
        holding[owner[pieces == between]] = True
        row = np.full(2 * int((~holding).sum()) + 1, self._ids[examples[letter]], dtype=np.uint32)
        row[1::2] = self._ids[examples[~holding]]
        expected = np.append(pieces[~holding[owner]], between)
        expected[expected == _NO_BYTE] = between
        alone = examples[holding].tolist()
        return self._says(row, expected.tobytes()) and all(self._decodes(k, k + 1) for k in alone)

    def _decodes(self, first: int, last: int) -> bool:
        start, stop = int(self._edges[first]), int(self._edges[last])
        return self._says(self._ids[first:last], self._codes[start:stop].tobytes())

    def _says(self, ids: IdArray, expected_bytes: bytes) -> bool:
        try:
            return self._tokenizer.decode(ids.tolist()) == expected_bytes.decode()
        except UNDECODABLE:
            return False
