"""Objects that other libraries accept as their own tokenizers, with ids from tokpar."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokpar.encoder import Encoder


def as_hf(tokenizer: Any, *, smallest_text: int | None = None, **options: Any) -> Any:
    """`tokenizer`, a fast tokenizer of transformers, as an object of a subclass of its own class
    whose long texts are encoded in parallel and from a cache, with equal ids.

    The object shares the engine (`backend_tokenizer`) with `tokenizer`: a token added to one is in
    both. Other attributes are copied. `tokpar_calls` counts the texts that tokpar encoded; the
    engine encodes all others. `smallest_text`: code points from which on a text goes through
    tokpar, None for the length from which on that pays. `options`: those of `Encoder`. Raises
    OptionError for a tokenizer that is not fast, for a class that encodes in its own way, and for
    transformers below 5."""
    from tokpar.integrations import hf  # imports transformers

    return hf.as_hf(tokenizer, partial(Encoder, **options), smallest_text)
