"""Checks what splitters, mergers and executors of plugins return before their values are used.

A part that breaks its interface raises PluginError, which names the class of the part and says what
to do. No check is an `assert`: `python -O` leaves those out."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

from tokpar.contract.interfaces import (
    Merger,
    Splitter,
    TokenizerAdapter,
)
from tokpar.errors import PluginError
from tokpar.process.interrupts import raise_foreign
from tokpar.types import Chunk, Chunks, Join, Joins, Pieces, Split

METHODS: dict[str, dict[str, str]] = {
    "splitter": {"split": "text, tokenizer, attempt"},
    "merger": {
        "merge": "text, chunks, pieces, tokenizer",
        "mend": "text, chunks, failed_seams, tokenizer",
    },
    "executor": {"map": "texts, tokenizer, spans"},
}
"""The methods of each interface, and their parameters."""
OPTIONAL = frozenset({"mend"})
"""The methods that a part may lack."""

MOST_ATTEMPTS = 64
"""The last attempt of a splitter, which must have returned one chunk by then."""


@dataclass(frozen=True, slots=True)
class ChunkFault:
    """What is wrong with the chunks of a text: the chunk in words, what it must be, and is."""

    place: str
    expected: str
    got: str


def require_methods(part: object, kind: str) -> None:
    """Raise PluginError if a method of `part` cannot be called as the interface calls it, or if
    `part` is a class.

    `kind`: "splitter", "merger" or "executor"."""
    if isinstance(part, type):
        name = part.__qualname__
        raise PluginError(f"{kind} {part.__module__}.{name} is a class; pass an object, {name}()")
    for name, parameters in METHODS[kind].items():
        method = getattr(part, name, None)
        if method is None and name in OPTIONAL:
            continue
        call = f"{name}({parameters})"
        if not callable(method):
            raise PluginError(f"{_label(kind, part)} has no method {call}; write one")
        try:
            signature = inspect.signature(method)
        except (TypeError, ValueError) as error:  # a compiled method may have none
            raise_foreign(error)
            continue
        try:
            signature.bind(*parameters.split(", "))
        except TypeError as error:
            raise PluginError(
                f"{_label(kind, part)}: its {name}{signature} cannot be called as {call}: {error}; "
                "give it these parameters"
            ) from None


def split_text(splitter: Splitter, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
    """Returns the split of `text` by `splitter`. Raises PluginError for a split that cannot be
    used, and if no attempt up to `MOST_ATTEMPTS` returned one chunk."""
    if attempt > MOST_ATTEMPTS:
        raise PluginError(
            f"{_label('splitter', splitter)}: none of {MOST_ATTEMPTS} attempts returned one chunk; "
            "return Split.whole(text, why) for attempt 1 or a later one"
        )
    split = splitter.split(text, tokenizer, attempt)
    if not isinstance(split, Split):
        advice = "write Split(chunks)" if isinstance(split, (list, tuple)) else "return one"
        raise PluginError(
            f"{_label('splitter', splitter)}: split must return a Split, got "
            f"{type(split).__name__}; {advice}"
        )
    _require_chunks(split.chunks, len(text), f"{_label('splitter', splitter)}: split")
    return split


def merge_pieces(
    merger: Merger, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
) -> Joins:
    """Returns the joins of `merger`. Raises PluginError unless it is one Join, or None, for each
    pair of neighbours."""
    joins = merger.merge(text, chunks, pieces, tokenizer)
    pairs, got = len(chunks) - 1, ""
    if not isinstance(joins, list):
        got = type(joins).__name__
    elif len(joins) != pairs:
        got = f"{len(joins)}"
    else:
        got = next((repr(j) for j in joins if not (j is None or isinstance(j, Join))), "")
    if got:
        raise PluginError(
            f"{_label('merger', merger)}: merge must return a list of {pairs} elements, a Join or "
            f"None for each pair of neighbouring chunks, got {got}"
        )
    return joins


def mend_chunks(
    merger: Merger,
    text: str,
    chunks: Sequence[Chunk],
    failed_seams: Sequence[int],
    tokenizer: TokenizerAdapter,
) -> list[Chunk] | None:
    """Returns the chunks of the merger's `mend`, or None. A merger without it fuses the chunks at
    each failed seam. Raises PluginError for chunks that cannot be used."""
    mend = getattr(merger, "mend", None)
    if mend is None:
        return fuse_chunks(chunks, failed_seams)
    repaired: list[Chunk] | None = mend(text, chunks, failed_seams, tokenizer)
    if repaired is not None:
        _require_chunks(repaired, len(text), f"{_label('merger', merger)}: mend")
    return repaired


def unite_chunks(left: Chunk, right: Chunk) -> Chunk:
    """Returns the one chunk that covers two neighbouring chunks."""
    return Chunk(
        left.start, right.stop, left.core_start, right.core_stop, left.absorbed, cut=left.cut
    )


def fuse_chunks(chunks: Sequence[Chunk], failed_seams: Sequence[int]) -> list[Chunk]:
    """Returns the chunks, the two chunks at each failed seam united. Seam i is before chunk i."""
    broken = set(failed_seams)
    whole: list[Chunk] = []
    for i, chunk in enumerate(chunks):
        if i in broken:
            whole[-1] = unite_chunks(whole[-1], chunk)
        else:
            whole.append(chunk)
    return whole


def fault_of_chunks(chunks: object, length: int) -> ChunkFault | None:
    """Returns what is wrong with the chunks of a text of `length` code points, or None.

    The cores must tile the text, and each chunk must hold its core."""
    if not isinstance(chunks, (list, tuple)) or not chunks:
        return ChunkFault("no chunks", "a list of at least one Chunk", repr(chunks)[:200])
    edge = 0
    for k, chunk in enumerate(chunks):
        if not isinstance(chunk, Chunk):
            return ChunkFault(f"element {k:,}", "a Chunk", repr(chunk)[:200])
        expected = "" if chunk.core_start == edge else f"core_start={edge}"
        edge = chunk.core_stop
        if not expected:
            expected = _expected_of_chunk(chunk, length)
        if expected:
            return ChunkFault(f"chunk {k:,}", expected, repr(chunk))
    if edge != length:
        where = f"core_stop={length}, the text's end"
        return ChunkFault(f"chunk {len(chunks) - 1:,}", where, repr(chunks[-1]))
    return None


def _expected_of_chunk(chunk: Chunk, length: int) -> str:
    """Returns what a chunk of a text must be and is not, or ""."""
    if chunk.core_stop < chunk.core_start or (length and chunk.core_stop == chunk.core_start):
        return "a core of at least 1 code point"
    if not (
        0 <= chunk.start <= chunk.core_start + chunk.absorbed
        and chunk.core_stop <= chunk.stop <= length
    ):
        return "0 <= start <= core_start < core_stop <= stop <= len(text)"
    if chunk.absorbed and chunk.start != chunk.core_start + chunk.absorbed:
        return "start == core_start + absorbed"
    return ""


def _require_chunks(chunks: object, length: int, label: str) -> None:
    fault = fault_of_chunks(chunks, length)
    if fault is not None:
        raise PluginError(
            f"{label} must return chunks whose cores tile the text of {length:,} code points; "
            f"{fault.place}: expected {fault.expected}, got {fault.got}"
        )


def _label(kind: str, part: object) -> str:
    own = type(getattr(part, kind, part))  # LicensedMerger: of the part inside
    return f"{kind} {own.__module__}.{own.__qualname__}"
