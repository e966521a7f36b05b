"""A text as UTF-8 with array lookups, and calls of the tokenizer on parts of this text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tokpar.arrays import NO_INTS, IdArray, IntArray, utf8_bytes
from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.frozen_tables import SPACES
from tokpar.contract.interfaces import EncodesMany, Locates, TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.process.cached_property import cached_property
from tokpar.types import Rows

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
_ENCODED = [char.encode() for char in SPACES]
_WIDE_SPACES = {
    size: np.array([int.from_bytes(code, "big") for code in _ENCODED if len(code) == size])
    for size in (2, 3)
}


_TEXTS = 1 << 14
"""Texts per call of the tokenizer."""
_BLOCK = 1 << 17
"""Bytes per block: arrays of this size fit in the processor's cache."""


class Utf8Text:
    """One text as UTF-8. A text with a lone surrogate has no bytes."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def has_surrogates(self) -> bool:
        """True if the text has a lone surrogate, so that it has no UTF-8 form."""
        try:
            return self.codes.ndim != 1
        except UnicodeEncodeError:
            return True

    @cached_property
    def codes(self) -> Bytes:
        """The text's bytes, not copied."""
        return utf8_bytes(self.text)

    def byte_offsets(self, positions: IntArray) -> IntArray:
        """The byte offsets of code points, int64. Positions outside the text are not allowed."""
        if self.text.isascii() or not len(positions):
            return positions
        return positions + np.searchsorted(self._chars_before, positions, side="right")

    @cached_property
    def _chars_before(self) -> IntArray:
        """For each continuation byte, how many code points begin before it; ascending."""
        blocks, codes = range(0, len(self.codes), _BLOCK), self.codes.view(np.int8)
        found = (np.flatnonzero(codes[k : k + _BLOCK] < -0x40) + k for k in blocks)
        inner: IntArray = np.concatenate([NO_INTS, *found])
        inner -= np.arange(len(inner))
        return inner

    def position(self, byte: int) -> int:
        """The index of the code point that contains a byte."""
        return len(self.codes[:byte].tobytes().decode(errors="ignore"))

    @cached_property
    def spaces(self) -> IntArray:
        """The byte offset of each ASCII space after a character that is not white space."""
        found: IntArray = np.empty(len(self.codes) // 2, dtype=np.int64)  # no page of it exists yet
        count = 0
        for first in range(1, len(self.codes), _BLOCK):
            block = self._spaces(first, first + _BLOCK)
            found[count : count + len(block)] = block
            count += len(block)
        return found[:count]

    def _spaces(self, start: int, stop: int) -> IntArray:
        codes = self.codes[start:stop]
        before = self.codes[start - 1 : start - 1 + len(codes)]
        found = codes == ord(" ")
        found &= before != ord(" ")
        found &= before - np.uint8(9) > 4  # 9 to 13 are white space
        places = np.flatnonzero(found)
        wide = before[places] >= 0x80
        places += start
        if wide.any():
            wide[wide] = self._behind_wide(places[wide])
            places = places[~wide]
        return places

    def spaces_inside(self, regions: IntArray) -> IntArray:
        """The `spaces` strictly inside one of the regions.

        `regions`: (n, 2), byte offsets, ascending, without overlap."""
        if not len(regions):
            return NO_INTS
        first = np.searchsorted(self.spaces, regions[:, 0], side="right")
        last = np.maximum(first, np.searchsorted(self.spaces, regions[:, 1]))
        if np.array_equal(first[1:], last[:-1]):
            return self.spaces[first[0] : last[-1]]
        return np.concatenate([self.spaces[a:b] for a, b in zip(first, last, strict=True)])

    def _behind_wide(self, places: IntArray) -> Mask:
        """True for each byte offset after white space of two or three bytes."""
        low, middle, high = (
            self.codes[np.maximum(places - n, 0)].astype(np.int64) for n in (1, 2, 3)
        )
        two, three = (middle << 8) | low, (high << 16) | (middle << 8) | low
        found: Mask = np.isin(two, _WIDE_SPACES[2]) | np.isin(three, _WIDE_SPACES[3])
        return found


class TokenizerProbe:
    """Calls one tokenizer on parts of one text.

    `ids`: the text's own ids in an encoding, None if post-processing hides them."""

    def __init__(self, tokenizer: TokenizerAdapter, text: str, ids: IdArray | None) -> None:
        self.tokenizer = tokenizer
        self.text = text
        self.ids = ids

    @cached_property
    def utf8(self) -> Utf8Text:
        """The text as UTF-8."""
        return Utf8Text(self.text)

    def encode(self, text: str) -> IdArray:
        """The ids of a text, often a part of this text. Refused if the engine fails on it."""
        try:
            return np.asarray(self.tokenizer.encode(text), dtype=np.uint32)
        except EngineError as error:
            raise RefusedError("tokenizer", f"it fails on a part of the text: {error}") from error

    def encode_many(self, texts: Sequence[str]) -> Rows:
        """The ids of some texts, often parts of this text. Refused if the engine fails on one."""
        tokenizer, found = self.tokenizer, []
        for k in range(0, len(texts), _TEXTS):
            part = texts[k : k + _TEXTS]
            if not isinstance(tokenizer, EncodesMany) or len(part) == 1:
                found.append(Rows.of(map(self.encode, part)))
                continue
            try:
                found.append(tokenizer.encode_many(part, False))
            except EngineError as error:
                raise RefusedError("tokenizer", f"it fails on a segment: {error}") from error
        return Rows.concatenate(found) if found else Rows.of([])

    def edges(self) -> IntArray:
        """The byte offset of each id, then the end. Refused unless the ids tile the text."""
        ids, tokenizer = self.ids, self.tokenizer
        assert ids is not None
        if not isinstance(tokenizer, Locates):
            raise RefusedError("tokenizer", f"{tokenizer.name} cannot tell where tokens lie")
        try:
            spans = tokenizer.locate(ids, self.text)
        except (LookupError, ValueError, OverflowError, TypeError, EngineError) as error:
            raise RefusedError("ids", f"expected ids that can be located, got {error}") from error
        size = len(self.utf8.codes)
        shared = len(spans) > 0 and spans.strides == (8, 8)  # each end is the next start, in memory
        row = (len(spans) + 1,), (8,)
        spans = spans if len(spans) else np.zeros((0, 2), dtype=np.int64)
        edges = as_strided(spans, *row, writeable=False) if shared else np.append(spans[:, 0], size)
        tiling = shared or np.array_equal(spans[:, 1], edges[1:])
        tiling = tiling and edges[0] == 0 and edges[-1] == size
        require(tiling, "ids", f"expected ids that tile the {size} bytes of the text")
        return edges
