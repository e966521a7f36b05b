"""Divides the inputs into parts. A build reads each part in order and writes it as one or more
shards.

The plan depends only on the names and sizes of the inputs and on the size of a shard. It reads no
document. So every worker, and every later run, finds the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokpar_corpus.inputs import Input

EXPANSION = 4
"""The assumed ratio of text to stored bytes, for compressed files and for columns."""


@dataclass(frozen=True, slots=True)
class Span:
    """The stored bytes [start, stop) of an input. A line belongs to the span in which it begins."""

    input: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class InputPart:
    """Several small inputs, one large input, or a range of a large input."""

    number: int
    spans: tuple[Span, ...]


def plan_parts(inputs: Sequence[Input], shard_bytes: int) -> list[InputPart]:
    """Returns the parts of the inputs.

    Large uncompressed files with a document on each line are divided into ranges of at most
    `shard_bytes`. Other large files are parts of their own. Neighbouring small files share a
    part."""
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
    return [InputPart(number, spans) for number, spans in enumerate(found)]


def ranges(whole: Span, most: int) -> list[Span]:
    """Returns ranges of about equal size, none longer than `most` bytes."""
    size = whole.stop - whole.start
    count = -(-size // most)
    edges = [whole.start + size * k // count for k in range(count + 1)]
    return [Span(whole.input, a, b) for a, b in pairwise(edges)]
