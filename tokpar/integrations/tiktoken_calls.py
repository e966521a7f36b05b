"""Asks the compiled call of an adapter of tiktoken for ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.arrays import IdArray
from tokpar.contract.adapter import front_of
from tokpar.errors import EngineError
from tokpar.process.fork_locks import own_lock
from tokpar.process.thread_pool import BackgroundJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokpar.compiled.front import Front
    from tokpar.contract.interfaces import CachedRows


class CompiledTexts:
    """The compiled call of one adapter, as a drop-in asks it. None stands for what only the engine
    knows; so for everything while there is no call."""

    def __init__(self, tokenizer: TiktokenTokenizer, workers: int) -> None:
        self._front: Front | None = front_of(tokenizer, workers)

    @property
    def is_silent(self) -> bool:
        """True while the call answers nothing: its tables are being made, or it has stopped."""
        front = self._front
        return front is None or front.call is None or bool(front.later.why_none)

    def prepare(self) -> None:
        """Make or read the tables of the call."""
        if self._front is not None and self._front.call is None:
            self._front.later.wait()

    def one(self, text: str) -> IdArray | None:
        """Returns the ids of a text, read-only."""
        try:
            return None if self._front is None else self._front.one(text)
        except EngineError:  # a MismatchError is logged, and tiktoken encodes from now on
            return None

    def many(self, texts: list[str]) -> CachedRows | None:
        """Returns the ids of texts, and which texts were answered; a text without an answer has an
        empty row. None while there is no call."""
        try:
            return None if self._front is None else self._front.many(texts)
        except EngineError:  # as in `one`
            return None


class LaterTexts:
    """`CompiledTexts` of an adapter that a thread of the pool makes when they are first needed."""

    def __init__(self, make: Callable[[], TiktokenTokenizer], workers: int) -> None:
        self._make, self._workers = make, workers
        self._lock = own_lock(self)
        self._job: BackgroundJob | None = None
        self._process = 0
        self._made: CompiledTexts | None = None

    def one(self, text: str) -> IdArray | None:
        """Returns the ids of a text, read-only. Begins to make the adapter, and waits for
        nothing."""
        if self._made is None and self._process != os.getpid():
            self._start()
        return None if self._made is None else self._made.one(text)

    def _start(self) -> None:
        from tokpar.compiled import compiled_build  # few texts need a second call

        with self._lock:
            if self._process != os.getpid():  # a forked child has no thread that makes it
                self._job = BackgroundJob(self._build)
                self._process = os.getpid()
        if not compiled_build.IN_BACKGROUND and self._job is not None:
            self._job.wait()

    def _build(self) -> None:
        made = CompiledTexts(self._make(), self._workers)
        made.prepare()
        self._made = made
