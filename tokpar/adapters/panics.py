"""Panics of engines written in Rust, which no `except Exception` sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tokpar.errors import EngineError, FileFormatError


def is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def raise_panic(error: BaseException, engine: str, texts: Sequence[str]) -> None:
    """Raises EngineError if `error` is a panic of the engine on these texts."""
    if is_panic(error):
        raise EngineError(f"{engine} panicked: {error}", 0, sum(map(len, texts))) from error


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """FileFormatError where the library cannot read a file, panics included."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise FileFormatError(f"{path} is not a tokenizer.json of Hugging Face: {error}") from error
