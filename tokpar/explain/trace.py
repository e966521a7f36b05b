"""One encode, the chunks and pieces that its merger was given at last, and the serial ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar import pipeline
from tokpar.encoder import Encoder
from tokpar.executors.serial import SerialExecutor
from tokpar.explain.differences import Difference, differences
from tokpar.explain.kept import Kept, kept_ids
from tokpar.interfaces import (
    ChecksText,
    Locates,
    MatchesSpans,
    Merger,
    Plan,
    Repairs,
    TokenizerAdapter,
    facts_of,
)
from tokpar.joining import fused
from tokpar.kernels import IdArray, IntArray, SpanArray, byte_starts
from tokpar.loading import DEFAULT_TOKENIZER
from tokpar.methods.sizes import sizes_for
from tokpar.registry import build_strategy, registry
from tokpar.types import Chunk, Encoding, Joined, Piece, Seam, Unjoined

Mask = NDArray[np.bool_]

_TOO_SHORT = "the text is too short for splitting to pay; give a chunk size to see seams"


@dataclass(frozen=True, eq=False)
class Trace:
    """An encode of `text` and the serial ids, both before special tokens, truncation and padding.

    `pieces[k]` is what `chunks[k]` alone gave; `kept[k]` = (first, last) of its ids that the result
    has, None where that cannot be told. `strategy` with its `options`, as they were asked for.
    """

    text: str
    tokenizer: TokenizerAdapter
    strategy: str
    options: Mapping[str, Any]
    encoding: Encoding
    serial: IdArray
    chunks: tuple[Chunk, ...]
    pieces: tuple[Piece, ...]
    kept: tuple[Kept, ...] | None

    @property
    def seams(self) -> Sequence[Seam]:
        return self.encoding.seams

    @cached_property
    def equal(self) -> bool:
        """The joined ids are the serial ones."""
        return bool(np.array_equal(self.encoding.ids, self.serial))

    @property
    def ok(self) -> bool:
        """Every seam is licensed, and the ids are the serial ones."""
        return self.equal and self.encoding.lossless

    @cached_property
    def starts(self) -> IntArray:
        """UTF-8 byte offset of each code point, and of the end."""
        return byte_starts(self.text)

    @cached_property
    def lines(self) -> IntArray:
        """Where lines begin, code points; a line ends with "\\n"."""
        found, places = -1, [0]
        while (found := self.text.find("\n", found + 1)) >= 0:
            places.append(found + 1)
        return np.array(places, dtype=np.int64)

    @cached_property
    def tiles(self) -> bool:
        """Tokens are the bytes of the text, in order."""
        return facts_of(self.tokenizer).tiles

    def piece_spans(self, k: int) -> SpanArray | None:
        """Where the tokens of a piece lie, UTF-8 bytes of the text; None if that cannot be told."""
        spans = self.pieces[k].spans
        return None if spans is None else spans + self.starts[self.chunks[k].start]

    @cached_property
    def serial_spans(self) -> SpanArray | None:
        """The same of the serial ids."""
        return _located(Piece(self.serial), self.text, self.tokenizer).spans

    @cached_property
    def serial_edges(self) -> tuple[IntArray, IntArray] | None:
        """Starts and stops of the serial tokens, each in one piece of memory to be searched."""
        spans = self.serial_spans
        if spans is None:
            return None
        return np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1])

    @cached_property
    def joined_spans(self) -> SpanArray | None:
        """The same of the joined ids: where each token was when its chunk was tokenized, even if
        the ids together are no encoding of the text."""
        if self.kept is None:
            return None
        parts = [self.piece_spans(k) for k in range(len(self.pieces))]
        known = [
            spans[first:last]
            for spans, (first, last) in zip(parts, self.kept, strict=True)
            if spans is not None
        ]
        return np.concatenate(known) if len(known) == len(parts) else None

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Where joined and serial ids differ, in order; each with the seams it is laid to."""
        if self.equal:
            return ()
        return differences(
            (self.encoding.ids, self.joined_spans),
            (self.serial, self.serial_spans),
            [(seam.token, int(self.starts[seam.position])) for seam in self.seams],
            exact=self.tiles,
        )

    @cached_property
    def differing(self) -> Mapping[int, Sequence[Difference]]:
        """The seams that a difference is laid to, and which."""
        found: dict[int, list[Difference]] = {}
        for each in self.differences:
            for n in each.seams:
                found.setdefault(n, []).append(each)
        return found

    @cached_property
    def unequal(self) -> tuple[Mask, Mask]:
        """Which joined and which serial ids are in a difference."""
        joined, serial = np.zeros(len(self.encoding.ids), bool), np.zeros(len(self.serial), bool)
        for each in self.differences:
            joined[each.first : each.last] = True
            serial[each.other_first : each.other_last] = True
        return joined, serial

    def ordered(self) -> list[int]:
        """The seams that differ, then the others that no rule licenses, then the rest."""
        return sorted(range(len(self.seams)), key=lambda n: (self.rank(n), n))

    def rank(self, n: int) -> int:
        """0: ids differ there; 1: no rule licenses it; 2: certified."""
        if n in self.differing:
            return 0
        return 1 if self.seams[n].rule is None else 2

    def place(self, position: int) -> tuple[int, int]:
        """Line and column of a code point, counted from 1."""
        line = int(np.searchsorted(self.lines, position, side="right"))
        return line, position - int(self.lines[line - 1]) + 1

    def touched(self, start: int, stop: int) -> tuple[int, int]:
        """The code points that the bytes [start, stop) of the text belong to."""
        first = int(self.starts.searchsorted(start, side="right")) - 1
        return first, max(first, int(self.starts.searchsorted(stop)))

    def sides(self, n: int) -> tuple[int, int]:
        """The numbers of the chunks that meet at a seam. A merger may leave seams out; then they
        are those around its place."""
        if len(self.seams) == len(self.chunks) - 1:
            return n, n + 1
        cores = [chunk.core_start for chunk in self.chunks]
        behind = int(np.searchsorted(cores, self.seams[n].position, side="right")) - 1
        right = min(max(1, behind), len(self.chunks) - 1)
        return right - 1, right


