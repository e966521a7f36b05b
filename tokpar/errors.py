"""Every error tokpar raises on purpose, and what to catch it as."""

from collections.abc import Iterable


class TokparError(Exception):
    """Root of the errors below."""


class UnknownNameError(TokparError, LookupError):
    """A name that nothing is registered under; lists what exists."""

    def __init__(
        self, kind: str, got: object, known_names: Iterable[str], advice: str = ""
    ) -> None:
        from difflib import get_close_matches  # slow to import

        names = sorted(known_names)
        near = get_close_matches(str(got), names, 1)
        told = [f"unknown {kind} {got!r}", f"did you mean {near[0]!r}?" if near else ""]
        told += [f"known: {', '.join(names)}" if names else "", advice]
        super().__init__("; ".join(filter(None, told)))


class OptionError(TokparError, ValueError):
    """An argument or option that cannot be used; says what to pass."""


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


class MismatchError(EngineError):
    """The engine has other ids for a pre-token than the merges of its own file give: the message
    names both. From then on this tokenizer's engine encodes everything."""


class LossyError(TokparError, ValueError):
    """An approximate strategy asked for without ``allow_approximate=True``."""


class PluginError(TokparError, ValueError):
    """A plugin that cannot be used as it is."""


class ConformanceError(TokparError, AssertionError):
    """A part failed checks of `tokpar.testing`; `checks` are their names."""

    def __init__(self, message: str, checks: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.checks = tuple(checks)
