"""Reads the next blocks in a thread while earlier blocks are encoded, up to a number of bytes."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

from tokpar.errors import WorkerError
from tokpar_corpus.document_blocks import Block


class ReadAhead:
    """An iterable of blocks that a thread reads ahead.

    The waiting blocks have at most `most` bytes of text together. A longer block waits alone. The
    iterator raises the errors of the thread. `close` ends the thread. A forked child has no such
    thread: the iterator raises WorkerError there."""

    def __init__(self, blocks: Iterable[Block], most: int) -> None:
        self._blocks = blocks
        self._most = most
        self._waiting: deque[Block] = deque()
        self._size = 0
        self._process = os.getpid()
        self._state = threading.Condition()  # noqa: TID251  # no child takes it
        self._error: BaseException | None = None
        self._has_ended = self._is_closed = False
        self._thread = threading.Thread(target=self._read, daemon=True, name="tokpar-corpus-reader")
        self._thread.start()

    def _read(self) -> None:
        try:
            with closing(_generator(self._blocks)) as blocks:
                for block in blocks:
                    if not self._put(block):
                        break
        except BaseException as error:  # `__iter__` raises it again
            self._error = error
        with self._state:
            self._has_ended = True
            self._state.notify_all()

    def _put(self, block: Block) -> bool:
        """Adds a block to the waiting ones. Returns False if the reader was closed."""
        size = block.text_bytes
        with self._state:
            self._state.wait_for(
                lambda: self._is_closed or not self._waiting or self._size + size <= self._most
            )
            self._waiting.append(block)
            self._size += size
            self._state.notify_all()
            return not self._is_closed

    def __iter__(self) -> Iterator[Block]:
        while True:
            if self._process != os.getpid():
                raise WorkerError("the thread that reads the documents is not in a forked child")
            with self._state:
                self._state.wait_for(lambda: self._has_ended or bool(self._waiting))
                if not self._waiting:
                    break
                block = self._waiting.popleft()
                self._size -= block.text_bytes
                self._state.notify_all()
            yield block
            del block
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Tells the thread to end, and waits for its end."""
        if self._process != os.getpid():
            return
        with self._state:
            self._is_closed = True
            self._state.notify_all()
        self._thread.join()


def _generator(blocks: Iterable[Block]) -> Any:
    yield from blocks
