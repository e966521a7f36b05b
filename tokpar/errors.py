"""Every error tokpar raises on purpose.

TokparError
+-- UnknownNameError  (LookupError)   no such tokenizer, strategy ...; lists what exists
+-- OptionError       (ValueError)    an argument or option that cannot be used; says what to pass
+-- FileFormatError   (ValueError)    a file that is not what it should be; names it
+-- EngineError       (RuntimeError)  an engine raised or panicked; says on which slice
|   +-- WorkerError   (EngineError)   a worker process died or could not build the tokenizer
+-- LossyError        (ValueError)    an approximate strategy was asked for without consent
+-- PluginError       (ValueError)    two plugins of one name, or one of the wrong shape
+-- ConformanceError  (AssertionError)  a part that breaks its contract; names each failed check
"""

from __future__ import annotations

from collections.abc import Iterable


class TokparError(Exception):
    """Root of the errors above."""


class UnknownNameError(TokparError, LookupError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, got: object, known: Iterable[str], advice: str = "") -> None:
        names = ", ".join(sorted(known)) or "(none)"
        super().__init__(f"unknown {kind} {got!r}; known: {names}" + f"; {advice}" * bool(advice))


class OptionError(TokparError, ValueError):
    """An argument or option that cannot be used."""


class FileFormatError(TokparError, ValueError):
    """A file whose content is not what its name or caller promised."""


class EngineError(TokparError, RuntimeError):
    """A tokenizer engine failed; ``start`` and ``stop`` (code points) tell on which slice of the
    text, ``row`` in which text of several."""

    def __init__(self, message: str, start: int = 0, stop: int = 0, row: int = 0) -> None:
        super().__init__(message)
        self.start = start
        self.stop = stop
        self.row = row

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.start, self.stop, self.row)


class WorkerError(EngineError):
    """A worker process died, or could not build the tokenizer."""


class LossyError(TokparError, ValueError):
    """An approximate strategy asked for without ``allow_approximate=True``."""


class PluginError(TokparError, ValueError):
    """A plugin that cannot be used as it is."""


class ConformanceError(TokparError, AssertionError):
    """A part failed checks of `tokpar.testing`; `checks` are their names."""

    def __init__(self, message: str, checks: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.checks = tuple(checks)
