"""A progress bar on stderr, in code points tokenized, or in what a command says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from typing import Any

from tokpar.executors.threads import blocks
from tokpar.interfaces import Divided, Divides, Executor, TokenizerAdapter
from tokpar.types import Rows

STEPS = 50
LEAST_STEP = 1 << 18  # code points between two moves of the bar: each move waits for all workers
PATIENCE_SECONDS = 0.5

Choose = Callable[[TokenizerAdapter, int], Executor]


class ProgressExecutor:
    """Gives groups of texts to another executor and moves a bar after each group.

    `choose` names that executor for a tokenizer and a length of text in code points; `new_bar`
    opens a bar of so many code points (tqdm, or anything with its `update` and `close`)."""

    def __init__(self, choose: Choose, new_bar: Callable[[int], Any]) -> None:
        self._choose = choose
        self._new_bar = new_bar
        self.name = "auto"
        self._inner: Executor | None = None

    @property
    def undivided(self) -> str:
        """The name of the executor for what is not divided."""
        inner = self._inner
        return inner.undivided if isinstance(inner, Divides) else self.name

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        inner = self._chosen(texts, tokenizer)
        rows = [inner.map(texts[own], tokenizer, spans) for own in self._moving(texts)]
        return Rows.joined(rows or [Rows.of([])])

    def divide(
        self, texts: Sequence[str], divisible: Sequence[bool], tokenizer: TokenizerAdapter
    ) -> Divided:
        inner = self._chosen(texts, tokenizer)
        if not isinstance(inner, Divides):
            return self.map(texts, tokenizer, False), [False] * len(texts)
        parts = [inner.divide(texts[own], divisible[own], tokenizer) for own in self._moving(texts)]
        return Rows.joined([rows for rows, _ in parts]), [each for _, own in parts for each in own]

    def _chosen(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Executor:
        self._inner = self._choose(tokenizer, sum(map(len, texts)))
        self.name = self._inner.name
        return self._inner

    def _moving(self, texts: Sequence[str]) -> Iterator[slice]:
        """Groups of texts; the bar moves on when the next is asked for."""
        total = sum(map(len, texts))
        with closing(self._new_bar(total)) as bar:
            for group in blocks(texts, max(LEAST_STEP, total // STEPS)):
                own = slice(group.start, group.stop)
                yield own
                bar.update(sum(map(len, texts[own])))


@contextmanager
def executor_of(arguments: argparse.Namespace) -> Iterator[str | Executor]:
    """The executor's name, or one with a bar, if wanted, whose pools are closed at the end."""
    from tokpar.limits import worker_count
    from tokpar.registry import registry
    from tokpar.sizes import fitting_executor

    name = arguments.executor
    if not _wanted(arguments):
        yield name
        return
    count = worker_count(arguments.workers)
    if name != "auto":
        registry().executor_kind(name)
    with ExitStack() as pools:

        @cache
        def built(fitting: str) -> Executor:
            executor = registry().executor_kind(fitting).build(count)
            if hasattr(executor, "close"):
                pools.callback(executor.close)
            return executor

        def choose(tokenizer: TokenizerAdapter, length: int) -> Executor:
            return built(fitting_executor(tokenizer, length, count) if name == "auto" else name)

        yield ProgressExecutor(choose, partial(_bar, arguments))


@contextmanager
def bar_of(
    arguments: argparse.Namespace, total: int | None, unit: str = "ch"
) -> Iterator[Callable[[int], object]]:
    """Yield a function that moves a bar of `total` code points, None if that is unknown; it does
    nothing where no bar is wanted."""
    if not _wanted(arguments):
        yield lambda done: None
        return
    with closing(_bar(arguments, total, unit)) as bar:
        yield bar.update


def _wanted(arguments: argparse.Namespace) -> bool:
    return not arguments.quiet and (arguments.progress or sys.stderr.isatty())


def _bar(arguments: argparse.Namespace, total: int | None, unit: str = "ch") -> Any:
    from tqdm import tqdm

    delay = 0.0 if arguments.progress else PATIENCE_SECONDS
    return tqdm(total=total, unit=unit, unit_scale=True, delay=delay, leave=False, file=sys.stderr)
