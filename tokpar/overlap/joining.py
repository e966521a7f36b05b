"""What two neighbouring chunks that overlap both tokenized."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokpar.interfaces import Locates, TokenizerAdapter
from tokpar.kernels import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    clean_split,
    equal_tokens,
)
from tokpar.types import Chunk, Join, Piece, Seam


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """What two neighbouring chunks both tokenized, [start, stop) in code points of the text.

    `left_spans` and `right_spans`: the tokens of each side that touch it, int64, (n, 2), UTF-8
    bytes from `start`. `left_first`: number, in its piece, of the first token of `left_spans`; on
    the right that is 0. `edges`: byte offset, from `start`, of each code point of the overlap and
    of its end. `placed`: both sides tell places that tokens of their chunk can have; if
    not, nothing is joined by them.
    """

    text: str
    left: Chunk
    right: Chunk
    start: int
    stop: int
    left_ids: IdArray
    right_ids: IdArray
    left_spans: SpanArray
    right_spans: SpanArray
    left_first: int
    edges: IntArray
    placed: bool

    def matched(self) -> tuple[IntArray, IntArray]:
        """Numbers of the tokens, in `left_spans` and `right_spans`, that both sides found: the same
        id at the same place; ascending."""
        if not self.placed:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return equal_tokens(self.left_spans, self.left_ids, self.right_spans, self.right_ids)

    def shared_edges(self) -> IntArray:
        """Code points of the text at which both sides have a token edge; ascending."""
        shared = np.isin(self.edges, np.intersect1d(self.left_spans, self.right_spans))
        places: IntArray = np.flatnonzero(shared) + self.start
        return places

    def position(self, offset: int) -> int:
        """The code point of the text at a byte offset from `start`; -1 if that is inside one."""
        place = int(np.searchsorted(self.edges, offset))
        found = place < len(self.edges) and self.edges[place] == offset
        return self.start + place if found else -1

    def join(self, seam: Seam) -> Join | None:
        """The join at a seam in [start, stop]; None if on some side a token lies across it, or
        may."""
        if not self.placed:
            return None
        offset = int(self.edges[seam.position - self.start])
        left = clean_split(self.left_spans, offset)
        right = clean_split(self.right_spans, offset)
        if left is None or right is None:
            return None
        return Join(seam, self.left_first + left, right)


def overlap_of(
    text: str, chunks: tuple[Chunk, Chunk], pieces: tuple[Piece, Piece], tokenizer: TokenizerAdapter
) -> Overlap:
    """The overlap of two neighbouring chunks. Raises LookupError where pieces have no spans and the
    tokenizer cannot tell any."""
    left, right = chunks
    start, stop = right.start, left.stop
    edges = byte_starts(text[start:stop]) if start < stop else np.zeros(1, dtype=np.int64)
    left_spans = _spans(text, left, pieces[0], tokenizer)
    right_spans = _spans(text, right, pieces[1], tokenizer)
    placed = _in_order(left_spans, text, left) and _in_order(right_spans, text, right)
    spans = left_spans - byte_length(text[left.start : start])
    first = int(np.searchsorted(spans[:, 1], 0, side="right"))
    last = int(np.searchsorted(right_spans[:, 0], edges[-1]))
    return Overlap(
        text,
        left,
        right,
        start,
        stop,
        left_ids=pieces[0].ids[first:],
        right_ids=pieces[1].ids[:last],
        left_spans=spans[first:],
        right_spans=right_spans[:last],
        left_first=first,
        edges=edges,
        placed=placed,
    )


def _spans(text: str, chunk: Chunk, piece: Piece, tokenizer: TokenizerAdapter) -> SpanArray:
    if piece.spans is not None:
        return piece.spans
    if not isinstance(tokenizer, Locates):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    return tokenizer.locate(piece.ids, text[chunk.start : chunk.stop])


def _in_order(spans: SpanArray, text: str, chunk: Chunk) -> bool:
    """Tokens lie in their chunk, one behind the other as far as that can be: those of one character
    share its span, but none begins, or ends, before one that comes earlier."""
    if not len(spans):
        return True
    ordered = (spans[:, 0] <= spans[:, 1]).all() and (np.diff(spans, axis=0) >= 0).all()
    last = byte_length(text[chunk.start : chunk.stop])
    return bool(ordered) and int(spans[0, 0]) >= 0 and int(spans[-1, 1]) <= last
