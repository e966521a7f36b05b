"""How far a build is, and where its time goes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from tokpar.corpus.document_blocks import Block

Value = TypeVar("Value")
STAGES = ("read", "parse", "encode", "write")
"""read: the stored bytes, uncompressed and digested; parse: documents of them; encode: their ids;
write: the files of shards, digested and synced. Reading and parsing run beside the other two."""


@dataclass
class Progress:
    """Counts so far, of all runs of a build; `stored` bytes of inputs of `stored_total`.

    `seconds`: of each stage, in this run. `new_*`: of this run alone."""

    stored_total: int = 0
    parts_total: int = 0
    stored: int = 0
    documents: int = 0
    tokens: int = 0
    text_bytes: int = 0
    shards: int = 0
    parts: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    new_stored: int = 0
    new_tokens: int = 0
    new_text_bytes: int = 0
    new_documents: int = 0
    start_time: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    @property
    def elapsed(self) -> float:
        """Seconds since this run began."""
        return time.monotonic() - self.start_time

    @property
    def seconds_left(self) -> float | None:
        """By the stored bytes of this run; None before there are any."""
        if not self.new_stored:
            return None
        return self.elapsed * max(0, self.stored_total - self.stored) / self.new_stored

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time of the block for a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def time_items(self, items: Iterable[Value], name: str) -> Iterator[Value]:
        """The items; the time that each takes to come is counted for a stage."""
        rest = iter(items)
        while True:
            with self.stage(name):
                item = next(rest, _END)
            if item is _END:
                return
            yield item  # type: ignore[misc]

    def add(self, block: Block, tokens: int) -> None:
        """Counts a block that was written."""
        for name, count in (
            ("stored", block.stored_bytes),
            ("documents", len(block.texts)),
            ("tokens", tokens),
            ("text_bytes", block.text_bytes),
        ):
            setattr(self, name, getattr(self, name) + count)
            setattr(self, f"new_{name}", getattr(self, f"new_{name}") + count)
        for fault in block.faults:
            self.skipped[fault.kind] = self.skipped.get(fault.kind, 0) + 1

    def join(self, other: Progress) -> None:
        """Adds what another process counted."""
        for name in ("stored", "documents", "tokens", "text_bytes"):
            for counted in (name, f"new_{name}"):
                setattr(self, counted, getattr(self, counted) + getattr(other, f"new_{name}"))
        for kind, count in other.skipped.items():
            self.skipped[kind] = self.skipped.get(kind, 0) + count
        for stage, seconds in other.seconds.items():
            self.seconds[stage] += seconds


_END = object()
