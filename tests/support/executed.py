"""Chunks through executors, of a tokenizer that worker processes can build."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tokpar.arrays import IdArray, SpanArray, spans_from_lengths
from tokpar.contract.interfaces import Executor
from tokpar.errors import EngineError
from tokpar.executors.native import NativeExecutor
from tokpar.executors.processes import ProcessExecutor
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.types import Chunk, Piece, Rows


class Panic(BaseException):
    """Like pyo3's PanicException: not an Exception."""


class Words:
    """One id per space-separated word; does what some words say."""

    name = "words"

    def encode(self, text: str) -> IdArray:
        words = text.split(" ")
        for word in words:
            _obey(word)
        return np.array([len(word) for word in words], dtype=np.uint32)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        pieces = [self.encode(text) for text in texts]
        return Rows.of_pieces(
            [
                Piece(i, self.locate(i, t) if spans else None)
                for i, t in zip(pieces, texts, strict=True)
            ]
        )

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        return spans_from_lengths(ids.astype(np.int64))

    def spec(self) -> tuple[Callable[..., Any], Mapping[str, Any]]:
        return type(self), {}


def _obey(word: str) -> None:
    if word == "FAIL":
        raise ValueError("bad word")
    if word == "PANIC":
        raise Panic("stack overflow in the regex")
    if word == "PLACED":
        raise EngineError("bad place", 2, 3)
    if word == "INTERRUPT":
        raise KeyboardInterrupt
    if word == "DIE":
        os._exit(3)
    if word == "SLEEP":
        time.sleep(0.05)


TEXT = "".join(f" w{'o' * (i % 11)}rd é {i}" for i in range(3000))
MAKERS: dict[str, Callable[[], Any]] = {
    "serial": SerialExecutor,
    "threads": lambda: ThreadExecutor(3),
    "threads-1": lambda: ThreadExecutor(1),
    "native": lambda: NativeExecutor(None),
    "native-1": lambda: NativeExecutor(1),
    "processes": lambda: ProcessExecutor(2),
    "processes-1": lambda: ProcessExecutor(1),
}


def cut(text: str, size: int) -> list[Chunk]:
    starts = range(0, len(text), size) if text else [0]
    edges = [(start, min(start + size, len(text))) for start in starts]
    return [Chunk(start, stop, start, stop) for start, stop in edges]


def mapped(
    executor: Executor, text: str, chunks: Sequence[Chunk], tokenizer: Any, spans: bool
) -> list[Piece]:
    """What an executor gives for chunks of a text."""
    rows = executor.map([text[chunk.start : chunk.stop] for chunk in chunks], tokenizer, spans)
    return [rows.piece(k) for k in range(len(rows))]
