"""Panics of engines written in Rust, which no `except Exception` sees."""

from __future__ import annotations

from collections.abc import Sequence

from tokpar.errors import EngineError


def is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def raise_panic(error: BaseException, engine: str, texts: Sequence[str]) -> None:
    """Raises EngineError if `error` is a panic of the engine on these texts."""
    if is_panic(error):
        raise EngineError(f"{engine} panicked: {error}", 0, sum(map(len, texts))) from error
