"""What Ctrl-C does: end the process at once, except where a file is being written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def end_on_interrupt() -> None:
    """Let Ctrl-C end this process at once, in a native call too, where Python would wait for its
    end to raise KeyboardInterrupt. Another handler, or none, stays as it is."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def raising_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the block, which then cleans up."""
    ends = threading.current_thread() is threading.main_thread()
    ends = ends and signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
