"""A slice of a text that fits a number of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.arrays import IdArray


@dataclass(frozen=True, slots=True, eq=False)
class TextChunk:
    """The slice text[start:stop] (code points) and the ids that the slice has alone.

    `ids`: uint32, shape (n,), read-only; with the special tokens of the tokenizer's own call,
    without truncation and padding. `certified`: both ends are certified cuts or ends of the text,
    so the ids between the special tokens are a slice of the ids of the whole text (theorem 27).
    Other chunks may have other ids at their ends than the whole text has there."""

    start: int
    stop: int
    ids: IdArray
    certified: bool
