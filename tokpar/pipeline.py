"""From text to ids: split -> map -> merge -> repair -> finish.

Works on plain objects; nothing here knows about plugins, names or defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tokpar.executors.serial import PASSING, engine_error
from tokpar.interfaces import (
    ChecksText,
    EncodesWhole,
    Executor,
    Explains,
    Finishes,
    Locates,
    Merger,
    Plan,
    Splitter,
    TokenizerAdapter,
    facts_of,
)
from tokpar.kernels import IdArray, SpanArray, byte_length, frozen_ids
from tokpar.types import Chunk, Encoding, Joined, Piece, Report, Seam

# Rounds of local repair before the whole text is encoded serially: each at least halves the seams
# that are still open, so more rounds than this would only repeat work.
MOST_REPAIR_ROUNDS = 4
_CORE = 1 << 31


def encode(
    text: str,
    tokenizer: TokenizerAdapter,
    splitter: Splitter,
    executor: Executor,
    merger: Merger,
    *,
    strategy: str = "",
    finish: bool = True,
) -> Encoding:
    """Encode `text` in chunks and join them where a rule allows it.

    `finish=False` leaves out special tokens, truncation and padding. Raises
    EngineError when the tokenizer fails on a chunk, and whatever the tokenizer's own serial call
    raises when the text is encoded in one call.
    """
    clock = Clock()
    if isinstance(tokenizer, ChecksText):
        tokenizer.check_text(text)
    chunks = splitter.split(text, tokenizer, 0)
    assert _tiles(chunks, len(text)), "a splitter's cores must tile the text"
    plan = _plan(splitter, text, chunks, tokenizer)
    clock.lap("split")
    if len(chunks) == 1:
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=plan, clock=clock, finish=finish
        )
    pieces = executor.map(text, chunks, tokenizer, False)
    clock.lap("tokenize")
    work = _Work(text, tokenizer, executor, merger, list(chunks), pieces, clock)
    joined = work.join()
    if joined is None:
        again = replace(plan, plan="serial", why=work.why)
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=again, clock=clock, finish=finish
        )
    report = Report(
        strategy=strategy,
        plan=plan.plan,
        why=plan.why,
        executor=executor.name,
        chunks=len(work.chunks),
        repairs=work.repairs,
        redundant=work.tokenized - len(text),
        serial_regions=plan.serial_regions,
    )
    finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
    return _close(text, tokenizer, joined.ids, joined.seams, work.chunks, report, clock, finisher)


def encode_serial(
    text: str,
    tokenizer: TokenizerAdapter,
    *,
    strategy: str = "serial",
    plan: Plan,
    clock: Clock | None = None,
    finish: bool = True,
) -> Encoding:
    """Encode `text` in one call: the tokenizer's own serial call where the adapter offers it."""
    if not finish or not isinstance(tokenizer, EncodesWhole):
        clock = clock or Clock()
        report = Report(strategy=strategy, plan=plan.plan, why=plan.why)
        ids = _own_call(tokenizer, text)
        clock.lap("tokenize")
        finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
        return _close(text, tokenizer, ids, (), [_all_of(text)], report, clock, finisher)
    return encode_whole(text, tokenizer, tokenizer.encode_whole, strategy, plan)


def encode_whole(
    text: str,
    tokenizer: TokenizerAdapter,
    call: Callable[[str], IdArray],
    strategy: str,
    plan: Plan,
) -> Encoding:
    """Encode `text` by `call`, the engine's own, which finishes the ids too; the hot path of short
    texts, where each microsecond counts."""
    start = time.perf_counter()
    ids = call(text)
    seconds = {"tokenize": time.perf_counter() - start}
    report = Report(strategy, plan.plan, plan.why, seconds=seconds)
    return Encoding(frozen_ids(ids), (), report, partial(_locate_whole, text, tokenizer, ids))


