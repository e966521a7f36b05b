"""Every error that tokpar raises on purpose. Each is also of a Python class that callers catch."""

from collections.abc import Iterable


class TokparError(Exception):
    """Root of the errors below."""


class UnknownNameError(TokparError, LookupError):
    """A name under which nothing is registered. The message lists the names that exist."""

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
    """An argument or option that cannot be used. The message says what to pass."""


class IdTypeError(OptionError, TypeError):
    """An id that is no whole number, or ids that are no row of them. The message says what came."""


class IdRangeError(OptionError, OverflowError):
    """An id below 0, or from 2**32 on."""


LONGEST_QUOTE = 200
"""The most characters of input, or of another library's words, in a message."""
_LONGEST_MESSAGE = 1000


def quoted(said: object) -> str:
    """Returns `said` as a message quotes it: its first `LONGEST_QUOTE` characters."""
    words = str(said)
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}..."


class FileFormatError(TokparError, ValueError):
    """A file whose content is not what its name or caller promised.

    The middle of a long message is left out: it is a quotation of the file."""

    def __init__(self, *args: object) -> None:
        said = str(args[0]) if len(args) == 1 else ""
        if len(said) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2 - LONGEST_QUOTE // 2
            args = (f"{said[:half]}...{said[-half:]}",)
        super().__init__(*args)


class EngineError(TokparError, RuntimeError):
    """A tokenizer engine failed.

    ``start`` and ``stop``: the slice of the text on which it failed, code points. ``row``: the
    number of the text in a batch."""

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
    """The engine returned other ids for a pre-token than the merges of its own file give.

    The message names both. From then on this tokenizer's engine encodes everything."""


class ChangedError(TokparError, RuntimeError):
    """A tokenizer was changed after an `Encoder` of it was made, which encodes with what was there
    then. Make a new `Encoder`."""


class ControlTokenError(TokparError, ValueError):
    """Ordinary text gets the id of a control token from the model itself. The message names the
    token and its place."""


class LossyError(TokparError, ValueError):
    """A caller asked for an approximate strategy without ``allow_approximate=True``."""


class PluginError(TokparError, ValueError):
    """A plugin that cannot be used as it is."""
