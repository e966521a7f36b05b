"""Texts that may be cut at every space, through the tokenizer's memory of what lies between; all
others, and those for which that does not pay, through its batch call (`native`).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from tokpar.executors.native import NativeExecutor
from tokpar.executors.workers import worker_count
from tokpar.interfaces import Divided, Remembers, TokenizerAdapter
from tokpar.kernels import IdArray
from tokpar.types import Rows


class MemoExecutor:
    """For adapters that remember."""

    name = "memo"
    undivided = NativeExecutor.name

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._native = NativeExecutor(workers)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text, none of them divided. Raises EngineError; OptionError without a batch
        call."""
        return self._native.map(texts, tokenizer, spans)

    def divide(
        self, texts: Sequence[str], divisible: Sequence[bool], tokenizer: TokenizerAdapter
    ) -> Divided:
        """One row per text, and which of them were divided. Raises as `map` does."""
        found: dict[int, IdArray] = {}
        if isinstance(tokenizer, Remembers) and tokenizer.remembers:
            numbers = [k for k, may in enumerate(divisible) if may]
            known = tokenizer.remembered([texts[k] for k in numbers], self._workers)
            found = {k: ids for k, ids in zip(numbers, known, strict=True) if ids is not None}
        left = [k for k in range(len(texts)) if k not in found]
        rest = self._native.map([texts[k] for k in left], tokenizer, False) if left else None
        others = {k: rest[n] for n, k in enumerate(left)} if rest is not None else {}
        rows = Rows.of(found[k] if k in found else others[k] for k in range(len(texts)))
        return rows, [k in found for k in range(len(texts))]

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
