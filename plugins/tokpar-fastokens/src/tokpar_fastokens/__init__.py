"""fastokens for tokpar: BPE of a ``tokenizer.json`` or a ``.tiktoken`` file."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tokpar.plugin import (
    Calls,
    Engine,
    IdArray,
    JsonFile,
    RankFile,
    Rows,
    TokenizerSource,
    engine_source,
    hookimpl,
    known_to_differ,
)
from tokpar_fastokens.known import differs


def encode(tokenizer: Any, text: str) -> IdArray:
    """The ids as they lie in the engine's buffer, little-endian uint32."""
    ids, _ = tokenizer.encode_batch_flat([text])
    return np.frombuffer(ids, dtype="<u4")


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The engine's own buffers: ids, and where those of each text begin."""
    if not texts:
        return Rows.of([])
    ids, offsets = tokenizer.encode_batch_flat(texts)
    return Rows(np.frombuffer(ids, dtype="<u4"), np.frombuffer(offsets, dtype="<u8").view(np.int64))


def of_json(fastokens: Any, file: JsonFile) -> Calls:
    """Raises EngineError for what release 0.3.5 is known to do otherwise than tokenizers."""
    why = differs(file)
    if why is not None:
        raise known_to_differ(file, why)
    return calls(fastokens.Tokenizer.from_json_str(file.plain))


def of_ranks(fastokens: Any, file: RankFile) -> Calls:
    return calls(
        fastokens.Tokenizer.from_tiktoken(
            str(file.path), pattern=file.pattern, special_tokens=dict(file.special)
        )
    )


def calls(tokenizer: Any) -> Calls:
    return Calls(partial(encode, tokenizer), partial(encode_many, tokenizer))


FASTOKENS = Engine("fastokens", "0.3.5", of_json, of_ranks)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [engine_source(FASTOKENS)]
