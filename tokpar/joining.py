"""Chunks encoded, merged, and repaired until they are joined or the whole text is to be encoded.

A tokenizer that fails on a slice has failed on the text only if the slice ends at certified cuts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tokpar.errors import EngineError, WorkerError
from tokpar.executors.serial import encode_part
from tokpar.interfaces import Executor, Merger, Repairs, Splitter, TokenizerAdapter
from tokpar.types import Chunk, Cuts, Joined, Piece, Report, Seam, SeamRow, stands_apart, tiles

# Rounds of local repair before the whole text is encoded serially: each at least halves the seams
# that are still open, so more rounds than this would only repeat work.
MOST_REPAIR_ROUNDS = 4


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
class Work:
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
        rounds = 0
        while rounds < MOST_REPAIR_ROUNDS and self._encode(chunks):
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
        return None

    def _repaired(self, failed: Sequence[int]) -> Sequence[Chunk]:
        if isinstance(self.merger, Repairs):
            chunks = self.merger.repaired(self.text, self.chunks, failed, self.tokenizer)
            assert tiles(chunks, len(self.text)), "a repair's cores must tile the text"
            return chunks
        return fused(self.chunks, failed)

    def _encode(self, chunks: Sequence[Chunk]) -> bool:
        """Encode the chunks; False if the tokenizer fails on a slice of theirs, but may not on the
        whole text. Raises EngineError where no slice can differ from the whole."""
        try:
            self._encode_fresh(chunks)
        except WorkerError:
            raise
        except EngineError as error:
            if all(stands_apart(chunks, i, len(self.text)) for i in range(len(chunks))):
                raise
            self.why = str(error)
            return False
        finally:
            self.clock.lap("tokenize")
        return True

    def _encode_fresh(self, chunks: Sequence[Chunk]) -> None:
        """Slices that have been encoded already keep their pieces."""
        known = {
            _slice(chunk): piece for chunk, piece in zip(self.chunks, self.pieces, strict=True)
        }
        known |= {_slice(chunk): run_piece(chunk) for chunk in chunks if chunk.run is not None}
        fresh = [chunk for chunk in chunks if _slice(chunk) not in known]
        self.tokenized += sum(chunk.stop - chunk.start + chunk.absorbed for chunk in fresh)
        encoded = self.executor.map(self.text, fresh, self.tokenizer, self.spans) if fresh else []
        known |= {_slice(chunk): piece for chunk, piece in zip(fresh, encoded, strict=True)}
        self.pieces = [known[_slice(chunk)] for chunk in chunks]
        self.chunks = list(chunks)
        if len(fresh) < len(chunks):
            self._undivide()

    def _undivide(self) -> None:
        """Encode again, in one call, what was divided before a neighbour's overlap reached it: a
        merger may take a part, and nobody would know where the cuts in it are."""
        for i, piece in enumerate(self.pieces):
            if piece.inner is not None and not stands_apart(self.chunks, i, len(self.text)):
                start, stop = self.chunks[i].start, self.chunks[i].stop
                part = self.text[start:stop]
                self.pieces[i] = encode_part(part, start, self.tokenizer, self.spans)
                self.tokenized += len(part)


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