def _own_call(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The serial call: its own errors pass as they are, a panic becomes an EngineError. A list of
    ids, which an author may find simpler to return, is taken too."""
    try:
        return np.asarray(tokenizer.encode(text), dtype=np.uint32)
    except (Exception, *PASSING):
        raise
    except BaseException as panic:
        raise engine_error(panic, 0, len(text)) from panic


@dataclass
class Clock:
    """Wall seconds per stage; everything between two laps belongs to the stage of the second."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now


@dataclass
class _Work:
    """Chunks and pieces while seams are being joined and repaired."""

    text: str
    tokenizer: TokenizerAdapter
    executor: Executor
    merger: Merger
    chunks: list[Chunk]
    pieces: list[Piece]
    clock: Clock
    repairs: int = 0
    tokenized: int = 0
    why: str = ""

    def __post_init__(self) -> None:
        self.tokenized = sum(chunk.stop - chunk.start + chunk.absorbed for chunk in self.chunks)

    def join(self) -> Joined | None:
        """Merge, repairing locally what cannot be certified; None if that did not end well."""
        for _ in range(MOST_REPAIR_ROUNDS):
            outcome = self.merger.merge(self.text, self.chunks, self.pieces, self.tokenizer)
            self.clock.lap("merge")
            if isinstance(outcome, Joined):
                return outcome
            self.why = outcome.why
            self._fuse(outcome.failed)
        return None

    def _fuse(self, failed: Sequence[int]) -> None:
        """Make one chunk of the two on either side of each failed seam, and encode only those."""
        broken = set(failed)
        chunks: list[Chunk] = []
        kept: list[Piece | None] = []
        for i, (chunk, piece) in enumerate(zip(self.chunks, self.pieces, strict=True)):
            if i in broken:
                chunks[-1] = replace(chunks[-1], stop=chunk.stop, core_stop=chunk.core_stop)
                kept[-1] = None
            else:
                chunks.append(chunk)
                kept.append(piece)
        fresh = [chunk for chunk, piece in zip(chunks, kept, strict=True) if piece is None]
        encoded = iter(self.executor.map(self.text, fresh, self.tokenizer, False))
        self.clock.lap("tokenize")
        self.pieces = [next(encoded) if piece is None else piece for piece in kept]
        self.chunks = chunks
        self.repairs += len(broken)
        self.tokenized += sum(chunk.stop - chunk.start for chunk in fresh)


def _plan(
    splitter: Splitter, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter
) -> Plan:
    if isinstance(splitter, Explains):
        return splitter.explain(text, chunks, tokenizer)
    return Plan("serial" if len(chunks) == 1 else f"{len(chunks):,} chunks", "")


def _tiles(chunks: Sequence[Chunk], length: int) -> bool:
    edges = [0] + [chunk.core_stop for chunk in chunks]
    return edges[-1] == length and all(
        chunk.core_start == edge for chunk, edge in zip(chunks, edges, strict=False)
    )


def _close(
    text: str,
    tokenizer: TokenizerAdapter,
    ids: IdArray,
    seams: tuple[Seam, ...],
    chunks: Sequence[Chunk],
    report: Report,
    clock: Clock,
    finisher: Finishes | None,
) -> Encoding:
    final = ids if finisher is None else finisher.finish(ids, text)
    clock.lap("convert")
    report = replace(report, seconds=clock.seconds)
    locate = partial(_locate_final, text, tokenizer, ids, seams, tuple(chunks), finisher)
    return Encoding(frozen_ids(final), seams, report, locate)


def _all_of(text: str) -> Chunk:
    return Chunk(0, len(text), 0, len(text))


def _locate_whole(text: str, tokenizer: TokenizerAdapter, final: IdArray) -> SpanArray:
    """Spans for ids that came out of the engine's own call."""
    ids = tokenizer.encode(text)
    finisher = tokenizer if isinstance(tokenizer, Finishes) else None
    finished = ids if finisher is None else finisher.finish(ids, text)
    if not np.array_equal(finished, final):
        raise LookupError(f"{tokenizer.name} cannot tell where the tokens of its own call lie")
    return _locate_final(text, tokenizer, ids, (), (_all_of(text),), finisher)


def _locate_final(
    text: str,
    tokenizer: TokenizerAdapter,
    ids: IdArray,
    seams: Sequence[Seam],
    chunks: Sequence[Chunk],
    finisher: Finishes | None,
) -> SpanArray:
    """UTF-8 byte spans of the finished ids, (0, 0) for what finishing inserted."""
    if not isinstance(tokenizer, Locates):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    if facts_of(tokenizer).tiles or len(chunks) == 1:
        spans = tokenizer.locate(ids, text)
    else:
        spans = _locate_each(text, tokenizer, ids, seams, chunks)
    if finisher is None:
        return spans
    return finished_spans(spans, finisher.finish(numbered(len(ids)), text))


def numbered(length: int) -> IdArray:
    """Stand-ins for ids that tell, once finished, where each final id came from: finishing never
    looks at values."""
    return np.arange(_CORE, _CORE + length, dtype=np.uint32)


def finished_spans(spans: SpanArray, origin: IdArray) -> SpanArray:
    """`spans` laid out as finishing laid out `numbered`; (0, 0) for what it inserted."""
    final = np.zeros((len(origin), 2), dtype=np.int64)
    core = origin >= _CORE
    final[core] = spans[origin[core] - _CORE]
    return final


def _locate_each(
    text: str, tokenizer: Locates, ids: IdArray, seams: Sequence[Seam], chunks: Sequence[Chunk]
) -> SpanArray:
    """Chunk by chunk, so that an engine that must encode again never holds the whole text."""
    edges = [0, *(seam.token for seam in seams), len(ids)]
    located = []
    base = 0
    for chunk, first, last in zip(chunks, edges[:-1], edges[1:], strict=True):
        spans = tokenizer.locate(ids[first:last], text[chunk.start : chunk.stop])
        shifted = spans + (base + chunk.absorbed)
        if chunk.absorbed and len(spans):
            # The dummy prefix stands for the absorbed space. Engines place it on the character
            # after it, which tells a prefix that is a token of its own.
            shifted[0, 0] = base
            if len(spans) > 1 and spans[1, 0] == spans[0, 0]:
                shifted[0, 1] = base + chunk.absorbed
        located.append(shifted)
        base += byte_length(text[chunk.core_start : chunk.core_stop])
    return np.concatenate(located)
