"""Many texts at once: their chunks go to the executor in one row, the longest text's first, so that
no worker is idle while another still has a long text to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokpar import pipeline
from tokpar.errors import EngineError
from tokpar.interfaces import (
    ChecksText,
    Executor,
    Finishes,
    Merger,
    Plan,
    Splitter,
    TokenizerAdapter,
    agreement_of,
)
from tokpar.joining import Clock, all_seams, run_piece
from tokpar.types import Chunk, Encoding, Joined, Piece, Report

MOST_TOGETHER = 1 << 26
"""Code points of the texts whose chunks make up one row; they are in memory a second time."""


@dataclass(frozen=True)
class Batch:
    """How texts are encoded, see `pipeline.encode`."""

    tokenizer: TokenizerAdapter
    splitter: Splitter
    executor: Executor
    merger: Merger
    strategy: str
    finish: bool

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """One encoding per text, in order. Raises what the first text that cannot be encoded
        raises."""
        if isinstance(self.tokenizer, ChecksText):
            for text in texts:
                self.tokenizer.check_text(text)
        if pipeline.spans_wanted(self.merger, self.tokenizer):
            return [self._alone(text) for text in texts]
        found: dict[int, Encoding] = {}
        for row in _rows(texts):
            try:
                encodings = self._together([texts[i] for i in row])
            except EngineError:  # encoding them one by one tells which one it is, and where
                return [self._alone(text) for text in texts]
            found.update(zip(row, encodings, strict=True))
        return [found[i] for i in range(len(texts))]

    def _alone(self, text: str) -> Encoding:
        return pipeline.encode(
            text,
            self.tokenizer,
            self.splitter,
            self.executor,
            self.merger,
            strategy=self.strategy,
            finish=self.finish,
        )

    def _together(self, texts: Sequence[str]) -> list[Encoding]:
        clock = Clock()
        chunks = [self.splitter.split(text, self.tokenizer, 0) for text in texts]
        plans = [
            pipeline.planned(self.splitter, text, own, self.tokenizer)
            for text, own in zip(texts, chunks, strict=True)
        ]
        clock.lap("split")
        pieces = self._pieces("".join(texts), list(_shifted(texts, chunks)))
        clock.lap("tokenize")
        total = max(1, sum(map(len, texts)))
        encodings = []
        for text, own, plan in zip(texts, chunks, plans, strict=True):
            share = {stage: spent * len(text) / total for stage, spent in clock.seconds.items()}
            own_pieces = [next(pieces) for _ in own]
            encodings.append(self._joined(text, own, own_pieces, plan, share))
        return encodings

    def _pieces(self, text: str, chunks: Sequence[Chunk]) -> Iterator[Piece]:
        calls = [chunk for chunk in chunks if chunk.run is None]
        called = iter(self.executor.map(text, calls, self.tokenizer, False) if calls else ())
        return iter([run_piece(chunk) if chunk.run else next(called) for chunk in chunks])

    def _joined(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        plan: Plan,
        seconds: dict[str, float],
    ) -> Encoding:
        """The encoding of one text; where its chunks cannot be joined, it is encoded again."""
        clock = Clock(seconds)
        joined = Joined(pieces[0].ids, ()) if len(chunks) == 1 else None
        if joined is None:
            outcome = self.merger.merge(text, chunks, pieces, self.tokenizer)
            joined = outcome if isinstance(outcome, Joined) else None
        seams = None if joined is None else all_seams(joined, chunks, pieces)
        if joined is None or seams is None:
            return self._alone(text)
        clock.lap("merge")
        report = Report(
            strategy=self.strategy,
            plan=plan.plan,
            why=plan.why,
            executor=self.executor.name,
            chunks=len(chunks),
            serial_regions=plan.serial_regions,
            agreement=agreement_of(self.tokenizer),
        )
        finisher = self.tokenizer if isinstance(self.tokenizer, Finishes) else None
        encoding = pipeline.closed(
            text,
            self.tokenizer,
            joined.ids,
            joined.seams,
            report,
            clock,
            finisher if self.finish else None,
        )
        return encoding if seams is joined.seams else replace(encoding, seams=seams)


def _rows(texts: Sequence[str]) -> Iterator[list[int]]:
    """Numbers of texts, the longest first, in rows of so many code points."""
    row: list[int] = []
    size = 0
    for i in sorted(range(len(texts)), key=lambda i: -len(texts[i])):
        if row and size + len(texts[i]) > MOST_TOGETHER:
            yield row
            row, size = [], 0
        row.append(i)
        size += len(texts[i])
    if row:
        yield row


def _shifted(texts: Sequence[str], chunks: Sequence[Sequence[Chunk]]) -> Iterator[Chunk]:
    """The chunks of all texts, placed in the texts put one behind the other."""
    base = 0
    for text, own in zip(texts, chunks, strict=True):
        for chunk in own:
            yield replace(
                chunk,
                start=chunk.start + base,
                stop=chunk.stop + base,
                core_start=chunk.core_start + base,
                core_stop=chunk.core_stop + base,
            )
        base += len(text)
