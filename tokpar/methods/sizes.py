"""How large chunks are and from which text size splitting pays, per way of running a tokenizer.

The figures were measured on 2 cores with English text (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from tokpar.interfaces import EncodesMany, ReleasesGil, TokenizerAdapter


@dataclass(frozen=True)
class Sizes:
    """All in code points. Texts below `smallest_split` are encoded in one call; chunks are between
    `smallest_chunk` and `largest_chunk`, aiming at `parts` chunks."""

    smallest_split: int
    smallest_chunk: int
    largest_chunk: int
    parts: int


NATIVE = Sizes(smallest_split=4096, smallest_chunk=2048, largest_chunk=8192, parts=16)
THREADS = Sizes(smallest_split=262144, smallest_chunk=32768, largest_chunk=65536, parts=16)
OTHER = Sizes(smallest_split=262144, smallest_chunk=65536, largest_chunk=1048576, parts=8)


def sizes_for(tokenizer: TokenizerAdapter) -> Sizes:
    """The row of the table that fits the tokenizer's abilities."""
    if isinstance(tokenizer, EncodesMany):
        return NATIVE
    return THREADS if isinstance(tokenizer, ReleasesGil) else OTHER


def chunk_chars_for(tokenizer: TokenizerAdapter, length: int) -> int:
    """Least chunk size, code points, for a text of `length` code points."""
    sizes = sizes_for(tokenizer)
    if length < sizes.smallest_split:
        return length
    return min(sizes.largest_chunk, max(sizes.smallest_chunk, length // sizes.parts))
