"""What a call of a transformers tokenizer returns or raises, as values that == compares in full."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tokenizers import AddedToken, Encoding, Tokenizer

from tests.support.tokenizers_drawn import is_panic

ENCODING = (
    *("ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids", "n_sequences"),
    *("special_tokens_mask", "attention_mask"),
)


FLAT = {int, float, str, bool, type(None)}


class Raised(tuple[type, str]):
    """The type and the message of an error."""

    __slots__ = ()


def outcome(call: Callable[[], Any]) -> object:
    """`plain` of what the call returns; `Raised` for what it raises, Rust panics as well."""
    try:
        return plain(call())
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        text = str(error)
        if text.startswith("Missing SpecialToken"):  # the engine names them in any order
            text = "".join(sorted(text))
        return Raised((type(error), text))


def plain(value: Any) -> object:
    """A value that == compares in full: arrays with type and shape, results with their encodings,
    tokenizers with all that decides what they do."""
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, plain(value.tolist())
    if isinstance(value, Encoding):
        columns = tuple((name, plain(getattr(value, name))) for name in ENCODING)
        return columns, [plain(each) for each in value.overflowing]
    if isinstance(value, (list, tuple)):
        if is_flat(value):
            return type(value).__name__, [*value]
        return type(value).__name__, [plain(each) for each in value]
    if type(value).__name__ == "BatchEncoding":
        return result_parts(value)
    if isinstance(value, Mapping):
        return type(value).__name__, {name: plain(each) for name, each in value.items()}
    if isinstance(value, Tokenizer):
        return engine_parts(value)
    if isinstance(value, AddedToken):
        return repr(value), value.special
    if hasattr(value, "backend_tokenizer"):
        return tokenizer_parts(value)
    if type(value).__module__.startswith("tokenizers"):
        return type(value).__name__, value.__getstate__()
    return value


def is_flat(value: list[Any] | tuple[Any, ...]) -> bool:
    """True for a row of numbers, texts or pairs of them: == compares it as it is."""
    kinds = {*map(type, value)}
    return kinds <= FLAT or (kinds == {tuple} and {type(x) for pair in value for x in pair} <= FLAT)


def result_parts(result: Any) -> object:
    """A BatchEncoding: columns in order, its encodings, and what it answers about them."""
    columns = [(name, plain(value)) for name, value in result.data.items()]
    encodings = None if result.encodings is None else [plain(each) for each in result.encodings]
    return type(result), columns, encodings, result.n_sequences, result.is_fast


def engine_parts(engine: Tokenizer) -> object:
    """All of a tokenizer.json but truncation and padding, which calls of the original leave
    behind in the engine and calls that go through tokpar do not."""
    parts = json.loads(engine.to_str())
    return {k: v for k, v in parts.items() if k not in ("truncation", "padding")}


def tokenizer_parts(tokenizer: Any) -> object:
    """Name of the class, settings and engine of a transformers tokenizer."""
    settings = {
        name: plain(value)
        for name, value in vars(tokenizer).items()
        if name not in ("_tokenizer", "deprecation_warnings")
    }
    kind = type(tokenizer)
    return kind.__name__, repr(tokenizer), settings, engine_parts(tokenizer.backend_tokenizer)
