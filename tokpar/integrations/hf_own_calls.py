"""Own calls of one transformers tokenizer, which several threads may make with different settings.

A call sets truncation and padding on the engine, which all threads share, and then encodes. While
other calls run with other settings, a call takes a copy of the engine, one for each setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tokenizers

from tokpar.adapters.hf_copy import private_copy, private_wrapper
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.integrations.hf_running_calls import begin_call, begin_call_alone, end_call
from tokpar.process.fork_locks import own_lock

MOST_COPIES = 8
"""Copies of one engine that are kept, each for one setting. A copy has its own added tokens and its
own caches of words, and takes 1 to 600 ms to make."""


def has_own_engine(tokenizer: Any) -> bool:
    """False where another library put an object of its own in the place of the engine."""
    return isinstance(tokenizer.__dict__.get("_tokenizer"), tokenizers.Tokenizer)


class OwnCalls:
    """Makes own calls of `original`. `adapter_of`: returns the adapter of `original` as it is now.

    Thread-safe; survives a fork."""

    def __init__(self, original: Any, adapter_of: Callable[[], Any]) -> None:
        self._original, self._adapter_of = original, adapter_of
        self._lock = own_lock(self)
        self._copies: tuple[object, dict[object, Any]] = (None, {})

    def run(self, call: Callable[..., Any], settings: object, *given: Any, **named: Any) -> Any:
        """Returns `call(tokenizer, *given, **named)`, where `tokenizer` encodes as the original
        does. `settings`: what the call sets on the engine.

        The call waits for other calls where no copy of the engine has the same ids."""
        original = self._original
        engine = original.__dict__.get("_tokenizer")
        if not isinstance(engine, tokenizers.Tokenizer):
            return call(original, *given, **named)
        tokenizer = original
        if not begin_call(engine, settings):
            copied = self._begin_on_copy(settings)
            if copied is None:
                begin_call_alone(engine)
            else:
                engine, tokenizer = copied, private_wrapper(original, copied)
        try:
            return call(tokenizer, *given, **named)
        finally:
            end_call(engine)

    def _begin_on_copy(self, settings: object) -> Any:
        """Returns a copy of the engine on which this call has begun; None where no copy has the
        same ids."""
        adapter = self._adapter_of()
        if not isinstance(adapter, HuggingFaceTokenizer) or adapter.why_live is not None:
            return None
        with self._lock:  # a copy takes long: the other threads wait for it
            known, copies = self._copies
            if known is not adapter:  # the tokenizer was changed
                copies = {}
                self._copies = adapter, copies
            found = copies.get(settings)
            if found is None or not begin_call(found, settings):  # a child may not take it
                found = private_copy(adapter.engine)[0]
                begin_call(found, settings)
                copies[settings] = found
            if len(copies) > MOST_COPIES:
                del copies[next(iter(copies))]
            return found
