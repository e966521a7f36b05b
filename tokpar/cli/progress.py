"""Bars on stderr, by tqdm: of what was read, or of the seconds that a call should take."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import Any

from tokpar.contract.interfaces import TokenizerAdapter

PATIENCE_SECONDS, WORKING_SECONDS = 0.5, 2.0
SAMPLE_CHARS = 1 << 16  # code points encoded first, to predict how long the whole text takes


@contextmanager
def bar_of(
    arguments: argparse.Namespace, total: int | None, unit: str = "ch"
) -> Iterator[Callable[[int], object]]:
    """Yield a function that moves a bar of `total` units; None: the total is unknown.

    Without a wanted bar the function does nothing."""
    if not _wants_progress(arguments):
        yield lambda done: None
        return
    delay = 0.0 if getattr(arguments, "progress", False) else PATIENCE_SECONDS
    with closing(_bar(total, delay, unit=unit, unit_scale=True)) as bar:
        yield bar.update


@contextmanager
def working(
    arguments: argparse.Namespace, doing: str, expected_seconds: float | None = None
) -> Iterator[None]:
    """Show what the block does, and the seconds so far, where nothing can be counted.

    The bar appears after two seconds; at once if `expected_seconds` seconds are more than that,
    since a native call may let no other thread run."""
    if not _wants_progress(arguments):
        yield
        return
    is_long = expected_seconds is not None and expected_seconds > WORKING_SECONDS
    total = None if expected_seconds is None else round(expected_seconds)
    ended = threading.Event()  # noqa: TID251  # no other call has it
    with closing(_bar(total, 0 if is_long else WORKING_SECONDS, unit="s", desc=doing)) as bar:

        def move_each_second() -> None:
            while not ended.wait(1):
                bar.update(1)

        watching = threading.Thread(target=move_each_second, daemon=True)
        watching.start()
        try:
            yield
        finally:
            ended.set()
            watching.join()


def encoding_bar(
    arguments: argparse.Namespace, tokenizer: TokenizerAdapter, text: str
) -> AbstractContextManager[None]:
    """`working` for the encoding of one text. A first call with a short part of the text predicts
    how long one core takes at most."""
    if len(text) <= SAMPLE_CHARS or not _wants_progress(arguments):
        return nullcontext()
    start = time.perf_counter()
    tokenizer.encode(text[:SAMPLE_CHARS])
    expected_seconds = (time.perf_counter() - start) * len(text) / SAMPLE_CHARS
    return working(arguments, "encoding (Ctrl-C ends it)", expected_seconds)


def _wants_progress(arguments: argparse.Namespace) -> bool:
    asked, quiet = (getattr(arguments, name, False) for name in ("progress", "quiet"))
    return not quiet and (asked or sys.stderr.isatty())


def _bar(total: int | None, delay: float, **shown: Any) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, delay=delay, leave=False, file=sys.stderr, **shown)