def trace(
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: str = "auto",
    allow_approximate: bool = False,
    **options: Any,
) -> Trace:
    """Encode `text` as `tokpar.encode` would, one chunk after the other, and serially.

    Raises what `tokpar.encode` raises.
    """
    with Encoder(
        tokenizer, strategy=strategy, allow_approximate=allow_approximate, **options
    ) as encoder:  # which checks names, options and consent
        adapter = encoder.tokenizer
    if isinstance(adapter, ChecksText):
        adapter.check_text(text)
    record = registry().strategy(strategy)
    splitter, merger = build_strategy(record, options)
    watched = _Watched(merger)
    serial = pipeline.encode_serial(
        text, adapter, strategy=record.name, plan=Plan("serial", _TOO_SHORT), finish=False
    )
    tuned = record.lossless and not options
    if tuned and len(text) < sizes_for(adapter).smallest_split:
        encoding = serial
    else:
        encoding = pipeline.encode(
            text,
            adapter,
            splitter,
            SerialExecutor(),
            watched,
            strategy=record.name,
            finish=False,
        )
    chunks, pieces = watched.chunks, watched.pieces
    if not encoding.seams:
        chunks, pieces = (Chunk(0, len(text), 0, len(text)),), (Piece(encoding.ids),)
    pieces = tuple(
        _located(piece, text[chunk.start : chunk.stop], adapter)
        for chunk, piece in zip(chunks, pieces, strict=True)
    )
    kept = kept_ids(text, adapter, merger, encoding, chunks, pieces)
    return Trace(text, adapter, record.name, options, encoding, serial.ids, chunks, pieces, kept)


@dataclass
class _Watched:
    """A merger, and what it was given when it was asked last."""

    merger: Merger
    chunks: tuple[Chunk, ...] = ()
    pieces: tuple[Piece, ...] = ()

    @property
    def matches_spans(self) -> bool:
        return isinstance(self.merger, MatchesSpans) and self.merger.matches_spans

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> Joined | Unjoined:
        self.chunks, self.pieces = tuple(chunks), tuple(pieces)
        return self.merger.merge(text, chunks, pieces, tokenizer)

    def repaired(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed: Sequence[int],
        tokenizer: TokenizerAdapter,
    ) -> list[Chunk]:
        if isinstance(self.merger, Repairs):
            return self.merger.repaired(text, chunks, failed, tokenizer)
        return fused(chunks, failed)


def _located(piece: Piece, part: str, tokenizer: TokenizerAdapter) -> Piece:
    """The piece with spans where the tokenizer can tell them."""
    if piece.spans is not None or not isinstance(tokenizer, Locates):
        return piece
    try:
        return replace(piece, spans=tokenizer.locate(piece.ids, part))
    except LookupError:
        return piece
