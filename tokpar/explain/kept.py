"""Which ids of each piece the result has: a merger tells only where it joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tokpar.interfaces import Merger, TokenizerAdapter
from tokpar.kernels import byte_length
from tokpar.types import Chunk, Encoding, Joined, Piece, Seam

Kept = tuple[int, int]


def kept_ids(
    text: str,
    tokenizer: TokenizerAdapter,
    merger: Merger,
    encoding: Encoding,
    chunks: Sequence[Chunk],
    pieces: Sequence[Piece],
) -> tuple[Kept, ...] | None:
    """(first, last) of the ids of each piece that make up those of `encoding`, in order.

    Seam.token tells how many a piece gives, and the seam which is the first. None if what follows
    is not the ids of `encoding`, as for a merger that makes ids of its own.
    """
    seams = encoding.seams
    if len(seams) != len(chunks) - 1:
        return None
    tokens = [0, *(seam.token for seam in seams), len(encoding.ids)]
    kept = []
    for k, piece in enumerate(pieces):
        first = 0
        if k:
            pair, sides = (chunks[k - 1], chunks[k]), (pieces[k - 1], piece)
            found = _dropped(text, tokenizer, merger, seams[k - 1], pair, sides)
            if found is None:
                return None
            first = found
        last = first + tokens[k + 1] - tokens[k]
        if not np.array_equal(piece.ids[first:last], encoding.ids[tokens[k] : tokens[k + 1]]):
            return None
        kept.append((first, last))
    return tuple(kept)


def _dropped(
    text: str,
    tokenizer: TokenizerAdapter,
    merger: Merger,
    seam: Seam,
    pair: tuple[Chunk, Chunk],
    sides: tuple[Piece, Piece],
) -> int | None:
    """How many ids of the right piece lie before the seam. At a certified one they end there; of
    another only the merger knows."""
    left, right = pair
    if left.stop <= right.start:
        return 0
    spans = sides[1].spans
    if seam.rule is None or spans is None:
        return _dropped_again(text, tokenizer, merger, pair, sides)
    offset = byte_length(text[right.start : seam.position])
    return int(np.count_nonzero(spans[:, 1] <= offset))


def _dropped_again(
    text: str,
    tokenizer: TokenizerAdapter,
    merger: Merger,
    pair: tuple[Chunk, Chunk],
    sides: tuple[Piece, Piece],
) -> int | None:
    """The merger's answer for these two chunks alone, as if they were the text."""
    left, right = pair
    base = min(left.start, left.core_start)
    chunks = [
        replace(
            chunk,
            start=chunk.start - base,
            stop=chunk.stop - base,
            core_start=core_start - base,
            core_stop=core_stop - base,
            cut=None,
        )
        for chunk, core_start, core_stop in (
            (left, base, left.core_stop),
            (right, right.core_start, right.stop),
        )
    ]
    outcome = merger.merge(text[base : right.stop], chunks, sides, tokenizer)
    if not isinstance(outcome, Joined) or len(outcome.seams) != 1:
        return None
    return len(sides[1].ids) - (len(outcome.ids) - outcome.seams[0].token)
