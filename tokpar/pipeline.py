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
    EncodesMany,
    EncodesWhole,
    Executor,
    Explains,
    Finishes,
    Locates,
    MatchesSpans,
    Merger,
    Plan,
    Repairs,
    Splitter,
    TokenizerAdapter,
    agreement_of,
    facts_of,
)
from tokpar.kernels import IdArray, frozen_ids
from tokpar.spans import locate_final, locate_whole
from tokpar.types import Chunk, Cuts, Encoding, Joined, Piece, Report, Seam, SeamRow

# Rounds of local repair before the whole text is encoded serially: each at least halves the seams
# that are still open, so more rounds than this would only repeat work.
MOST_REPAIR_ROUNDS = 4


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
    plan = planned(splitter, text, chunks, tokenizer)
    clock.lap("split")
    if len(chunks) == 1:
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=plan, clock=clock, finish=finish
        )
    spans = spans_wanted(merger, tokenizer)
    if spans and not isinstance(tokenizer, (Locates, EncodesMany)):
        again = Plan("serial", f"{tokenizer.name} cannot tell where its tokens lie")
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=again, clock=clock, finish=finish
        )
    work = _Work(text, tokenizer, splitter, executor, merger, spans, clock)
    joined = work.join(chunks)
    seams = None if joined is None else all_seams(joined, work.chunks, work.pieces)
    if joined is None or seams is None:
        again = replace(plan, plan="serial", why=work.why)
        encoding = encode_serial(text, tokenizer, strategy=strategy, plan=again, finish=finish)
        return replace(encoding, report=work.added_to(encoding.report))
    report = Report(
        strategy=strategy,
        plan=plan.plan,
        why=plan.why,
        executor=executor.name,
        chunks=len(work.chunks),
        retries=work.retries,
        repairs=work.repairs,
        redundant=work.redundant,
        serial_regions=plan.serial_regions,
        agreement=agreement_of(tokenizer),
    )
    finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
    encoding = closed(text, tokenizer, joined.ids, joined.seams, report, clock, finisher)
    return encoding if seams is joined.seams else replace(encoding, seams=seams)


def encode_serial(
    text: str,
    tokenizer: TokenizerAdapter,
    *,
    strategy: str = "serial",
    plan: Plan,
    clock: Clock | None = None,
    finish: bool = True,
    agreement: str | None = None,
) -> Encoding:
    """Encode `text` in one call: the tokenizer's own serial call where the adapter offers it.

    `agreement`: what `agreement_of` tells of the tokenizer, if the caller knows it."""
    if agreement is None:
        agreement = agreement_of(tokenizer)
    if not finish or not isinstance(tokenizer, EncodesWhole):
        clock = clock or Clock()
        report = Report(strategy=strategy, plan=plan.plan, why=plan.why, agreement=agreement)
        ids = _own_call(tokenizer, text)
        clock.lap("tokenize")
        finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
        return closed(text, tokenizer, ids, (), report, clock, finisher)
    return encode_whole(text, tokenizer, tokenizer.encode_whole, strategy, plan, agreement)


