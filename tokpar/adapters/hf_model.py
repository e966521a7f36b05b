"""Read the model of a caller's tokenizer, once, when the tokenizer is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tokpar import kernel_modules
from tokpar.cache.merges import Source, model_parts, vocabulary_arrays
from tokpar.facts.hf_vocabulary import VocabularyArrays

_ALL_ASKED, _SOME_ASKED = 4096, 64
"""All ids of a vocabulary up to the first size are looked up for missing ones; else a sample."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadModel:
    """The vocabulary of a model, and the digest under which its tables are stored.

    `vocabulary`: arrays. If the JSON of the model does not give the same vocabulary, the engine's
    dictionary. `source`: the digest of the file or of the JSON; None if neither was read."""

    vocabulary: VocabularyArrays | dict[str, int]
    source: Source | None = None


def read_model(tokenizer: Any, file_bytes: bytes | None, byte_level: bool) -> ReadModel:
    """Returns the vocabulary of `tokenizer` and the digest of its model.

    `file_bytes`: the file that the tokenizer was just made from, or None. Arrays are made only with
    `byte_level`, because only a ByteLevel stage may need them.

    The library writes the JSON of a model faster than it gives the vocabulary, and the merges are
    read from the same JSON. The JSON has one token per id. So if several tokens share an id, the
    number of tokens shows that some are missing."""
    tokens = cache(lambda: dict(tokenizer.get_vocab(with_added_tokens=False)))
    model, size = tokenizer.model, tokenizer.get_vocab_size(with_added_tokens=False)
    source = None if file_bytes is None else Source.of(file_bytes)
    arrays = None
    if byte_level and kernel_modules.VOCABULARY is not None and type(model).__name__ == "BPE":
        if file_bytes is not None:
            parts = model_parts(file_bytes)
            arrays = parts and vocabulary_arrays(file_bytes, size, tokens, parts=parts)
        elif _is_dense(model, size):
            state = model.__getstate__()
            source = Source.of(state)
            arrays = vocabulary_arrays(state, size, tokens)
    return ReadModel(arrays or tokens(), source)


def _is_dense(model: Any, size: int) -> bool:
    """True if no id below `size` is missing, as far as a sample of ids shows.

    Writing a model takes time and memory for all ids below its greatest id, and some vocabularies
    have very few of these ids."""
    some = range(size) if size <= _ALL_ASKED else range(size - 1, 0, -size // _SOME_ASKED)
    return all(model.id_to_token(i) is not None for i in some)
