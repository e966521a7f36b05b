"""Counts the progress of a build, and the time of each stage."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from tokpar_corpus.document_blocks import Block

Value = TypeVar("Value")
STAGES = ("read", "parse", "encode", "write")
"""read: reads, decompresses and digests the stored bytes. parse: turns them into documents.
encode: turns documents into ids. write: writes, digests and syncs the files of shards. Reading and
parsing run in parallel to the other two stages."""


@dataclass
class Progress:
    """Counts of a build so far, over all its runs.

    `stored`: bytes of inputs that are done, of `stored_total`. `seconds`: time of each stage in
    this run. `new_*`: counts of this run alone."""

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
        """The seconds since this run began."""
        return time.monotonic() - self.start_time

    @property
    def seconds_left(self) -> float | None:
        """The expected seconds until the end, from the stored bytes of this run; None before the
        first block."""
        if not self.new_stored:
            return None
        return self.elapsed * max(0, self.stored_total - self.stored) / self.new_stored

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time of the `with` block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def time_items(self, items: Iterable[Value], name: str) -> Iterator[Value]:
        """Yields the items, and adds the time that the iterable takes for each item to a stage."""
        rest = iter(items)
        while True:
            with self.stage(name):
                item = next(rest, _END)
            if item is _END:
                return
            yield item  # type: ignore[misc]

    def add(self, block: Block, tokens: int) -> None:
        """Adds the counts of a written block."""
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
        """Adds the counts of another process."""
        for name in ("stored", "documents", "tokens", "text_bytes"):
            for counted in (name, f"new_{name}"):
                setattr(self, counted, getattr(self, counted) + getattr(other, f"new_{name}"))
        for kind, count in other.skipped.items():
            self.skipped[kind] = self.skipped.get(kind, 0) + count
        for stage, seconds in other.seconds.items():
            self.seconds[stage] += seconds


_END = object()
