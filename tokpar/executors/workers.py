"""How many workers there are, and what runs in a worker process."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import traceback
from dataclasses import dataclass
from typing import Any, TypeVar

from tokpar.errors import EngineError, OptionError, WorkerError
from tokpar.executors.serial import PASSING, encode_rows
from tokpar.interfaces import TokenizerAdapter

KEPT_TOKENIZERS = 4
Value = TypeVar("Value")

# What Hugging Face tokenizers reads as "no" in TOKENIZERS_PARALLELISM.
_OFF = {"", "off", "false", "f", "no", "n", "0"}


def worker_count(workers: int | None) -> int:
    """`workers` if given, else how many CPUs this process may use; 1 if TOKENIZERS_PARALLELISM
    says no. Raises OptionError for anything that is not an int of at least 1."""
    if workers is None:
        return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "yes").lower() in _OFF else cpu_count()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise OptionError(f"workers must be an int of at least 1 or None, got {workers!r}")
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    return workers


def cpu_count() -> int:
    """CPUs this process may use."""
    if hasattr(os, "process_cpu_count"):
        count: int | None = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    return count or 1


@dataclass(frozen=True)
class Failure:
    """A worker's reply that is an error."""

    error: EngineError | LookupError
    trace: str


def serve() -> None:
    """Answer requests on standard input until None or the end; what runs in a worker."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a tokenizer prints must not get between the replies
    tokenizers: dict[int, TokenizerAdapter] = {}
    with contextlib.suppress(EOFError, OSError):
        while (request := pickle.load(requests)) is not None:
            pickle.dump(_answer(request, tokenizers), replies, pickle.HIGHEST_PROTOCOL)
            replies.flush()


def _answer(request: tuple[Any, ...], tokenizers: dict[int, TokenizerAdapter]) -> Any:
    try:
        if request[0] == "build":
            return remember(tokenizers, request[1], _built(request[2]))
        _, token, texts, first, spans = request
        rows = encode_rows(texts, tokenizers[token], spans, first)
        return rows.ids, rows.offsets, rows.spans
    except EngineError as error:
        return Failure(error, traceback.format_exc())
    except LookupError as error:
        return Failure(LookupError(str(error)), traceback.format_exc())


def _built(pickled: bytes) -> TokenizerAdapter:
    try:
        build, settings = pickle.loads(pickled)
        tokenizer: TokenizerAdapter = build(**settings)
    except PASSING:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
        raise WorkerError(f"the tokenizer cannot be built in a worker process: {said}") from error
    return tokenizer


def remember(known: dict[int, Value], key: int, value: Value) -> None:
    """Both sides of a pipe do this in the same order, so they agree on what is forgotten."""
    known[key] = value
    while len(known) > KEPT_TOKENIZERS:
        del known[next(iter(known))]
