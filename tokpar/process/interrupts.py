"""Errors that no engine raised, but who wants a call to stop: no call may catch them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tokpar.errors import ChangedError

INTERRUPTS = (KeyboardInterrupt, SystemExit, GeneratorExit, TimeoutError, ChangedError)
"""Errors that stop a call from outside. No engine raises one."""


def is_foreign(error: BaseException) -> bool:
    """True if no engine raised `error`, but who wants the call to stop: it is one of `INTERRUPTS`,
    or a signal handler raised it, as a deadline does."""
    return isinstance(error, INTERRUPTS) or is_of_handler(error)


def is_of_handler(error: BaseException) -> bool:
    """True if a signal handler raised `error`."""
    import signal  # slow to import

    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    codes = {_code_of(handler) for handler in handlers if callable(handler)} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def raise_foreign(error: BaseException) -> None:
    """Raise `error` again if no engine raised it (`is_foreign`)."""
    if is_foreign(error):
        raise error


@contextmanager
def ignored_os_errors() -> Iterator[None]:
    """Ignores every OSError of the block but those that no file raised (`is_foreign`)."""
    try:
        yield
    except OSError as error:
        raise_foreign(error)


def _code_of(handler: Any) -> object:
    """The code of a function, a method, a partial, or an object that can be called."""
    while hasattr(handler, "func"):
        handler = handler.func
    if not hasattr(handler, "__code__"):
        handler = getattr(handler, "__func__", None) or vars(type(handler)).get("__call__")
    return getattr(handler, "__code__", None)
