"""The answers of a compiled call beside the engine's own."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer

import tokpar
from tokpar.compiled import compiled_build
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.process.interrupts import raise_foreign


def call_of(source: Any) -> Any:
    """The compiled call of what `tokpar.load` takes, or None. It is not compared when it is loaded:
    that would hide a fault."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
        adapter: Any = tokpar.load(source)
    return adapter.later_call and adapter.later_call.call


def own_ids(tokenizer: Any, text: str, special: bool = False) -> list[int] | None:
    """The engine's own ids, or None where it fails. `special`: with special tokens."""
    try:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=special).ids
    except BaseException as error:  # a panic of the engine is no Exception
        raise_foreign(error)
        return None
    return ids


def wrong_texts(
    tokenizer: Tokenizer, call: CompiledCall, texts: list[str], special: bool = False
) -> list[str]:
    """Returns the texts with other ids than the engine's: one by one, twice, and as a batch.

    `special`: single texts are compared with special tokens. The tokenizer must put none around the
    texts of a batch."""
    expected, wrong = [own_ids(tokenizer, text, special) for text in texts], []
    encode = call.encode if special else call.encode_plain
    for _ in range(2):
        for text, ids in zip(texts, expected, strict=True):
            found = encode(text)
            wrong += [text] if found is not None and found.tolist() != ids else []
        if None not in expected:
            rows, flags = call.rows(texts, 2)
            wrong += [
                t for k, t in enumerate(texts) if flags[k] and rows[k].tolist() != expected[k]
            ]
    return wrong