def encode_whole(
    text: str,
    tokenizer: TokenizerAdapter,
    call: Callable[[str], IdArray],
    strategy: str,
    plan: Plan,
    agreement: str = "",
) -> Encoding:
    """Encode `text` by `call`, the engine's own, which finishes the ids too; the hot path of short
    texts, where each microsecond counts."""
    start = time.perf_counter()
    ids = call(text)
    seconds = {"tokenize": time.perf_counter() - start}
    report = Report(strategy, plan.plan, plan.why, seconds=seconds, agreement=agreement)
    return Encoding(frozen_ids(ids), (), report, partial(locate_whole, text, tokenizer, ids))


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
    splitter: Splitter
    executor: Executor
    merger: Merger
    spans: bool
    clock: Clock
    chunks: list[Chunk] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    retries: int = 0
    repairs: int = 0
    tokenized: int = 0
    why: str = ""

    @property
    def redundant(self) -> int:
        runs = sum(chunk.stop - chunk.start for chunk in self.chunks if chunk.run is not None)
        return self.tokenized + runs - len(self.text)

    def added_to(self, report: Report) -> Report:
        """The report of the serial call that followed, with what was tried before."""
        seconds = dict(self.clock.seconds)
        for stage, spent in report.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
        return replace(
            report,
            retries=self.retries,
            repairs=self.repairs,
            redundant=self.tokenized,
            seconds=seconds,
        )

    def join(self, chunks: Sequence[Chunk]) -> Joined | None:
        """Encode and merge, repairing locally what cannot be certified, or starting over where the
        merger asks for that; None if it did not end well."""
        self._encode(chunks)
        rounds = 0
        while rounds < MOST_REPAIR_ROUNDS:
            outcome = self.merger.merge(self.text, self.chunks, self.pieces, self.tokenizer)
            self.clock.lap("merge")
            if isinstance(outcome, Joined):
                return outcome
            self.why = outcome.why
            if outcome.restart:
                self.retries += 1
                chunks = self.splitter.split(self.text, self.tokenizer, self.retries)
                self.clock.lap("split")
                if len(chunks) == 1:
                    return None
            else:
                rounds += 1
                self.repairs += len(outcome.failed)
                chunks = self._repaired(outcome.failed)
            self._encode(chunks)
        return None

    def _repaired(self, failed: Sequence[int]) -> Sequence[Chunk]:
        if isinstance(self.merger, Repairs):
            chunks = self.merger.repaired(self.text, self.chunks, failed, self.tokenizer)
            assert _tiles(chunks, len(self.text)), "a repair's cores must tile the text"
            return chunks
        return fused(self.chunks, failed)

    def _encode(self, chunks: Sequence[Chunk]) -> None:
        """Encode the chunks whose slices have not been encoded yet."""
        known = {
            _slice(chunk): piece for chunk, piece in zip(self.chunks, self.pieces, strict=True)
        }
        known |= {_slice(chunk): run_piece(chunk) for chunk in chunks if chunk.run is not None}
        fresh = [chunk for chunk in chunks if _slice(chunk) not in known]
        encoded = self.executor.map(self.text, fresh, self.tokenizer, self.spans) if fresh else []
        self.clock.lap("tokenize")
        known |= {_slice(chunk): piece for chunk, piece in zip(fresh, encoded, strict=True)}
        self.pieces = [known[_slice(chunk)] for chunk in chunks]
        self.chunks = list(chunks)
        self.tokenized += sum(chunk.stop - chunk.start + chunk.absorbed for chunk in fresh)


def all_seams(
    joined: Joined, chunks: Sequence[Chunk], pieces: Sequence[Piece]
) -> Sequence[Seam] | None:
    """The merger's seams and the cuts inside the pieces between them; None if the merger did not
    take a piece that has such cuts as a whole, so that nobody knows where they are now."""
    inner = [k for k, piece in enumerate(pieces) if piece.inner is not None]
    if not inner:
        return joined.seams
    if len(joined.seams) != len(chunks) - 1:
        return None
    firsts = [0, *(seam.token for seam in joined.seams), len(joined.ids)]
    places = [0, *(seam.position for seam in joined.seams), chunks[-1].core_stop]
    found: list[Cuts] = []
    for k in inner:
        chunk, piece, cuts = chunks[k], pieces[k], pieces[k].inner
        assert cuts is not None
        ends = (chunk.start, chunk.stop)
        if (places[k], places[k + 1]) != ends or firsts[k + 1] - firsts[k] != len(piece.ids):
            return None
        found.append(Cuts(cuts.seam, cuts.positions + chunk.start, cuts.tokens + firsts[k]))
    positions = np.concatenate([cuts.positions for cuts in found])
    tokens = np.concatenate([cuts.tokens for cuts in found])
    return SeamRow(joined.seams, Cuts(found[0].seam, positions, tokens))


def fused(chunks: Sequence[Chunk], failed: Sequence[int]) -> list[Chunk]:
    """One chunk of the two on either side of each failed seam."""
    broken = set(failed)
    whole: list[Chunk] = []
    for i, chunk in enumerate(chunks):
        if i in broken:
            left = whole[-1]
            whole[-1] = replace(
                left, stop=chunk.stop, core_stop=chunk.core_stop, kind="text", run=None
            )
        else:
            whole.append(chunk)
    return whole


def _slice(chunk: Chunk) -> tuple[int, int, str]:
    return chunk.start, chunk.stop, chunk.kind


def run_piece(chunk: Chunk) -> Piece:
    assert chunk.run is not None
    token, times = chunk.run
    return Piece(np.full(times, token, dtype=np.uint32))


def spans_wanted(merger: Merger, tokenizer: TokenizerAdapter) -> bool:
    """Tokens that tile the text are located by their lengths, where and when that is needed."""
    matches = isinstance(merger, MatchesSpans) and merger.matches_spans
    return matches and not facts_of(tokenizer).tiles


def planned(
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


def closed(
    text: str,
    tokenizer: TokenizerAdapter,
    ids: IdArray,
    seams: tuple[Seam, ...],
    report: Report,
    clock: Clock,
    finisher: Finishes | None,
) -> Encoding:
    final = ids if finisher is None else finisher.finish(ids, text)
    clock.lap("convert")
    report = replace(report, seconds=clock.seconds)
    locate = partial(locate_final, text, tokenizer, ids, seams, finisher)
    return Encoding(frozen_ids(final), seams, report, locate)
