"""Chunks divided at every certified space, and each distinct segment encoded once.

Natural text repeats its words: of 8 MB of English 17 % remain. A chunk in which that does not pay,
or in which an added token occurs, goes through the engine's own batch call as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from types import TracebackType

import numpy as np

from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.executors.native import NativeExecutor
from tokpar.executors.serial import PASSING
from tokpar.executors.workers import worker_count
from tokpar.interfaces import (
    RemembersSegments,
    SegmentMemory,
    TokenizerAdapter,
    facts_of,
)
from tokpar.kernels import IntArray
from tokpar.types import Chunk, Cuts, Piece, Seam, stands_apart

WAVE_CHARS = 65536  # so that its words stay in the processor's cache; one wave after the other,
# because all but the engine's batch call holds the GIL
MOST_NEW = 0.7
_Wave = list[tuple[int, Chunk]]
_SEGMENT = re.compile(r"\s*\S[^ ]*(?:(?<=\s) *[^ ]*)*")


class MemoExecutor:
    """For adapters that remember segments; what cannot be divided is left to `native`.

    `most_new`: share of a wave's code points in new segments above which it is not divided.
    """

    name = "memo"

    def __init__(self, workers: int | None = None, most_new: float = MOST_NEW) -> None:
        self._workers = worker_count(workers)
        self._most_new = most_new
        self._native = NativeExecutor(workers)

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        """One piece per chunk, with its inner cuts. Raises EngineError; OptionError without a batch
        call."""
        memory = tokenizer.segments if isinstance(tokenizer, RemembersSegments) else None
        finder = finder_for(facts_of(tokenizer))
        if memory is None or finder.at_spaces is None or spans:
            return self._native.map(text, chunks, tokenizer, spans)
        work = _Work(text, finder, finder.at_spaces, memory, self._workers, self._most_new)
        apart = list(_apart(chunks, len(text)))
        divided = [piece for wave in apart for piece in work.pieces(wave)]
        found = dict(zip((i for wave in apart for i, _ in wave), divided, strict=True))
        whole = [chunk for i, chunk in enumerate(chunks) if found.get(i) is None]
        rest = iter(self._native.map(text, whole, tokenizer, False) if whole else ())
        return [found.get(i) or next(rest) for i in range(len(chunks))]

    def close(self) -> None:
        """End the threads."""
        self._native.close()

    def __enter__(self) -> MemoExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Work:
    """One text, and what its chunks are divided and encoded with."""

    text: str
    finder: CutFinder
    seam: Seam
    memory: SegmentMemory
    workers: int
    most_new: float

    def pieces(self, wave: _Wave) -> list[Piece | None]:
        """One piece per chunk of a wave; None for a chunk that is not to be divided."""
        chunks = [chunk for _, chunk in wave]
        safe = self._safe(chunks[0].start, chunks[-1].stop)
        divided = [
            segments_of(self.text[chunk.start : chunk.stop])
            if safe or self._safe(chunk.start, chunk.stop)
            else []
            for chunk in chunks
        ]
        ids = self._ids(list(chain.from_iterable(divided)))
        if ids is None:
            return [None] * len(chunks)
        found, first = [], 0
        for segments in divided:
            last = first + len(segments)
            found.append(_piece(segments, ids[first:last], self.seam) if segments else None)
            first = last
        return found

    def _safe(self, start: int, stop: int) -> bool:
        return self.finder.spaces_safe(self.text, start, stop)

    def _ids(self, segments: Sequence[str]) -> Sequence[bytes] | None:
        """The ids of each; None if too many are new, or the engine fails on one of them."""
        known = self.memory.recalled(segments)
        gaps = list(_gaps(known))
        if not gaps:
            return known  # type: ignore[return-value]
        new = {segments[k] for k in gaps}
        if sum(map(len, new)) > self.most_new * sum(map(len, segments)):
            return None
        try:
            fresh = self.memory.learned(list(new), self.workers)
        except PASSING:
            raise
        except BaseException:  # encoding the chunks as they are tells which one it is
            return None
        for k in gaps:
            known[k] = fresh[segments[k]]
        return known  # type: ignore[return-value]


def _gaps(known: list[bytes | None]) -> Iterator[int]:
    """Where nothing is known; `index` passes over the rest ten times as fast as a loop would."""
    k = -1
    with suppress(ValueError):
        while True:
            k = known.index(None, k + 1)
            yield k


def segments_of(text: str) -> list[str]:
    """`text` cut before each space that follows a character other than white space."""
    body = text.rstrip()
    segments: list[str] = _SEGMENT.findall(body)
    rest = text[len(body) :]
    if rest.startswith(" ") or not segments:
        segments.append(rest)
    else:
        segments[-1] += rest
    return segments


def _piece(segments: Sequence[str], ids: Sequence[bytes], seam: Seam) -> Piece:
    """The ids one after the other, and where they were divided."""
    whole = np.frombuffer(b"".join(ids), dtype=np.uint32)
    if len(segments) == 1:
        return Piece(whole)
    return Piece(whole, None, Cuts(seam, _edges(segments), _edges(ids) // whole.itemsize))


def _edges(parts: Sequence[str] | Sequence[bytes]) -> IntArray:
    """Where each part but the first begins: ("ab", "c", "d") -> [2, 3]."""
    lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    edges: IntArray = np.cumsum(lengths[:-1])
    return edges


def _apart(chunks: Sequence[Chunk], length: int) -> Iterator[_Wave]:
    """The chunks, with their numbers, that stand apart, in waves."""
    wave: list[tuple[int, Chunk]] = []
    size = 0
    for i, chunk in enumerate(chunks):
        if stands_apart(chunks, i, length):
            wave.append((i, chunk))
            size += chunk.stop - chunk.start
        if wave and (size >= WAVE_CHARS or i + 1 == len(chunks)):
            yield wave
            wave, size = [], 0
