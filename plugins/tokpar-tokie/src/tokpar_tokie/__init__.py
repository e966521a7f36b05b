"""tokie for tokpar: the ``tokenizer.json`` files for which it gives the ids of tokenizers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tokpar.plugin import (
    Calls,
    Engine,
    IdArray,
    JsonFile,
    Rows,
    TokenizerSource,
    engine_source,
    hookimpl,
    offsets_of,
    unhonoured,
)


def encode(tokenizer: Any, text: str) -> IdArray:
    """The engine's own array."""
    ids: IdArray = tokenizer.encode_batch_flat([text], add_special_tokens=False)[0]
    return ids


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The engine's array, and the lengths that it tells."""
    if not texts:
        return Rows.of([])
    ids, lengths = tokenizer.encode_batch_flat(texts, add_special_tokens=False)
    return Rows(ids, offsets_of(np.asarray(lengths, dtype=np.int64)))


def of_json(tokie: Any, file: JsonFile) -> Calls:
    for token in file.added:
        if token.single_word:
            does = "takes other characters than tokenizers for parts of a word"
            raise unhonoured(TOKIE, file, token.content, "single_word", does)
    tokenizer = tokie.Tokenizer.from_json(str(file.path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Calls(partial(encode, tokenizer), partial(encode_many, tokenizer))


TOKIE = Engine("tokie", "0.1.4", of_json)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [engine_source(TOKIE)]
