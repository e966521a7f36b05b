"""Encodes texts on Python threads, for engines that release the GIL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokpar.arrays import offsets_of
from tokpar.contract.adapter import traits_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.executors.serial_executor import check_spans, encode_rows
from tokpar.process.limits import worker_count
from tokpar.process.thread_pool import share
from tokpar.types import Rows

# Taking the next block costs some 5 us. A fast engine encodes a block of this size in 60 us.
LEAST_BLOCK_CHARS = 16384
BLOCKS_PER_WORKER = 16


def blocks(texts: Sequence[str], chars: int) -> list[range]:
    """Returns blocks of neighbouring texts, each but the last with at least `chars` code points."""
    ends = offsets_of(map(len, texts))
    found: list[range] = []
    first = 0
    while first < len(texts):
        stop = min(len(texts), int(np.searchsorted(ends, ends[first] + max(1, chars))))
        found.append(range(first, stop))
        first = stop
    return found


def deal_blocks(texts: Sequence[str], workers: int, least: int, each: int = 4) -> list[range]:
    """Returns about `each` blocks per worker, so that no worker waits long for the slowest.

    A block has at least `least` code points, so that handing out a block costs little."""
    return blocks(texts, max(least, sum(map(len, texts)) // (each * workers)))


class ThreadExecutor:
    """Encodes texts on at most `workers` threads: the calling one, and those of the pool."""

    name = "threads"

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)

        def encode_block(block: range) -> Rows:
            return encode_rows(texts[block.start : block.stop], tokenizer, spans, block.start)

        wants_one_thread = traits_of(tokenizer).wants_one_thread
        if self._workers > 1 and wants_one_thread is not None and wants_one_thread(texts):
            return encode_block(range(len(texts)))
        blocks = deal_blocks(texts, self._workers, LEAST_BLOCK_CHARS, BLOCKS_PER_WORKER)
        return Rows.concatenate(share(encode_block, blocks, self._workers))
