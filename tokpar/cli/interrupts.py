"""Ctrl-C ends the process at once, except while a file is written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def end_on_interrupt() -> None:
    """Let Ctrl-C end this process at once, also during a native call.

    By default Python raises KeyboardInterrupt only after the native call returns. If SIGINT has
    another handler, or is ignored, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def raising_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the block, so that the block can clean up."""
    ends = threading.current_thread() is threading.main_thread()
    ends = ends and signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
