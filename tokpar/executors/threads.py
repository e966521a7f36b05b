"""Chunks on a pool of Python threads, for engines that release the GIL."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from tokpar.executors.serial import check_spans, encode_chunks
from tokpar.executors.workers import ThreadPool, dealt, worker_count
from tokpar.interfaces import TokenizerAdapter
from tokpar.types import Chunk, Piece

# Handing a block to a thread costs about 30 us; a fast engine needs 500 us for this much text.
LEAST_BLOCK_CHARS = 16384


class ThreadExecutor:
    """`workers` threads, started at first use, kept until `close`; usable again afterwards."""

    name = "threads"

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._pool = ThreadPool(self._workers)

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        """One piece per chunk. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)

        def encode_block(block: Sequence[Chunk]) -> list[Piece]:
            return encode_chunks(text, block, tokenizer, spans)

        dealt_out = dealt(chunks, self._workers, LEAST_BLOCK_CHARS)
        return [piece for block in self._pool.run(encode_block, dealt_out) for piece in block]

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def __enter__(self) -> ThreadExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
