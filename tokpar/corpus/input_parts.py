"""Divides the inputs into parts. Each part is read in order and becomes one shard or several.

The plan follows from the names, the sizes and the size of a shard: no document is read for it. So
every worker, and every later run, finds the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokpar.corpus.inputs import Input

EXPANSION = 4
"""Compressed files and columns are taken for so many times their size in text."""


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes [start, stop) of an input, as stored. Lines that begin there belong to it."""

    input: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Part:
    """Whole small inputs, or one large one, or a range of one."""

    number: int
    spans: tuple[Span, ...]


def plan_parts(inputs: Sequence[Input], shard_bytes: int) -> list[Part]:
    """Large files of JSON lines, or of documents a line, are divided into ranges of at most
    `shard_bytes`, if they are not compressed; neighbouring small files are taken together."""
    found: list[tuple[Span, ...]] = []
    small: list[Span] = []
    weight = 0
    for number, each in enumerate(inputs):
        whole = Span(number, 0, each.bytes)
        plain = each.kind in ("rows", "lines") and not each.is_compressed
        dense = each.is_compressed or each.kind in ("parquet", "arrow")
        own = each.bytes * (EXPANSION if dense else 1)
        if small and weight + own > shard_bytes:
            found.append(tuple(small))
            small, weight = [], 0
        if own <= shard_bytes:
            small.append(whole)
            weight += own
        elif plain:
            found += [(span,) for span in ranges(whole, shard_bytes)]
        else:
            found.append((whole,))
    if small:
        found.append(tuple(small))
    return [Part(number, spans) for number, spans in enumerate(found)]


def ranges(whole: Span, most: int) -> list[Span]:
    """Ranges of about equal size, none longer than `most`."""
    size = whole.stop - whole.start
    count = -(-size // most)
    edges = [whole.start + size * k // count for k in range(count + 1)]
    return [Span(whole.input, a, b) for a, b in pairwise(edges)]
