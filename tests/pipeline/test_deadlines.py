"""An error that no engine raised, as a deadline of a signal handler, leaves every call as it is."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most
from tests.support.fakes import WordHash
from tests.support.small_encodings import small_encoding
from tests.support.tokenizers_drawn import named_tokenizers

pytestmark = [
    pytest.mark.ids,
    pytest.mark.compiled_at_once,
    pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no SIGUSR1 on this system"),
]

TEXTS = ["one two three " * 400, "four", "x" * 3000, "été 日本 " * 90]


class DeadlineError(Exception):
    """Of a program that uses tokpar."""


def raise_it(kind: type[Exception], *given: Any) -> None:
    raise kind("too late")


KINDS = [TimeoutError, DeadlineError]
"""Not those that the standard library catches for its own ends, as ValueError."""
HANDLERS: list[Callable[[type[Exception]], Any]] = [
    lambda kind: partial(raise_it, kind),
    lambda kind: lambda number, frame: raise_it(kind),
]
DOORS: dict[str, Callable[[tokpar.Encoder], object]] = {
    "encode_batch": lambda encoder: encoder.encode_batch(TEXTS),
    "encode": lambda encoder: [encoder.encode(text) for text in TEXTS],
    "encode_iter": lambda encoder: list(encoder.encode_iter(iter(TEXTS), batch_bytes=9000)),
    "chunks": lambda encoder: list(encoder.chunks(TEXTS[0], 100)),
    "stream": lambda encoder: list(encoder.stream(iter(TEXTS))),
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"executor": "serial"},
    {"executor": "threads", "workers": 2},
    {"strategy": "cut", "chunk_chars": 300, "executor": "serial"},
    {"strategy": "lopt"},
]


@cache
def sources() -> dict[str, Any]:
    own = named_tokenizers()
    return {
        **{name: own[name] for name in ("default", "bert_part", "llama_style")},
        "tiktoken": small_encoding(),
        "python": WordHash(),
    }


@contextmanager
def signal_at(event: int) -> Iterator[list[int]]:
    """Send the signal at so many calls and returns of this thread; gives the count of them."""
    seen = [0]

    def count(frame: object, what: str, argument: object) -> None:
        seen[0] += 1
        if seen[0] == event:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGUSR1)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield seen
    finally:
        sys.setprofile(before)


@at_most(100)
@given(
    name=st.sampled_from(["default", "bert_part", "llama_style", "tiktoken", "python"]),
    door=st.sampled_from(sorted(DOORS)),
    options=st.sampled_from(OPTIONS),
    kind=st.sampled_from(KINDS),
    handler=st.sampled_from(HANDLERS),
    share=st.floats(0, 1),
)
def test_what_a_signal_handler_raises_leaves_a_call_at_any_moment(
    name: str,
    door: str,
    options: dict[str, Any],
    kind: type[Exception],
    handler: Callable[[type[Exception]], Any],
    share: float,
) -> None:
    call = DOORS[door]
    with tokpar.Encoder(sources()[name], **options) as encoder, signal_at(-1) as seen:
        call(encoder)
    event, error = 1 + int(share * seen[0]), None
    with tokpar.Encoder(sources()[name], **options) as encoder:
        before = signal.signal(signal.SIGUSR1, handler(kind))
        dropped, hook = list[object](), sys.unraisablehook
        sys.unraisablehook = dropped.append
        try:
            with signal_at(event) as seen:
                call(encoder)
        except Exception as raised:
            error = raised
        finally:
            signal.signal(signal.SIGUSR1, before)
            sys.unraisablehook = hook
        # fewer calls where the cache knows more than before; Python itself drops what is raised
        # while it frees an object
        if seen[0] >= event and not dropped:
            assert (type(error), str(error)) == (kind, "too late")
        call(encoder)  # it can be used again
