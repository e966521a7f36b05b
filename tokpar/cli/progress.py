"""A progress bar on stderr, in code points encoded or in another unit."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
)
from functools import cache, partial
from typing import Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.cli.screen import width
from tokpar.concatenation import Part, encode_parts, parts_between
from tokpar.executors.threads import blocks
from tokpar.interfaces import CachedRows, Executor, TokenizerAdapter, facts_of
from tokpar.plan import look_up_of, without_cache_of
from tokpar.types import Rows

STEPS = 50
PART_CHARS = 1 << 22  # code points that the cache gets between two moves of the bar
LEAST_STEP = 1 << 18  # code points between two moves of the bar: each move waits for all workers
PATIENCE_SECONDS, WORKING_SECONDS = 0.5, 2.0
SAMPLE_CHARS = 1 << 16  # code points encoded first, to predict how long the whole text takes

NO_IDS: IdArray = np.empty(0, dtype=np.uint32)
Choose = Callable[[TokenizerAdapter, int], Executor]


class ProgressExecutor:
    """An executor with a progress bar: it gives groups of texts to another executor, and moves the
    bar after each group.

    `choose` returns the other executor for a tokenizer and a length of text in code points.
    `new_bar` opens a bar of so many code points: tqdm, or an object with `update` and `close`."""

    def __init__(self, choose: Choose, new_bar: Callable[[int], Any]) -> None:
        self._choose = choose
        self._new_bar = new_bar
        self.name = "auto"
        self._inner: Executor | None = None

    @property
    def without_cache(self) -> str:
        """The name of the executor that encodes texts the cache does not answer."""
        return self.name if self._inner is None else without_cache_of(self._inner)

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        inner = self._choose_executor(texts, tokenizer)
        rows = [inner.map(texts[own], tokenizer, spans) for own in self._moving(texts)]
        return Rows.concatenate(rows or [Rows.of([])])

    def look_up(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> CachedRows:
        """Look up texts in the cache of the other executor.

        A single long text is looked up part by part, so that the bar can move."""
        look_up = look_up_of(self._choose_executor(texts, tokenizer))
        if look_up is None:
            return Rows.of([NO_IDS] * len(texts)), [False] * len(texts)
        if len(texts) == 1 and len(parts := long_parts(texts[0], tokenizer)) > 1:
            return self._look_up_parts(texts[0], parts, tokenizer)
        found = [look_up(texts[own], tokenizer) for own in self._moving(texts)]
        served = [flag for _, flags in found for flag in flags]
        return Rows.concatenate([rows for rows, _ in found]), served

    def _look_up_parts(
        self, text: str, parts: Sequence[Part], tokenizer: TokenizerAdapter
    ) -> CachedRows:
        """Look up one text. The cache answers it if it answers each of its parts."""
        answers: list[bool] = []

        def encode(slices: Sequence[str]) -> Rows:
            rows, flags = self.look_up(slices, tokenizer)
            answers.extend(flags)
            return rows

        encoded = encode_parts(text, parts, encode)
        return Rows.of([encoded.ids if all(answers) else NO_IDS]), [all(answers)]

    def _choose_executor(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Executor:
        self._inner = self._choose(tokenizer, sum(map(len, texts)))
        self.name = self._inner.name
        return self._inner

    def _moving(self, texts: Sequence[str]) -> Iterator[slice]:
        """Groups of texts. The bar moves when the caller asks for the next group."""
        total = sum(map(len, texts))
        with closing(self._new_bar(total)) as bar:
            for group in blocks(texts, max(LEAST_STEP, total // STEPS)):
                own = slice(group.start, group.stop)
                yield own
                bar.update(sum(map(len, texts[own])))


def long_parts(text: str, tokenizer: TokenizerAdapter) -> list[Part]:
    """The parts of a text between certified cuts about 4 million code points apart. A shorter text,
    and one that cannot be cut, is one part."""
    from tokpar.cuts.finder import finder_for

    finder = finder_for(facts_of(tokenizer))
    is_cut = len(text) >= 2 * PART_CHARS and finder.refusal_for(text) is None
    cuts = finder.find_each(text[: -PART_CHARS // 2], PART_CHARS) if is_cut else []
    return [*parts_between(cuts, len(text))]


@contextmanager
def executor_of(arguments: argparse.Namespace) -> Iterator[str | Executor]:
    """Yield the name of the executor or, if a bar is wanted, a ProgressExecutor. Its pools are
    closed at the end of the block."""
    from tokpar.limits import worker_count
    from tokpar.policy import fit_for
    from tokpar.registry import registry

    name = arguments.executor
    if not _wants_progress(arguments):
        yield name
        return
    count = worker_count(arguments.workers)
    if name != "auto":
        registry().executor_kind(name)
    with ExitStack() as pools:

        @cache
        def build_executor(fitting: str) -> Executor:
            executor = registry().executor_kind(fitting).build(count)
            if hasattr(executor, "close"):
                pools.callback(executor.close)
            return executor

        def choose(tokenizer: TokenizerAdapter, length: int) -> Executor:
            return build_executor(
                fit_for(tokenizer).executor_for(length) if name == "auto" else name
            )

        yield ProgressExecutor(choose, partial(_bar, arguments))


@contextmanager
def bar_of(
    arguments: argparse.Namespace, total: int | None, unit: str = "ch"
) -> Iterator[Callable[[int], object]]:
    """Yield a function that moves a bar of `total` units; None: the total is unknown.

    Without a wanted bar the function does nothing."""
    if not _wants_progress(arguments):
        yield lambda done: None
        return
    with closing(_bar(arguments, total, unit)) as bar:
        yield bar.update


@contextmanager
def working(
    arguments: argparse.Namespace, doing: str, expected_seconds: float | None = None
) -> Iterator[None]:
    """Show on stderr what the block does, and the seconds so far, where no bar can move.

    The line appears after two seconds; at once if `expected_seconds` seconds are more than that,
    since a native call may let no other thread run."""
    if not _wants_progress(arguments):
        yield
        return
    ended, start = threading.Event(), time.monotonic()
    about = "" if expected_seconds is None else f" of about {expected_seconds:,.0f} s"
    shown = ""

    def show() -> None:
        nonlocal shown
        line = f"{doing}: {time.monotonic() - start:,.0f} s{about}"[: width() - 1]
        sys.stderr.write(f"\r{line.ljust(len(shown))}")
        sys.stderr.flush()
        shown = line

    def show_each_second() -> None:
        while not ended.wait(1 if shown else WORKING_SECONDS):
            show()

    if expected_seconds is not None and expected_seconds > WORKING_SECONDS:
        show()
    watching = threading.Thread(target=show_each_second, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
        if shown:
            sys.stderr.write(f"\r{' ' * len(shown)}\r")
            sys.stderr.flush()


def one_call(
    arguments: argparse.Namespace, tokenizer: TokenizerAdapter, text: str
) -> AbstractContextManager[None]:
    """`working` for one native call that encodes all of `text`. A first call with a short part of
    the text predicts how long that takes."""
    if len(text) <= SAMPLE_CHARS or not _wants_progress(arguments):
        return nullcontext()
    start = time.perf_counter()
    tokenizer.encode(text[:SAMPLE_CHARS])
    expected_seconds = (time.perf_counter() - start) * len(text) / SAMPLE_CHARS
    return working(arguments, "one native call (Ctrl-C ends it)", expected_seconds)


def _wants_progress(arguments: argparse.Namespace) -> bool:
    asked, quiet = (getattr(arguments, name, False) for name in ("progress", "quiet"))
    return not quiet and (asked or sys.stderr.isatty())


def _bar(arguments: argparse.Namespace, total: int | None, unit: str = "ch") -> Any:
    from tqdm import tqdm

    delay = 0.0 if getattr(arguments, "progress", False) else PATIENCE_SECONDS
    return tqdm(total=total, unit=unit, unit_scale=True, delay=delay, leave=False, file=sys.stderr)
