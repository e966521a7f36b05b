"""What the compiled call of a Hugging Face tokenizer is made from."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tokenizers

from tokpar import kernel_modules
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.cache.call_tables import Arrays, added_flags, byte_arrays
from tokpar.cache.character_tables import MARK, character_arrays
from tokpar.cache.compiled_build import CallParts, find_cut
from tokpar.cache.compiled_call import EncodeMany
from tokpar.cache.merges import Merges, Parts, model_parts, parts_of
from tokpar.cache.stored_tables import LEAST_KEPT, Source
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.pure.vocabulary import letters_of
from tokpar.types import AddedToken, Facts

_DRAWN_TOKENS = 300


def call_parts_of(
    copy: Any,
    facts: Facts,
    source: Source,
    make_merges: Callable[[], Merges],
    special: tuple[Sequence[int], Sequence[int]],
    encode_many: EncodeMany,
    file_bytes: bytes | None = None,
) -> CallParts | None:
    """Returns what the compiled call is made from; None for a tokenizer that has none.

    `copy`: the private copy. `source`: of its model. `make_merges`: makes the merges of a
    byte-level BPE. `special`: the ids around a text. `encode_many`: see `CompiledCall`.
    `file_bytes`: the file that the tokenizer was read from, which spares the engine to write its
    model."""
    if facts.model != "BPE" or facts.unprovable is not None:
        return None
    stages = [parse_component(copy.normalizer), parse_component(copy.pre_tokenizer)]
    replaces = not facts.byte_level
    added = _added(copy, replaces)
    if added is None:
        return None

    engine = f"tokenizers {tokenizers.__version__}"
    identity: list[bytes | str] = [json.dumps(stages), source.sha256, engine]

    def make_arrays() -> Arrays:
        if facts.byte_level:
            return byte_arrays(facts, make_merges())
        size = copy.get_vocab_size(with_added_tokens=False)
        return character_arrays(*_written_model(copy.model, file_bytes), size, *stages)

    return CallParts(
        identity=identity if source.length >= LEAST_KEPT else None,
        make_arrays=make_arrays,
        added=added,
        special=special,
        tokens=partial(_some_tokens, copy, facts.byte_level),
        encode_many=encode_many,
        tokenize=partial(_tokenize, copy.model, replaces),
        find_cut=partial(find_cut, facts),
    )


def _written_model(model: Any, file_bytes: bytes | None) -> tuple[bytes, Parts]:
    """Returns the model as JSON, and its parts. Raises GateError."""
    parts = None if file_bytes is None else model_parts(file_bytes)
    if file_bytes is not None and parts is not None:
        return file_bytes, parts
    state: bytes = model.__getstate__()
    return state, parts_of(state, kernel_modules.VOCABULARY)


def _added(copy: Any, replaces: bool) -> dict[str, tuple[int, int, bool]] | None:
    """Returns the added tokens as `call_of` takes them, in the form in which they are searched.

    None if the normalizer makes two of them alike."""
    found: dict[str, tuple[int, int, bool]] = {}
    normalizer, skips = copy.normalizer, copy.encode_special_tokens
    for id_, each in copy.get_added_tokens_decoder().items():
        content = each.content
        if each.normalized and normalizer is not None:
            content = normalizer.normalize_str(content)
            content = content.replace(MARK, " ") if replaces else content
        if content in found:
            return None
        token = AddedToken(content, id_, each.lstrip, each.rstrip, each.single_word)
        if content:
            found[content] = id_, added_flags(token, skips and each.special), each.normalized
    return found


def _some_tokens(copy: Any, byte_level: bool) -> list[str]:
    """Returns some tokens of the vocabulary as text."""
    size = copy.get_vocab_size(with_added_tokens=False)
    draw, count = random.Random(size), min(size // 10, _DRAWN_TOKENS)
    names = (copy.model.id_to_token(draw.randrange(size)) for _ in range(count))
    known = [name for name in names if name]
    if not byte_level:
        return [name.replace(MARK, " ") for name in known]
    spelled = (bytes_of_token(name) for name in known)
    return [each.decode(errors="ignore") for each in spelled if each]


def _tokenize(model: Any, replaces: bool, word: bytes) -> list[int]:
    """Returns the model's ids of one word."""
    text = word.decode().replace(" ", MARK) if replaces else letters_of(word)
    return [token.id for token in model.tokenize(text)]
