"""A progress bar on stderr, in code points tokenized, or in what a command says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tokpar.interfaces import Executor, TokenizerAdapter
from tokpar.types import Chunk, Piece

STEPS = 50
LEAST_STEP = 1 << 18
"""Code points between two moves of the bar: each move waits for all workers."""
PATIENCE_SECONDS = 0.5

Choose = Callable[[TokenizerAdapter, int], Executor]


class ProgressExecutor:
    """Gives groups of chunks to another executor and moves a bar after each group.

    `choose` names that executor for a tokenizer and a length of text in code points; `new_bar`
    opens a bar of so many code points (tqdm, or anything with its `update` and `close`).
    """

    def __init__(self, choose: Choose, new_bar: Callable[[int], Any]) -> None:
        self._choose = choose
        self._new_bar = new_bar
        self.name = "auto"

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        inner = self._choose(tokenizer, len(text))
        self.name = inner.name
        total = sum(map(_length, chunks))
        pieces: list[Piece] = []
        bar = self._new_bar(total)
        try:
            for group in groups(chunks, max(LEAST_STEP, total // STEPS)):
                pieces += inner.map(text, group, tokenizer, spans)
                bar.update(sum(map(_length, group)))
        finally:
            bar.close()
        return pieces


def groups(chunks: Sequence[Chunk], size: int) -> Iterator[Sequence[Chunk]]:
    """Consecutive chunks of at least `size` code points together; the last may be smaller."""
    first = gathered = 0
    for i, chunk in enumerate(chunks, 1):
        gathered += _length(chunk)
        if gathered >= size:
            yield chunks[first:i]
            first, gathered = i, 0
    if first < len(chunks):
        yield chunks[first:]


@contextmanager
def executor_of(arguments: argparse.Namespace) -> Iterator[str | Executor]:
    """The executor's name, or an executor with a bar when stderr is a terminal or --progress is
    given."""
    if not _wanted(arguments):
        yield arguments.executor
        return
    built: dict[str, Executor] = {}
    try:
        choose = _chooser(arguments.executor, arguments.workers, built)
        yield ProgressExecutor(choose, _tqdm(_patience(arguments)))
    finally:
        for executor in built.values():
            if hasattr(executor, "close"):
                executor.close()


@contextmanager
def bar_of(
    arguments: argparse.Namespace, total: int, unit: str = "ch"
) -> Iterator[Callable[[int], object]]:
    """What moves a bar of `total` code points on by some; nothing where no bar is wanted."""
    if not _wanted(arguments):
        yield lambda done: None
        return
    bar = _tqdm(_patience(arguments), unit)(total)
    try:
        yield bar.update
    finally:
        bar.close()


def _wanted(arguments: argparse.Namespace) -> bool:
    return not arguments.quiet and (arguments.progress or sys.stderr.isatty())


def _patience(arguments: argparse.Namespace) -> float:
    return 0.0 if arguments.progress else PATIENCE_SECONDS


def _chooser(name: str, workers: int | None, built: dict[str, Executor]) -> Choose:
    """Executors by name, each built when first needed and kept in `built`."""
    from tokpar.encoder import fitting_executor
    from tokpar.executors.workers import worker_count
    from tokpar.registry import registry

    count = worker_count(workers)
    if name != "auto":
        registry().executor_kind(name)

    def choose(tokenizer: TokenizerAdapter, length: int) -> Executor:
        fitting = fitting_executor(tokenizer, length, count) if name == "auto" else name
        if fitting not in built:
            built[fitting] = registry().executor_kind(fitting).build(count)
        return built[fitting]

    return choose


def _tqdm(patience: float, unit: str = "ch") -> Callable[[int], Any]:
    def new_bar(total: int) -> Any:
        from tqdm import tqdm

        return tqdm(
            total=total, unit=unit, unit_scale=True, delay=patience, leave=False, file=sys.stderr
        )

    return new_bar


def _length(chunk: Chunk) -> int:
    return chunk.stop - chunk.start
